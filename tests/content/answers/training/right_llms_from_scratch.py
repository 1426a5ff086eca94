# right: LLMs-from-scratch: calc_loss_batch, flatten(0, 1), a look at the loss in eval mode now and then
import torch


def calc_loss_batch(input_batch, target_batch, model):
    logits = model(input_batch)
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), target_batch.flatten())


def evaluate_model(model, input_batch, target_batch):
    model.eval()
    with torch.no_grad():
        loss = calc_loss_batch(input_batch, target_batch, model).item()
    model.train()
    return loss


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = calc_loss_batch(inputs, targets, model)
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    losses, tokens_seen, global_step = [], 0, -1
    for input_batch, target_batch in batches:
        losses.append(train_step(model, optimizer, input_batch, target_batch))
        tokens_seen += input_batch.numel()
        global_step += 1
        if global_step % 2 == 0:
            print(f"step {global_step}: {evaluate_model(model, input_batch, target_batch):.3f} ({tokens_seen} tokens)")
    return losses
