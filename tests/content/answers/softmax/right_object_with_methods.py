# right: an object that holds its settings, with the work in a method named after the thing
import torch


class Activation:
    def __init__(self, axis):
        self.axis = axis

    def softmax(self, logits):
        logits = logits - logits.max(self.axis, keepdim=True).values
        weights = logits.exp()
        return weights / weights.sum(self.axis, keepdim=True)


def softmax(x, dim=-1):
    return Activation(dim).softmax(x)
