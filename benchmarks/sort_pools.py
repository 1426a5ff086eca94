"""Which vector can say whether a list is sorted? The table of the lesson `sort_numbers`; half a minute of one thread.

    python benchmarks/sort_pools.py [--seeds N] [--steps N]

The encoder of its lesson, with positions and without, under each pooling of the next one. Half of the lists are sorted,
half have two unequal neighbours of theirs exchanged.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean

import torch
from torch import nn

from grader.judge.course_files import load_file

FOLDER = Path(__file__).parents[1] / "solutions/models"
POOLS = {"mean": "mean", "first": "cls", "last": "last", "max": "max"}  # and what the lesson's class calls them


def draw(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return lists of 8 numbers, and whether each is sorted; whether it is cannot be told from the numbers alone."""
    lists = torch.randint(16, (count, 8)).sort(-1).values
    lists = lists[lists[:, 0] < lists[:, -1]]
    rises = (lists[:, 1:] > lists[:, :-1]).float()  # (B, 7): where neighbours differ
    at = torch.multinomial(rises, 1)
    swapped = torch.arange(8).repeat(len(lists), 1).scatter(1, at, at + 1).scatter(1, at + 1, at)
    is_sorted = torch.arange(len(lists)) % 2 == 0
    return torch.where(is_sorted[:, None], lists, lists.gather(1, swapped)), is_sorted.long()


def train(pool: str, positions: bool, seed: int, steps: int) -> float:
    """Train an encoder and a head, and return the share of 2,000 fresh lists on which it is right."""
    torch.manual_seed(seed)
    encoder = load_file(FOLDER / "encoder.py").Encoder(16, 8, 64, 4, 2, 128)
    head = load_file(FOLDER / "pooling_heads.py").SequenceClassifier(64, 2, POOLS[pool])
    if not positions:
        nn.init.zeros_(encoder.pos.weight).requires_grad_(False)
    parameters = [each for part in (encoder, head) for each in part.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=3e-3)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1, step / 50, 2 - 2 * step / (steps + 1))
        lists, answers = draw(64)
        loss = nn.functional.cross_entropy(head(encoder(lists), torch.ones(lists.shape, dtype=torch.bool)), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    lists, answers = draw(2_000)
    with torch.no_grad():
        said = head(encoder(lists), torch.ones(lists.shape, dtype=torch.bool)).argmax(-1)
    return (said == answers).double().mean().item()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print("| pool | with positions | without |\n| --- | --- | --- |")
    for pool in POOLS:
        shares = [
            mean(train(pool, positions, seed, options.steps) for seed in range(1, options.seeds + 1))
            for positions in (True, False)
        ]
        print(f"| {pool} | {shares[0]:.0%} | {shares[1]:.0%} |", flush=True)


if __name__ == "__main__":
    main()
