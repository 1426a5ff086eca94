# right: means of batches, weighted by their tokens, and nothing of an empty one
import torch
from torch.nn.functional import cross_entropy


def _count(targets):
    return sum(1 for t in targets.flatten().tolist() if t != -100)


def evaluate(model, batches):
    before = model.training
    model.train(False)
    mean, n = 0.0, 0
    for inputs, targets in batches:
        k = _count(targets)
        if k == 0:
            continue
        with torch.no_grad():
            loss = cross_entropy(model(inputs).flatten(end_dim=-2), targets.flatten()).item()
        n += k
        mean += (loss - mean) * k / n
    model.train(before)
    return mean


def should_stop(losses, patience):
    since = 0
    for i in range(len(losses)):
        if all(losses[i] < earlier for earlier in losses[:i]):
            since = 0
        else:
            since += 1
    return since >= patience
