"""How plain data crosses between judge and worker: a JSON header and raw bytes, every length bounded.

One frame is `header length (u32, big endian) | body length (u64) | header | body`. The header is JSON; arrays in it are
described and point into the body. Nothing is ever unpickled. What a worker sends is not trusted: `decode` accepts only
the forms below and raises `ProtocolError` for everything else.

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
from typing import Any

PREFIX = struct.Struct(">IQ")
MAX_HEADER = 4 << 20
MAX_BODY = 256 << 20
MAX_DEPTH = 16
MAX_ITEMS = 200_000
MAX_TEXT = 64 << 10
MAX_RANK = 16

ITEM_SIZES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip


class ProtocolError(Exception):
    """The other side sent what is not a frame of ours."""


@dataclass(frozen=True)
class Array:
    """A tensor or numpy array as plain data; `device` is where it was."""

    kind: str  # "torch" or "numpy"
    dtype: str
    shape: tuple[int, ...]
    data: bytes
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


# --- values to JSON ---------------------------------------------------------------------------------------------------


def encode(message: dict[str, Any]) -> list[bytes]:
    """A message as the pieces of one frame."""
    body: list[bytes] = []
    header = json.dumps(_encode(message, body, 0), separators=(",", ":"), allow_nan=False).encode()
    return [PREFIX.pack(len(header), sum(map(len, body))), header, *body]


def _encode(value: Any, body: list[bytes], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return {"$opaque": ["nested", "nested too deeply to send"]}
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < 1 << 63 else {"$opaque": ["int", str(value.bit_length()) + " bits"]}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, str):
        return _clean(value)
    return _encode_container(value, body, depth)


def _encode_container(value: Any, body: list[bytes], depth: int) -> Any:
    if isinstance(value, list):
        return [_encode(item, body, depth + 1) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_encode(item, body, depth + 1) for item in value]}
    if isinstance(value, dict):
        return {"$dict": [[_clean(str(key)), _encode(item, body, depth + 1)] for key, item in value.items()]}
    if isinstance(value, Array):
        body.append(value.data)
        return {"$array": [value.kind, value.dtype, list(value.shape), value.device, len(value.data)]}
    if isinstance(value, Handle):
        return {"$handle": value.number}
    if isinstance(value, Opaque):
        return {"$opaque": [_clean(value.type_name), _clean(value.text)]}
    return {"$opaque": [type(value).__name__, ""]}


def _clean(text: str) -> str:
    """Text that any terminal and any JSON reader can take: no lone surrogates, no endless strings."""
    return text[:MAX_TEXT].encode("utf-8", "replace").decode("utf-8")


# --- JSON to values ---------------------------------------------------------------------------------------------------


def decode(header: bytes, body: bytes) -> dict[str, Any]:
    """A frame's header and body as a message. Any fault whatever is a ProtocolError."""
    try:
        message = _Decoder(body).decode(json.loads(header), 0)
    except ProtocolError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError, MemoryError) as error:
        raise ProtocolError(f"not a message: {type(error).__name__}") from error
    if not isinstance(message, dict):
        raise ProtocolError("a message is a dictionary")
    return message


class _Decoder:
    def __init__(self, body: bytes) -> None:
        self.body = memoryview(body)
        self.offset = 0
        self.items = 0

    def decode(self, node: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH + 2 or self.items > MAX_ITEMS:
            raise ProtocolError("nested too deeply or too many values")
        if node is None or isinstance(node, bool | str):
            return node
        if isinstance(node, int | float):
            if isinstance(node, float) and not math.isfinite(node):
                raise ProtocolError("bare NaN or Infinity")
            return node
        if isinstance(node, list):
            return [self.decode(item, depth + 1) for item in node]
        if isinstance(node, dict) and len(node) == 1:
            ((tag, content),) = node.items()
            return self._tagged(tag, content, depth)
        raise ProtocolError("unknown form")

    def _tagged(self, tag: str, content: Any, depth: int) -> Any:
        if tag == "$tuple" and isinstance(content, list):
            return tuple(self.decode(item, depth + 1) for item in content)
        if tag == "$dict" and isinstance(content, list):
            return {_text(key): self.decode(item, depth + 1) for key, item in content}
        if tag == "$float" and content in ("nan", "inf", "-inf"):
            return float(content)
        if tag == "$array":
            return self._array(content)
        if tag == "$handle" and type(content) is int:
            return Handle(content)
        if tag == "$opaque":
            type_name, text = content
            return Opaque(_text(type_name), _text(text))
        raise ProtocolError("unknown tag")

    def _array(self, content: Any) -> Array:
        kind, dtype, shape, device, length = content
        if kind not in ("torch", "numpy") or dtype not in ITEM_SIZES or type(length) is not int:
            raise ProtocolError("unknown kind of array")
        if not isinstance(shape, list) or len(shape) > MAX_RANK:
            raise ProtocolError("an array of impossible rank")
        if any(type(size) is not int or size < 0 or size > MAX_BODY for size in shape):
            raise ProtocolError("an array of impossible shape")
        if length != math.prod(shape) * ITEM_SIZES[dtype] or self.offset + length > len(self.body):
            raise ProtocolError("an array whose bytes do not fit its shape")
        data = bytes(self.body[self.offset : self.offset + length])
        self.offset += length
        return Array(kind, dtype, tuple(shape), data, _text(device))


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise ProtocolError("not a text")
    return value


# --- frames over a socket ---------------------------------------------------------------------------------------------


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    """Send one frame. A socket with a timeout raises TimeoutError when the other side does not read."""
    pieces = encode(message)
    if len(pieces) == 2 or sum(map(len, pieces)) < 1 << 16:
        sock.sendall(b"".join(pieces))
        return
    for piece in pieces:
        sock.sendall(piece)


class Frames:
    """What comes from a socket, cut into frames. Small frames take one system call each."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def fill(self, sock: socket.socket) -> None:
        """Take what is there (or wait for it, as the socket is set). EOFError at the end."""
        piece = sock.recv(1 << 18)
        if not piece:
            raise EOFError
        self._buffer += piece

    def take(self) -> dict[str, Any] | None:
        """The next whole frame as a message; None while there is none."""
        if len(self._buffer) < PREFIX.size:
            return None
        header_length, body_length = PREFIX.unpack_from(self._buffer)
        if header_length > MAX_HEADER or body_length > MAX_BODY:
            raise ProtocolError("a frame larger than any of ours")
        body_at = PREFIX.size + header_length
        end = body_at + body_length
        if len(self._buffer) < end:
            return None
        header, body = bytes(self._buffer[PREFIX.size : body_at]), bytes(self._buffer[body_at:end])
        del self._buffer[:end]
        return decode(header, body)

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
