"""`--pdb`: the learner's debugger at the first call that fails.

The examination is run once more and every request to the submission is written down. What the first failing check had
asked is then carried out again by an ordinary Python process in the learner's own terminal, without any isolation: the
last call of it under pdb.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from grader.model import Course, Lesson, Submission

if TYPE_CHECKING:
    from grader.judge.examination import Judge

CALLS = ("call", "build")  # the acts that run a learner's code

RUN = "import sys; sys.path.append({root!r}); from grader.judge.debug_check import replay; replay({file!r})"


@dataclass
class Failure:
    """The first check that did not pass, and the requests it had made: (act, content, the handle that came back)."""

    says: str = ""
    requests: list[tuple[str, dict[str, Any], int]] = field(default_factory=list)


def stand_at_failure(
    course: Course, lesson: Lesson, submission: Submission, seed: int, say: Callable[[str], None]
) -> None:
    """Open pdb at the first line of the first failing call, then where it raises; returns when the learner leaves it.

    `say` gets the sentences for the learner. Needs a terminal.
    """
    from grader.judge.session import judge_with

    failure = Failure()
    judge_with(course, [lesson], lambda judge: _find(judge, lesson, submission, seed, failure), device="cpu")
    if not failure.requests:
        say("No failing check got as far as calling your code, so there is nothing to debug: see the message above.")
        return
    say(f"The check that fails: {failure.says}")
    say("You stand at the first line of the call that it made. n: next line, p NAME: print, q: quit.")
    say("c: run on; if the call raises an error, you stand at the line that raised it.")
    say("Here your code runs without isolation, as `python` would run it.")
    _in_a_child(pickle.dumps((course.arrays, lesson, submission, seed, failure)))


def _find(judge: Judge, lesson: Lesson, submission: Submission, seed: int, failure: Failure) -> None:
    """Fill in `failure` from one more examination."""
    from grader.judge.checks.check import Check
    from grader.judge.examination import Examination
    from grader.judge.processes.remote_module import RemoteSubject, Subject
    from grader.model import CheckResult
    from grader.worker.arrays import duplicate

    requests: list[tuple[str, dict[str, Any], int]] = []

    class Noted(RemoteSubject):
        """A submission of which every request is written down before it is made: it may be the last."""

        def ask(self, act: str, **content: Any) -> dict[str, Any]:
            requests.append((act, duplicate(content), 0))
            reply = super().ask(act, **content)
            requests[-1] = (*requests[-1][:2], int(reply.get("handle", 0)))
            return reply

    class Noting(Examination):
        def live_subject(self) -> Subject:
            super().live_subject()
            assert self.worker is not None
            requests.clear()
            self.subject = Noted(self.worker, self.kinds, self.judge.device)
            return self.subject

        def _ended(self, check: Check, function: str, error: BaseException) -> CheckResult:
            if not failure.requests and any(act in CALLS for act, _, _ in requests):
                failure.says, failure.requests = check.says, list(requests)
            return super()._ended(check, function, error)

    examination = Noting(judge, lesson, submission, seed)
    try:
        examination.run()
    finally:
        examination.close()


def _in_a_child(call: bytes) -> None:
    """Carry the requests out in a fresh Python that has the terminal. Ctrl-C there is pdb's to answer."""
    with tempfile.TemporaryDirectory(prefix="selfattend-") as folder:
        file = Path(folder, "call.pickle")
        file.write_bytes(call)
        root = str(Path(__file__).resolve().parents[2])
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            command = [sys.executable, "-P", "-c", RUN.format(root=root, file=str(file))]
            subprocess.run(command, check=False, env={**os.environ, "PYTHONUTF8": "1"}, restore_signals=True)
        finally:
            signal.signal(signal.SIGINT, before)


# --- in the child -----------------------------------------------------------------------------------------------------


def replay(file: str) -> None:
    """Carry out the requests in `file`, the last call among them under pdb. `_in_a_child` wrote the file."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    print()
    arrays, lesson, submission, seed, failure = pickle.loads(Path(file).read_bytes())

    from grader.worker.operations import ModuleHost
    from grader.worker.preload import import_array_library

    import_array_library(arrays)
    host = ModuleHost(_loaded(lesson.name, submission, seed), lesson.forbids)
    last = max(index for index, (act, _, _) in enumerate(failure.requests) if act in CALLS)
    for act, content, handle in failure.requests[:last]:
        reply = host.perform({"operation": act, **content})
        if handle and "handle" in reply:
            host.objects[handle] = host.objects[reply["handle"]]
    act, content, _ = failure.requests[last]
    _put_under_pdb(host, act, content, str(Path(submission.path).absolute()))
    reply = host.perform({"operation": act, **content})
    _tell(reply)


def _loaded(name: str, submission: Submission, seed: int) -> dict[str, Any]:
    """What the learner's file defines. The folders of their own modules stand last on the path, as in a worker."""
    import importlib.util

    from grader.judge.values.random_inputs import worker_seed

    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(worker_seed(seed, name))
    sys.path += sorted({str(Path(path).parent.absolute()) for path, _ in submission.siblings.values()})
    spec = importlib.util.spec_from_file_location(name, Path(submission.path).absolute())
    assert spec is not None and spec.loader is not None, f"{submission.path} is no Python file"
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def _put_under_pdb(host: Any, act: str, content: dict[str, Any], file: str) -> None:
    """Let the thing that is about to be called stop at its first line."""
    target = content["name"] if act == "build" else content["target"]
    if isinstance(target, str):
        host.namespace[target] = _debugged(host.namespace[target], file)
    else:
        thing = host.objects[target.number]
        thing.forward = _debugged(thing.forward, file)


def _debugged(function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """`function` under pdb from its first line, and again at the line of the learner's `file` that raises."""
    import pdb  # noqa: T100  this is what was asked for

    class Debugger(pdb.Pdb):
        left = False

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
                pdb.post_mortem(_up_to(file, error.__traceback__))
                os._exit(0)  # the error was told above
        if debugger.left:
            print("\nYou left the debugger.", flush=True)
            os._exit(0)
        return result

    return call


def _up_to(file: str, traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without what lies below the last line of `file`: there nothing is the learner's."""
    last, place = None, traceback
    while place is not None:
        last = place if place.tb_frame.f_code.co_filename == file else last
        place = place.tb_next
    if last is not None:
        last.tb_next = None
    return traceback


def _tell(reply: dict[str, Any]) -> None:
    """What came of the call."""
    from grader.judge.values.compare import kind_of

    if "error" in reply:
        print(f"\nThe call ended in {reply['error']['type']}: {reply['error']['text']}")
    elif "value" in reply:
        print(f"\nThe call returned {kind_of(reply['value'])}.")
