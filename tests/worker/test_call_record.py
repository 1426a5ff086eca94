"""A record of calls holds each of them, or is not believed; nothing that `sys` hands out ends one."""

from __future__ import annotations

import statistics
import subprocess
import sys

import pytest

from grader.worker.watch.call_record import CallRecord

# numpy's place alone, so that it runs on any Python; in a process of its own, for what is taken away stays away
ENDED = """
import gc, statistics, sys, types
sys.modules["numpy"] = types.ModuleType("numpy")
sys.modules["numpy"].__file__ = "/nowhere/site-packages/numpy/__init__.py"
from grader.worker.watch import call_record
monitoring = sys.monitoring
real = {name: getattr(monitoring, name) for name in call_record.ENDING if hasattr(monitoring, name)}
call_record.take_away(gc.get_objects)
record = call_record.CallRecord()
for _ in range(2):
    with record:
        statistics.median([1, 2])
print(record.may_hold(("median",)), record.may_hold(("mode",)), sys.getprofile())
print([name for name in real if hasattr(monitoring, name)] != [])
for name, given in (("set_events", (2, 0)), ("free_tool_id", (2,))):
    record = call_record.CallRecord()
    with record:
        real[name](*given)
        statistics.median([1, 2])
    print(record.may_hold(("mode",)))
"""


def median():
    """Call what lies in Python's own library."""
    return statistics.median([1, 2])


def test_a_record_holds_what_was_called():
    """In whatever order, and of several uses together."""
    record = CallRecord()
    for _ in range(3):
        with record:
            median()

    assert record.may_hold(("median",)) and not record.may_hold(("mode",))


def test_a_record_from_which_calls_are_erased_is_not_believed():
    """The call that is made at each end has to be there as often as that."""
    record = CallRecord()
    with record:
        median()
    record._profiler.clear()
    with record:
        pass

    assert record.may_hold(("mode",))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12, whose profiler is told by `sys.monitoring`")
def test_nothing_in_sys_monitoring_ends_a_record():
    """What could is not there any more; and were it kept from before, the record would not be believed."""
    done = subprocess.run([sys.executable, "-c", ENDED], capture_output=True, text=True, timeout=60)

    assert done.stdout.split("\n")[:-1] == ["True False None", "False", "True", "True"], done.stdout + done.stderr
