"""The class list of a class on GitHub, as spreadsheets save it."""

from __future__ import annotations

import pytest

from grader.github.class_list import read_class


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_a_class_list_is_read_in_the_encoding_it_was_saved_in(tmp_path, encoding):
    """Names keep their signs; that the encoding was guessed is told."""
    path, notes = tmp_path / "class.csv", []
    path.write_bytes("id,repository,name\nann,school/hw-ann,Ann O’Neill-Æsop\n".encode(encoding))

    assert [one.name for one in read_class(path, notes.append)] == ["Ann O’Neill-Æsop"]
    assert ["Windows-1252" in note for note in notes] == [True] * (encoding == "cp1252")
