"""Weights that a learner hands over: read as plain tensors, or refused in words, whatever the file holds."""

from __future__ import annotations

import io
import json
import pickle

import pytest
import torch
from safetensors.torch import save

from grader.judge.errors import CheckFailed
from grader.judge.values.artefact import MAX_HEADER_BYTES, read_tensors, shown_name
from grader.submission import MAX_ARTEFACT_BYTES, read_artefact

WHOLE = save({"a": torch.ones(3, 2), "b": torch.zeros(4)})


def made(header: str | dict, data: bytes = b"\0" * 24) -> bytes:
    """A file with this header, whatever it says."""
    text = (header if isinstance(header, str) else json.dumps(header)).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(3, 2), offsets=(0, 24)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def torch_saved(value) -> bytes:
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_floats_are_read_as_float32(dtype):
    """Half of the numbers' precision is enough to hand in."""
    found = read_tensors(save({"a": torch.tensor([[0.5, -2.0]], dtype=dtype)}))
    assert found["a"].dtype == torch.float32 and found["a"].tolist() == [[0.5, -2.0]]


HOSTILE = {
    "no file": (None, "There is no file of weights"),
    "too large": (b"\0" * (MAX_ARTEFACT_BYTES + 1), "larger than 8 MB"),
    "empty": (b"", "cut off"),
    "a few bytes": (b"abc", "does not begin as"),
    "a pickle in a zip, as torch saves": (torch_saved({"a": torch.ones(2)}), "are a pickle"),
    "a pickle": (pickle.dumps({"a": [1.0]}), "are a pickle"),
    "cut off in the numbers": (WHOLE[:-1], "cut off"),
    "cut off in the header": (WHOLE[:30], "cut off"),
    "more behind the end": (WHOLE + b"\0", "cut off"),
    "a long header": (made(" " * MAX_HEADER_BYTES + "{}"), "does not begin as"),
    "a header that says it is huge": (b"\xff" * 8 + b"{}", "does not begin as"),
    "a deep header": (made('{"a":' + "[" * 30_000 + "]" * 30_000 + "}"), "damaged"),
    "no JSON": (made("{'a': 1}"), "damaged"),
    "no UTF-8": ((2).to_bytes(8, "little") + b"\xff\xfe", "damaged"),
    "a list": (made("[]"), "damaged"),
    "offsets that overlap": (made({"a": entry(), "b": entry()}), "damaged"),
    "offsets that run backwards": (made({"a": entry(offsets=(24, 0))}), "damaged"),
    "offsets beyond the end": (made({"a": entry(shape=(6, 2), offsets=(0, 48))}), "cut off"),
    "a shape that overflows": (made({"a": entry(shape=(1 << 62, 1 << 62))}), "damaged"),
    "an axis longer than torch counts": (made({"a": entry(shape=(1 << 63, 0), offsets=(0, 0))}, b""), "cannot have"),
    "an axis as long as can be written": (made({"a": entry(shape=((1 << 64) - 1, 0), offsets=(0, 0))}, b""), "cannot"),
    "a negative shape": (made({"a": entry(shape=(-3, -2))}), "damaged"),
    "no such dtype": (made({"a": entry("F33")}), "damaged"),
    "float64": (save({"a": torch.ones(2, dtype=torch.float64)}), "`a` is torch.float64; expected torch.float32"),
    "int64": (save({"a": torch.ones(2, dtype=torch.int64)}), "`a` is torch.int64"),
    "bool": (save({"a": torch.ones(2, dtype=torch.bool)}), "`a` is torch.bool"),
    "NaN": (save({"a": torch.tensor([1.0, float("nan")])}), "`a` has numbers in it that are not finite"),
    "more axes than torch works on": (save({"a": torch.zeros([1] * 100)}), "`a` has 100 axes"),
    "infinity": (save({"a": torch.tensor([float("-inf")])}), "not finite"),
    "a name that rings": (save({"\x1b[2J\a" * 50: torch.tensor([1])}), r"`\\x1b[2J"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_file_of_weights_is_refused_in_words(name):
    """A file that is none, or was made to do harm, is named in one sentence of bounded length."""
    raw, says = HOSTILE[name]
    with pytest.raises(CheckFailed) as failed:
        read_tensors(raw)
    assert says.replace("\\\\", "\\") in str(failed.value)
    assert len(str(failed.value)) < 250 and "\x1b" not in str(failed.value)


def test_many_names_are_read_or_refused_within_the_header():
    """As many tensors as a header may hold are read; their numbers are those of the file, and no more."""
    found = read_tensors(save({f"w{number}": torch.ones(1) for number in range(900)}))
    assert len(found) == 900 and sum(each.numel() for each in found.values()) == 900


def test_a_name_is_shown_short_and_harmless():
    assert shown_name("blocks.0.attn.wq.weight") == "`blocks.0.attn.wq.weight`"
    assert shown_name("\n" * 99).count("\n") == 0 and len(shown_name("x" * 999)) < 70


def test_only_an_ordinary_file_beside_the_submission_is_read(tmp_path):
    """A link, a folder or nothing there is no artefact; what is too large is read up to one byte more than allowed."""
    path, weights = tmp_path / "tiny_gpt.py", tmp_path / "tiny_gpt.safetensors"
    assert read_artefact(path) is None
    weights.mkdir()
    assert read_artefact(path) is None
    weights.rmdir()
    (tmp_path / "secret").write_bytes(b"secret")
    weights.symlink_to(tmp_path / "secret")
    assert read_artefact(path) is None
    weights.unlink()
    with weights.open("wb") as file:
        file.truncate(MAX_ARTEFACT_BYTES * 4)
    assert len(read_artefact(path)) == MAX_ARTEFACT_BYTES + 1
    weights.write_bytes(WHOLE)
    assert read_artefact(path) == WHOLE
