"""grader.batch: a limit of memory round the judge and its workers together, where the system hands groups on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.batch.processes import memory_group
from grader.batch.processes.memory_group import MemoryGroups, can_limit, own_group


@pytest.fixture
def own(tmp_path) -> Path:
    """A folder like a group that was handed to us."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    return tmp_path


def written(group: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in group.iterdir() if path.is_file()}


def test_a_group_is_divided_and_put_together_again(own):
    """This process moves down, hands limits on, and gives each grading process a group with a limit."""
    groups = MemoryGroups(own)
    assert groups.why_not == ""
    assert written(own)["cgroup.subtree_control"] == "+memory"
    assert written(own / f"selfattend-{os.getpid()}") == {"cgroup.procs": str(os.getpid())}

    groups.add(4711, 10)
    limits = {"memory.max": str(10 << 20), "memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": "4711"}
    assert written(own / "selfattend-grading-4711") == limits

    for file in [*own.glob("selfattend-*/*")]:  # of a real group they need not be removed
        file.unlink()
    (own / "selfattend-grading-4711").rmdir()
    groups.close()
    assert (written(own)["cgroup.subtree_control"], written(own)["cgroup.procs"]) == ("-memory", str(os.getpid()))
    assert not [*own.glob("selfattend-*")]


def test_where_there_is_no_group_of_ones_own_it_is_said(own, tmp_path, monkeypatch):
    """No cgroup v2, no limit to hand on, a group that cannot be divided: nothing is left behind, nothing is done."""
    monkeypatch.setattr(memory_group, "END_SECONDS", 0.1)
    (own / "cgroup.controllers").write_text("cpu pids\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/cgroup.controllers").write_text("memory\n")
    (tmp_path / "other/cgroup.subtree_control").mkdir()  # cannot be written
    for place, why in ((None, "no cgroup v2"), (own, "no limits of memory"), (tmp_path / "other", "not ours")):
        groups = MemoryGroups(place)
        assert why in groups.why_not
        groups.add(4711, 10)
        groups.remove(4711)
        groups.close()
        assert not place or not [*place.glob("selfattend-grading-*")]


@pytest.mark.parametrize(
    ("mountinfo", "cgroup", "found"),
    [
        ("25 30 0:23 / /cgroup rw - cgroup2 cgroup2 rw", "0::/user.slice/a.scope", "/cgroup/user.slice/a.scope"),
        ("41 31 0:38 / /cgroup/unified rw,x shared:1 - cgroup2 none rw", "4:memory:/x\n0::/", "/cgroup/unified"),
        ("25 30 0:23 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory", "4:memory:/x", None),
    ],
)  # fmt: skip
def test_the_own_group_is_found(tmp_path, mountinfo, cgroup, found):
    """By what the kernel says of this process, wherever the groups are mounted."""
    (tmp_path / "mountinfo").write_text(f"1 0 0:1 / /proc rw - proc proc rw\n{mountinfo}\n")
    (tmp_path / "cgroup").write_text(f"{cgroup}\n")
    assert own_group(tmp_path) == (Path(found) if found else None)
    assert own_group(tmp_path / "nothing") is None


def test_a_real_group_ends_what_takes_too_much():
    """The kernel kills a process that takes more than its group may have."""
    groups = MemoryGroups(own_group())
    if groups.why_not:
        pytest.skip(f"needs a control group of its own with the memory controller: {groups.why_not}")
    try:
        assert can_limit(groups)
    finally:
        groups.close()
