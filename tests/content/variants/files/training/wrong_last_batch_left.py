# wrong: tr-last-batch-skipped
def train_step(model, optimizer, inputs, targets):
    import torch.nn.functional as F

    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    return loss.item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, x, y) for x, y in list(batches)[:-1]]
