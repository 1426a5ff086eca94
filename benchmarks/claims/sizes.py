"""How large things are: parameters of a model, and queries and keys when training starts."""

import torch
from torch import nn
from torch.nn import functional


def heads_are_free():
    """multi_head.md: 1,048,576 at D = 512, with one head, with four or with eight."""
    counts = {sum(p.numel() for p in nn.MultiheadAttention(512, heads, bias=False).parameters()) for heads in (1, 4, 8)}
    assert counts == {1_048_576}, counts
    return f"{counts.pop():,} with 1, 4 and 8 heads"


def the_table_is_most_of_what_blocks_are_not():
    """block.md: most of what is missing to its 124 million is the table of token embeddings.
    embedding.md: with GPT-2's V = 50,257 and D = 768 these are 38.6 million
    """
    width, vocabulary, places = 768, 50_257, 1024
    block = 12 * width**2 + 9 * width + 4 * width  # biases of attention and network, two norms
    total = 12 * block + (vocabulary + places) * width + 2 * width
    assert f"{total / 1e6:.0f}" == "124" and f"{vocabulary * width / 1e6:.1f}" == "38.6", total
    assert vocabulary * width > 0.9 * (total - 12 * 12 * width**2)
    return f"{total:,}, of which the table of tokens {vocabulary * width:,}"


def a_narrow_head_asks_simple_questions():
    """multi_head.md: has rank at most d_head"""
    scores = torch.randn(20, 4) @ torch.randn(4, 20)
    assert torch.linalg.matrix_rank(scores) == 4
    return "20 × 20 scores of a head of width 4 have rank 4"


def queries_are_as_large_as_the_initialisation_makes_them():
    """attention.md: behind a norm `nn.Linear` gives them the variance ⅓
    attention.md: random weights of size 0.02 at D = 64 one of 0.026
    attention_formula.quiz.toml: How large they really are is up to the initialisation, which may hide this.
    """
    x = functional.layer_norm(torch.randn(20_000, 64), (64,))
    with torch.no_grad():
        usual = torch.stack([nn.Linear(64, 64, bias=False)(x).var() for _ in range(5)]).mean()
        small = (x @ (0.02 * torch.randn(64, 64))).var()
    assert abs(usual - 1 / 3) < 0.02 and abs(small - 0.0256) < 0.003, (usual, small)
    return f"variance {usual:.3f} by default, {small:.4f} from weights of 0.02"
