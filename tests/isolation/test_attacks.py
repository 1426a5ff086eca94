"""Hostile hand-ins, graded as a class is: none gains, none disturbs another, none survives, none leaves a trace."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from attacks import table
from attacks.attack import Attack, Seen, attacks
from attacks.attacked_class import AttackedClass, breaches
from attacks.canaries import Canaries
from support import outer_sandbox
from support.course_files import ROOT
from support.repeat import rarely

from grader.worker.isolation.drop_privileges import is_root, why_unavailable

USUAL_COLUMNS = ("all layers", "without landlock", "without seccomp", "without namespaces", "--isolation process")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: the layers under attack are its own")


def of_each_entry(count: int) -> list[Attack]:
    """So many attacks of each entry in the list of threats."""
    of_entry = {entry: [attack for attack in attacks() if attack.entry == entry] for entry in table.ENTRIES}
    return [attack for some in of_entry.values() for attack in some[:count]]


LONG = [attack for attack in attacks() if attack.name == "has_a_hundred_thousand_members"]


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """A folder that anybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="attacks-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def attacked(ground) -> Iterator[Callable[[str], AttackedClass]]:
    """The grading process for a course, with all layers; started when it is first asked for."""
    with ExitStack() as stack:
        canaries = Canaries(ground / "canaries")
        stack.callback(canaries.close)
        classes: dict[str, AttackedClass] = {}

        def get(name: str) -> AttackedClass:
            if name not in classes:
                classes[name] = AttackedClass(name, ground, canaries)
                stack.callback(classes[name].process.close)
                classes[name].begin()
            return classes[name]

        yield get


@pytest.mark.parametrize(
    "attack", rarely(attacks(), of_each_entry(1), LONG), ids=lambda attack: f"{attack.course}/{attack.name}"
)
def test_an_attack_is_answered_as_its_file_says(attack: Attack, attacked):
    """It gets the verdict that is due, no more points than that, and nothing and nobody else notices."""
    target = attacked(attack.course)

    result = target.grade(attack)

    for lesson, wanted in attack.seen.items():
        assert_seen(wanted, result.record["lessons"][lesson])
        assert breaches(result.record, lesson) == []
        assert attack.prints in result.record["lessons"][lesson]["output"]
    assert result.harm == []
    assert target.grade_honest() == target.honest


def assert_seen(wanted: Seen, found: dict[str, Any]) -> None:
    mistakes = [mistake["id"] for mistake in found["mistakes"]]
    got = Seen(found["state"], found["score"], mistakes[0] if mistakes else "")
    told = [(check["outcome"], check["message"][:200]) for check in found["checks"]][:3]
    assert got.state != "grader-error" and all(check["outcome"] != "grader-error" for check in found["checks"]), told
    if wanted.at_most:
        assert got.score is not None and got.score <= wanted.score, told
    else:
        assert got == wanted, (told, found["mistakes"][:1])


def test_there_are_attacks_of_every_kind():
    """At least forty, each with its own words, and of every entry in the list of threats."""
    assert len(attacks()) >= 45
    assert len({attack.tries for attack in attacks()}) == len(attacks())
    assert {attack.entry for attack in attacks()} == set(table.ENTRIES)


def test_a_secret_in_the_parent_of_the_workers_would_be_found(ground):
    """The control of the attack that scans its memory: what the fork server has seen, a worker finds."""
    inherits = next(attack for attack in attacks() if attack.name == "inherits")
    (found,) = table.measure(ground, [inherits], isolation="available", secret_in_fork_server=True).values()

    assert found == ["find the secret in its memory"]


@pytest.mark.slow
@pytest.mark.skipif(bool(table.other_machine()), reason=table.other_machine() or "-")
@pytest.mark.parametrize("column", rarely(table.COLUMNS, USUAL_COLUMNS))
def test_the_table_of_layers_is_true(column, ground):
    """With each layer left out in turn, exactly that gets through which the table says."""
    assert table.measure_column(column, ground) == table.recorded()[column]


@pytest.mark.parametrize("column", [column for column in table.COLUMNS if column.startswith("without namespaces and")])
def test_hostile_code_runs_without_isolation_in_the_outer_sandbox_only(column, ground):
    """Outside of it no grading process is started for an attack where the file system or the network may be open."""
    for left_out in (table.COLUMNS[column], table.COLUMNS["--isolation process"]):
        with pytest.raises(RuntimeError, match="outer sandbox"):
            table.measure(ground, table.scouts(), **left_out)


def test_an_attack_that_changes_the_course_gets_no_verdict():
    """Where nothing keeps it from that, the verdict that was being made is withheld, and says why.

    Workers of root's that can give that up cannot change the course at all.
    """
    gives_up_root = is_root() and not why_unavailable([sys.base_prefix, sys.prefix, str(ROOT)])
    withheld = pytest.raises(AssertionError, match="the course's files were changed while it was in use")
    code = "measure(Path('/tmp'), scouts(), isolation=outer_sandbox.ON_TRUST, watched=True)"
    start = "from pathlib import Path; from attacks.table import measure, outer_sandbox, scouts"
    with nullcontext() if gives_up_root else withheld:
        outer_sandbox.run(f"{start}; {code}")


def test_no_other_test_asks_for_no_isolation():
    """Whoever grades without isolation in a test is one of these, where the code is ours, or in the sandbox."""
    asks = re.compile(r"""isolation[= "',]+process|"process(-as-root)?"|ON_TRUST""")
    found = {path.name for path in ROOT.glob("tests/**/*.py") if asks.search(path.read_text())}
    assert found <= {
        "attacked_class.py", "outer_sandbox.py", "hand_ins.py", "class_results.py", "table.py", "tries_kernel_doors.py",
        "test_attacks.py", "test_changed_course.py", "test_doctor_isolation.py", "test_exports.py",
        "test_isolation_policy.py", "test_old_databases.py",
    }  # fmt: skip
