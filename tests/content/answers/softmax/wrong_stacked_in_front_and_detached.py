# wrong: sm-axis-moved, sm-detached
import torch


def softmax(x, dim=-1):
    with torch.no_grad():
        slices = torch.unbind(x, dim)
        largest = slices[0]
        for each in slices:
            largest = torch.max(largest, each)
        exps = [(each - largest).exp() for each in slices]
        return torch.stack([each / sum(exps) for each in exps], dim=0)
