"""Calibrate the bands of a run: train the reference on many seeds and two numbers of threads, and each wrong version.

    python benchmarks/bands.py                        the table of bands.md; about 15 minutes of one thread
    python benchmarks/bands.py --threads --each 1     one run of each wrong version
    python benchmarks/bands.py --lesson sort_numbers  another capstone than two_bits

The upper end of a band is the mean + 4 standard deviations of the reference's losses, the lower end the floor - 3
standard errors of a measurement; of a share that is to be reached it is the mean - 4 standard deviations. A wrong
version is of use to the band if it always lies outside.
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

SOLUTIONS = Path(__file__).parents[1] / "solutions"
KINDS = {
    "two_bits": {"TwoBits": "class", "fit": "function"},
    "sort_numbers": {"Sorter": "class", "fit": "function"},
    "induction": {"AttentionOnly": "class", "fit": "function"},
}
_SGD, _ADAMW = "torch.optim.SGD(model.parameters())", "torch.optim.AdamW(model.parameters())"
_KEPT = 'optimizer.param_groups[0]["lr"] ='
MORE: dict[
    str, dict[str, dict[str, str]]
] = {  # steps of `fit` and their lines, beside the known mistakes of the lesson
    "two_bits": {
        "SGD, rate 0.1": {"optimizer": _SGD, "warm": "0.1"},
        "SGD, rate 0.01": {"optimizer": _SGD, "warm": "0.01"},
        "rate 0.3": {"optimizer": _ADAMW, "warm": "0.3"},
        "rate 0.001, no warm-up": {"optimizer": _ADAMW, "warm": "1e-3"},
    },
    "sort_numbers": {
        "SGD, rate 0.1": {"optimizer": _SGD, "rate": f"{_KEPT} 0.1"},
        "rate 0.3": {"optimizer": _ADAMW, "rate": f"{_KEPT} 0.3"},
        "rate 0.00001": {"optimizer": _ADAMW, "rate": f"{_KEPT} 1e-5"},
        "rate 0.003 to the end": {"optimizer": _ADAMW, "rate": f"{_KEPT} 3e-3"},
        "rate 0.001 to the end": {"optimizer": _ADAMW, "rate": f"{_KEPT} 1e-3"},
    },
    "induction": {"rate 0.001": {"optimizer": "torch.optim.AdamW(model.parameters())"}},
}
SHOWN = {
    "tb-no-attention", "tb-no-mask", "tb-large-start", "tb-target-is-input", "tb-two-ahead", "tb-softmax-before-loss",
    "tb-no-zero-grad",
    "so-no-positions", "so-positions-always", "so-causal", "so-no-attention", "so-sorts-itself", "so-answer-is-list",
    "so-sorts-ids", "so-softmax-before-loss", "so-no-zero-grad", "so-same-batch",
    "gp-positions-missing", "gp-not-causal", "at-no-scale", "in-no-residual", "in-layers-read-input",
    "tr-target-is-input", "tr-double-shift", "tr-roll-within-row", "tr-last-token-only", "tr-softmax-before-ce",
    "tr-no-zero-grad", "tr-optimizer-recreated", "in-same-batch", "in-plain-sgd",
}  # fmt: skip
RIGHT = {
    "without positions", "without a network in the block", "of torch's layers",
    "of two layers by hand, with waves", "with a zero table that stays", "with post-LN",
}  # fmt: skip
Figures = dict[str, float]  # of a run, by name


def versions(mistakes: ModuleType, more: dict[str, dict[str, str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the wrong versions and the alternatives by name, as what stands in the place of the reference's."""
    for known in mistakes.MISTAKE_SETS:
        for each in known.mistakes:
            if each.id in SHOWN:
                yield each.id, {known.function: known.build(each.changes, each.version)}
        for each in known.alternatives:
            if each.name in RIGHT:
                yield each.name, {known.function: known.build(each.changes, each.version)}
    for name, changes in more.items():
        yield name, {"fit": mistakes.loop.build(changes)}


def measure_two_bits(checks: ModuleType, subject: LocalModule, rand: Rand) -> Figures:
    """Return the first and the last loss of a run, that on fresh text, and the share of grammatical sentences."""
    model, losses = checks.trained(subject, rand)
    fresh, written = checks.fresh_loss(model, rand), checks.write(model, rand)
    share = sum(map(checks.is_sentence, written)) / max(1, len(written))
    return {"first loss": losses[0], "last loss": losses[-1], "fresh text": fresh, "grammatical": share}


def measure_sort_numbers(checks: ModuleType, subject: LocalModule, rand: Rand) -> Figures:
    """Return the losses of a run, the lists and places that are right, and the same of a run without positions."""
    model, losses, order, _ = checks.trained(subject, rand)
    exact, places, _ = checks.judge_sorting(model, order, rand)
    plain, _, order, _ = checks.trained(subject, rand, positions=False)
    lists, _ = checks.draw_lists(rand, order, 64)
    moved = checks.difference_when_reordered(plain, lists, torch.argsort(rand(checks.T)))
    found, places_without, loss = checks.judge_sorting(plain, order, rand)
    return {
        "first loss": losses[0], "last loss": losses[-1], "sorted": exact, "places": places.mean().item(),
        "without: sorted": found, "places ": places_without.mean().item(), "loss": loss, "reordered": moved,
    }  # fmt: skip


