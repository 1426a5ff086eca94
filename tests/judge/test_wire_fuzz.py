"""Whatever a worker sends, in whatever place: a crash of its own or a wrong value, and never our failure."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.command_server import run_command
from support.factories import ROOT, course, run_judge
from support.fake_workers import VALUES, LooseWorker, LyingLauncher, LyingWorker, changed, changed_values
from support.learn_command import environment
from support.repeat import FEW_LESSONS, SOAK, rarely

from grader.errors import WorkerCrashed, WorkerTimeout
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import RemoteModule, no_answer
from grader.judge.processes.reply_schema import Malformed, read_error, read_frames, reply_to
from grader.model import Limits, Submission
from grader.worker import wire

LIMITS = dataclasses.replace(course().limits, call_seconds=2.0, total_seconds=20.0, output_kb=64)
WORK = "def f(x=None):\n    return 1.5\n"
CALL: dict[str, Any] = {"target": "f", "args": [], "kwargs": {}}


def frame(header: bytes, body: bytes = b"", *, claims: tuple[int, int] | None = None) -> tuple[bytes, ...]:
    """The pieces of a frame of this header and body, whatever it claims of their lengths."""
    return wire.PREFIX.pack(*(claims or (len(header), len(body)))), header, body


def message(text: str, body: bytes = b"") -> tuple[bytes, ...]:
    """A frame whose header is the dictionary with these pairs, as the answer to the second request."""
    return frame(b'{"$dict":[["id",2],' + text.encode() + b"]}", body)


FRAMES = {
    "nothing": (b"\0" * 12,),
    "less than a prefix": (b"\0" * 5,),
    "text": (b"15 passed in 0.01s\n" * 10,),
    "a header without an end": frame(b"{", claims=(1 << 20, 0)),
    "a header larger than any": frame(b"", claims=(wire.REPLY.header + 1, 0)),
    "a body larger than any": frame(b"{}", claims=(2, wire.REPLY.body + 1)),
    "lengths that overflow": frame(b"{}", claims=(2**32 - 1, 2**64 - 1)),
    "a pickle": frame(b"\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94."),
    "a list": frame(b"[1,2,3]"),
    "UTF-16": frame('{"$dict":[["id",2]]}'.encode("utf-16")),
    "bytes that are no text": frame(b'{"\xff\xfe":1}'),
    "another question's answer": frame(b'{"$dict":[["id",1],["value",1.5],["after",[[],{"$dict":[]}]]]}'),
    "no number": frame(b'{"$dict":[["value",1.5]]}'),
    "true for one": frame(b'{"$dict":[["id",true],["value",1.5]]}'),
    "no value": message('["after",[[],{"$dict":[]}]]'),
    "a value alone": message('["value",1.5]'),
    "arguments that are a number": message('["value",1.5],["after",7]'),
    "an array of another size": message('["value",{"$array":["torch","float32",[3],"cpu",16]}]', b"\0" * 16),
    "an array of negative size": message('["value",{"$array":["torch","float32",[-1],"cpu",-4]}]'),
    "an array of a size that overflows": message(
        f'["value",{{"$array":["torch","float32",{[1 << 20] * 16},"cpu",0]}}],["after",[[],{{"$dict":[]}}]]'
    ),
    "an array that is empty and huge": message(
        '["value",{"$array":["torch","float32",[0,60000000,60000000,60000000,60000000],"cpu",0]}],'
        '["after",[[],{"$dict":[]}]]'
    ),
    "an array of rank 17": message(f'["value",{{"$array":["torch","bool",{[1] * 17},"cpu",1]}}]', b"\0"),
    "an array of objects": message('["value",{"$array":["numpy","object",[1],"cpu",8]}]', b"\0" * 8),
    "an array whose type is a list": message('["value",{"$array":["numpy",["float32"],[1],"cpu",4]}]', b"\0" * 4),
    "bfloat16 for numpy": message(
        '["value",{"$array":["numpy","bfloat16",[2],"cpu",4]}],["after",[[],{"$dict":[]}]]', b"\0" * 4
    ),
    "a number of a thousand digits": message(f'["value",{"9" * 1000}]'),
    "a number beyond all": message('["value",1e999]'),
    "bare NaN": message('["value",NaN]'),
    "half a letter": message('["value","\\ud800"],["after",[[],{"$dict":[]}]]'),
    "an error that is a text": message('["error","passed"]'),
    "an error of an unknown kind": message(
        '["error",{"$dict":[["kind","passed"],["type","T"],["text","t"],["frames",[]]]}]'
    ),
    "an error with frames of numbers": message(
        '["error",{"$dict":[["kind","raised"],["type","T"],["text","t"],["frames",5]]}]'
    ),
    "nested deeply": frame(b"[" * 100_000 + b"]" * 100_000),
    "nested a little too deeply": message('["value",' + "[" * 40 + "]" * 40 + "]"),
    "very many values": frame(b"[" + b"0," * 400_000 + b"0]"),
    "very many lists": frame(b"[" + b"[]," * 300_000 + b"[]]"),
    "very many dictionaries": frame(b"[" + b"{}," * 300_000 + b"{}]"),
    "unknown words": message('["value",{"$pickle":"x"}]'),
}


def asked(sent: tuple[bytes, ...], limits: Limits = LIMITS) -> dict[str, Any]:
    """What a check gets of a worker that sends this in the place of its second answer."""
    worker = LyingWorker(WORK, limits, lambda act, reply: reply if act == "load" else sent)
    try:
        worker.request("load", names=["f"])
        return RemoteModule(worker, {"f": "function"}).ask("call", **CALL)
    finally:
        worker.close()


@pytest.mark.parametrize("name", FRAMES)
def test_known_forgeries_are_a_crash_or_a_wrong_value(name):
    """Each ends in the learner's own error, or in plain data; soon."""
    begun = time.monotonic()
    try:
        reply = asked(FRAMES[name])
    except LearnerError as error:
        assert error.kind in ("crashed", "timed-out", "raised")
        assert len(error.text) < 5000
    else:
        json.dumps(str(reply["value"])).encode()
    assert time.monotonic() - begun < LIMITS.call_seconds + 60


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300))
def test_any_bytes_on_the_line_are_a_crash(sent):
    """Bytes that are no frame end in WorkerCrashed, or WorkerTimeout where more would have to follow."""
    worker = LyingWorker(WORK, LIMITS, lambda _act, _reply: (sent, b"\xff" * 12))
    with pytest.raises((WorkerCrashed, WorkerTimeout)):
        worker.request("load", 0.2, names=["f"])
    assert not worker.alive
    worker.close()


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_answer_is_a_crash_or_a_wrong_value(data):
    """An answer of which a few bytes are others never raises anything but a learner's error."""
    true = b"".join(wire.encode({"id": 2, "value": VALUES[-1], "after": [[1.5], {"a": "b"}], "devices": ["cpu"]}))
    bent = bytearray(true)
    for _ in range(data.draw(st.integers(1, 3))):
        bent[data.draw(st.integers(wire.PREFIX.size, len(bent) - 1))] = data.draw(st.integers(0, 255))
    try:
        asked((bytes(bent),))
    except LearnerError as error:
        assert error.kind in ("crashed", "timed-out")


