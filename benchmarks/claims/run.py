"""Do the lessons and the questions' explanations say what can be measured?

    python benchmarks/claims/run.py [FILE.py ...]

A claim is a function of a file beside this one. Its docstring quotes it, a line each time that it stands somewhere:
`attention.md: the sentence`, `gradients.quiz.toml: the sentence`. It asserts and returns what it found.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
LESSONS = HERE.parents[1] / "lessons"

Claim = Callable[[], str]


def files() -> list[Path]:
    """The files of claims."""
    return sorted(set(HERE.glob("*.py")) - {Path(__file__).resolve()})


def claims_of(path: Path) -> Iterator[Claim]:
    """The public functions of a file, in its order; imports are none."""
    spec = importlib.util.spec_from_file_location(f"claims_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in vars(module).items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield value


def quotes(claim: Claim) -> Iterator[tuple[str, str]]:
    """What a claim quotes: the name of a file under lessons/, and words that stand there."""
    for line in inspect.cleandoc(claim.__doc__ or "").splitlines():
        name, _, words = line.partition(": ")
        yield name, words


def missing_quotes(claim: Claim) -> list[str]:
    """The quotes that stand no longer where a claim says; all of a claim that quotes nothing."""
    missing = [claim.__name__] if not claim.__doc__ else []
    for name, words in quotes(claim):
        paths = list(LESSONS.rglob(name))
        if not (words and any(" ".join(words.split()) in " ".join(path.read_text("utf-8").split()) for path in paths)):
            missing.append(f"{name}: {words}")
    return missing


def measure(claim: Claim) -> str:
    """Run a claim from a fixed seed and return what it found. Raises AssertionError if that contradicts it."""
    torch.manual_seed(0)
    return claim()


def main() -> None:
    """Print what each claim found; exit with 1 if one is contradicted, or stands nowhere."""
    torch.set_num_threads(1)
    failed = 0
    for path in [HERE / name for name in sys.argv[1:]] or files():
        print(f"\n{path.name}")
        began = time.process_time()
        for claim in claims_of(path):
            try:
                found = measure(claim)
            except AssertionError as error:
                found, failed = f"CONTRADICTED {error}", failed + 1
            print(f"  {claim.__name__.replace('_', ' ')}: {found}")
            for quote in missing_quotes(claim):
                failed += 1
                print(f"    STANDS THERE NO LONGER  {quote}")
        print(f"  ({time.process_time() - began:.1f} s of CPU time)")
    sys.exit(min(failed, 1))


if __name__ == "__main__":
    main()
