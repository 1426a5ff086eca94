"""The weights that a learner trained, a safetensors file: read as plain tensors, or refused in words."""

from __future__ import annotations

from typing import Any

from grader.judge.errors import CheckFailed
from grader.submission import MAX_ARTEFACT_BYTES

MAX_HEADER_BYTES = 64 << 10  # of names, shapes and places; it is JSON, which takes longer to read than numbers
MAX_AXES = 8  # of a tensor; torch itself refuses to work on more than 64
FLOATS = ("torch.float32", "torch.float16", "torch.bfloat16")
SAVE = "`safetensors.torch.save_file(model.state_dict(), path)` writes one."


def read_tensors(raw: bytes | None) -> dict[str, Any]:
    """Return the tensors of an artefact in float32, by name.

    Raises:
        CheckFailed: There is none, or it is no whole safetensors file of finite floating-point numbers.
    """
    if raw is None:
        raise CheckFailed("There is no file of weights beside yours: `learn build` trains a model and writes it.")
    if len(raw) > MAX_ARTEFACT_BYTES:
        raise CheckFailed(
            f"The file of weights is larger than {MAX_ARTEFACT_BYTES >> 20} MB: this model needs far less."
        )
    if raw.startswith((b"PK\x03\x04", b"\x80")) and not raw[2:8].startswith(b"\0"):
        raise CheckFailed(f"The weights are a pickle, as torch.save writes it: reading one runs code. {SAVE}")
    if int.from_bytes(raw[:8], "little") > MAX_HEADER_BYTES:
        raise CheckFailed(f"The file of weights does not begin as a safetensors file of this model does. {SAVE}")
    found = _load(raw)
    for name, tensor in found.items():
        if tensor.dim() > MAX_AXES:
            raise CheckFailed(f"{shown_name(name)} has {tensor.dim()} axes: no weight of this model has so many.")
        if str(tensor.dtype) not in FLOATS:
            raise CheckFailed(f"{shown_name(name)} is {tensor.dtype}; expected torch.float32.")
        found[name] = tensor.float()
        if not bool(found[name].isfinite().all()):
            raise CheckFailed(f"{shown_name(name)} has numbers in it that are not finite: the training has diverged.")
    return found


def shown_name(name: str) -> str:
    """Return a name out of a file as a message shows it: short, and in signs that do nothing."""
    return f"`{ascii(name)[1:-1][:60]}`"


def _load(raw: bytes) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(raw)
    except SafetensorError as error:
        is_short = any(word in str(error).lower() for word in ("incomplete", "too small", "header length"))
        what = "is cut off, or longer than it says" if is_short else "is damaged, or no safetensors file"
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError):
        # a dtype that this torch has not; a tensor without numbers, or with an axis longer than torch can count
        what = "holds a tensor that this model cannot have"
    raise CheckFailed(f"The file of weights {what}. {SAVE}")