ACTS: dict[str, dict[str, Any]] = {
    "call": CALL,
    "gradients": {**CALL, "grad": {"wrt": [], "weights": None}},
    "elsewhere": {**CALL, "elsewhere": True},
    "load": {}, "names": {}, "build": {}, "make": {}, "state": {}, "mode": {}, "events": {},
}  # fmt: skip
KEYS = ("value", "after", "grads", "is_tensor", "there", "handle", "missing", "unexpected", "state", "parameters",
        "training", "events", "found", "public")  # fmt: skip
plain = st.recursive(
    st.sampled_from(VALUES), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


def assert_read_or_malformed(name: str, reply: dict[str, Any]) -> None:
    """What is read of a reply has the act's own form, or nothing is read."""
    act = "call" if name in ("gradients", "elsewhere") else name
    try:
        read = reply_to(act, ACTS[name], reply)
    except Malformed:
        return
    if act in ("build", "make"):
        assert type(read["handle"]) is int and all(isinstance(name, str) for name in read["missing"])
    if act == "state":
        assert isinstance(read["training"], bool) and all(isinstance(name, str) for name in read["parameters"])
    if act == "events":
        assert all(event[0] in ("forward", "backward", "step", "zero_grad") for event in read["events"])
    if act in ("load", "names"):
        assert all(isinstance(kind, str) for kind, _ in read["found"].values())


REPLIES = (st.sampled_from(sorted(ACTS)), st.dictionaries(st.sampled_from(KEYS), plain))


@settings(deadline=None, max_examples=100)
@given(*REPLIES)
def test_a_reply_is_read_or_malformed(name, reply):
    """For every act, plain data of any other form is Malformed, and what is read has the act's own form."""
    assert_read_or_malformed(name, reply)


@pytest.mark.soak
@settings(deadline=None, max_examples=1000)
@given(*REPLIES)
def test_many_replies_are_read_or_malformed(name, reply):
    """The same of ten times as many."""
    assert_read_or_malformed(name, reply)


@settings(deadline=None, max_examples=200)
@given(plain)
def test_an_error_is_read_or_malformed(error):
    """So is what says that an error was raised, and where."""
    assert all(len(frame) == 4 for frame in read_frames(error))
    try:
        kind, *_, frames = read_error(error)
    except Malformed:
        return
    assert kind in ("raised", "forbidden", "out-of-memory", "syntax") and isinstance(frames, list)


@settings(deadline=None, max_examples=50)
@given(plain)
def test_last_words_are_read_carefully(frames):
    """Where a worker says that it hangs is shown only in the form of a place."""
    found = no_answer(WorkerTimeout("late", frames)).frames

    assert all([type(part) for part in frame] == [str, int, str, str] for frame in found)


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=400))
def test_any_bytes_may_be_printed(printed):
    """What comes through the pipe is text that can be written to any file."""
    reading, writing = os.pipe()
    worker = LyingWorker(WORK, LIMITS, lambda _act, reply: reply)
    os.close(worker.output_fd)
    worker.output_fd = reading
    os.set_blocking(reading, False)
    os.write(writing, printed)
    text = worker.take_output()
    os.close(writing)
    worker.close()

    text.encode()
    assert len(text) <= len(printed)


