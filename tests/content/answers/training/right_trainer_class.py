# right: a Trainer object with callbacks, in the manner of minGPT
from collections import defaultdict

import torch
from torch.nn import functional as F


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.callbacks = defaultdict(list)

    def add_callback(self, event, callback):
        self.callbacks[event].append(callback)

    def step(self, x, y):
        self.model.train()
        logits = self.model(x)
        self.loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        self.model.zero_grad(set_to_none=True)
        self.loss.backward()
        self.optimizer.step()
        for callback in self.callbacks["on_batch_end"]:
            callback(self)
        return self.loss.item()


def train_step(model, optimizer, inputs, targets):
    return Trainer(model, optimizer).step(inputs, targets)


def train(model, optimizer, batches):
    trainer, losses = Trainer(model, optimizer), []
    trainer.add_callback("on_batch_end", lambda t: losses.append(t.loss.item()))
    for x, y in batches:
        trainer.step(x, y)
    return losses
