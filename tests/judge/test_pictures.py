"""Pictures of a learner's answers: asked of a real worker, beside the reference's, in bounds whatever comes back."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.factories import ROOT, course, run_judge
from support.learn_command import TINY, learn, start_workspace

from grader.cli.check.show import command
from grader.course.load_course import load
from grader.errors import CourseError
from grader.judge.errors import LearnerError
from grader.judge.processes.launcher import Launcher
from grader.judge.tracing.shape_words import describe_ending
from grader.model import Submission
from grader.model.picture import Picture
from grader.reports.formats import to_picture_file
from grader.reports.formats.picture_html import pictures_to_html
from grader.terminal.layout import Layout
from grader.terminal.picture import draw
from grader.terminal.text import PLAIN_SIGNS

SUM_OF_ALL = """import torch


def softmax(x, dim=-1):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum()
"""
TRANSPOSED = "import torch\n\n\ndef causal_mask(n):\n    return torch.ones(n, n).triu().bool()\n"
LAYOUTS = {
    "in colour": Layout(80, colour=True, palette="truecolor"),
    "narrow": Layout(60, colour=True, palette="256"),
    "in shades": Layout(60),
    "in ASCII": Layout(80, signs=PLAIN_SIGNS),
}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
HOSTILE = {
    "another shape": "return torch.ones(3, 1, 2)",
    "too many numbers": "return torch.zeros(3000, 3000)",
    "NaN": "return x * float('nan')",
    "infinities": "return x * float('inf')",
    "complex": "return x.to(torch.complex64)",
    "another dtype": "return torch.exp(x.double() - torch.logsumexp(x.double(), dim, True))",
    "an array of numpy": "return (2 * x).numpy()",
    "nothing": "return None",
    "a name with commands": "raise type('\\x1b[2J\\x1b]0;title\\x07' * 99, (Exception,), {})('\\x1b[2J' + 'x' * 10**6)",
    "an end": "import os; os._exit(3)",
    "a loop": "\n    while True: pass",
    "output without end": "\n    while True: print('x' * 1000)",
}


def pictures(launcher: Launcher, lesson: str, source: str) -> list[Picture]:
    submission = Submission(lesson, f"{lesson}.py", source)
    return run_judge(launcher, lesson, lambda judge: judge.draw_pictures(course().lessons[lesson], submission))


def reference_of(lesson: str) -> str:
    return course().lessons[lesson].solution_path.read_text()


def values(picture: Picture, name: str) -> list[Any]:
    return next([row["value"] for row in rows] for title, rows in picture.data.items() if title.startswith(name))


def test_the_slice_that_goes_wrong_is_drawn_with_its_sum(launcher: Launcher) -> None:
    """Of the first call that is answered otherwise: yours, expected and the difference; right work has none."""
    [wrong] = pictures(launcher, "softmax", SUM_OF_ALL)
    [right] = pictures(launcher, "softmax", reference_of("softmax"))

    assert set(wrong.data) == {"yours, sum 0.42", "expected, sum 1.00", "difference"}
    assert [a - b for a, b in zip(values(wrong, "yours"), values(wrong, "expected"), strict=True)] == pytest.approx(
        values(wrong, "difference"), abs=1e-6
    )
    assert right.is_right and right.asked.endswith(")[0]")  # of which slice the bars are
    assert set(values(right, "difference")) == {0.0}


def test_a_difference_that_shows_elsewhere_is_looked_for(launcher: Launcher) -> None:
    """What is right on the first call is shown on the one where it is wrong."""
    [wrong] = pictures(
        launcher, "softmax", "def softmax(x, dim=-1):\n    e = x.exp()\n    return e / e.sum(dim, True)\n"
    )

    assert "1000" in wrong.asked
    assert values(wrong, "yours") == [None, None]
    assert "nan" in draw(wrong, Layout())


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_grid_is_drawn_within_the_terminal(launcher: Launcher, layout: Layout) -> None:
    """Three masks beside each other: as wide as the terminal at most, and not higher than its 24 lines."""
    [mask] = pictures(launcher, "causal_mask", TRANSPOSED)
    text = draw(mask, layout)
    lines = ESCAPE.sub("", text).splitlines()

    assert max(map(len, lines)) <= layout.width
    assert len(lines) < 20
    assert ("\x1b[" in text) == layout.colour
    assert text.isascii() or layout.signs != PLAIN_SIGNS
    assert all(word in lines[3] for word in ("yours", "expected", "difference"))


def test_words_hold_every_number(launcher: Launcher) -> None:
    """Who listens hears each row of each view."""
    [mask] = pictures(launcher, "causal_mask", TRANSPOSED)
    said = draw(mask, Layout(), words=True)

    assert said.count("  4: ") == 3
    assert "0: 1, 1, 1, 1, 1" in said
    assert "█" not in said


def test_a_page_has_the_drawing_and_every_number_in_words(launcher: Launcher) -> None:
    """Cells, bars and curves as SVG without style or script; what is wrong comes first; each view says its numbers."""
    right = [each for name in ("softmax", "training") for each in pictures(launcher, name, reference_of(name))]
    page = pictures_to_html([*right, *pictures(launcher, "causal_mask", TRANSPOSED)])

    figures = page.split("<figure")[1:]
    assert "who may see" in figures[0].lower() or "causal_mask" in figures[0]
    assert figures[0].count("<rect") == figures[0].count("<title>") == 3 * 25
    assert "0: 1, 1, 1, 1, 1. 1: 0, 1, 1, 1, 1." in figures[0]
    assert figures[1].count('class="bar ') == 3 * 3 and figures[2].count("<polyline") == 1 + 3
    assert page.count("<svg") == page.count('role="img" aria-label="') == 3 + 3 + 1
    assert " style=" not in page and "<script" not in page


def test_whatever_is_answered_is_told_in_a_few_clean_lines(launcher: Launcher) -> None:
    """Shapes, dtypes, endless output, deaths and escape sequences: no crash, no flood, JSON that is one."""
    submissions = {
        name: Submission("softmax", "softmax.py", f"import torch\n\n\ndef softmax(x, dim=-1):\n    {body}\n")
        for name, body in HOSTILE.items()
    }
    lesson = course().lessons["softmax"]
    drawn = run_judge(
        launcher,
        "softmax",
        lambda judge: {name: judge.draw_pictures(lesson, each) for name, each in submissions.items()},
        dataclasses.replace(course(), limits=dataclasses.replace(course().limits, call_seconds=0.5)),
    )
    for name, [picture] in drawn.items():
        assert not picture.is_right, name
        text = draw(picture, Layout(80))
        assert draw(picture, Layout(80, colour=True, palette="truecolor")), name
        assert len(text) < 2500, name
        assert all(char == "\n" or char.isprintable() for char in text), name
        json.dumps(picture.vega_lite, allow_nan=False)
        page = pictures_to_html([picture])
        assert len(page) < 8000, name
        assert not re.search(r'(x|y|width|height|points)="[^"]*(nan|inf)|style=|<script', page), name
    assert "yours" not in " ".join(drawn["another shape"][0].data)
    assert "float64" in drawn["another dtype"][0].notes[0]
    assert "No answer within" in drawn["a loop"][0].notes[0]


@pytest.mark.parametrize("answer", ["x.to(torch.complex64)", "torch.full_like(x, 1.2, dtype=torch.float64) * 1e308"])
def test_complex_answers_and_those_too_far_apart_are_drawn(answer: str, launcher: Launcher) -> None:
    """Complex numbers are no answer, without a warning; and a scale as long as there are numbers ends nothing."""
    heads = f"def split_heads(x, num_heads):\n    return {answer}\n"
    whole = f"def multi_head_attention(x, *rest, mask=None):\n    return {answer}\n"
    drawn = pictures(launcher, "multi_head", f"import torch\n\n\n{heads}\n\n{whole}")

    assert [each.is_right for each in drawn] == [False, False]
    assert all(draw(each, Layout(80, colour=True, palette="truecolor")) for each in drawn)


def test_a_function_of_another_name_is_missed_in_pythons_words(launcher: Launcher) -> None:
    """Where a file defines `attention`, no dictionary of ours is spoken of; the shapes tell it likewise."""
    lesson, source = course().lessons["attention"], "def attention(q, k, v, mask=None):\n    return v\n"
    [picture, *_] = pictures(launcher, "attention", source)
    says = "NameError: name 'scaled_dot_product_attention' is not defined"
    assert f"Yours gives no answer. {says}" in picture.notes
    submission = Submission("attention", "attention.py", source)
    calls = run_judge(launcher, "attention", lambda judge: judge.trace(lesson, submission))
    assert says in describe_ending(calls[0])


def test_what_cannot_be_loaded_has_no_picture(launcher: Launcher) -> None:
    """A file that is no Python raises what the check explains; a lesson without pictures has none."""
    with pytest.raises(LearnerError):
        pictures(launcher, "softmax", "def softmax(:\n")
    assert pictures(launcher, "adamw", "def adamw_step(): pass\n") == []


def test_the_command_draws_a_file_or_prints_the_specification(tmp_path: Path) -> None:
    """`learn show --file` draws; with --json the whole of Vega-Lite is there, data included."""
    file = tmp_path / "softmax.py"
    file.write_text(SUM_OF_ALL)
    arguments = ["softmax", "--file", str(file), "--course", str(ROOT)]
    shown = CliRunner().invoke(command, arguments)
    printed: Any = json.loads(CliRunner().invoke(command, [*arguments, "--json"]).stdout)

    assert shown.exit_code == 0, shown.output
    assert "yours, sum 0.42" in shown.output
    assert "learn check softmax" in shown.output
    [spec] = printed["pictures"]
    assert {view["data"]["name"] for view in spec["hconcat"]} == set(spec["datasets"])


def test_a_picture_that_fails_is_an_error_of_the_course(tmp_path: Path, launcher: Launcher) -> None:
    """Its file and line are named."""
    made = load(shutil.copytree(TINY, tmp_path / "course"))
    lesson = made.lessons["argmax_2d"]
    lesson.pictures_path.write_text(
        "from grader.api.pictures import picture\n\n\n@picture\ndef broken(submission, reference, rand):\n"
        '    """Broken"""\n    return 1 / 0\n'
    )
    submission = Submission(lesson.name, f"{lesson.name}.py", lesson.solution_path.read_text())
    with pytest.raises(CourseError, match="`broken` cannot be drawn: ZeroDivisionError") as caught:
        run_judge(launcher, lesson.name, lambda judge: judge.draw_pictures(lesson, submission), made)
    assert caught.value.where.endswith("_pictures.py:7")


WRONG = {  # what is replaced in a reference, by lesson
    "softmax": ("powers.sum(dim=dim, keepdim=True)", "powers.sum()"),
    "attention": ("dim=-1)", "dim=-2)"),
    "causal_mask": ("keys <= queries", "keys < queries"),
    "positional_encoding": ("10000.0", "1000.0"),
    "multi_head": ("return x.transpose(1, 2)", "return x.reshape(batch, num_heads, length, -1)"),
    "block": ("h = x + heard  # step: pre_sum1", "h = heard"),
    "training": ("optimizer.zero_grad()", "pass"),
    "encoder": ("if lengths is not None:", "if False:"),
    "pooling_heads": ("return total / count", "return h.mean(dim=1)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_pictures_tell_right_from_wrong(name: str, launcher: Launcher) -> None:
    """The reference differs nowhere, a mistake somewhere, a stub has nothing to show; all of it fits the terminal."""
    lesson = course().lessons[name]
    right = lesson.solution_path.read_text()
    sources = {"right": right, "wrong": right.replace(*WRONG[name]), "stub": lesson.exercise_path.read_text()}
    drawn = run_judge(
        launcher,
        name,
        lambda judge: {
            what: judge.draw_pictures(lesson, Submission(name, f"{name}.py", source))
            for what, source in sources.items()
        },
    )

    assert all(picture.is_right for picture in drawn["right"])
    assert not all(picture.is_right for picture in drawn["wrong"])
    assert not any(picture.is_right for picture in drawn["stub"])
    for picture in [*drawn["right"], *drawn["wrong"], *drawn["stub"]]:
        for layout in LAYOUTS.values():
            lines = ESCAPE.sub("", draw(picture, layout)).splitlines()
            assert max(map(len, lines)) <= layout.width, picture.name
            assert len(lines) <= 26, picture.name


def in_file(tmp_path: Path, name: str, source: str = SUM_OF_ALL) -> tuple[Any, bytes]:
    """What `learn show --out` says, and what it writes."""
    (tmp_path / "softmax.py").write_text(source)
    out = tmp_path / name
    arguments = ["softmax", "--file", str(tmp_path / "softmax.py"), "--course", str(ROOT), "--out", str(out)]
    done = CliRunner().invoke(command, arguments)
    return done, out.read_bytes() if out.is_file() else b""


@pytest.mark.parametrize(
    "suffix", ["svg", pytest.param("png", marks=pytest.mark.soak), pytest.param("html", marks=pytest.mark.slow)]
)
def test_pictures_are_written_to_a_file(tmp_path: Path, suffix: str) -> None:
    """SVG, PNG, and a page that asks for nothing from elsewhere; a learner's words are words in them, and no markup."""
    pytest.importorskip("vl_convert", reason="needs pip install 'selfattend[pictures]'")
    evil = "def softmax(x, dim=-1):\n    raise ValueError('</script><script>alert(1)</script><!-- <img src=x>')\n"
    done, content = in_file(tmp_path, f"softmax.{suffix}", evil)

    assert done.exit_code == 0, done.output
    assert f"1 picture in {tmp_path}" in done.output.replace("\n", "")
    if suffix == "png":
        assert content.startswith(b"\x89PNG\r\n")
    else:
        assert b"expected, sum 1.00" in content
        assert b"alert(1)" in content
        assert b"<script>alert" not in content
        assert b"<img src=x" not in content
        assert content.count(b"</script>") == (2 if suffix == "html" else 0)
        assert not re.search(rb"<(script|link)[^>]*(src|href)=", content)


