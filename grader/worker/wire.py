"""The wire format between judge and worker: a JSON header and raw bytes, every length bounded.

One frame is `header length (u32, big endian) | body length (u64) | header | body`. The header is JSON; it describes
arrays, whose bytes are in the body. Nothing is ever unpickled. What a worker sends is not trusted: `decode` accepts
only the forms below and raises `ProtocolError` for everything else. A reply is bounded by what was asked
(`reply_bounds`), and both sides know how far.

Values that cross: None, bool, int, float (nan and inf too), str, list, tuple, dict with str keys, `Array`, `Handle`
(an object that stays in the worker) and `Opaque` (something that cannot cross; its type and a short text can).
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from json.encoder import encode_basestring_ascii as quote
from typing import Any

PREFIX = struct.Struct(">IQ")
MAX_DEPTH = 16
MAX_NAME_CHARS = 64 << 10  # of a dictionary's key or a type's name
MAX_RANK = 16
MAX_INT = 1 << 63  # no number of a tensor is larger
MAX_RECV_BYTES = 1 << 18
MAX_JOINED_BYTES = 1 << 20  # of the pieces of a frame that are sent as one: the reader wakes once
_JSON_DECODER = json.JSONDecoder()

# fmt: off
ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}
# fmt: on


@dataclass(frozen=True)
class Bounds:
    """The limits of one message: bytes of header and body, characters of one text, number of values."""

    header: int
    body: int
    text: int
    items: int


# A request holds a learner's sources: 500 kB, up to six times as much in JSON.
REQUEST = Bounds(16 << 20, 64 << 20, 4 << 20, 200_000)
REPLY = Bounds(1 << 20, 64 << 20, 64 << 10, 20_000)  # the most that any reply may hold
ARRAY_ITEMS = 16  # values an array counts as: each costs its reader much more than a number
ANSWER_FACTOR = 4  # times what was asked, a reply may hold beside its room: gradients and arguments come back too


def reply_bounds(room: int, asked: int) -> Bounds:
    """Return the limits of the reply to a request of `asked` bytes, with `room` for an answer that outgrows it."""
    return replace(REPLY, body=min(REPLY.body, room + ANSWER_FACTOR * asked))


def places_along(shape: Sequence[int]) -> int:
    """Return how many values an array has, an axis of size 0 counted as of size 1.

    An array without values may be as long as one likes along its other axes, and costs whoever makes a list, a sum or a
    number for each place along those.
    """
    return math.prod([size or 1 for size in shape])


class ProtocolError(Exception):
    """The other side sent something that is not a valid frame."""


class TooLarge(ValueError):
    """A message that the other side would refuse for its size."""


# not frozen: that would treble the time to make one, and hundreds cross
@dataclass(slots=True, unsafe_hash=True)
class Array:
    """A tensor or numpy array as plain data; `device` is where it was."""

    kind: str  # "torch" or "numpy"
    dtype: str
    shape: tuple[int, ...]
    data: bytes | memoryview
    device: str = "cpu"


@dataclass(frozen=True)
class Handle:
    """Stands for an object that lives in the worker."""

    number: int


@dataclass(frozen=True)
class Opaque:
    """Stands for a value that cannot cross."""

    type_name: str
    text: str


_READERS: dict[str, Callable[[Any], Any]] = {
    "$tuple": tuple,
    "$float": float,
    "$handle": Handle,
    "$opaque": lambda content: Opaque(*content),
}


@dataclass(frozen=True)
class EncodedValue:
    """A value encoded once, to be sent many times: its JSON, its bytes, the number of its values."""

    header: str
    body: bytes
    items: int


def encode(message: dict[str, Any], bounds: Bounds = REQUEST) -> list[bytes]:
    """Encode a message as the pieces of one frame. Raises TooLarge; a text that is too long is cut."""
    encoder = _Encoder(bounds)
    header = encoder.encode(message, 0).encode("ascii")
    length = sum(map(len, encoder.body))
    if len(header) > bounds.header or length > bounds.body:
        raise TooLarge(f"it is too large to be sent ({max(len(header), length) >> 10} kB)")
    return [PREFIX.pack(len(header), length), header, *encoder.body]


def encode_value(value: Any, bounds: Bounds = REQUEST) -> EncodedValue:
    """Encode a value once for any number of messages. Raises TooLarge."""
    encoder = _Encoder(bounds)
    header = encoder.encode(value, 0)
    return EncodedValue(header, b"".join(encoder.body), bounds.items - encoder.items)


class _Encoder:
    """Write JSON and collect bytes in one walk, which is faster than building nodes for the json module."""

    def __init__(self, bounds: Bounds) -> None:
        self.max_text = bounds.text
        self.items = bounds.items
        self.body: list[bytes] = []

    def encode(self, value: Any, depth: int) -> str:
        self._count(1)
        if depth > MAX_DEPTH:
            return _opaque("nested", "nested too deeply to send")
        if value is None or isinstance(value, bool):
            return "null" if value is None else "true" if value else "false"
        if isinstance(value, str):
            return quote(_clean(value[: self.max_text]))
        if isinstance(value, int):
            return int.__repr__(value) if abs(value) < MAX_INT else _opaque("int", f"{value.bit_length()} bits")
        if isinstance(value, float):
            return float.__repr__(value) if math.isfinite(value) else f'{{"$float":"{float(value)}"}}'
        return self._container(value, depth)

    def _count(self, items: int) -> None:
        self.items -= items
        if self.items < 0:
            raise TooLarge("it has too many values to be sent")

    def _container(self, value: Any, depth: int) -> str:
        if isinstance(value, list):
            return f"[{','.join([self.encode(item, depth + 1) for item in value])}]"
        if isinstance(value, tuple):
            return f'{{"$tuple":[{",".join([self.encode(item, depth + 1) for item in value])}]}}'
        if isinstance(value, dict):
            pairs = [f"[{_name(str(key))},{self.encode(item, depth + 1)}]" for key, item in value.items()]
            return f'{{"$dict":[{",".join(pairs)}]}}'
        if isinstance(value, Array):
            self._count(ARRAY_ITEMS - 1)
            self.body.append(bytes(value.data))
            shape = ",".join(map(int.__repr__, value.shape))
            kind, dtype, device = quote(value.kind), quote(value.dtype), quote(value.device)
            return f'{{"$array":[{kind},{dtype},[{shape}],{device},{len(value.data)}]}}'
        if isinstance(value, Handle):
            return f'{{"$handle":{value.number}}}'
        if isinstance(value, Opaque):
            return _opaque(value.type_name, value.text)
        if isinstance(value, EncodedValue):
            self._count(value.items)
            self.body.append(value.body)
            return value.header
        return _opaque(type(value).__name__, "")


def _opaque(type_name: str, text: str) -> str:
    return f'{{"$opaque":[{_name(type_name)},{_name(text)}]}}'


def _name(text: str) -> str:
    return quote(_clean(text[:MAX_NAME_CHARS]))


def _clean(text: str) -> str:
    """Replace lone surrogates, which files and JSON readers refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def decode(header: bytes, body: bytes | memoryview, bounds: Bounds = REQUEST) -> dict[str, Any]:
    """Decode a frame's header and body to a message. Any fault is a ProtocolError.

    If *body* is a memoryview, the data of arrays are views of it: nothing is copied.
    """
    try:
        text = str(header, "ascii")
        node, end = _JSON_DECODER.raw_decode(text)
        if end != len(text):
            raise ProtocolError("something follows the message")
        message = _Decoder(body, bounds).decode(node, 0)
    except ProtocolError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, MemoryError) as error:
        raise ProtocolError(f"not a message: {type(error).__name__}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message is a dictionary")
    return message


