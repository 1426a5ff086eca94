# right: modules of its own
import torch


def residual_stream(x, branches, norms, norm_first=True):
    class Sublayer(torch.nn.Module):
        def __init__(self, f, norm):
            super().__init__()
            self.f, self.norm = f, norm

        def forward(self, x):
            if norm_first:
                return x + self.f(self.norm(x))
            return self.norm(x + self.f(x))

    layers = [Sublayer(f, norm) for f, norm in zip(branches, norms)]
    states = [x]
    for layer in layers:
        states += [layer(states[-1])]
    return states
