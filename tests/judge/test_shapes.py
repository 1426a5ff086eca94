"""The shapes beside the lines: watched in a real worker, with what the reference has too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.factories import ROOT, course, run_judge

from grader.cli.check.show import command as show
from grader.cli.check.trace import command, tell_calls
from grader.errors import SelfattendError, UsageError
from grader.judge.processes.launcher import Launcher
from grader.judge.tracing.shape_words import describe_lines
from grader.judge.tracing.shapes import TracedCall
from grader.model import Submission

WRONG_AXIS = """import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    att = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    if mask is not None:
        att = att.masked_fill(~mask, float("-inf"))
    share = torch.softmax(att, 1)
    return share @ v
"""
UNPACKED = """import torch


def split_heads(x, num_heads):
    b, t, d = x.shape
    return x.view(b, t, num_heads, d // num_heads).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    return q
"""
RAISES = """import torch


def softmax(x, dim=-1):
    e = torch.exp(x)
    return e.view(3, 1, 4, 1, 5)
"""
RAISES_WITHIN = """import torch


def softmax(x, dim=-1):
    e = torch.exp(x)
    total = add_up(e, dim)
    return e / total


def add_up(e, dim):
    raise KeyError("\\x1b[31mred\\nand more")
"""
ONE_WAY = """import math


def two_tokens(q, k1, k2, v1, v2, g):
    a = math.exp(q * k1) / (math.exp(q * k1) + math.exp(q * k2))
    s = g * (v1 - v2) * a * (1 - a)
    return {"a": a, "dq": s * k1, "dk1": s * q, "dk2": -s * q, "dv1": g * a, "dv2": g * (1 - a)}


def attention_backward(q, k, v, d_out):
    p = (q @ k.T / q.size(-1) ** 0.5).softmax(dim=-1)
    dp = d_out @ v.T
    ds = p * (dp - (p * dp).sum(dim=-1, keepdim=True)) / q.size(-1) ** 0.5
    return ds @ k, ds.T @ k, p.T @ d_out
"""

INVERTED = """import torch


def causal_mask(seq_len):
    return torch.triu(torch.ones(seq_len, seq_len), diagonal=1).bool()
"""
OF_BOTH_KINDS = """import torch


def softmax(x, dim=-1):
    y = torch.exp(x)
    for part in (y, 2.0):
        kept = part * 1.0
    return y / kept
"""


def trace(launcher: Launcher, lesson: str, source: str) -> list[TracedCall]:
    submission = Submission(lesson, f"{lesson}.py", source)
    return run_judge(launcher, lesson, lambda judge: judge.trace(course().lessons[lesson], submission), known=True)


def lines_of_ours(output: str) -> list[str]:
    """What stands neither in the learner's source nor in a command, which is copied whole."""
    return [line for line in output.splitlines() if not line[:3].strip().isdigit() and not line.startswith("Next  ")]


def shapes(call: TracedCall) -> list[tuple[Any, ...]]:
    return [(value.line, value.name, value.value, value.is_right) for value in call.values]


def test_each_line_has_its_shapes_up_to_where_right_ends(launcher: Launcher) -> None:
    """What is given stands at the head, what is assigned at its line; from the wrong axis on nothing is right."""
    (call,) = trace(launcher, "attention", WRONG_AXIS)
    q, k, v, att, share, answer = shapes(call)

    assert not call.is_right
    assert (call.wrong_from, call.letters["T"], call.letters["S"]) == (8, q[2][-2], k[2][-2])
    assert [each[0] for each in (q, k, v, att, share, answer)] == [4, 4, 4, 5, 8, 9]
    assert att[1:] == ("att", (*q[2][:-1], k[2][-2]), True)
    assert share[1:] == ("share", att[2], False)
    assert (answer[1], answer[3]) == ("return", False)


def test_the_signs_beside_the_lines_are_explained_where_something_is_wrong(launcher: Launcher) -> None:
    """Each has its words below; beside a right answer there is one sign, which says itself."""
    said = "\n".join(tell_calls(trace(launcher, "attention", WRONG_AXIS), WRONG_AXIS))
    assert "✓ the reference has this value, too\n" in said
    assert "\n✗ wrong: it is in your answer, or no value from here on is the reference's\n" in said
    right = (ROOT / "solutions/core/attention.py").read_text()
    stub = (ROOT / "exercises/core/attention.py").read_text()
    for source in (right, stub):  # a stub makes nothing that a sign could stand beside
        told = "\n".join(tell_calls(trace(launcher, "attention", source), source))
        assert "def scaled_dot_product_attention" in told and "the reference has this value" not in told


@pytest.mark.parametrize("source, says", [
    ("def softmax(x, dim=-1):\n    n = []\n    for _ in range(9000): n = [n]\n    return x.exp()", "too much happens"),
    ("def softmax(x, dim=-1):\n    pass", "they make no array and no number"),
    ("softmax = lambda x, dim=-1: None", "It has no `def` whose lines"),
    ("def softmax(x, dim=-1): raise ValueError", "def softmax(x, dim=-1): raise ValueError"),
    ("softmax = lambda x, dim=-1: [].pop()", "It has no `def` whose lines"),
])  # fmt: skip
def test_why_no_line_is_told_is_said(launcher: Launcher, source: str, says: str) -> None:
    """A `def` is not told to be written as one."""
    said = " ".join("\n".join(tell_calls(trace(launcher, "softmax", source), source)).split())

    assert says in said and ("no `def`" in said) is ("lambda" in source), said


@pytest.mark.parametrize("columns", [40, 60])
def test_in_a_narrow_terminal_a_long_line_stays_beside_its_number(
    launcher: Launcher, monkeypatch: Any, columns: int
) -> None:
    """Its rest stands deeper than its beginning, not in the column of the numbers; what it made is whole, too."""
    monkeypatch.setenv("COLUMNS", str(columns))
    stub = (ROOT / "exercises/core/attention.py").read_text()
    lines = "\n".join(tell_calls(trace(launcher, "attention", stub), stub)).split("\n")
    made = "\n".join(tell_calls(trace(launcher, "attention", WRONG_AXIS), WRONG_AXIS)).split("\n")

    assert max(map(len, [*lines, *made])) <= columns
    first = next(number for number, line in enumerate(lines) if line.startswith(' 57          "scaled'))
    assert lines[first + 1].startswith(" " * 17)
    assert any(line.endswith(" ✓ att (2, 5, 7) = (2, T, S)") for line in made)


def test_a_truth_value_and_a_large_number_are_written_as_python_does(launcher: Launcher) -> None:
    """No 0 for False, and no power of ten for what counts something."""
    source = "def softmax(x, dim=-1):\n    grows = x.numel() > 10**6\n    most = 10**6\n    return x * 1.0\n"
    told = [
        text for line, notes in describe_lines(trace(launcher, "softmax", source), source) for text in notes[0].says
    ]

    assert {"grows = False", "most = 1000000"} <= set(told)


def test_what_is_unpacked_of_a_generator_has_its_shapes(launcher: Launcher) -> None:
    """Each function has a call of its own; q, k and v stand at the line that unpacks them."""
    split, merge, whole = trace(launcher, "multi_head", UNPACKED)

    assert split.is_right and merge.is_right and not whole.is_right
    names = {name: (line, value) for line, name, value, _ in shapes(whole)}
    assert names["q"][0] == 14
    assert len(names["q"][1]) == 4
    assert (5, "b", split.letters["B"], True) in shapes(split)


def test_a_line_tells_what_the_call_of_its_own_function_made(launcher: Launcher) -> None:
    """Of a helper that has a call of its own nothing is told from the calls that others make of it."""
    calls = trace(launcher, "multi_head", UNPACKED)
    told = {line: [text for note in notes for text in note.says] for line, notes in describe_lines(calls, UNPACKED)}

    assert min(told) == 4 and list(told) == sorted(told)
    assert len([text for text in told[4] if text.startswith("x ")]) == 1
    assert {note.standing for line, notes in describe_lines(calls, UNPACKED) if line == 15 for note in notes} == {
        "wrong"
    }
    (made,) = {value for _, name, value, _ in shapes(calls[2]) if name == "q"}
    assert f"q {made}" in " ".join(told[14])


def test_what_was_made_before_an_error_is_shown(launcher: Launcher) -> None:
    """Where the call raises, the lines before it have their shapes."""
    (call,) = trace(launcher, "softmax", RAISES)

    assert not call.has_returned
    assert [(line, name, right) for line, name, _, right in shapes(call)][:2] == [(4, "x", True), (5, "e", False)]


def test_each_line_on_the_way_to_an_error_is_marked(launcher: Launcher, tmp_path) -> None:
    """The call and the line within that raised say the type, the head also the text, without its controls."""
    (call,) = trace(launcher, "softmax", RAISES_WITHIN)
    marked = {line: note.says for line, notes in describe_lines([call], RAISES_WITHIN) for note in notes
              if note.standing == "raised"}  # fmt: skip
    assert marked == {6: ["raises KeyError"], 11: ["raises KeyError"]}
    (tmp_path / "softmax.py").write_text(RAISES_WITHIN)
    asked = ["softmax", "--file", str(tmp_path / "softmax.py")]
    said = CliRunner().invoke(command, asked, env={"COLUMNS": "100"}).output

    assert [line.split()[0] for line in said.splitlines() if line.endswith("✗ raises KeyError")] == ["6", "11"]
    assert "on this call it raises KeyError: " in said and "red" in said and "\x1b" not in said


def test_a_call_that_python_refuses_marks_no_line(tmp_path) -> None:
    """Where the function takes no such argument none of its lines raised; the head says what did."""
    (tmp_path / "causal_mask.py").write_text("def causal_mask():\n    return 1\n")
    said = CliRunner().invoke(command, ["causal_mask", "--file", str(tmp_path / "causal_mask.py")]).output
    assert "it raises TypeError: causal_mask() takes 0" in said and "\n  Nothing was made before that.\n" in said


def test_what_is_an_array_in_one_pass_and_a_number_in_another_is_shown_twice(launcher: Launcher) -> None:
    """The first pass and the last stand by themselves, since they have nothing in common."""
    (call,) = trace(launcher, "softmax", OF_BOTH_KINDS)

    kept = [value for value in call.values if value.name == "kept"]
    assert [(value.which_pass, value.dtype) for value in kept] == [(1, "float32"), (2, "float")]
    assert (kept[0].value, kept[1].value) == (call.values[0].value, 2.0)


def test_each_part_of_an_answer_is_compared_with_its_own(launcher: Launcher, tmp_path) -> None:
    """What is returned in parts is named by them, and one is right only if it is that part of the right answer."""
    numbers, matrices = trace(launcher, "attention_gradient", ONE_WAY)
    told = {name: right for line, name, _, right in shapes(numbers) if line == 7}
    assert told == {f"return[{part!r}]": part != "dq" for part in ("a", "dq", "dk1", "dk2", "dv1", "dv2")}
    told = {name: right for line, name, _, right in shapes(matrices) if line == 14}
    assert told == {"return[0]": True, "return[1]": False, "return[2]": True}

    (tmp_path / "gradient.py").write_text(ONE_WAY)
    done = CliRunner().invoke(command, ["attention_gradient", "--file", str(tmp_path / "gradient.py")])
    assert "pass" not in done.output
    assert max(map(len, lines_of_ours(done.output))) <= 80


def test_parts_in_parts_are_named_by_the_way_to_them(launcher: Launcher) -> None:
    """A dict in a tuple, returned or kept, is no line that ran several times: each part has its own name."""
    source = ONE_WAY.replace('return {"a": a, ', 'kept = {"a": a, "s": s}\n    return kept["a"], {')
    numbers = trace(launcher, "attention_gradient", source)[0]
    names = [value.name for value in numbers.values if value.line > 6]

    assert names == ["kept['a']", "kept['s']", "return[0]"] + [f"return[1][{key!r}]" for key in
                     ("dq", "dk1", "dk2", "dv1", "dv2")]  # fmt: skip
    assert {value.which_pass for value in numbers.values} == {0}


def test_sizes_have_the_letters_of_the_statement(launcher: Launcher) -> None:
    """The width of queries and keys, which no step of the reference makes, is named in the shapes of the arguments."""
    (call,) = trace(launcher, "attention", WRONG_AXIS)
    q, k, *_ = shapes(call)

    assert call.letters["d_k"] == q[2][-1] == k[2][-1]
    assert call.letters.keys() == {"T", "S", "d_k", "d_v"}


def test_half_a_size_is_not_called_by_the_letter_of_another(launcher: Launcher) -> None:
    """Where d_head/2 is as large as B, no letter stands for either."""
    (call,) = trace(launcher, "tiny_gpt", (ROOT / "solutions/models/tiny_gpt.py").read_text())
    halves = {value.value[-1] for value in call.values if value.name == "left" and isinstance(value.value, tuple)}
    assert halves and not halves & set(call.letters.values())


def test_an_exercise_that_is_not_begun_says_so() -> None:
    """The line that says it is the one that raised; the lines before it have nothing beside them."""
    done = CliRunner().invoke(command, ["softmax", "--file", str(ROOT / "exercises/core/softmax.py")])
    assert "it raises NotImplementedError: softmax: not written yet" in done.output and "\n\n\n" not in done.output
    assert re.search(r'raise NotImplementedError\("softmax: not written yet"\)\s+✗ raises NotImpl', done.output)


def test_the_command_puts_them_beside_the_source(tmp_path) -> None:
    """Source left, shapes right, in words and signs; as JSON too."""
    file = ROOT / "solutions/core/attention.py"
    done = CliRunner().invoke(command, ["attention", "--file", str(file)], env={"COLUMNS": "100"})
    as_json = CliRunner().invoke(command, ["attention", "--file", str(file), "--json"])
    narrow = CliRunner().invoke(command, ["attention", "--file", str(file)], env={"COLUMNS": "60"})

    assert "on this call the answer is right" in done.output
    assert max(map(len, lines_of_ours(narrow.output))) <= 60
    (line,) = [line for line in done.output.splitlines() if "torch.softmax" in line]
    assert "weights (2, 5, 7) = (2, T, S)" in line
    assert json.loads(as_json.output)["calls"][0]["letters"]["T"] == 5


def test_the_shapes_stand_beside_the_lines_that_python_counts(tmp_path) -> None:
    """A form feed in a text ends no line, so each shape stands beside the line that makes it."""
    (tmp_path / "softmax.py").write_text("TITLE = '\f'\n" + RAISES)
    done = CliRunner().invoke(command, ["softmax", "--file", str(tmp_path / "softmax.py")], env={"COLUMNS": "100"})

    assert [line.split()[:2] for line in done.output.splitlines() if "e (" in line] == [["6", "e"]]


@pytest.mark.parametrize(
    ("source", "why"),
    [("x = 1\ndef softmax(x:\n", "SyntaxError: '(' was never closed"), ("\n1 / 0\n", "ZeroDivisionError: division by")],
)
@pytest.mark.parametrize(("asked", "lesson", "done"), [(command, "softmax", "watched"), (show, "attention", "drawn")])
def test_a_file_that_cannot_be_loaded_is_told_with_its_line(tmp_path, asked, lesson, done, source, why) -> None:
    """Python that cannot be read, and code that raises; the exit code is that of the check, for JSON too."""
    (tmp_path / f"{lesson}.py").write_text(source)
    arguments = [lesson, "--file", str(tmp_path / f"{lesson}.py")]
    told = CliRunner().invoke(asked, arguments, env={"COLUMNS": "200"})

    assert told.exit_code == 1
    assert f"Nothing could be {done}:\n  {why}" in told.output and f"/{lesson}.py:2" in told.output
    assert f"Next  learn check {lesson}" in told.output
    assert CliRunner().invoke(asked, [*arguments, "--json"]).exit_code == 1


def test_a_folder_in_place_of_a_file_names_the_command_that_was_used(tmp_path) -> None:
    """What comes next is the same look at a file; without a lesson, at the current one."""
    told = CliRunner().invoke(command, ["--file", str(tmp_path)])

    assert isinstance(told.exception, SelfattendError)
    assert told.exception.next_step == "learn trace softmax --file FILE.py"


def test_an_argument_that_is_returned_is_right_where_it_is_given(launcher: Launcher) -> None:
    """As the answer it is wrong."""
    source = "def softmax(x, dim=-1):\n    return x\n"
    told = standings(trace(launcher, "softmax", source), source)
    assert told[1, "x"] == "right" and told[2, "return"] == "wrong"


def write_notebook(path: Path, *cells: str) -> str:
    """Write a notebook of code cells."""
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in cells]}))
    return str(path)