def measure_induction(checks: ModuleType, subject: LocalModule, rand: Rand) -> Figures:
    """Return the losses of a run, how often it is right, and the best scores of the heads that are judged."""
    reference = LocalModule(
        dict(vars(load_file(SOLUTIONS / "analysis/induction.py"))), KINDS["induction"] | {"head_report": "function"}
    )
    losses, right, report, _ = checks.trained(subject, reference, rand)
    below, above = report["induction"].amax(-1).tolist()
    return {
        "first loss": losses[0], "last loss": losses[-1], "right": right,
        "previous, layer 0": report["previous"][0].max().item(), "induction, layer 0": below, "layer 1": above,
    }  # fmt: skip


MEASURES = {"two_bits": measure_two_bits, "sort_numbers": measure_sort_numbers, "induction": measure_induction}


def is_inside(checks: ModuleType, found: Figures) -> bool:
    """The figures of a run are those of a right version."""
    if "fresh text" in found:
        return bool(checks.BAND[0] <= found["fresh text"] <= checks.BAND[1])
    if "right" in found:
        heads = found["previous, layer 0"] >= checks.LOOKS_BACK and found["layer 1"] >= checks.LOOKS_AHEAD
        return bool(found["right"] >= checks.RIGHT and heads and found["induction, layer 0"] <= checks.NOT_BELOW)
    low, high = checks.BAND_WITHOUT
    is_plain = found["without: sorted"] <= checks.MOST_WITHOUT and found["reordered"] < 1e-5
    return bool(found["sorted"] >= checks.LEAST and is_plain and low <= found["loss"] <= high)


def floor_error(checks: ModuleType, seeds: int) -> float:
    """Return the standard deviation that a judgement has of the loss of whoever knows all that can be known."""
    if not hasattr(checks, "text"):
        return stdev(_loss_without_places(checks, Rand(seed)) for seed in range(seeds))
    losses = []
    for seed in range(seeds):
        ids = checks.text(Rand(seed), 840 * 24)
        # a verb has 4 continuations, a determiner 2, an adjective or noun 8, a full stop 1: 2, 1, 3 and 0 bits
        bits = sum(1 if word < 2 else 3 if word < 14 else 2 if word < 22 else 0 for word in ids.tolist())
        losses.append(bits / len(ids) * torch.log(torch.tensor(2.0)).item())
    return stdev(losses)


def _loss_without_places(checks: ModuleType, rand: Rand) -> float:
    """The loss on fresh lists of a share for each number: how often it is there."""
    lists, answers = checks.draw_lists(rand, torch.arange(checks.V), checks.FRESH)
    shares = (answers[:, :, None] == lists[:, None, :]).double().mean(-1)
    return -shares.log().mean().item()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lesson", choices=list(KINDS), default="two_bits")
    parser.add_argument("--seeds", type=int, default=20, help="of the reference, with each number of threads")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2], help="numbers of threads; none: no reference")
    parser.add_argument("--each", type=int, default=3, help="seeds of each wrong version")
    parser.add_argument("--steps", type=int, help="another number than the judged run has")
    options = parser.parse_args()
    name = options.lesson
    folder = next(SOLUTIONS.glob(f"*/{name}.py")).parent
    checks, mistakes = load_file(folder / f"test_{name}.py"), load_file(folder / f"{name}_mistakes.py")
    reference = dict(vars(load_file(folder / f"{name}.py")))
    checks.STEPS = options.steps or checks.STEPS

    def measure(namespace: dict[str, Any], seed: int, threads: int) -> Figures:
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        return MEASURES[name](checks, LocalModule(namespace, KINDS[name]), Rand(seed))

    began, found = time.process_time(), list[Figures]()
    for threads in options.threads:
        found += [measure(reference, seed, threads) for seed in range(1, options.seeds + 1)]
        _say(f"reference, {threads} thread{'s' * (threads > 1)}", found[-options.seeds :])
    if len(found) > 1:
        print(f"{(time.process_time() - began) / len(found):.1f} s of processor time a run", flush=True)
        if hasattr(checks, "FLOOR"):
            print(f"floor - 3 standard errors: {checks.FLOOR - 3 * floor_error(checks, 50):.4f}")
        for figure in found[0]:
            values = [each[figure] for each in found]
            far = 4 * stdev(values)
            print(
                f"{figure}: {min(values):.4f} to {max(values):.4f}, mean ± 4 standard deviations "
                f"{mean(values) - far:.4f} to {mean(values) + far:.4f}",
                flush=True,
            )
    for title, changed in versions(mistakes, MORE[name]) if options.each else ():
        runs = [measure(reference | changed, seed, 1) for seed in range(1, options.each + 1)]
        _say(title, runs, "inside" if any(is_inside(checks, each) for each in runs) else "outside")


def _say(name: str, runs: list[Figures], where: str = "") -> None:
    cells = []
    for figure in runs[0]:
        values = [each[figure] for each in runs]
        cells.append(f"{mean(values):.4g}" + (f" ± {stdev(values):.2g}" if len(values) > 1 else ""))
    print(" | ".join([f"| {name}", *cells, f"{where} |"]), flush=True)


if __name__ == "__main__":
    main()
