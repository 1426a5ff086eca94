"""Tables that spreadsheets save in different encodings: what is read of them, and what is written into them."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.files import decode_table, encode_table

SAVED = {
    "utf-8": "€ – ’ →".encode(),
    "utf-16-le": codecs.BOM_UTF16_LE + "€ – ’ →".encode("utf-16-le"),
    "utf-16-be": codecs.BOM_UTF16_BE + "€ – ’ →".encode("utf-16-be"),
    "Windows-1252": "€ – ’ é".encode("cp1252") + b"\x81\x8d\x8f\x90\x9d",
}


@pytest.mark.parametrize("encoding", SAVED)
def test_a_table_is_read_in_the_encoding_it_was_saved_in(encoding):
    """Signs that Western spreadsheets write between 0x80 and 0x9f are read as what they are; a guess is told."""
    read = decode_table(SAVED[encoding])

    assert (read.encoding, "€ – ’" in read.text) == (encoding, True)
    assert ("Windows-1252" in read.note("this")) == (encoding == "Windows-1252")


@given(st.binary(max_size=20))
def test_any_bytes_are_written_as_they_were_read(content):
    """Whatever a file holds, what is not changed stays as it is."""
    try:
        read = decode_table(content)
    except UnicodeDecodeError:
        assert content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        return
    assert encode_table(read.text, read.encoding) == content
