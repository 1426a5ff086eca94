# wrong: tr-perplexity
import torch.nn.functional as F


def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
    loss.backward()
    optimizer.step()
    return loss.exp().item()


def train(model, optimizer, batches):
    return [train_step(model, optimizer, *b) for b in batches]