def test_a_notebook_is_traced_and_drawn_as_it_is_checked(tmp_path: Path) -> None:
    """Lines stand in their cells, the file may stand in the lesson's place, and its own check is what comes next."""
    notebook = write_notebook(tmp_path / "mask.ipynb", "import torch", f"%%check causal_mask\n{INVERTED}")
    traced = CliRunner().invoke(command, [notebook], env={"COLUMNS": "100"}).output
    assert "on this call the answer is wrong" in traced and "cell 2" in traced and "✗ return" in traced
    drawn = CliRunner().invoke(show, ["causal_mask", "--file", notebook]).output
    assert "25 of 25 values differ" in drawn
    for said in (traced, drawn):
        assert said.endswith(f"Next  learn check causal_mask --file {notebook}\n")

    write_notebook(tmp_path / "mask.ipynb", INVERTED, f"{INVERTED} +")  # what is shown is the first cell's
    for look in (command, show):
        assert "Code cell 2 was left out" in CliRunner().invoke(look, ["causal_mask", "--file", notebook]).output

    both = write_notebook(tmp_path / "both.ipynb", INVERTED, RAISES)
    refused = CliRunner().invoke(command, [both]).exception
    assert isinstance(refused, UsageError) and "several lessons: softmax, causal_mask" in refused.what
    assert refused.next_step == f"learn trace softmax --file {both}"


