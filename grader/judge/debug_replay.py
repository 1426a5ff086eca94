"""The child process of `--pdb`: carry out recorded requests, the last call among them under pdb."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pdb  # noqa: T100  this is what was asked for
import pickle
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from grader.judge.values.compare import kind_of
from grader.model import Submission
from grader.worker.operations import ModuleHost
from grader.worker.preload import import_array_library

CALLS = ("call", "build")  # the operations that run a learner's code

Request = tuple[str, dict[str, Any], int]  # an operation, its content, and the handle that came back


@dataclass(frozen=True)
class Failure:
    """The first check that did not pass, and the requests that it had made."""

    says: str
    requests: list[Request]


def replay(file: str) -> None:
    """Carry out the requests in `file`, which `debug_check` wrote; Ctrl-C ends it where pdb does not take it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print(flush=True)
    try:
        _replay(file)
    except KeyboardInterrupt:
        print("\nStopped.")


def _replay(file: str) -> None:
    arrays, lesson, submission, failure = pickle.loads(Path(file).read_bytes())
    import_array_library(arrays)
    host = ModuleHost(_load(lesson.name, submission), lesson.forbids)
    last = max(index for index, (act, _, _) in enumerate(failure.requests) if act in CALLS)
    for act, content, handle in failure.requests[:last]:
        reply = host.perform({"operation": act, **content})
        if handle and "handle" in reply:
            host.objects[handle] = host.objects[reply["handle"]]
    act, content, _ = failure.requests[last]
    _put_under_pdb(host, act, content, str(Path(submission.path).absolute()))
    reply = host.perform({"operation": act, **content})
    if "error" in reply:
        print(f"\nThe call ended in {reply['error']['type']}: {reply['error']['text']}")
    elif "value" in reply:
        print(f"\nThe call returned {kind_of(reply['value'])}.")


def _load(name: str, submission: Submission) -> dict[str, Any]:
    """Load the learner's file. The folders of their own modules, and of packages, stand last on the path."""
    paths = [Path(path).absolute() for path, _ in submission.siblings.values()]
    sys.path += sorted({str(folder) for path in paths for folder in path.parents[:2]})
    spec = importlib.util.spec_from_file_location(name, Path(submission.path).absolute())
    assert spec is not None and spec.loader is not None, f"{submission.path} is no Python file"
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def _put_under_pdb(host: ModuleHost, act: str, content: dict[str, Any], file: str) -> None:
    """Let the function or object that is called next stop at its first line."""
    target = content["name"] if act == "build" else content["target"]
    if isinstance(target, str):
        host.namespace[target] = _debug(host.namespace[target], file)
    else:
        thing = host.objects[target.number]
        thing.forward = _debug(thing.forward, file)


def _debug(function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """Return `function` under pdb from its first line, and again at the line of the learner's `file` that raises."""

    class Debugger(pdb.Pdb):
        left = False

        def __init__(self) -> None:
            with contextlib.chdir("/"):  # for it takes orders from a .pdbrc in the current folder too
                super().__init__()

        def set_quit(self) -> None:
            """By `q` or Ctrl-D. pdb itself would go on as if the call had returned None."""
            self.left = True
            super().set_quit()

    def call(*args: Any, **kwargs: Any) -> Any:
        debugger = Debugger()
        try:
            result = debugger.runcall(function, *args, **kwargs)
        except Exception as error:
            if not debugger.left:
                print(f"\n{type(error).__name__}: {error}\nYou stand at the line that raised it; q: quit.")
                debugger = Debugger()
                debugger.reset()
                debugger.interaction(None, _cut_below(file, error.__traceback__))
                os._exit(0)  # the error was shown above
        if debugger.left:
            print("\nYou left the debugger.", flush=True)
            os._exit(0)
        return result

    return call


def _cut_below(file: str, traceback: TracebackType | None) -> TracebackType | None:
    """Cut a traceback below the last line of `file`: nothing deeper is the learner's."""
    last, entry = None, traceback
    while entry is not None:
        last = entry if entry.tb_frame.f_code.co_filename == file else last
        entry = entry.tb_next
    if last is not None:
        last.tb_next = None
    return traceback
