# right: the closure form of optimizer.step
import torch
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()

    def closure():
        optimizer.zero_grad(set_to_none=True)
        logits = model(inputs)
        loss = F.nll_loss(F.log_softmax(logits, dim=-1).flatten(end_dim=1), targets.flatten())
        loss.backward()
        return loss

    return optimizer.step(closure).item()


def train(model, optimizer, batches):
    return list(map(lambda batch: train_step(model, optimizer, *batch), batches))
