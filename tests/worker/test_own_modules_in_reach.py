"""Nothing that a learner's code can come by leads to the worker's own modules, through whatever attributes it walks."""

from __future__ import annotations

import subprocess
import sys

import pytest

WALK = """
import gc, sys, threading, types
from grader.worker import preload
from grader.worker.watch import call_monitor, call_record
call_record.take_away(gc.get_objects)
preload.import_array_library("torch")
from grader.worker import loader, serve
from grader.worker.operations import ModuleHost
from grader.worker.watch.watched_import import WatchedImport

kept = [module for name, module in sys.modules.items() if name.startswith("grader.")]
OURS = {id(vars(module)): module.__name__ for module in kept}
SEALED = call_monitor.SEALED  # it calls in C, and has no attribute for what it calls

def walk(x):
    '''Return what of ours is in reach, and how, but by frames, which the audit hook guards.'''
    import helper
    caught = None
    try:
        x.softmax(0)
    except BaseException as error:
        caught = error
    assert type(caught).__name__ == "ForbiddenCall"
    handed_out = [sys.getprofile(), sys.gettrace(), threading.getprofile(), threading.gettrace()]
    start = [*sys.modules.values(), sys.modules, x, type(caught), caught.args, *handed_out]
    led_to = {id(each): None for each in start}
    waiting, found = start, []
    for each in waiting:  # grows while it is read
        if isinstance(each, (types.FrameType, types.GeneratorType, types.TracebackType)):
            continue
        if id(each) in OURS:
            names, at = [OURS[id(each)]], each
            while (at := led_to[id(at)]) is not None:
                names.append(getattr(at, "__name__", None) or type(at).__name__)
            found.append(" < ".join(names))
            continue
        if type(each) is Profiler:
            found.append(f"the profiler < {type(led_to[id(each)]).__name__}")
        for part in vars(each) if type(each) is SEALED else gc.get_referents(each):
            if id(part) not in led_to and part is not led_to and part is not waiting and part is not OURS:
                led_to[id(part)] = each
                waiting.append(part)
    print(len(waiting) > 100_000, *found, sep="\\n")

code = walk.__code__
serve.hide_modules()
loader.hide_unreadable([])
host = ModuleHost({}, ("softmax",))
siblings = {"helper": ["helper.py", "def f(): pass\\n"]}
importing = WatchedImport(("softmax",), {}, host.blocker.seen)
host.namespace = loader.load("work", "work.py", "import helper\\n", siblings, importing=importing)
for names in call_monitor._ENTRIES.values():
    OURS[id(names)] = "what is known of names"
names = {"gc": gc, "sys": sys, "types": types, "threading": threading, "OURS": OURS, "SEALED": SEALED}
names |= {"Profiler": call_record.Profiler}
host.namespace["walk"] = types.FunctionType(code, vars(sys.modules["work"]) | names)
del code, importing
torch = sys.modules["torch"]
reply = host.perform({"operation": "call", "target": "walk", "args": [torch.zeros(2)], "kwargs": {}})
assert reply["error"]["text"] == "softmax", reply
"""


@pytest.mark.slow
def test_no_attributes_lead_from_a_call_to_the_worker_s_own_modules():
    """From all modules, what it is given, an error that it catches and the profiler; the audit hook guards frames."""
    done = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, timeout=100)

    assert (done.stdout, done.returncode) == ("True\n", 0), done.stdout + done.stderr
