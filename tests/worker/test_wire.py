"""The wire between judge and worker: what goes in comes out, and nothing else gets through."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import threading
import time
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.worker import wire
from grader.worker.arrays import map_leaves, pack, unpack

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False)
    | st.text(max_size=40).filter(lambda text: text.encode("utf-8", "replace").decode() == text),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=8).filter(str.isprintable), inner, max_size=4)
    ),
    max_leaves=20,
)


DECODERS = (wire.decode, wire.decode_trusted)


def through_a_socket(message: dict, decode=wire.decode) -> dict:
    """A message sent and received over a real socket."""
    left, right = socket.socketpair()
    with left, right:
        sender = threading.Thread(target=wire.send, args=(left, message))
        sender.start()
        received = wire.FrameReader(decode=decode).receive(right, time.monotonic() + 10)
        sender.join(10)
    return received


@pytest.mark.parametrize("decode", DECODERS)
@settings(deadline=None, max_examples=60)
@given(value=plain)
def test_plain_data_survives(decode, value):
    """Whatever plain data is sent arrives equal, tuples as tuples."""
    assert through_a_socket({"value": value}, decode) == {"value": value}


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_survive(decode, number):
    """NaN and the infinities cross as themselves."""
    received = through_a_socket({"value": number}, decode)["value"]

    assert received == number or (math.isnan(received) and math.isnan(number))


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_tensors_survive(dtype, shape):
    """A tensor of any shape and dtype arrives bit for bit."""
    tensor = torch.randn(shape).to(dtype)

    received = unpack(through_a_socket({"value": pack(tensor)})["value"])

    assert received.dtype == dtype and received.shape == tensor.shape
    assert torch.equal(received, tensor)


@pytest.mark.parametrize("layout", ["transposed", "strided", "expanded", "conjugate"])
def test_tensors_of_any_layout_survive(layout):
    """Views arrive as the values that they show."""
    base = torch.randn(4, 6)
    tensor = {
        "transposed": base.T,
        "strided": base[::2, 1::3],
        "expanded": base[:1].expand(4, 6),
        "conjugate": torch.randn(3, dtype=torch.complex64).conj(),
    }[layout]

    assert torch.equal(unpack(through_a_socket({"value": pack(tensor)})["value"]), tensor)


def test_a_trusted_message_is_read_as_any_other():
    """Arrays get their own bytes wherever they stand, encoded before or not; what cannot cross keeps its name."""
    encoded = wire.encode_value([pack(torch.ones(2)), {"x": (pack(numpy.arange(3)),)}])
    message = {"a": pack(torch.zeros(1, 0)), "b": [encoded, pack(torch.eye(2))], "c": [wire.Handle(3)]}
    message["c"].append(wire.Opaque("A", "b"))
    first, second = (through_a_socket(message, decode) for decode in DECODERS)

    assert first == second and unpack(first["b"][1]).equal(torch.eye(2))


def test_numpy_arrays_survive_as_numpy():
    """A numpy array is not turned into a tensor on the way."""
    array = numpy.arange(6.0).reshape(2, 3)[:, ::2]

    received = unpack(through_a_socket({"value": pack(array)})["value"])

    assert isinstance(received, numpy.ndarray)
    assert numpy.array_equal(received, array)


def test_what_cannot_cross_is_named():
    """An object without a plain form arrives as its type and a short text, never as itself."""
    received = through_a_socket({"value": pack([object(), lambda: 1, {1, 2}])})["value"]

    assert [type(item) for item in received] == [wire.Opaque] * 3
    assert [item.type_name for item in received] == ["object", "function", "set"]


HOOKS = (
    *("__float__", "__int__", "__index__", "__str__", "__repr__", "__iter__", "__len__", "__getitem__", "__hash__"),
    *("__eq__", "__bool__", "__format__", "__class__", "__getattribute__", "__array__", "__array_finalize__"),
    *("__torch_function__", "__reduce__", "items", "keys", "values", "tobytes", "numpy", "detach", "dtype", "shape"),
)


def make_spy(plain: type, ran: list[str]) -> type:
    """Make a subclass, with a metaclass, of which every method that packing could call says that it ran."""

    def hook(name: str):
        def run(*args: object, **kwargs: object) -> object:
            ran.append(name)
            return getattr(plain, name)(*args, **kwargs)

        return property(run) if name in ("__class__", "dtype", "shape", "device") else run

    meta = type("Meta", (type(plain),), {"__hash__": hook("__hash__"), "__name__": hook("__class__")})
    return meta("Spy", (plain,), {name: hook(name) for name in HOOKS if hasattr(plain, name) or name == "items"})


@pytest.mark.parametrize("value, expected", [
    (True, 1), (7, 7), (0.5, 0.5), ("ab", "ab"), ([1, 2.0], [1, 2.0]), ((1, "a"), (1, "a")), ({"a": 1}, {"a": 1}),
], ids=repr)  # fmt: skip
def test_packing_a_subclass_runs_none_of_its_methods(value, expected):
    """A number, text or container of a learner's own class arrives as the plain one that it is, alone or inside."""
    ran: list[str] = []
    spy = make_spy(int if value is True else type(value), ran)(value)
    ran.clear()

    assert pack([spy]) == [expected] and type(pack([spy])[0]) is type(expected)
    assert map_leaves([spy], lambda leaf: 0) and ran == []


