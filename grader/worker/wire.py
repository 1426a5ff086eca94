"""How plain data crosses between judge and worker: a JSON header and raw bytes, every length bounded.

One frame is `header length (u32, big endian) | body length (u64) | header | body`. The header is JSON; arrays in it are
described and point into the body. Nothing is ever unpickled. What a worker sends is not trusted: `decode` accepts only
the forms below and raises `ProtocolError` for everything else. What it may send is bounded more tightly than what it
is sent (`REPLY`, `REQUEST`), so that no reply costs the judge more than some 150 MB, and an ordinary one nothing.

Values that cross: None, bool, int, float (nan and inf too), str, list, tuple, dict with str keys, `Array`, `Handle`
(an object that stays in the worker) and `Opaque` (something that cannot cross; its type and a short text can).
"""

from __future__ import annotations

import json
import math
import socket
import struct
import time
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

PREFIX = struct.Struct(">IQ")
MAX_DEPTH = 16
MAX_NAME = 64 << 10  # characters of a dictionary's key or a type's name
MAX_RANK = 16
LARGEST = 1 << 63  # numbers beyond it are no numbers of a tensor
_FROM_JSON = json.JSONDecoder()

ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip


@dataclass(frozen=True)
class Bounds:
    """The most that a message may hold: bytes of header and of body, characters of one text, values."""

    header: int
    body: int
    text: int
    items: int


REQUEST = Bounds(16 << 20, 64 << 20, 4 << 20, 200_000)  # a learner's sources are in it: 2 MB, as JSON six times as much
REPLY = Bounds(1 << 20, 64 << 20, 64 << 10, 20_000)
MAX_HEADER, MAX_BODY = REQUEST.header, REQUEST.body


class ProtocolError(Exception):
    """The other side sent what is not a frame of ours."""


class TooLarge(ValueError):
    """A message of our own that the other side would refuse for its size."""


# not frozen, though nobody changes one: that would treble the time it takes to make it, and hundreds cross
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


@dataclass(frozen=True)
class Written:
    """A value of ours that is sent again and again, as it stands in a frame: its JSON, its bytes, how many values."""

    header: str
    body: bytes
    items: int


# --- values to JSON ---------------------------------------------------------------------------------------------------


def encode(message: dict[str, Any], bounds: Bounds = REQUEST) -> list[bytes]:
    """A message as the pieces of one frame. Raises TooLarge; a single text that is too long is cut."""
    encoder = _Encoder(bounds)
    header = encoder.encode(message, 0).encode("ascii")
    length = sum(map(len, encoder.body))
    if len(header) > bounds.header or length > bounds.body:
        raise TooLarge(f"it is too large to be sent ({max(len(header), length) >> 20} MB)")
    return [PREFIX.pack(len(header), length), header, *encoder.body]


def written(value: Any, bounds: Bounds = REQUEST) -> Written:
    """A value, ready to be sent as part of any number of messages. Raises TooLarge."""
    encoder = _Encoder(bounds)
    header = encoder.encode(value, 0)
    return Written(header, b"".join(encoder.body), bounds.items - encoder.items)


class _Encoder:
    """Writes the JSON itself, in one walk: a check's hundreds of small messages would else be walked three times."""

    def __init__(self, bounds: Bounds) -> None:
        self.longest = bounds.text
        self.items = bounds.items
        self.body: list[bytes] = []

    def encode(self, value: Any, depth: int) -> str:
        self.items -= 1
        if self.items < 0:
            raise TooLarge("it has too many values to be sent")
        if depth > MAX_DEPTH:
            return _opaque("nested", "nested too deeply to send")
        if value is None or isinstance(value, bool):
            return "null" if value is None else "true" if value else "false"
        if isinstance(value, str):
            return quoted(_clean(value[: self.longest]))
        if isinstance(value, int):
            return int.__repr__(value) if abs(value) < LARGEST else _opaque("int", f"{value.bit_length()} bits")
        if isinstance(value, float):
            return float.__repr__(value) if math.isfinite(value) else f'{{"$float":"{float(value)}"}}'
        return self._container(value, depth)

    def _container(self, value: Any, depth: int) -> str:
        if isinstance(value, list):
            return f"[{','.join([self.encode(item, depth + 1) for item in value])}]"
        if isinstance(value, tuple):
            return f'{{"$tuple":[{",".join([self.encode(item, depth + 1) for item in value])}]}}'
        if isinstance(value, dict):
            pairs = [f"[{_name(str(key))},{self.encode(item, depth + 1)}]" for key, item in value.items()]
            return f'{{"$dict":[{",".join(pairs)}]}}'
        if isinstance(value, Array):
            self.body.append(bytes(value.data))
            shape = ",".join(map(int.__repr__, value.shape))
            kind, dtype, device = quoted(value.kind), quoted(value.dtype), quoted(value.device)
            return f'{{"$array":[{kind},{dtype},[{shape}],{device},{len(value.data)}]}}'
        if isinstance(value, Handle):
            return f'{{"$handle":{value.number}}}'
        if isinstance(value, Opaque):
            return _opaque(value.type_name, value.text)
        if isinstance(value, Written):
            self.items -= value.items
            self.body.append(value.body)
            return value.header
        return _opaque(type(value).__name__, "")


