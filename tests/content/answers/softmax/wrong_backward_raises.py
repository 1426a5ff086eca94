# wrong: ?
import torch


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        e = torch.exp(x - x.amax(dim, keepdim=True))
        ctx.dim = dim
        ctx.save_for_backward(e / e.sum(dim, keepdim=True))
        return e / e.sum(dim, keepdim=True)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        jacobian = torch.diag(y) - torch.outer(y, y)
        return jacobian @ grad, None


def softmax(x, dim=-1):
    return Softmax.apply(x, dim)