NESTED = """import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i, j] = True
    return mask
"""


def test_an_array_that_is_yet_to_be_filled_is_not_where_right_ends(launcher: Launcher) -> None:
    """The line that fills it is."""
    (call,) = trace(launcher, "causal_mask", NESTED.replace("range(i + 1)", "range(i, seq_len)"))

    assert call.wrong_from == 8


CALLS_ITSELF = """import torch


def causal_mask(seq_len):
    if seq_len == 1:
        return torch.ones(1, 1, dtype=torch.bool)
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool)
    mask[:-1, :-1] = causal_mask(seq_len - 1)
    return mask
"""


def standings(calls: list[TracedCall], source: str) -> dict[tuple[int, str], str]:
    """How each value stands to the reference, by line and name."""
    return {
        (line, says.split()[0]): note.standing
        for line, notes in describe_lines(calls, source)
        for note in notes
        for says in note.says
    }


def test_a_wrong_answer_is_marked_whatever_it_was_made_of(launcher: Launcher) -> None:
    """One that begins with an array of ones, and one part beside others that are right; a call within is no answer."""
    calls = trace(launcher, "causal_mask", INVERTED)
    assert standings(calls, INVERTED)[5, "return"] == "wrong" and calls[0].wrong_from == 5

    told = standings(trace(launcher, "attention_gradient", ONE_WAY), ONE_WAY)
    wrong = {each for each, standing in told.items() if standing == "wrong" and each[1].startswith("return")}
    assert wrong == {(7, "return['dq']"), (14, "return[1]")}

    told = standings(trace(launcher, "causal_mask", CALLS_ITSELF), CALLS_ITSELF)
    assert told[9, "return"] == "wrong" and told.get((6, "return")) != "wrong"


@pytest.mark.slow
def test_right_work_is_shown_whose_largest_call_takes_too_long_to_watch(launcher: Launcher) -> None:
    """The first call is there, though a check asks for hundreds of tokens too."""
    (call,) = trace(launcher, "causal_mask", NESTED)

    assert call.is_right and call.values
