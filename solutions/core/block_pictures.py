"""The block in pictures: what its branches add to the stream, and which outputs notice a changed token."""

import torch

from grader.api.pictures import bars, first_difference, grids, picture

SIZES, TOKENS = (12, 3, 7), 5
SMALL = 0.05  # where the exact GELU and its tanh form agree
BRANCHES = {
    "neither": ("attn.wo.weight", "ffn.w2.weight", "ffn.w2.bias"),
    "attention": ("ffn.w2.weight", "ffn.w2.bias"),
    "network": ("attn.wo.weight",),
    "both": (),
}


def numbers(reference, rand):
    """A state dict of random numbers for blocks of SIZES."""
    shapes = reference.TransformerBlock(*SIZES).state()["state"]
    state = {name: rand(*held.shape, scale=held.shape[-1] ** -0.5) for name, held in shapes.items()}
    state |= {f"{norm}.weight": torch.ones(SIZES[0]) for norm in ("norm1", "norm2")}
    for part in ("weight", "bias"):
        state[f"ffn.w1.{part}"] *= SMALL
    state["ffn.w2.weight"] /= SMALL
    return state


def road(state, x, norm_first):
    """How far the stream is from its input, where only some branches speak."""

    def ask(subject):
        found = []
        for silent in BRANCHES.values():
            heard = {name: held * (name not in silent) for name, held in state.items()}
            block = subject.TransformerBlock(*SIZES, norm_first=norm_first, state=heard).eval()
            found.append((block(x) - x).norm(dim=-1).mean())
        return torch.stack(found)

    return ask


def notices(state, x, mask, norm_first):
    """How far each output (a column) moves if one token (a row) is changed."""
    changed = x.repeat(TOKENS, 1, 1) + torch.eye(TOKENS).unsqueeze(-1) * x.flip(1)

    def ask(subject):
        block = subject.TransformerBlock(*SIZES, norm_first=norm_first, state=state).eval()
        return (block(changed, mask=mask) - block(x, mask=mask)).norm(dim=-1)

    return ask


@picture
def residual_road(submission, reference, rand):
    """How far the stream comes from its input, by the branches that speak (the others are silenced)"""
    state, x = numbers(reference, rand), rand(1, TOKENS, SIZES[0])
    asks = {
        "TransformerBlock(12, 3, 7)": road(state, x, True),
        "TransformerBlock(12, 3, 7, norm_first=False)": road(state, x, False),
    }
    return bars(first_difference(submission, reference, asks), list(BRANCHES), across="branch")


@picture
def who_notices(submission, reference, rand):
    """A token (down) is changed: which outputs (across) notice, and how much"""
    state, x = numbers(reference, rand), rand(1, TOKENS, SIZES[0])
    causal = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()
    asks = {
        "TransformerBlock(12, 3, 7)(x, mask=causal)": notices(state, x, causal, True),
        "TransformerBlock(12, 3, 7)(x)": notices(state, x, None, True),
        "TransformerBlock(12, 3, 7, norm_first=False)(x, mask=causal)": notices(state, x, causal, False),
    }
    return grids(first_difference(submission, reference, asks), across=("changed", "output"))