@pytest.mark.parametrize("base", [torch.Tensor, torch.nn.Parameter, numpy.ndarray])
def test_packing_an_array_runs_none_of_its_methods(base):
    """A tensor or array of a learner's own class, or with a method of its own, arrives as the values in it."""
    ran: list[str] = []
    plain: Any = numpy.arange(3.0) if base is numpy.ndarray else torch.arange(3.0)
    spy = make_spy(base, ran)
    value = plain.view(spy) if base is numpy.ndarray else plain.as_subclass(spy)
    ran.clear()

    assert unpack(pack(value)).tolist() == [0, 1, 2] and ran == []
    if base is not numpy.ndarray:
        plain.detach = plain.numpy = plain.is_neg = lambda *args: ran.append("of its own")
        assert unpack(pack(plain)).tolist() == [0, 1, 2] and ran == []


def test_an_object_is_neither_a_key_nor_shown():
    """A key that is no plain one leaves its dictionary behind; of another object only the type's name is read."""
    ran: list[str] = []
    spy = make_spy(object, ran)()
    keyed = {1: 1, "b": 2, (0, 1): 3}
    odd = {**keyed, spy: 4}
    ran.clear()

    assert pack(keyed) == {"1": 1, "b": 2, "(0, 1)": 3}
    assert [pack(value).type_name for value in (odd, spy, {1})] == [
        "dict with a key that is no text", "Spy", "set",
    ]  # fmt: skip
    assert ran == []