# --- whole examinations -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # as a judge's are: torch warns of strange values
@pytest.mark.parametrize(
    ("lesson", "times"),
    [
        *rarely(((lesson, 4) for lesson in FEW_LESSONS), ["softmax", "char_tokenizer"], ["attention", "feed_forward"]),
        *rarely(((lesson, 8 * SOAK) for lesson in course().lessons), []),
    ],
)
def test_an_examination_of_a_liar_ends_in_a_verdict(lesson, times):
    """With replies that are changed in every place and to every type, each lesson is judged to its end: nothing is
    raised, nothing is our failure, nothing scores above ten, and the verdict can be written down."""
    the_lesson = course().lessons[lesson]
    source = the_lesson.solution_path.read_text()
    outcomes: set[str] = set()

    def drive(judge):
        for number in range(times):
            chance = random.Random(number)
            bend = changed_values if number % 2 else changed
            share = chance.choice((0.02, 0.1, 0.4))
            acts = chance.choice((None, ("load",), ("call",), ("state", "events")))
            lie = lambda act, reply, c=chance, b=bend, s=share, a=acts: b(reply, c, s) if not a or act in a else reply
            judge.launcher = judge.workers._launcher = LyingLauncher(source, LIMITS, lie)
            result = judge.examine(the_lesson, Submission(lesson, f"{lesson}.py", source), 3)

            written = json.dumps(result.to_dict(), ensure_ascii=False).encode()
            assert len(written) < 200_000
            assert result.score is not None and 1.0 <= result.score <= 10.0
            assert result.state != "grader-error"
            outcomes.update(check.outcome for check in result.checks)

    run_judge(LyingLauncher(source, LIMITS, lambda _act, reply: reply), lesson, drive)  # type: ignore[arg-type]

    assert "grader-error" not in outcomes
    assert "passed" in outcomes
    assert outcomes - {"passed"}