def decode_trusted(header: bytes, body: bytes | memoryview, _bounds: Bounds = REQUEST) -> dict[str, Any]:
    """Decode a frame of the judge's as `decode` does, in a fraction of the time: nothing is checked."""
    at = 0

    def read_tagged(node: dict[str, Any]) -> Any:
        nonlocal at
        ((tag, content),) = node.items()
        if tag == "$dict":
            return dict(content)
        if tag == "$array":
            kind, dtype, shape, device, length = content
            at += length
            return Array(kind, dtype, tuple(shape), body[at - length : at], device)
        return _READERS[tag](content)

    message: dict[str, Any] = json.loads(header, object_hook=read_tagged)
    return message


class _Decoder:
    """Turn the JSON reader's output, which has the seven types of JSON only, into values."""

    def __init__(self, body: bytes | memoryview, bounds: Bounds) -> None:
        self.body = body
        self.max_text = bounds.text
        self.max_body = bounds.body
        self.offset = 0
        self.items = bounds.items

    def decode(self, node: Any, depth: int) -> Any:
        self._count(1)
        if depth > MAX_DEPTH + 2:
            raise ProtocolError("nested too deeply")
        kind = type(node)
        if kind is dict and len(node) == 1:
            ((tag, content),) = node.items()
            return self._decode_tagged(tag, content, depth)
        if kind is int or kind is float:
            return _number(node)
        if kind is str:
            return self._text(node, self.max_text)
        if kind is list:
            return [self.decode(item, depth + 1) for item in node]
        if node is None or kind is bool:
            return node
        raise ProtocolError("unknown form")

    def _count(self, items: int) -> None:
        self.items -= items
        if self.items < 0:
            raise ProtocolError("too many values")

    def _decode_tagged(self, tag: str, content: Any, depth: int) -> Any:
        if tag == "$dict" and isinstance(content, list):
            return {self._text(key): self.decode(item, depth + 1) for key, item in content}
        if tag == "$array":
            return self._array(content)
        if tag == "$tuple" and isinstance(content, list):
            return tuple([self.decode(item, depth + 1) for item in content])
        if tag == "$float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "$handle" and type(content) is int:
            return Handle(content)
        if tag == "$opaque":
            type_name, text = content
            return Opaque(self._text(type_name), self._text(text))
        raise ProtocolError("unknown tag")

    def _array(self, content: Any) -> Array:
        self._count(ARRAY_ITEMS - 1)
        kind, dtype, shape, device, length = content
        if kind not in ("torch", "numpy") or dtype not in ITEM_SIZES or type(length) is not int:
            raise ProtocolError("unknown kind of array")
        if not isinstance(shape, list) or len(shape) > MAX_RANK:
            raise ProtocolError("an array of impossible rank")
        is_shape = all(type(size) is int and size >= 0 for size in shape)
        if not is_shape or places_along(shape) * ITEM_SIZES[dtype] > self.max_body:
            raise ProtocolError("an array of impossible shape")
        end = self.offset + length
        if length != math.prod(shape) * ITEM_SIZES[dtype] or end > len(self.body):
            raise ProtocolError("an array whose bytes do not fit its shape")
        data = self.body[self.offset : end]
        self.offset = end
        return Array(kind, dtype, tuple(shape), data, self._text(device))

    @staticmethod
    def _text(value: Any, max_chars: int = MAX_NAME_CHARS) -> str:
        if not isinstance(value, str) or len(value) > max_chars:
            raise ProtocolError("not a text, or one that is too long")
        return _clean(value)


