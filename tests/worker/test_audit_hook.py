"""What ends the watch over calls, or finds it, is refused in a worker, however it was reached and whoever calls it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.factories import course, run_judge

from grader.judge.checks import run_checks
from grader.model import LessonResult, Submission

ANSWER = """
def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    {}
    return e / e.sum(dim, keepdim=True)
"""
DOORS = {
    "the end of the profiler": ("import sys", "sys.setprofile(None)", "sys.setprofile"),
    "the same, in a library's hands": (
        "import contextlib, sys",
        "with contextlib.ExitStack() as s: s.callback(sys.setprofile, None)",
        "sys.setprofile",
    ),
    "a tracer": ("import sys", "sys.settrace(None)", "sys.settrace"),
    "all objects": ("import gc", "gc.get_objects()", "gc.get_objects"),
    "who holds an object": ("import gc", "gc.get_referrers(x)", "gc.get_referrers"),
    "the frames of all threads": ("import sys", "sys._current_frames()", "sys._current_frames"),
    "a frame": ("import sys", "sys._getframe(1)", "sys._getframe"),
    "a frame, in an annotation that a library evaluates": (
        "import typing\ndef hints(it: '__import__(\"sys\")._getframe()'): pass",
        "typing.get_type_hints(hints)",
        "builtins.exec",
    ),
    "a frame, by a function of Python's": ("import inspect", "inspect.currentframe()", "sys._getframe"),
    "all frames, by another one": ("import inspect", "inspect.stack()", "sys._getframe"),
    "a frame, by what logs": ("import logging", "logging.currentframe()", "sys._getframe"),
    "frames, by what prints a traceback": ("import traceback", "list(traceback.walk_stack(None))", "sys._getframe"),
    "a frame, in a library's hands": (
        "import contextlib, sys",
        "with contextlib.ExitStack() as s: s.callback(sys._getframe)",
        "sys._getframe",
    ),
    "a frame, as a default that a library makes": (
        "import dataclasses, sys\n@dataclasses.dataclass\nclass A:\n"
        "    n: int = dataclasses.field(default_factory=sys._getframe)",
        "A()",
        "sys._getframe",
    ),
    "a text": ("", "exec('y = 1')", "builtins.compile"),
    "a text that is made code": ("", "compile('y', '', 'eval')", "builtins.compile"),
    "a text in an annotation": (
        "import typing\ndef hints(it: '[n for n in (1,)] and int'): pass",
        "typing.get_type_hints(hints)",
        "builtins.exec",
    ),
    "the same, by the object that typing makes of it": (
        "import typing",
        "typing.ForwardRef('int')._evaluate({}, {}, frozenset())",
        "builtins.exec",
    ),
    "the same, by its code": (
        "import types, typing",
        "types.FunctionType(typing.ForwardRef('len(())').__forward_code__, {})",
        "function.__new__",
    ),
    "its code, in a library's hands": (
        "import contextlib, types, typing",
        "n = typing.ForwardRef('n').__forward_code__\n"
        "    with contextlib.ExitStack() as s: s.callback(types.FunctionType, n, {})",
        "function.__new__",
    ),
    "a text in the signature of a function": (
        "import inspect\ndef hints(it: 'int'): pass",
        "inspect.signature(hints, eval_str=True)",
        "builtins.compile",
    ),
    "lines that dataclasses run": (
        "import dataclasses",
        "getattr(dataclasses, '_create_fn', exec)('f', [], ['pass'])",
        "builtins.compile",
    ),
    "a field whose name is a text": (
        "import dataclasses\nclass A:\n    __annotations__ = {'n, m=len(())': int}",
        "dataclasses.dataclass(A)",
        "builtins.compile",
    ),
    "a field whose name writes another text": (
        "import dataclasses\nclass N(str):\n    def __format__(self, _):\n        return 'n, m=len(())'\n"
        "class A:\n    __annotations__ = {N('n'): int}",
        "dataclasses.dataclass(A)",
        "builtins.compile",
    ),
    "a text whose time is taken": ("import timeit", "timeit.timeit('1', number=1)", "builtins.compile"),
    "a text that a mock runs": (
        "from unittest import mock\ndef f(n): pass",
        "mock.create_autospec(f)",
        "builtins.compile",
    ),
    "a text by the machinery of imports": (
        "import importlib.machinery as m",
        "m.SourceFileLoader('a', 'a.py').source_to_code(b'1', 'a.py')",
        "builtins.compile",
    ),
    "a text in a module's place": (
        "import sys, importlib.machinery as m\nclass L(m.SourceFileLoader):\n"
        "    def path_stats(self, _): raise OSError\n    def get_data(self, _): return b'y = 1'\n"
        "class F:\n    def find_spec(n, *_): return m.ModuleSpec(n, L(n, m.__file__)) if n == 'made' else None",
        "sys.meta_path.append(F)\n    import made",
        "builtins.compile",
    ),
    "a text in a loader's place": (
        "import functools, sys, types\nclass S(dict):\n    name, submodule_search_locations = 'made', None\n"
        "    loader = types.SimpleNamespace(exec_module=len, create_module=functools.partial(eval, '1'))\n"
        "class F:\n    def find_spec(n, *_): return S() if n == 'made' else None",
        "sys.meta_path.append(F)\n    import made",
        "builtins.compile",
    ),
    "a function of the interpreter's": ("import ctypes", "ctypes.pythonapi.PyThreadState_Get", "ctypes.dlsym"),
    "the memory": ("import ctypes", "ctypes.c_uint8.from_address(id(x))", "ctypes.cdata"),
    "the bytes at an address": ("import ctypes", "ctypes.string_at(id(x), 8)", "ctypes.string_at"),
    "a library in C": ("import ctypes", "ctypes.CDLL(None)", "ctypes.dlopen"),
    "other code": ("f = softmax", "f.__code__.replace(co_names=())", "code.__new__"),
    "the frame of an error": (
        "",
        "try: 1 / 0\n    except ZeroDivisionError as e: e.__traceback__.tb_frame",
        "object.tb_frame",
    ),
    "the frame of a generator": ("", "(n for n in ()).gi_frame", "object.gi_frame"),
    "another code for a function": ("f = lambda: 1", "f.__code__ = softmax.__code__", "object.__code__"),
    "a pickle": ("import pickle", "pickle.loads(b'cmath\\nsqrt\\n.')", "pickle.find_class"),
}
HONEST = {
    "classes that a library makes": (
        "import collections, dataclasses, enum",
        "dataclasses.make_dataclass('A', ['n'])(1); collections.namedtuple('B', 'n')(1); enum.Enum('C', 'D')",
    ),
    "a traceback that is printed": (
        "import traceback",
        "try: 1 / 0\n    except ZeroDivisionError: traceback.format_exc()",
    ),
    "a warning": ("import warnings", "warnings.warn('here')"),
    "annotations that are texts": (
        "from typing import NamedTuple, Optional, Protocol, TypedDict",
        "Optional['A']; NamedTuple('B', [('n', 'A')])(1); TypedDict('C', {'n': 'A'})\n    class D(Protocol): n: 'A'",
    ),
    "annotations that are types": ("import typing\ndef hints(it: int): pass", "typing.get_type_hints(hints)"),
    "classes of data": (
        "from dataclasses import dataclass, field",
        "@dataclass(frozen=True, order=True)\n    class A:\n        n: 'int' = 1\n"
        "    @dataclass(slots=True, kw_only=True, unsafe_hash=True)\n    class B:\n        m: 'A' = field(default=1)\n"
        "    B(m=A(2)) == B(), hash(B()), repr(B()), A() < A(2)",
    ),
    "a record in a log": ("import logging", "logging.getLogger('a').warning('here')"),
    "a stack that is printed": ("import traceback", "traceback.format_stack(); traceback.extract_stack()"),
    "the step of an optimizer": (
        "import torch",
        "p = torch.ones(3, requires_grad=True); p.sum().backward(); torch.optim.Adam([p]).step()",
    ),
    "arrays that share their memory": (
        "import io, numpy, torch",
        "a = torch.from_numpy(numpy.ones(3)).numpy(); a.ctypes.data; numpy.frombuffer(a.tobytes()); "
        "torch.frombuffer(bytearray(8), dtype=torch.float32); torch.save(torch.ones(3), io.BytesIO())",
    ),
    "batches": (
        "import torch.utils.data as d, torch",
        "list(d.DataLoader(d.TensorDataset(torch.ones(4)), batch_size=2))",
    ),
    "functions in others' hands": (
        "import contextlib, functools\n@contextlib.contextmanager\ndef held():\n    yield\n"
        "@functools.singledispatch\ndef f(n): pass\n@f.register\ndef _(n: int): pass",
        "functools.lru_cache(functools.wraps(f)(functools.partial(f, 1)))()\n    with held(): f(1)",
    ),
    "a module that is imported late": ("", "import importlib; importlib.import_module('timeit'); import fractions"),
    "a class of texts that makes another": (
        "import collections, dataclasses",
        "dataclasses.make_dataclass('A', [('n', type, dataclasses.field(default_factory=lambda: "
        "collections.namedtuple('B', 'm')))])()",
    ),
}
REACHED = """
import numpy, torch
from grader.worker.watch.audit_hook import guard_watch
exec(compile("def end(guard):\\n    guard((), None)", "softmax.py", "exec"))
guard_watch({"softmax.py"}, seen := [])
try:
    end(guard_watch)
