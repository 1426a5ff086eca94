"""Residuals, norms and their place: gradients by depth before training."""

import torch
from torch import nn
from torch.nn import functional

WIDTH, VOCABULARY = 32, 32


class _Block(nn.Module):
    """One head of causal attention and a network with ReLU, all matrices by Xavier."""

    def __init__(self, pre):
        super().__init__()
        self.pre = pre
        self.qkv, self.o = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.w1, self.w2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        for matrix in (*self.qkv.weight.split(WIDTH), self.o.weight, self.w1.weight, self.w2.weight):
            nn.init.xavier_uniform_(matrix.detach())

    def attend(self, x):
        return self.o(functional.scaled_dot_product_attention(*self.qkv(x).chunk(3, -1), is_causal=True))

    def think(self, x):
        return self.w2(functional.relu(self.w1(x)))

    def forward(self, x):
        if self.pre:
            h = x + self.attend(self.norm1(x))
            return h + self.think(self.norm2(h))
        h = self.norm1(x + self.attend(x))
        return self.norm2(h + self.think(h))


def _late_gradient(pre, blocks):
    """Norm of the gradient of the last block's second matrix, before training."""
    stack, head = nn.Sequential(*[_Block(pre) for _ in range(blocks)]), nn.Linear(WIDTH, VOCABULARY)
    out = stack(torch.randn(8, 16, WIDTH))
    out = functional.layer_norm(out, (WIDTH,)) if pre else out
    functional.cross_entropy(head(out).flatten(0, 1), torch.randint(VOCABULARY, (128,))).backward()
    return stack[-1].w2.weight.grad.norm().item()


def late_gradients_shrink_with_depth_only_in_pre_ln():
    """residuals.quiz.toml: Near the output, gradients in post-LN stay large however deep the stack is.
    residuals.quiz.toml: at 2, 6 and 24 blocks: pre-LN falls to less than a half, post-LN does not fall
    block.md: fell to half or less in pre-LN, and in post-LN it did not fall
    """
    pre, post = ([_late_gradient(each, blocks) for blocks in (2, 6, 24)] for each in (True, False))
    assert pre[0] > pre[1] > pre[2] and pre[2] < pre[0] / 2, pre
    assert min(post[1:]) > 0.9 * post[0], post
    return "; ".join(f"{n} {', '.join(f'{g:.2f}' for g in each)}" for n, each in (("pre-LN", pre), ("post-LN", post)))
