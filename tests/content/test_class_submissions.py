"""Classes for benchmarks and tests: the same each time, and as right or wrong as what they are made of."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support import class_submissions as made
from support.factories import course, run_judge
from support.repeat import rarely, repeat

from grader.judge.examination import Judge
from grader.judge.processes.launcher import Launcher
from grader.model import Submission

SEED = 7


def files_in(folder: Path) -> dict[str, str]:
    """Every file below a folder, by its path in it."""
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_seed_always_makes_the_same_class(tmp_path: Path) -> None:
    """Equal seeds make equal files, and a larger class begins with the smaller one; another seed makes another one."""
    for name, count, seed in (("three", 3, 1), ("five", 5, 1), ("other", 3, 2)):
        assert len(made.make_class(tmp_path / name, count, seed)) == count
    three, five, other = (files_in(tmp_path / name) for name in ("three", "five", "other"))

    assert len(three) == 3 * len(course().required_lessons)
    assert three.items() < five.items()
    assert set(three) == set(other)
    assert three != other


@pytest.mark.parametrize("lesson", rarely(made.LESSONS))
def test_what_is_made_is_python_in_other_names(lesson: str) -> None:
    """Every answer can be renamed and disguised into Python, and next to none has no name to change."""
    rng = random.Random(1)
    changed = []
    for source in (source for kind in made.KINDS for source in made.sources(lesson, kind)):
        for other in (made.rename_locals(source, rng), made.disguise(source, rng, {lesson})):
            compile(other, lesson, "exec")
            changed.append(other != source)

    assert sum(changed) >= 0.95 * len(changed)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", rarely(["softmax", "multi_head"]))
@repeat(usual=2, soak=8)
def test_renaming_and_disguise_leave_the_verdict_alone(lesson: str, times: int, launcher: Launcher) -> None:
    """An answer under other names gets the score and the mistakes that it had."""
    words = set(course().lessons[lesson].exercise_path.read_text(encoding="utf-8").replace("(", " ").split())
    prescribed = {word.strip(".,:;`") for word in words} | set(course().lessons[lesson].kinds)

    def verdicts(judge: Judge) -> None:
        rng = random.Random(3)
        for source in [*made.sources(lesson, "right")[: times // 2], *made.sources(lesson, "wrong")[5 : 5 + times]]:
            versions = (source, made.rename_locals(source, rng), made.disguise(source, rng, prescribed))
            results = [
                judge.examine(course().lessons[lesson], Submission(lesson, f"{lesson}.py", version), SEED)
                for version in versions
            ]
            found = [(result.score, {mistake.id for mistake in result.mistakes}) for result in results]
            assert found[0] == found[1] == found[2], source

    run_judge(launcher, lesson, verdicts, known=True)
