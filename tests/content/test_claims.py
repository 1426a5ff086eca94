"""What lessons and explanations say in numbers is what `benchmarks/claims/` measures."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator

import pytest
from support.course_files import ROOT

_SPEC = importlib.util.spec_from_file_location("run_claims", ROOT / "benchmarks" / "claims" / "run.py")
run = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run)

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-\d+)?%?")
LONG_RUNS = [  # where it is said, the lines or the sentence; where it is measured, and how the rows begin
    ("induction.md", r"(?m)^(?:two|one| {3}).*seed \d .*", "induction.md", ""),
    ("induction.md", r"All of its heads have .*? sixth", "induction.md", "one layer"),
    ("induction.md", r"On texts of period 12 the model .*? is 0.17", "induction.md", "two layers, always"),
    ("induction.quiz.toml", r"two layers guesses .*? 27%", "induction.md", r"two layers, \d|one layer"),
    ("induction.quiz.toml", r"of period 12 it is right .*? 21%", "induction.md", "two layers, always"),
    ("two_bits.md", r"(?m)^\| [A-J] \|.*", "bands.md", ""),
    ("two_bits.md", r"A and H do as well .*? 20 seeds", "bands.md", "reference, 1 thread .* 1.391"),
    ("sort_numbers.md", r"(?m)^\| [A-H] \|.*", "bands.md", ""),
    ("sort_numbers.md", r"The right version sorts .*? has [\d.]+\d", "bands.md", r"reference, 1 thread .* 0.9991"),
    ("sort_numbers.md", r"where it stayed at 0.003, .*? lists", "bands.md", "rate 0.003 to the end"),
    ("sort_numbers.md", r"(?m)^\| (?:mean|first|last|max) \|.*", "bands.md", ""),
    ("sort_numbers.md", r"collect the numbers: 2\.699", "bands.md", ""),
    ("sort_numbers.md", r"copying is learned to 0\.001", "bands.md", ""),
    ("sort_numbers.md", r"the loss says 1\.876", "bands.md", ""),
    ("two_bits.md", r"(?:a loss of|It falls to|It stops at|It stays at) \d\.\d+", "bands.md", ""),
    ("tiny_gpt.md", r"(?m)^\| (?:single|bigrams|trigrams|\d-grams) .*", "tiny_gpt.md", ""),
    ("tiny_gpt.md", r"(?m)^\| [A-H] \|.*", "tiny_gpt.md", ""),
    ("tiny_gpt.quiz.toml", r"next character of held-out text costs .*? costs [\d.]+\d", "tiny_gpt.md", "no mask|tenth"),
    ("tiny_gpt.md", r"After 250 steps it has .*? At the end it has 1\.\d+", "tiny_gpt.md", r"[\d,]+ steps|reference"),
    (
        "tiny_gpt.md",
        r"know it as well as the text before it, 1.32 both, .*? 1.26",
        "tiny_gpt.md",
        "reference|the last tenth",
    ),
]

GIVEN = {  # figures that a text sets or offers for a choice: nothing is measured there
    "activations": ["0.005", "0.0005"],
    "gradient_clipping": ["0.001", "0.001"],
    "induction": ["0.005"],
    "layer_norm": ["0.00001"],
    "sort_numbers": ["0.00001"],
    "tiny_gpt": ["0.0004"],
}


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


def figures(text: str) -> Iterator[tuple[str, float, float]]:
    """The numbers of a text that are measured, with what they are worth and how far off a rounded one may be."""
    for said in NUMBER.findall(text):
        places = len(said.rstrip("%").partition(".")[2]) + 2 * said.endswith("%")
        if places:
            yield said, float(said.rstrip("%").replace(",", "")) / (100 if "%" in said else 1), 0.5 * 10**-places + 1e-9


def values(row: str) -> list[float]:
    """All numbers of a row of a table, but for standard deviations."""
    means = re.sub(r"± \S+", "", row)
    return [float(each.rstrip("%").replace(",", "")) / (100 if "%" in each else 1) for each in NUMBER.findall(means)]


def unmeasured(text: str, rows: list[str]) -> list[str]:
    """The figures of a text that are in none of these rows, and are no mean of a column over rows of one kind."""
    known = [value for row in rows for value in values(row)]
    for kind in {row.rstrip("|").partition(",")[0] for row in rows}:
        columns = zip(*(values(row) for row in rows if row.startswith(kind)), strict=False)
        known += [sum(column) / len(column) for column in columns]
    return [said for said, worth, off in figures(text) if not any(abs(worth - each) <= off for each in known)]


@pytest.mark.parametrize("lesson, words, table, begins", LONG_RUNS)
def test_figures_of_long_runs_stand_in_the_benchmarks(lesson, words, table, begins):
    """What takes minutes to measure is measured by `benchmarks/`: each figure said stands in a row of its tables."""
    (path,) = run.LESSONS.rglob(lesson)
    lines = [line.strip("| ") for line in (ROOT / "benchmarks" / table).read_text("utf-8").splitlines()]
    rows = [line for line in lines if NUMBER.search(line) and re.match(begins, line)]
    source = path.read_text("utf-8")
    said = re.findall(words, source if words.startswith("(?m)") else " ".join(source.split()))
    assert said and rows
    for each in said:
        missing = unmeasured(each, rows) if begins else min((unmeasured(each, [row]) for row in rows), key=len)
        assert missing == [], each


def test_a_figure_that_was_not_measured_is_told():
    """A digit more or less is another figure; a share and a mean over runs of one kind are not."""
    rows = ["two layers, 1 | 0.948 | 0.49", "two layers, 2 | 0.945 | 0.50"]
    assert unmeasured("right in 95% with 0.945 and 0.50", rows) == []
    assert unmeasured("right in 96%, at 0.9475 or 0.51", rows) == ["96%", "0.9475", "0.51"]


def in_prose(lesson: str, text: str) -> str:
    """A lesson's prose on one line, without code, literature and whatever is measured elsewhere."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    prose = " ".join(re.sub(r"arXiv:? [\d.]+|section [\d.]+|§ ?[\d.]+", "", " ".join(prose.split())).split())
    for path in run.files():
        for claim in run.claims_of(path):
            for name, words in run.quotes(claim):
                prose = prose.replace(" ".join(words.split()), "") if name == lesson else prose
    return prose


@pytest.mark.parametrize("path", sorted(run.LESSONS.rglob("*.md")), ids=lambda path: path.stem)
def test_every_figure_of_a_text_is_measured(path):
    """A figure of two decimals or more is quoted by a claim, printed by the lesson's code, stands in a table of long
    runs, or is a setting: of the lesson's own files, or one of those above."""
    text = path.read_text("utf-8").split("+++", 2)[2]
    own = [*ROOT.glob(f"exercises/*/{path.stem}.py"), *ROOT.glob(f"solutions/*/*{path.stem}*.py")]
    printed = " ".join([*re.findall(r"```.*?```", text, re.DOTALL), *(each.read_text("utf-8") for each in own)])
    for name, words, *_ in LONG_RUNS:
        if name == path.name:
            flat = text if words.startswith("(?m)") else " ".join(text.split())
            printed += " ".join(re.findall(words, flat))
    found = re.findall(r"(?<![\w.,^_])\d[\d,]*\.\d\d+(?![\w.]*\d)", in_prose(path.name, text))
    assert [each for each in found if each not in printed] == GIVEN.get(path.stem, [])