except BaseException as error:
    print(type(error).__name__, seen)
guard_watch((), None)
"""


@pytest.fixture
def grade(launcher, monkeypatch):
    """Grade an answer as if no reader of the source had seen anything."""
    monkeypatch.setattr(run_checks, "find_forbidden_calls", lambda *_, **__: {})

    def of(top: str, line: str) -> LessonResult:
        source = f"{ANSWER.format(line)}\n{top}\n"
        hand_in = Submission("softmax", "softmax.py", source)
        found: LessonResult = run_judge(
            launcher, "softmax", lambda judge: judge.examine(course().lessons["softmax"], hand_in, 7)
        )
        return found

    return of


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_refused_within_a_call(grade, door):
    """Every check that calls it ends there, and is told at what."""
    top, line, name = DOORS[door]
    result = grade(top, line)

    assert result.score == 1.0 and [mistake.id for mistake in result.mistakes] == ["forbidden-call"]
    assert f"It uses `{name}`, behind which" in next(check.message for check in result.checks if not check.passed)


@pytest.mark.parametrize("door", ["the end of the profiler", "all objects", "other code"])
def test_a_door_is_refused_while_the_file_is_loaded(grade, door):
    """It does not help to swallow the refusal."""
    top, line, _ = DOORS[door]
    result = grade(f"{top}\nx = 1\ntry:\n    {line}\nexcept BaseException:\n    pass", "pass")

    assert result.score == 1.0 and [mistake.id for mistake in result.mistakes] == ["forbidden-call"]


def test_doctest_is_told_by_its_name(grade):
    """Whoever runs it knows of no tracer. It runs where a function reads a name that the same statement binds."""
    result = grade("import doctest\nresults, ONE = doctest.testmod(), 1\ndef g():\n    return ONE", "pass")

    assert [mistake.id for mistake in result.mistakes] == ["forbidden-call"]
    assert "it ran `doctest`" in result.mistakes[0].says and "settrace" not in result.mistakes[0].says


def test_who_reaches_the_guard_of_the_watch_cannot_take_it_away():
    """It listens to nobody in whose call a line of the learner's runs."""
    done = subprocess.run([sys.executable, "-c", REACHED], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout == "ForbiddenCall ['sys.addaudithook']\n"


@pytest.mark.parametrize("use", HONEST)
def test_what_libraries_do_is_no_door(grade, use):
    """Classes that a library makes of texts, and warnings that look for their caller, are as they always were."""
    assert grade(*HONEST[use]).score == 10.0
