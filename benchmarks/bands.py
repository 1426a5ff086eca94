"""Calibrate the bands of a run: train the reference on many seeds and two numbers of threads, and each wrong version.

    python benchmarks/bands.py                 the table of docs/bands.md; about 15 minutes of one thread
    python benchmarks/bands.py --threads --each 1     one run of each wrong version

The upper end of the band is the mean + 4 standard deviations of the reference's losses, the lower end the floor - 3
standard errors of a measurement. A wrong version is of use to the band if all its losses lie outside.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from types import ModuleType
from typing import Any

import torch

from grader.judge.course_files import load_file
from grader.judge.processes.remote_module import LocalModule
from grader.judge.values.random_inputs import Rand

FOLDER = Path(__file__).parents[1] / "solutions/models"
KINDS = {"TwoBits": "class", "fit": "function"}
MORE: dict[str, dict[str, str]] = {  # steps of `fit` and their lines, beside the known mistakes of the lesson
    "SGD, rate 0.1": {"optimizer": "torch.optim.SGD(model.parameters())", "warm": "0.1"},
    "SGD, rate 0.01": {"optimizer": "torch.optim.SGD(model.parameters())", "warm": "0.01"},
    "rate 0.3": {"optimizer": "torch.optim.AdamW(model.parameters())", "warm": "0.3"},
    "rate 0.001, no warm-up": {"optimizer": "torch.optim.AdamW(model.parameters())", "warm": "1e-3"},
}
SHOWN = {
    "tb-no-attention", "tb-no-mask", "tb-large-start", "tb-target-is-input", "tb-two-ahead", "tb-softmax-before-loss",
    "tb-no-zero-grad",
}  # fmt: skip
RIGHT = {"without positions", "without a network in the block", "of torch's layers"}


def versions(mistakes: ModuleType) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the wrong versions and the alternatives by name, as what stands in the place of the reference's."""
    for known in mistakes.MISTAKE_SETS:
        for each in known.mistakes:
            if each.id in SHOWN:
                yield each.id, {known.function: known.build(each.changes, each.version)}
        for each in known.alternatives:
            if each.name in RIGHT:
                yield each.name, {known.function: known.build(each.changes, each.version)}
    for name, changes in MORE.items():
        yield name, {"fit": mistakes.loop.build(changes)}


def measure(checks: ModuleType, namespace: dict[str, Any], seed: int, threads: int) -> tuple[float, ...]:
    """Return the first and the last loss of a run, that on fresh text, and the share of grammatical sentences."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    rand, subject = Rand(seed), LocalModule(namespace, KINDS)
    model, losses = checks.trained(subject, rand)
    fresh = checks.fresh_loss(model, rand)
    written = checks.write(model, rand)
    return losses[0], losses[-1], fresh, sum(map(checks.is_sentence, written)) / max(1, len(written))


def floor_error(checks: ModuleType, seeds: int) -> float:
    """Return the standard deviation of the loss that the language itself has on a text of the length of a judgement."""
    losses = []
    for seed in range(seeds):
        ids = checks.text(Rand(seed), 840 * 24)
        # a verb has 4 continuations, a determiner 2, an adjective or noun 8, a full stop 1: 2, 1, 3 and 0 bits
        bits = sum(1 if word < 2 else 3 if word < 14 else 2 if word < 22 else 0 for word in ids.tolist())
        losses.append(bits / len(ids) * torch.log(torch.tensor(2.0)).item())
    return stdev(losses)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20, help="of the reference, with each number of threads")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2], help="numbers of threads; none: no reference")
    parser.add_argument("--each", type=int, default=3, help="seeds of each wrong version")
    parser.add_argument("--steps", type=int, help="another number than the judged run has")
    options = parser.parse_args()
    checks, mistakes = load_file(FOLDER / "test_two_bits.py"), load_file(FOLDER / "two_bits_mistakes.py")
    reference = dict(vars(load_file(FOLDER / "two_bits.py")))

    checks.STEPS = options.steps or checks.STEPS
    began, found = time.process_time(), []
    for threads in options.threads:
        found += [measure(checks, reference, seed, threads) for seed in range(1, options.seeds + 1)]
        _say(f"reference, {threads} thread{'s' * (threads > 1)}", found[-options.seeds :])
    if len(found) > 1:
        seconds, fresh = (time.process_time() - began) / len(found), [each[2] for each in found]
        upper, lower = mean(fresh) + 4 * stdev(fresh), checks.FLOOR - 3 * floor_error(checks, 50)
        print(f"band: {lower:.4f} to {upper:.4f}; {seconds:.1f} s of processor time a run; in use: {checks.BAND}")
        print(f"grammatical: least {min(each[3] for each in found):.3f}; in use: {checks.MIN_SENTENCES}", flush=True)
    for name, changed in versions(mistakes):
        runs = [measure(checks, reference | changed, seed, 1) for seed in range(1, options.each + 1)]
        outside = all(not checks.BAND[0] <= each[2] <= checks.BAND[1] for each in runs)
        _say(name, runs, "outside" if outside else "inside")


def _say(name: str, runs: list[tuple[float, ...]], where: str = "") -> None:
    spread = stdev(each[2] for each in runs) if len(runs) > 1 else 0.0
    first, last, fresh, share = (mean(each[part] for each in runs) for part in range(4))
    row = f"| {name} | {first:.2f} | {last:.3f} | {fresh:.3f} ± {spread:.4f} | {share:.0%} | {where} |"
    print(row, flush=True)


if __name__ == "__main__":
    main()