def _opaque(type_name: str, text: str) -> str:
    return f'{{"$opaque":[{_name(type_name)},{_name(text)}]}}'


def _name(text: str) -> str:
    return quoted(_clean(text[:MAX_NAME]))


def _clean(text: str) -> str:
    """Text that any file and any JSON reader can take: no lone surrogates."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


# --- JSON to values ---------------------------------------------------------------------------------------------------


def decode(header: bytes, body: bytes | memoryview, bounds: Bounds = REQUEST) -> dict[str, Any]:
    """A frame's header and body as a message. Any fault whatever is a ProtocolError.

    The data of arrays are views of the body where that is a memoryview: nothing is copied.
    """
    try:
        text = str(header, "ascii")
        node, end = _FROM_JSON.raw_decode(text)
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


class _Decoder:
    """Turns what the JSON reader gave, which knows no other types than the seven here, into values."""

    def __init__(self, body: bytes | memoryview, bounds: Bounds) -> None:
        self.body = body
        self.longest = bounds.text
        self.most = bounds.body
        self.offset = 0
        self.items = bounds.items

    def decode(self, node: Any, depth: int) -> Any:
        self.items -= 1
        if depth > MAX_DEPTH + 2 or self.items < 0:
            raise ProtocolError("nested too deeply or too many values")
        kind = type(node)
        if kind is dict and len(node) == 1:
            ((tag, content),) = node.items()
            return self._tagged(tag, content, depth)
        if kind is int or kind is float:
            return _number(node)
        if kind is str:
            return self._text(node, self.longest)
        if kind is list:
            return [self.decode(item, depth + 1) for item in node]
        if node is None or kind is bool:
            return node
        raise ProtocolError("unknown form")

    def _tagged(self, tag: str, content: Any, depth: int) -> Any:
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
        kind, dtype, shape, device, length = content
        if kind not in ("torch", "numpy") or dtype not in ITEM_SIZES or type(length) is not int:
            raise ProtocolError("unknown kind of array")
        if not isinstance(shape, list) or len(shape) > MAX_RANK:
            raise ProtocolError("an array of impossible rank")
        for size in shape:
            if type(size) is not int or size < 0 or size > self.most:
                raise ProtocolError("an array of impossible shape")
        end = self.offset + length
        if length != math.prod(shape) * ITEM_SIZES[dtype] or end > len(self.body):
            raise ProtocolError("an array whose bytes do not fit its shape")
        data = self.body[self.offset : end]
        self.offset = end
        return Array(kind, dtype, tuple(shape), data, self._text(device))

    @staticmethod
    def _text(value: Any, longest: int = MAX_NAME) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise ProtocolError("not a text, or one that is too long")
        return _clean(value)


def _number(value: int | float) -> int | float:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ProtocolError("bare NaN or Infinity")
    elif not -LARGEST < value < LARGEST:
        raise ProtocolError("a number of impossible size")
    return value


# --- frames over a socket ---------------------------------------------------------------------------------------------


def send(sock: socket.socket, message: dict[str, Any], bounds: Bounds = REQUEST) -> None:
    """Send one frame, however long that takes. Raises TooLarge before anything is sent."""
    for piece in pieces(message, bounds):
        sock.sendall(piece)


def pieces(message: dict[str, Any], bounds: Bounds = REQUEST) -> list[bytes]:
    """A frame in as few pieces as are worth a system call each. Raises TooLarge."""
    parts = encode(message, bounds)
    return [b"".join(parts)] if len(parts) == 2 or sum(map(len, parts)) < 1 << 16 else parts


class Frames:
    """What comes from a socket, cut into frames. Small frames take one system call each."""

    def __init__(self, bounds: Bounds = REQUEST) -> None:
        self._bounds = bounds
        self._pieces: list[bytes] = []  # what has come, put together only when a whole frame is there
        self._length = 0
        self._needed = PREFIX.size

    def fill(self, sock: socket.socket) -> None:
        """Take what is there (or wait for it, as the socket is set). EOFError at the end."""
        piece = sock.recv(1 << 18)
        if not piece:
            raise EOFError
        self._pieces.append(piece)
        self._length += len(piece)

    def take(self) -> dict[str, Any] | None:
        """The next whole frame as a message; None while there is none."""
        if self._length < self._needed:
            return None
        buffer = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        header_length, body_length = PREFIX.unpack_from(buffer)
        if header_length > self._bounds.header or body_length > self._bounds.body:
            raise ProtocolError("a frame larger than any of ours")
        body_at = PREFIX.size + header_length
        end = body_at + body_length
        if self._length < end:
            self._pieces, self._needed = [buffer], end
            return None
        rest = buffer[end:]
        self._pieces, self._length, self._needed = [rest] if rest else [], len(rest), PREFIX.size
        return decode(buffer[PREFIX.size : body_at], memoryview(buffer)[body_at:end], self._bounds)

    def receive(self, sock: socket.socket, deadline: float | None = None) -> dict[str, Any]:
        """Wait for the next frame. `deadline` is in `time.monotonic()` seconds; TimeoutError after it."""
        while (message := self.take()) is None:
            if deadline is not None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                sock.settimeout(left)
            self.fill(sock)
        return message
