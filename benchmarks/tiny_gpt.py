"""Train `tiny_gpt` right and wrong, and print what each comes to beside tables of characters: benchmarks/tiny_gpt.md.

python benchmarks/tiny_gpt.py                  every row; about 15 minutes of one thread
python benchmarks/tiny_gpt.py "no mask"        some
python benchmarks/tiny_gpt.py reference --write     and write the reference's weights, in half precision
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from grader.judge.course_files import load_file
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand

SOLUTIONS = Path(__file__).parents[1] / "solutions"
PIECES = {
    "tiny_gpt": "models", "generate": "models", "sampling": "models", "language_batches": "text", "adamw": "training",
    "cross_entropy": "training", "gradient_clipping": "training", "learning_rate": "training",
}  # fmt: skip
Change = Callable[[ModuleType, ModuleType, ModuleType], None]  # of the plan, the checks and the mistakes


def shifted(by: int) -> Change:
    """Take targets so many places ahead."""

    def change(plan: ModuleType, checks: ModuleType, mistakes: ModuleType) -> None:
        def get_batch(data: Any, starts: Any, block_size: int) -> tuple[Any, Any]:
            places = starts[:, None] + torch.arange(block_size)
            return data[places], data[(places + by).clamp(max=len(data) - 1)]

        plan.get_batch = get_batch  # type: ignore[attr-defined]

    return change


def rated(factor: float) -> Change:
    """Multiply the rate."""

    def change(plan: ModuleType, checks: ModuleType, mistakes: ModuleType) -> None:
        lr_at = plan.lr_at
        plan.lr_at = lambda *args: factor * lr_at(*args)  # type: ignore[attr-defined]

    return change


def modelled(**changes: str) -> Change:
    """Write other lines into the model."""

    def change(plan: ModuleType, checks: ModuleType, mistakes: ModuleType) -> None:
        plan.TinyGPT.__bases__ = (mistakes.model.build(changes),)

    return change


def read_all(plan: ModuleType, checks: ModuleType, mistakes: ModuleType) -> None:
    """Train on the last tenth, too."""
    (alphabet, train, held_out), _ = checks.corpus(), checks.tables()  # these are counted, and kept
    checks.corpus = lambda: (alphabet, torch.cat([train, held_out]), held_out)  # type: ignore[attr-defined]


def stopped(steps: int) -> Change:
    """Stop early."""

    def change(plan: ModuleType, checks: ModuleType, mistakes: ModuleType) -> None:
        checks.STEPS = steps  # type: ignore[attr-defined]

    return change


VERSIONS: dict[str, Change] = {
    "reference": lambda *_: None,
    "targets are the inputs": shifted(0),
    "targets two ahead": shifted(2),
    "no mask": modelled(mask="allowed.bool()"),
    "no attention": modelled(pre_sum1="x + 0 * heard"),
    "no positions": modelled(turn_q="q", turn_k="k"),
    "rate x 100": rated(100),
    "rate / 100": rated(0.01),
    "250 steps": stopped(250),
    "the last tenth read, too": read_all,
}


def train(name: str, seed: int = 1, steps: int | None = None) -> tuple[ModuleType, dict[str, Any]]:
    """Train a version as `learn build` does, and return the checks and its weights."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    for piece, track in PIECES.items():
        sys.modules[piece] = load_file(SOLUTIONS / track / f"{piece}.py")
    plan = load_file(SOLUTIONS / "models/tiny_gpt_build.py")
    checks = load_file(SOLUTIONS / "models/test_tiny_gpt.py")
    checks.STEPS = steps or checks.STEPS  # type: ignore[attr-defined]
    VERSIONS[name](plan, checks, load_file(SOLUTIONS / "models/tiny_gpt_mistakes.py"))
    *_, weights = checks.build(LocalModule(vars(plan), {"TinyGPT": "class"}), Rand(seed))
    return checks, weights


def main() -> None:
    """Print a row a version and seed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("versions", nargs="*", default=list(VERSIONS), help="all, unless some are named")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1])
    parser.add_argument("--steps", type=int, help="another number than 2,000")
    parser.add_argument("--write", action="store_true", help="the weights of the last run, beside the reference")
    options = parser.parse_args()
    for name in options.versions:
        for seed in options.seeds:
            began = time.process_time()
            checks, weights = train(name, seed, options.steps)
            seconds = time.process_time() - began
            loss, level, said = checks.verdict(weights)
            read = checks.loss_on(lambda ids: checks.scores(weights, ids), checks.corpus()[1][-16_000:])  # noqa: B023
            row = f"| {name} | {seed} | {loss:.3f} | {read:.3f} | {level or 'refused'} | {said.partition('. ')[2]} |"
            print(row, f"{seconds:.0f} s", flush=True)
    if options.write:
        from safetensors.torch import save_file

        save_file({name: each.half() for name, each in weights.items()}, SOLUTIONS / "models/tiny_gpt.safetensors")


if __name__ == "__main__":
    main()
