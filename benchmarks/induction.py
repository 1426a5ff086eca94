"""Train models of attention alone on runs that repeat, and print what their heads came to: benchmarks/induction.md.

python benchmarks/induction.py                 every row; about five minutes of one thread
python benchmarks/induction.py "one layer"     some
python benchmarks/induction.py --write         and write the model that the readings of the lesson are taken from
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch.nn import functional as F  # noqa: N812  the field's name

from grader.judge.course_files import load_file

ROOT = Path(__file__).parents[1]
WEIGHTS = ROOT / "lessons/analysis/induction.safetensors"
V, T, D, HEADS = 40, 20, 64, 4
PERIODS = (10, 15)  # at least half of a text: no token comes a third time
ROWS, STEPS, RATE, WARM_UP = 32, 1000, 3e-3, 50
SEEDS = 4
FROZEN = {"seed": 2, "layers": 2}
lesson = load_file(ROOT / "solutions/analysis/induction.py")
HEAD = """\
| version, seed | accuracy | at period 12 | previous token, heads by layer | induction, heads by layer | six distances |
| --- | --- | --- | --- | --- | --- |"""
VERSIONS: dict[str, dict[str, Any]] = {
    "two layers": {"layers": 2},
    "one layer": {"layers": 1},
    "two layers, always period 12": {"layers": 2, "periods": (12, 12)},
}


def draw(rows: int, periods: tuple[int, int] = PERIODS) -> tuple[torch.Tensor, torch.Tensor]:
    """Return texts that repeat, and the period of each."""
    drawn = torch.randint(periods[0], periods[1] + 1, (rows,))
    return lesson.repeat_runs(torch.randint(0, V, (rows, T)), drawn), drawn


def train(seed: int, layers: int, periods: tuple[int, int] = PERIODS, steps: int = STEPS) -> Any:
    """Train a model of attention alone to say which token comes next."""
    torch.manual_seed(seed)
    model = lesson.AttentionOnly(V, T, D, HEADS, layers)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, step / WARM_UP)
        ids, _ = draw(ROWS, periods)
        logits, _ = model(ids)
        loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@torch.no_grad()
def accuracy(model: Any, periods: tuple[int, int] = PERIODS) -> float:
    """Return the share of right guesses where the answer has been seen: from the second copy's first token on."""
    ids, drawn = draw(500, periods)
    right = model(ids)[0][:, :-1].argmax(-1) == ids[:, 1:]
    return right[torch.arange(T - 1) >= drawn[:, None]].float().mean().item()


@torch.no_grad()
def measure(model: Any) -> dict[str, torch.Tensor]:
    """Return the report of the lesson on 500 fresh texts."""
    return lesson.head_report(model, draw(500)[0])


@torch.no_grad()
def on_all_distances(model: Any) -> float:
    """Return the weight that the last layer gives to all places where an answer may stand, whatever the period."""
    ids, drawn = draw(500)
    weights = model(ids)[1][-1].mean(dim=1)  # (B, T, T)
    back = torch.arange(T)[:, None] - torch.arange(T)
    there = (back >= PERIODS[0] - 1) & (back < PERIODS[1])
    return (weights * there).sum(-1)[torch.arange(T) >= drawn[:, None]].mean().item()


def listed(scores: torch.Tensor) -> str:
    """Return the scores of the heads, one layer after the other."""
    return " / ".join(", ".join(f"{each:.2f}" for each in row) for row in scores.tolist())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="rows to print")
    parser.add_argument("--write", action="store_true", help="write the frozen model")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(HEAD)
    began = time.process_time()
    runs = [
        (name, {"seed": seed, **VERSIONS[name]})
        for name in options.names or ([] if options.write else VERSIONS)
        for seed in range(1, SEEDS + 1)
    ]
    runs += [("the frozen model", FROZEN)] if options.write else []
    for name, options_of_run in runs:
        model = train(**options_of_run)
        found = measure(model)
        scores = f"{listed(found['previous'])} | {listed(found['induction'])}"
        row = f"{name}, {options_of_run['seed']} | {accuracy(model):.3f} | {accuracy(model, (12, 12)):.3f} | {scores}"
        print(f"| {row} | {on_all_distances(model):.2f} |", flush=True)
        if name == "the frozen model":
            save_file(model.state_dict(), WEIGHTS)
    print(f"\n{(time.process_time() - began) / len(runs):.0f} s of processor time a row")


if __name__ == "__main__":
    main()
