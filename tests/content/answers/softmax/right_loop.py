# right: a beginner who handles one slice at a time in a loop
import torch


def softmax_1d(row):
    biggest = row.max()
    top = torch.exp(row - biggest)
    return top / top.sum()


def softmax(x, dim=-1):
    moved = x.movedim(dim, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    result = []
    for i in range(rows.shape[0]):
        result.append(softmax_1d(rows[i]))
    result = torch.stack(result)
    result = result.reshape(moved.shape)
    return result.movedim(-1, dim)