def test_a_list_that_contains_itself_is_cut():
    """Endless nesting ends at a bounded depth."""
    endless: list = []
    endless.append(endless)

    assert through_a_socket({"value": pack(endless)})


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200), st.binary(max_size=64))
def test_any_header_is_a_message_or_a_protocol_error(header, body):
    """Random bytes never raise anything but ProtocolError."""
    with contextlib.suppress(wire.ProtocolError):
        assert isinstance(wire.decode(header, body), dict)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_damaged_frame_is_a_message_or_a_protocol_error(data):
    """A real frame with bytes changed never raises anything but ProtocolError."""
    frame = b"".join(wire.encode({"id": 1, "value": pack([torch.ones(2, 3), "text", {"a": 1.5}])}))
    header_length, _ = wire.PREFIX.unpack(frame[: wire.PREFIX.size])
    header = bytearray(frame[wire.PREFIX.size : wire.PREFIX.size + header_length])
    for _ in range(data.draw(st.integers(1, 4))):
        header[data.draw(st.integers(0, len(header) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(wire.ProtocolError):
        wire.decode(bytes(header), frame[wire.PREFIX.size + header_length :])


HOSTILE_HEADERS = {
    "no dictionary": b"[1,2]",
    "deep nesting": b"[" * 5000 + b"]" * 5000,
    "unknown tag": b'{"$dict":[["a",{"$pickle":"x"}]]}',
    "bare NaN": b'{"$dict":[["a",NaN]]}',
    "negative size": b'{"$dict":[["a",{"$array":["torch","float32",[-1],"cpu",0]}]]}',
    "huge size": b'{"$dict":[["a",{"$array":["torch","float32",[99999999999],"cpu",0]}]]}',
    "no values along huge axes": b'{"$dict":[["a",{"$array":["torch","float32",[90000,90000,0],"cpu",0]}]]}',
    "no values along a long axis": b'{"$dict":[["a",{"$array":["numpy","bool",[99999999,0],"cpu",0]}]]}',
    "size that is no number": b'{"$dict":[["a",{"$array":["torch","float32",[true],"cpu",4]}]]}',
    "bytes beyond the body": b'{"$dict":[["a",{"$array":["torch","float32",[4],"cpu",16]}]]}',
    "wrong byte count": b'{"$dict":[["a",{"$array":["torch","float32",[4],"cpu",4]}]]}',
    "unknown dtype": b'{"$dict":[["a",{"$array":["torch","object",[1],"cpu",8]}]]}',
    "unknown kind": b'{"$dict":[["a",{"$array":["pandas","float32",[1],"cpu",4]}]]}',
    "endless rank": b'{"$dict":[["a",{"$array":["torch","float32",[' + b"1," * 400 + b'1],"cpu",4]}]]}',
    "handle that is no number": b'{"$dict":[["a",{"$handle":"x"}]]}',
    "dictionary of no pairs": b'{"$dict":[["a"]]}',
    "enormous integer": b'{"$dict":[["a",' + b"9" * 5000 + b"]]}",
}


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
def test_hostile_headers_are_protocol_errors(name):
    """Each known forgery is refused."""
    with pytest.raises(wire.ProtocolError):
        wire.decode(HOSTILE_HEADERS[name], b"\0" * 4)


def test_too_many_values_are_a_protocol_error():
    """A message of millions of small values is refused before it is built."""
    with pytest.raises(wire.ProtocolError):
        wire.decode(b'{"$dict":[["a",[' + b"1," * wire.REQUEST.items + b"1]]]}", b"")


@pytest.mark.parametrize(
    "prefix", [wire.PREFIX.pack(wire.REQUEST.header + 1, 0), wire.PREFIX.pack(2, wire.REQUEST.body + 1)]
)
def test_a_frame_that_claims_too_much_is_refused_unread(prefix):
    """Lengths beyond the limits are refused before any memory is taken for them."""
    left, right = socket.socketpair()
    with left, right:
        left.sendall(prefix)
        with pytest.raises(wire.ProtocolError):
            wire.FrameReader().receive(right, time.monotonic() + 5)


def test_a_frame_that_never_ends_meets_the_deadline():
    """Half a frame and then silence is a timeout, not a hang."""
    left, right = socket.socketpair()
    with left, right:
        left.sendall(wire.PREFIX.pack(100, 0) + b"{")
        with pytest.raises(TimeoutError):
            wire.FrameReader().receive(right, time.monotonic() + 0.2)


def test_a_closed_line_is_the_end():
    """A peer that goes away in the middle of a frame is EOFError."""
    left, right = socket.socketpair()
    with right:
        left.sendall(b"\0" * 5)
        left.close()
        with pytest.raises(EOFError):
            wire.FrameReader().receive(right, time.monotonic() + 5)


def test_lone_surrogates_are_cleaned():
    """Text that no terminal can show is made harmless."""
    received = through_a_socket({"value": os.fsdecode(b"\xff")})["value"]

    received.encode()
    assert received == "?"