HUNGRY = """
import dataclasses, os, resource, sys, torch
sys.path[:0] = ["tests", "tests/judge", "."]
from test_wire_fuzz import LIMITS, asked, frame, message
from grader.judge.errors import LearnerError
from grader.worker import wire
largest, zeros = wire.REPLY, bytes(wire.REPLY.body)
sizes = f"[{largest.body // 4}]"
frames = [
    lambda: frame(b"[" + b"[]," * (largest.header // 3 - 2) + b"[]]"),
    lambda: frame(b"[" + b"{}," * (largest.header // 3 - 2) + b"{}]"),
    lambda: frame(b"[" + b'"a",' * (largest.header // 4 - 2) + b"0]"),
    lambda: frame(b"[" + b"1.5," * (largest.header // 4 - 2) + b"0]"),
    lambda: frame(b"[" * (largest.header // 2) + b"]" * (largest.header // 2)),
    lambda: message('["value",{"$array":["torch","float32",%s,"cpu",%d]}],["after",[[],{"$dict":[]}]]'
            % (sizes, largest.body), zeros),
    lambda: message('["value",0],["after",[[%s],{"$dict":[]}]]' % ",".join(
            ['{"$array":["torch","uint8",[4000],"cpu",4000]}'] * 10_000), zeros[:40_000_000]),
    lambda: frame(b"", claims=(largest.header, largest.body)) + (zeros, zeros),
]
asked(message('["value",1.5],["after",[[],{"$dict":[]}]]'))
for answer_kb in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    limits = dataclasses.replace(LIMITS, answer_kb=int(answer_kb))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for hungry in frames:
        try:
            asked(hungry(), limits)
        except LearnerError:
            pass
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, flush=True)
    os._exit(0)
"""


def test_no_answer_costs_more_memory_than_the_bound():
    """The largest frames there may be, of every kind, cost less than three times what one may hold; where an answer
    has less room, what is larger is refused before it is read."""
    done = run_command("code", HUNGRY, wire.REPLY.body >> 10, 256, cwd=ROOT, env=environment(ROOT))
    assert done.returncode == 0, done.stderr
    without_limit, with_limit = (int(kilobytes) >> 10 for kilobytes in done.stdout.split())

    assert without_limit < 192 and with_limit < 64


def test_a_slow_reader_does_not_hold_us_up():
    """A worker that reads a large request bit by bit meets its deadline all the same."""
    worker = LooseWorker(LIMITS)
    worker.layers = ()
    done = threading.Event()

    def read() -> None:
        while not done.wait(0.02):
            worker.theirs.recv(1000)

    reader = threading.Thread(target=read)
    reader.start()
    begun = time.monotonic()
    with pytest.raises(WorkerTimeout):
        worker.request("call", 0.5, text="x" * 3_000_000)
    seconds = time.monotonic() - begun
    done.set()
    reader.join()
    worker.close()
    worker.hang_up()

    assert seconds < 30  # it would read for a minute


def test_a_closed_output_costs_no_time():
    """A worker that closes what it prints to, and then hangs, is waited for without work."""
    worker = LooseWorker(LIMITS)
    worker.layers = ()
    worker.close_output()
    used = time.process_time()
    with pytest.raises(WorkerTimeout):
        worker.request("call", 1.0)
    used = time.process_time() - used
    worker.close()
    worker.hang_up()

    assert used < 0.5
