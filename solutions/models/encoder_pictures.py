"""The encoder in a picture: which vectors notice a changed token, and that none notices padding."""

import torch

from grader.api.pictures import first_difference, grids, picture

SIZES = V, _, D, *_ = 9, 8, 12, 3, 2, 7  # V, max_len, D, H, L, d_ff
TOKENS, PLACES = 4, 6
SMALL = 0.05  # where the exact GELU and its tanh form agree


def numbers(reference, rand):
    """A state dict of random numbers for encoders of SIZES, where every γ is 1."""
    shapes = reference.Encoder(*SIZES).state()["state"]
    state = {name: rand(*held.shape, scale=held.shape[-1] ** -0.5) for name, held in shapes.items()}
    state |= {name: state[name] * SMALL for name in state if ".w1." in name}
    return state | {name: torch.ones(D) for name in state if "norm" in name and name.endswith("weight")}


def notices(state, ids, length):
    """How far the vector of each token (a column) moves if the id at one place (a row) is changed."""
    changed = (ids + torch.eye(PLACES, dtype=torch.int64)) % V
    lengths = () if length is None else (torch.full((PLACES,), length),)

    def ask(subject):
        model = subject.Encoder(*SIZES, state=state).eval()
        moved = model(changed, *lengths) - model(ids.expand(PLACES, PLACES).contiguous(), *lengths)
        return moved.norm(dim=-1)[:, :length]

    return ask


@picture
def who_notices(submission, reference, rand):
    """The id at a place (down) is changed: which tokens' vectors (across) notice, and how much"""
    state, ids = numbers(reference, rand), rand.integers(0, V, PLACES)
    asks = {
        f"Encoder{SIZES}(ids, torch.tensor([{TOKENS}]))": notices(state, ids, TOKENS),
        f"Encoder{SIZES}(ids)": notices(state, ids, None),
    }
    return grids(first_difference(submission, reference, asks), across=("changed", "vector"))
