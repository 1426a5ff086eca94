"""What lessons and explanations say in numbers is what `benchmarks/claims/` measures."""

from __future__ import annotations

import importlib.util

import pytest
from support.course_files import ROOT

_SPEC = importlib.util.spec_from_file_location("run_claims", ROOT / "benchmarks" / "claims" / "run.py")
run = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run)


@pytest.mark.parametrize("path", run.files(), ids=lambda path: path.stem)
def test_no_claim_is_contradicted(path):
    """Each claim of a file stands where it says, and is what is measured from a fixed seed."""
    claims = list(run.claims_of(path))
    assert claims
    for claim in claims:
        assert run.missing_quotes(claim) == []
        assert run.measure(claim), claim.__name__


def test_a_wrong_claim_is_told(tmp_path, monkeypatch, capsys):
    """The command names a claim that is contradicted and one that stands nowhere, and fails."""
    path = tmp_path / "wrong.py"
    path.write_text(
        'def one_is_two():\n    """softmax.md: one is two"""\n    assert 1 == 2, "1 is not 2"\n\n\n'
        'def no_words():\n    return "found"\n'
    )
    monkeypatch.setattr("sys.argv", ["run.py", str(path)])
    with pytest.raises(SystemExit, match="1"):
        run.main()
    told = capsys.readouterr().out
    assert "one is two: CONTRADICTED 1 is not 2" in told and "softmax.md: one is two" in told
    assert "no words: found" in told and "STANDS THERE NO LONGER  no_words" in told
