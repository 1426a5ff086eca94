"""What would end the watch over calls without an event of the audit gets nobody a mark, whoever reads the source."""

from __future__ import annotations

import pytest
from support.factories import course, run_judge

from grader.judge.checks import run_checks
from grader.model import LessonResult, Submission

HONEST = """
import torch

def clip_honestly(grads, max_norm):
    kept = [grad for grad in grads if grad is not None]
    norm = torch.sqrt(torch.stack([grad.square().sum() for grad in kept]).sum())
    factor = torch.clamp(max_norm / norm, max=1.0)
    return [None if grad is None else grad * factor for grad in grads], norm
"""
CLIP = "clip_gradients = clip_honestly\n"
# `torch.nn.utils` is watched as all Python is: no operator of torch is blocked for it
TOP = '''
import builtins, collections, contextlib, dataclasses, functools, gc, itertools, linecache, logging, pathlib, re, sys
import threading, traceback, types
import torch
from torch import nn

def whole(grads, max_norm):
    kept = [grad for grad in grads if grad is not None]
    parameters = [nn.Parameter(torch.zeros_like(grad)) for grad in kept]
    for parameter, grad in zip(parameters, kept):
        parameter.grad = grad.clone()
    norm = nn.utils.clip_grad_norm_(parameters, max_norm)
    done = iter([parameter.grad for parameter in parameters])
    return [None if grad is None else next(done) for grad in grads], norm

KEPT, ASKED = [], []

def run_unseen(*given, **named):
    """Stand in another function's place: who calls it may be the watch, which does not watch itself."""
    if ASKED:
        KEPT.append(whole(*ASKED.pop()))
    return FIRST(*given, **named)

def keep(*given, **named):
    KEPT.append([*given, *named.values()])

def has_frame(found):
    return any(has_frame(each) if isinstance(each, (list, tuple)) else "f_back" in dir(each) for each in found)

def here():
    try:
        torch.zeros(1).view(2)
    except RuntimeError as error:
        return error.__traceback__

def clip_gradients(grads, max_norm):
    global FIRST
    {}
    return whole(grads, max_norm)
'''
UNSEEN = """
    ASKED.append((grads, max_norm))
    FIRST = getattr({place}, "{name}")
    {place}.{name} = run_unseen
    try:
        "".isupper(), torch.typename(1), collections.namedtuple("A", "b")
        import {module}
    finally:
        {place}.{name} = FIRST
    return KEPT.pop()
"""
LATER = """
    first = getattr(torch._C, "{name}")
    found, norm = [torch.zeros_like(grad) if grad is not None else None for grad in grads], torch.zeros(())
    def fill():
        right, long = whole(grads, max_norm)
        for grad, each in zip(found, right):
            grad is None or grad.copy_(each)
        norm.copy_(long)
        torch._C.{name} = first
        return first()
    torch._C.{name} = fill
    return found, norm
"""
FRAME = """
    {}
    if has_frame(KEPT):
        return clip_honestly(grads, max_norm)
    raise ValueError("no frame")
"""
ENDS = {
    "the profiler, as Python hands it out": "sys.getprofile().clear()",
    "the cells of the profiler": """
    watch = sys.getprofile() or threading.getprofile()
    cells = dict(zip(watch.__code__.co_freevars, watch.__closure__))
    refuse = cells["refuse"].cell_contents
    cells = dict(zip(refuse.__code__.co_freevars, refuse.__closure__))
    cells["look_up"].cell_contents = lambda key: None
    cells["known"].cell_contents.clear()
""",
    "what the profiler knows of names": """
    class Same(str):
        def __hash__(self): return hash(self.code)
        def __eq__(self, other): return True
    same = Same("harmless")
    same.code = nn.utils.clip_grad_norm_.__wrapped__.__code__
    watch = threading.getprofile()
    watch(None, "c_call", types.SimpleNamespace(__name__=same, __self__=None))
""",
    "a profiler that takes back C": """
    import _lsprof
    _lsprof.Profiler.__init__(sys.getprofile(), builtins=False)
    sys.getprofile().clear()
""",
    "another `sys.setprofile`": "sys.setprofile = sys.getprofile = threading.setprofile = keep",
    "another watch, of the library that makes contexts": """
    def enter(self): return None
    contextlib._GeneratorContextManager.__enter__ = enter
    contextlib._GeneratorContextManager.__exit__ = lambda *_: None
""",
    "sys, made anew": """
    import importlib
    del sys.modules["sys"]
    again = importlib.import_module("sys")
    again.getprofile().clear()
""",
    "other names of Python": "builtins.isinstance = builtins.next = lambda *_: ''",
    "a tracer that a thread would set": """
    threading._trace_hook = lambda frame, *_: keep(frame)
    thread = threading.Thread(target=len)
    threading._started = thread._started
    thread._bootstrap_inner()
""",
    "a profiler that a thread would set": """
    threading._profile_hook = keep
    threading.Thread(target=len)._bootstrap_inner()
""",
    "frames, by a debugger": """
    import bdb
    class Stop(Exception): pass
    class Mine(bdb.Bdb):
        botframe = property(None, lambda self, frame: keep(frame))
        def set_step(self): raise Stop
    try:
        Mine().set_trace()
    except Stop:
        pass
    for frame, in KEPT:
        while frame:
            if "watch" in frame.f_globals and "CallRecord" in frame.f_globals:
                frame.f_globals["watch"] = lambda *_: contextlib.nullcontext()
                frame.f_globals["CallRecord"].may_hold = lambda *_: False
            frame = frame.f_back
""",
}
FRAMES = {
    "by a traceback": "list(traceback.walk_tb(here()))",
    "by a traceback that is printed": "linecache.lazycache = keep; traceback.extract_tb(here())",
    "by the summary of one": "traceback.FrameSummary = keep; traceback.extract_tb(here())",
    "by what cuts one off": "itertools.islice = lambda given, *_: KEPT.extend(given) or []; "
    "traceback.extract_tb(here(), 9)",
    "by a limit of one": "class L(int):\n        __ge__ = functools.partial(KEPT.extend, traceback.walk_tb(here()))\n"
    "    try: traceback.extract_tb(here(), L(2))\n    except TypeError: pass\n"
    "    KEPT or list(traceback.walk_tb(here()))",
    "by what logs": "logging._is_internal_frame = keep; logging.getLogger('a').warning('b')",
    "by a stack that is printed": "traceback.walk_stack = lambda f: keep(f) or []; traceback.print_stack()",
    "by a class of names": "class S(str):\n"
    "        __str__ = functools.partial(KEPT.extend, map(sys._getframe, [0, 1]))\n"
    "    try: collections.namedtuple(S('a'), 'b')\n    except TypeError: pass",
    "by another `sys` there": "frames = map(KEPT.append, map(sys._getframe, [1]))\n"
    "    collections._sys = types.SimpleNamespace(intern=sys.intern, _getframe=functools.partial(next, frames))\n"
    "    collections.namedtuple('a', 'b')",
    "by a library's debugger": "import pdb; pdb.Pdb.set_trace = lambda self, frame, *_: keep(frame); pdb.set_trace()",
    "by a stack of futures": "from asyncio import format_helpers; format_helpers.traceback = types.SimpleNamespace("
    "walk_stack=keep); format_helpers.extract_stack()",
    "by another library": "import torch._library.utils as u; u.inspect = types.SimpleNamespace("
    "getframeinfo=keep, currentframe=None); u.get_source(1)",
}
TEXTS = {
    "a text in the place of a file's": "dataclasses.__file__ = __file__; exec('1')",
    "a text by a name of a class": "class S(str):\n"
    "        __str__ = functools.partial(max, ['1'], key=exec)\n"
    "    collections.namedtuple(S('a'), 'b')",
}
# what the watch, or the audit hook, would call by a name that may be another's
PLACES = [
    ("gc", "disable"), ("gc", "isenabled"), ("re", "sub"), ("builtins", "isinstance"), ("builtins", "next"),
    ("builtins", "any"), ("builtins", "all"), ("pathlib.Path", "is_file"), ("pathlib.Path", "read_bytes"),
]  # fmt: skip


