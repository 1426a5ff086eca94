# wrong: tr-eval-mode, tr-loss-tensor-kept
from torch.nn import functional as F


def train_step(model, optimizer, inputs, targets):
    model.eval()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
    loss.backward()
    optimizer.step()
    return loss.detach()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *batch) for batch in batches]