def test_without_vl_convert_svg_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal shows is written as SVG that loads no font; PNG says what to install, before anything is run."""
    monkeypatch.setattr(to_picture_file, "has_vl_convert", lambda: False)
    done, content = in_file(tmp_path, "softmax.svg")
    refused, nothing = in_file(tmp_path, "softmax.png")

    assert done.exit_code == 0, done.output
    assert b"sum&#160;0.42" in content
    assert not re.search(rb"url\(|@font-face|<image", content.replace(b"url(#", b""))
    assert "selfattend[pictures]" in str(refused.exception.__dict__)
    assert nothing == b""


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A suffix that is none of the three, and a place where nothing can be written."""
    refused, _ = in_file(tmp_path, "softmax.gif")
    (tmp_path / "folder").mkdir()
    folder, _ = in_file(tmp_path, "folder")
    bare, _ = in_file(tmp_path, "softmax")
    nowhere, _ = in_file(tmp_path, "missing/softmax.svg")

    for done in (refused, folder, bare):
        assert ".svg|.png|.html" in str(done.exception.__dict__)
    assert "this is a folder" in str(folder.exception) and "without an ending" in str(bare.exception)
    assert "cannot be written" in str(nowhere.exception)


def test_a_learners_report_has_the_pictures_of_their_exercises(tmp_path: Path) -> None:
    """Of those that were begun and can be loaded, in their order; without --pictures nothing is run."""
    workspace = start_workspace(tmp_path / "work", ROOT)
    file = workspace / "core/softmax.py"
    file.write_text("def softmax(x, dim=-1):\n    raise ValueError('<img src=x>')\n")
    assert learn("check", "softmax", cwd=workspace, course=ROOT).returncode == 1
    page = tmp_path / "page.html"

    def figures(*more: str) -> int:
        done = learn("report", "--html", str(page), *more, cwd=workspace, course=ROOT)
        assert done.returncode == 0, done.stderr
        assert "<img" not in page.read_text()
        return page.read_text().count('<figure class="picture')

    assert (figures(), figures("--pictures")) == (0, 1)
    assert "What your exercises answer" in page.read_text() and "&lt;img src=x&gt;" in page.read_text()
    file.write_text("def softmax(:\n")
    assert figures("--pictures") == 0
    file.unlink()
    assert figures("--pictures") == 0
    assert "--html report.html --pictures" in learn("report", "--pictures", cwd=workspace, course=ROOT).stderr


def test_no_picture_is_of_a_hidden_input(launcher: Launcher) -> None:
    """What pictures draw from `rand` is drawn from no seed of a check; so is what a submission is asked for them."""
    lesson = course().lessons["attention"]
    submission = Submission(lesson.name, "attention.py", lesson.solution_path.read_text())
    shown: list[bytes] = []

    def ask(judge: Any) -> set[bytes]:
        [picture] = judge.draw_pictures(lesson, submission)
        shown.append(json.dumps(values(picture, "expected")).encode())
        transcripts = judge.lesson_checks(lesson, 7).transcripts.values()
        answers = [
            asked.answer["value"] for each in transcripts for asked in each.reference if asked.operation == "call"
        ]
        return {json.dumps(answer.flatten().tolist()).encode() for answer in answers if hasattr(answer, "flatten")}

    hidden = run_judge(launcher, "attention", ask)
    assert len(hidden) > 10
    assert shown[0] not in hidden
