"""Measure what isolation costs: one submission's worker, from its request to its end, under each set of layers.

    python benchmarks/isolation.py [ROUNDS]

The sets take turns within each round, in random order, so that a slow moment of the machine hits all of them; what is
added is the median over the rounds of the difference within a round. A submission is one small call in PyTorch, beside
which the cost of a layer shows best.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from measure import ROOT, describe_machine

from grader.course.load_course import load
from grader.judge.processes import bubblewrap
from grader.judge.processes.isolation_policy import policy_for
from grader.judge.processes.launcher import ForkServerLauncher, start_launcher
from grader.worker import isolation

COURSE = load(ROOT)
SOURCE = "import torch\ndef f(n):\n    return torch.ones(n).softmax(0).sum().item()\n"
# fmt: off
LOAD: dict[str, Any] = {
    "name": "work", "path": "work.py", "source": SOURCE, "siblings": {}, "forbids": [], "names": ["f"],
    "device": "cpu", "shared": False,
}
# fmt: on
NOTHING, ALL, BOXED = "no layer", "all layers", "all layers, in bubblewrap"
LIMIT = 5.0  # milliseconds that all layers and bubblewrap may add to a submission
STARTS = 5


def main() -> int:
    """Print the tables; 1 if the limit is passed."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    describe_machine()
    starting()
    with launched(sandbox=False) as plain, launched(sandbox=True) as boxed:
        sets = sets_of_layers(plain, boxed)
        times: dict[str, list[float]] = {name: [] for name in sets}
        order = random.Random(1)
        for round_number in range(rounds + 3):
            for name in order.sample(list(sets), len(sets)):
                milliseconds = one_submission(*sets[name]) * 1000
                if round_number >= 3:  # the first ones warm the caches
                    times[name].append(milliseconds)
    return 0 if show(times) <= LIMIT else 1


@contextmanager
def launched(sandbox: bool) -> Iterator[ForkServerLauncher]:
    """Start a fork server and wait until it is ready."""
    launcher = start_launcher(COURSE.arrays, policy_for(COURSE, "cpu"), COURSE.limits, sandbox=sandbox)
    if not isinstance(launcher, ForkServerLauncher):
        raise SystemExit("workers are not forked on this system: there is nothing to compare")
    try:
        launcher.greet()
        yield launcher
    finally:
        launcher.close()


def sets_of_layers(
    plain: ForkServerLauncher, boxed: ForkServerLauncher
) -> dict[str, tuple[ForkServerLauncher, dict[str, Any]]]:
    """Return launcher and policy of each set by its name."""
    full = plain.policy

    def without(layers: set[str]) -> dict[str, Any]:
        return {**full, "layers": [layer for layer in full["layers"] if layer not in layers]}

    sets = {NOTHING: (plain, without(set(full["layers"]))), ALL: (plain, full)}
    for layer in full["layers"]:
        sets[f"all but {layer}"] = (plain, without(isolation.with_dependents([layer])))
    if not boxed.no_sandbox:
        sets["bubblewrap alone"] = (boxed, without(set(full["layers"])))
        sets[BOXED] = (boxed, full)
    return sets


def one_submission(launcher: ForkServerLauncher, policy: Mapping[str, Any]) -> float:
    """Measure the seconds from asking for a worker to its end, with one call in between."""
    started = time.perf_counter()
    worker = launcher.lease(policy)
    worker.request("load", **LOAD)
    if "value" not in worker.request("call", target="f", args=[3], kwargs={}):
        raise SystemExit("the submission did not work")
    worker.close()
    launcher._exit_code(worker.pid)
    return time.perf_counter() - started


def show(times: Mapping[str, list[float]]) -> float:
    """Print the table of milliseconds; return what all layers add."""
    base = statistics.median(times[NOTHING])
    print(f"\nOne submission's worker, {len(times[NOTHING])} rounds")
    print(f"  {'':<32}{'median':>10}{'ratio':>8}{'added':>11}")
    added = {}
    for name, values in times.items():
        median = statistics.median(values)
        added[name] = statistics.median(here - there for here, there in zip(values, times[NOTHING], strict=True))
        print(f"  {name:<32}{median:>7.2f} ms{median / base:>8.2f}{added[name]:>+8.2f} ms")
    everything = added.get(BOXED, added[ALL])
    print(f"\nAll of it adds {everything:.2f} ms to a submission (limit {LIMIT:g} ms)")
    return everything


def starting() -> None:
    """Print what bubblewrap adds to the start of a run, once for each grading process."""
    reason = bubblewrap.why_not()
    if reason:
        print(f"\nNo bubblewrap here: {reason}")
        return
    times: dict[bool, list[float]] = {False: [], True: []}
    probes = []
    for _ in range(STARTS + 1):
        bubblewrap._probe.cache_clear()
        started = time.perf_counter()
        bubblewrap.why_not()
        probes.append(time.perf_counter() - started)
        for sandbox, values in times.items():
            started = time.perf_counter()
            with launched(sandbox):
                values.append(time.perf_counter() - started)
    plain, boxed = (statistics.median(values[1:]) * 1000 for values in times.values())
    print(f"\nThe workers' parent is ready, {STARTS} rounds")
    print(f"  {'plain':<32}{plain:>7.0f} ms{1:>8.2f}")
    print(f"  {'in bubblewrap':<32}{boxed:>7.0f} ms{boxed / plain:>8.2f}{boxed - plain:>+8.0f} ms")
    print(f"  {'asking whether it works':<32}{statistics.median(probes[1:]) * 1000:>7.1f} ms")


if __name__ == "__main__":
    sys.exit(main())