def _number(value: int | float) -> int | float:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ProtocolError("bare NaN or Infinity")
    elif not -MAX_INT < value < MAX_INT:
        raise ProtocolError("a number of impossible size")
    return value


def send(sock: socket.socket, message: dict[str, Any], bounds: Bounds = REQUEST) -> None:
    """Send one frame, without a deadline. Raises TooLarge before anything is sent."""
    for piece in frame_pieces(message, bounds):
        sock.sendall(piece)


def frame_pieces(message: dict[str, Any], bounds: Bounds = REQUEST) -> list[bytes]:
    """Encode a message in as few pieces as are worth a system call each. Raises TooLarge."""
    parts = encode(message, bounds)
    return [b"".join(parts)] if len(parts) == 2 or sum(map(len, parts)) < MAX_JOINED_BYTES else parts


def read_frame(frame: bytes | memoryview, bounds: Bounds = REQUEST) -> dict[str, Any]:
    """Decode a whole frame that is in memory. Raises ProtocolError."""
    if len(frame) < PREFIX.size:
        raise ProtocolError("not a frame")
    header_length, body_length = PREFIX.unpack_from(frame)
    body_at = PREFIX.size + header_length
    if header_length > bounds.header or body_at + body_length != len(frame):
        raise ProtocolError("not a frame of this size")
    view = memoryview(frame)
    return decode(bytes(view[PREFIX.size : body_at]), view[body_at:], bounds)


class FrameReader:
    """Read frames from a socket. A small frame takes one system call.

    Attributes:
        bounds: The limits of the next frame.
        taken: How many bytes the last one had.
    """

    def __init__(self, bounds: Bounds = REQUEST, decode: Callable[..., dict[str, Any]] = decode) -> None:
        self.bounds, self.taken, self._decode = bounds, 0, decode
        self._buffer = bytearray()
        self._needed = PREFIX.size

    def fill(self, sock: socket.socket) -> None:
        """Read what has arrived (or wait, if the socket blocks). Raises EOFError at the end."""
        piece = sock.recv(MAX_RECV_BYTES)
        if not piece:
            raise EOFError
        self._buffer += piece

    def take(self) -> dict[str, Any] | None:
        """Return the next whole frame as a message, None if it has not arrived yet."""
        if len(self._buffer) < self._needed:
            return None
        header_length, body_length = PREFIX.unpack_from(self._buffer)
        if header_length > self.bounds.header or body_length > self.bounds.body:
            raise ProtocolError("a frame larger than any of ours")
        body_at = PREFIX.size + header_length
        self._needed = end = body_at + body_length
        if len(self._buffer) < end:
            return None
        buffer, self._buffer = self._buffer, self._buffer[end:]
        self._needed, self.taken = PREFIX.size, end
        return self._decode(bytes(buffer[PREFIX.size : body_at]), memoryview(buffer)[body_at:end], self.bounds)

    def receive(self, sock: socket.socket, deadline: float | None = None) -> dict[str, Any]:
        """Wait for the next frame until *deadline*, in seconds of `time.monotonic()`. Raises TimeoutError."""
        while (message := self.take()) is None:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                sock.settimeout(left)
            self.fill(sock)
        return message
