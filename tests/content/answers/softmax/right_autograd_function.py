# right: a custom autograd.Function with the backward pass by hand
import torch


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        z = x - x.max(dim, keepdim=True)[0]
        y = z.exp()
        y = y / y.sum(dim, keepdim=True)
        ctx.save_for_backward(y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, grad_out):
        (y,) = ctx.saved_tensors
        dot = (grad_out * y).sum(ctx.dim, keepdim=True)
        return y * (grad_out - dot), None


def softmax(x, dim=-1):
    return _Softmax.apply(x, dim)
