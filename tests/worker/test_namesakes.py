"""What has a forbidden call's name and is none of it: honest code that comes by it is graded as ever."""

from __future__ import annotations

import codecs
import contextlib
import functools
import importlib
import random
import sys
import types
from typing import Any

import pytest
import torch
from support.factories import course
from torch.nn import functional

from grader.source.forbidden_calls import find_forbidden_calls
from grader.source.library_parts import KNOWN_PARTS
from grader.worker.operations import ModuleHost
from grader.worker.watch.call_monitor import matches

X = torch.randn(3, 4)
TESTING = [f"{library}.{part}" for library, parts in KNOWN_PARTS.items() for part in sorted(parts) if "testing" in part]
OF_PYTHON = ("'x'.encode('cp1252')", "Decimal('1.10').normalize()", "unicodedata.normalize('NFC', 'x')")
CALLS = [
    *(f"{name}({name.partition('.')[0]}.ones(1), {name.partition('.')[0]}.ones(1))" for name in TESTING),
    *OF_PYTHON,
]
TOP = "import locale\nimport unicodedata\nfrom decimal import Decimal\n\nimport numpy\nimport torch\n"


def answer(launcher, source, lesson):
    """What a worker of its own answers to a call of `f`, in a file that is loaded with the lesson's list."""
    forbids = list(course().lessons[lesson].forbids)
    assert not find_forbidden_calls(source, ["f"], functools.partial(matches, forbids=tuple(forbids)))
    load = {"name": "work", "path": "work.py", "source": source, "siblings": {}, "names": ["f"], "device": "cpu"}
    with contextlib.closing(launcher.lease()) as worker:
        reply = worker.request("load", **load, forbids=forbids, shared=False)
        return reply if "error" in reply else worker.request("call", target="f", args=[], kwargs={})


@pytest.mark.parametrize("lesson", ["layer_norm", "gradient_clipping"])
@pytest.mark.parametrize("call", CALLS)
def test_what_only_looks_for_a_codec_or_imports_a_module_is_no_offence(launcher, call, lesson):
    """The parts of libraries that test a value, and what Python itself calls `normalize`, run within the call."""
    assert "value" in answer(launcher, f"{TOP}\n\ndef f():\n    {call}\n    return 1\n", lesson)


@pytest.mark.parametrize("lesson", ["activations", "attention_gradient"])
def test_a_tensor_is_compared_without_torch_s_compiler(launcher, lesson):
    """torch's own comparison imports hundreds of modules else, which are full of forbidden names."""
    call = next(call for call in CALLS if call.startswith("torch."))
    assert "value" in answer(launcher, f"{TOP}\n\ndef f():\n    {call}\n    return 1\n", lesson)


@pytest.mark.parametrize("line", ["from numpy.testing import assert_allclose", "PLACE = locale.getlocale()"])
def test_an_import_at_the_top_is_run(launcher, line):
    """A statement that is left out for a call of Python's own would leave its name without a value."""
    name = line.rpartition("import ")[2].partition(" ")[0]
    reply = answer(launcher, f"{TOP}{line}\n\n\ndef f():\n    return str({name})\n", "layer_norm")

    assert "value" in reply


def import_afresh(name):
    """Import a module of Python's own as if it were the first time, and leave what was there."""
    before = sys.modules.pop(name, None)
    try:
        importlib.import_module(name)
    finally:
        sys.modules.update({name: before} if before else {})


def by_a_finder(work, patch):
    finder = types.SimpleNamespace(find_spec=lambda *_: work())
    patch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    import_afresh("colorsys")


def by_a_module(work, patch):
    made: Any = types.ModuleType("made")
    made.__getattr__ = lambda _: work()
    patch.setitem(sys.modules, "made", made)
    exec("from made import anything")


def by_a_base_class(work, patch):
    class Own:
        def __init_subclass__(cls):
            work()

    patch.setattr("logging.Handler", Own)
    import_afresh("logging.handlers")


def by_an_attribute(work, patch):
    named = type("Named", (), {"__set_name__": lambda *_: work()})
    patch.setattr(
        "logging.Handler", types.SimpleNamespace(__mro_entries__=lambda _: (type("Own", (), {"a": named()}),))
    )
    import_afresh("logging.handlers")


def by_what_an_import_calls(work, patch):
    patch.setattr("logging.getLogger", functools.partial(functional.normalize, X))
    import_afresh("concurrent.futures._base")


def by_a_codec(work, patch):
    codecs.register(search := lambda name: work())
    try:
        "x".encode("nowhere_to_be_found")
    finally:
        codecs.unregister(search)


def by_what_does_not_fit_a_codec(work, patch):
    codecs.register_error("own", lambda _: work() and ("", 1))
    "\N{SNOWMAN}".encode("cp1252", "own")


def by_an_end(work, patch):
    held = [type("Ends", (), {"__del__": lambda _: work()})()]
    patch.setattr("logging.getLogger", lambda *_: held.clear())
    import_afresh("concurrent.futures._base")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("route", [
    by_a_finder, by_a_module, by_a_base_class, by_an_attribute, by_what_an_import_calls, by_a_codec,
    by_what_does_not_fit_a_codec, by_an_end,
])  # fmt: skip
def test_what_an_import_or_a_codec_is_made_to_call_counts(route, monkeypatch):
    """A forbidden call is one wherever the learner has Python make it."""

    def f(x):
        with monkeypatch.context() as patch, contextlib.suppress(Exception):
            route(lambda: functional.normalize(X), patch)
        return x

    host = ModuleHost({"f": f}, ("normalize",))
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    host.close()

    assert reply["error"]["text"] == "normalize"


def test_what_python_s_own_library_hands_on_counts():
    """A choice that another function of Python's own makes for the learner is the learner's."""

    def f(x):
        with contextlib.ExitStack() as stack:
            stack.callback(random.Random(1).choices, range(3), x[0].abs().tolist()[:3])
        return x

    host = ModuleHost({"f": f}, ("choices",))
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    host.close()

    assert reply["error"]["text"] == "choices"


@pytest.mark.parametrize("named", ["decimal.Decimal", "unicodedata"])
def test_a_name_of_python_s_own_shields_no_call_of_torch(named, monkeypatch):
    """Whoever calls a class of his own `decimal.Decimal`, or puts another `type` in Python's place, gains nothing."""
    module, _, name = named.rpartition(".")
    own = type(name, (torch.Tensor,), {"__module__": module})

    def f(x):
        with monkeypatch.context() as patch:
            patch.setattr("builtins.type", lambda *_: __import__("decimal").Decimal)
            return x.as_subclass(own).dim()

    host = ModuleHost({"f": f}, ("dim",))
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    host.close()

    assert reply["error"]["text"] == "dim"