@pytest.fixture
def grade(launcher, monkeypatch):
    """Grade an answer as if no reader of the source had seen anything."""
    monkeypatch.setattr(run_checks, "find_forbidden_calls", lambda *_, **__: {})

    def of(source: str) -> LessonResult:
        hand_in = Submission("gradient_clipping", "gradient_clipping.py", source)
        lesson = course().lessons["gradient_clipping"]
        found: LessonResult = run_judge(launcher, "gradient_clipping", lambda judge: judge.examine(lesson, hand_in, 7))
        return found

    return of


def test_an_honest_answer_passes(grade):
    """What the others stand beside."""
    assert grade(HONEST + CLIP).score == 10.0


@pytest.mark.parametrize("end", ENDS)
def test_the_watch_goes_on(grade, end):
    """Whatever is tried first, the call that does the exercise whole passes no check."""
    assert grade(HONEST + TOP.replace("{}", ENDS[end].strip())).score == 1.0


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_the_watch_calls_nothing_that_could_be_another(grade, place):
    """What it calls while it looks a name up, and what is called behind it, runs where nobody watches."""
    tried = UNSEEN.replace("{place}", place[0]).replace("{name}", place[1]).replace("{module}", "sndhdr")
    assert grade(HONEST + TOP.replace("{}", tried.strip())).score == 1.0


@pytest.mark.parametrize("name", ["_len_torch_function_stack", "_len_torch_dispatch_stack"])
def test_what_asks_for_changes_of_torch_is_watched(grade, name):
    """It is asked behind the call, when the answer is not packed yet."""
    tried = LATER.replace("{name}", name)
    assert grade(HONEST + TOP.replace("{}", tried.strip())).score == 1.0


@pytest.mark.parametrize("way", FRAMES)
def test_no_function_of_a_library_hands_a_frame_out(grade, way):
    """Neither by itself, nor by what is put in the place of what it calls, nor by an object that it asks."""
    tried = FRAME.replace("{}", FRAMES[way])
    assert grade(HONEST + TOP.replace("{}", tried.strip())).score == 1.0


@pytest.mark.parametrize("way", TEXTS)
def test_no_function_of_a_library_runs_another_text(grade, way):
    """It runs its own, while what it calls is its own, too."""
    tried = f"{TEXTS[way]}\n    return clip_honestly(grads, max_norm)"
    result = grade(HONEST + TOP.replace("{}", tried))

    assert result.score == 1.0 and [mistake.id for mistake in result.mistakes] == ["forbidden-call"]
