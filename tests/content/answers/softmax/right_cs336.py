# right: CS336 students' style: type hints, a long docstring, named intermediates
import torch
from torch import Tensor


def softmax(in_features: Tensor, dim: int = -1) -> Tensor:
    """
    Args:
        in_features (Float[Tensor, "..."]): scores of any shape.
        dim (int): where to normalise.
    Returns:
        Float[Tensor, "..."]: same shape.
    """
    max_entry, _ = in_features.max(dim=dim, keepdim=True)
    shifted_features: Tensor = in_features - max_entry
    numerators: Tensor = shifted_features.exp()
    denominator: Tensor = numerators.sum(dim=dim, keepdim=True)
    return numerators / denominator
