"""Set a lesson's Markdown as HTML: answers folded behind their question, traps behind their name, code in colour.

A block that begins as an entry of `[formulas]` does is set from the LaTeX there; a terminal shows the block itself.
A command for which the page has a link or a button gives way to that.

HTML in the text is shown as it stands, pictures are not loaded, and a link leads to http or https only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from grader.course import read_parts
from grader.course.questions import has_questions
from grader.model import Lesson
from grader.reports.highlight import highlight_lines
from grader.reports.html_document import breakable, harmless
from grader.web.formula import formula_html
from grader.web.own_commands import OwnCommands

SHELLS = ("sh", "bash", "console")
COMMANDS = ("$ ", "learn ", "grader ", "pip ")  # how each line of a block begins that names no language
INDEXED = re.compile(r"\b([^\W\d_])_([a-zA-Z]{1,6}|\d)(?![a-zA-Z0-9_])")  # as W_Qᵀ and d_model are written
TRAPS = "Common mistakes"  # the beginning of the heading above a list of them
Entries = Mapping[str, Sequence[str]]  # of the front matter, by how a part of the text begins
NONE: Entries = MappingProxyType({})
NO_COMMANDS = OwnCommands()


def lesson_html(lesson: Lesson) -> Markup:
    """Return a lesson's text. Raises CourseError."""
    pieces = []
    names = {lesson.name, *(function.name for function in lesson.functions)}
    own = OwnCommands(lesson.name, names, has_questions(lesson))
    for part in read_parts(lesson):
        if part.answer:
            folded = text_html(part.hidden, lesson.traps, lesson.formulas, own)
            pieces.append(f'<details class="answer"><summary>{escape(part.answer)}</summary>{folded}</details>')
        pieces.append(text_html(part.text, lesson.traps, lesson.formulas, own))
    return Markup("".join(pieces))


def text_html(text: str, traps: Entries = NONE, formulas: Entries = NONE, own: OwnCommands = NO_COMMANDS) -> Markup:
    """Return Markdown as HTML; what `traps` and `formulas` say is in the front matter."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    reader.add_render_rule("code_inline", _code)
    reader.add_render_rule("text", _text)
    tokens = reader.parse(harmless_lines(text))
    return Markup("".join(_pieces(reader, tokens, traps, formulas, own)))


def harmless_lines(text: str) -> str:
    """Clean each line, so that a long text is not cut."""
    return "\n".join(harmless(line) for line in text.split("\n"))


def _pieces(
    reader: MarkdownIt, tokens: Sequence[Token], traps: Entries, formulas: Entries, own: OwnCommands
) -> Iterator[str]:
    is_trap, before, at = False, "", 0
    while at < len(tokens):
        token = tokens[at]
        end = at + 1
        if token.type == "fence":
            language, code = token.info.strip(), token.content
            yield _formula(code, formulas) or ("" if language else own.in_block(code)) or _block(code, language, before)
        elif token.type == "list_item_open" and is_trap and token.level == 1:
            end = _close(tokens, at)
            yield _trap(reader, tokens[at + 1 : end - 1], traps, own)
        else:
            if token.type == "heading_open":
                is_trap = tokens[at + 1].content.startswith(TRAPS)
            yield reader.renderer.render([token], reader.options, {"own": own})
        before = token.info.strip() if token.type == "fence" else ""
        at = end


def _text(renderer: object, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
    return INDEXED.sub(r"\1<sub>\2</sub>", escape(tokens[at].content))


def _code(renderer: object, tokens: Sequence[Token], at: int, options: object, env: Mapping[str, Any]) -> str:
    code, before = tokens[at].content, "".join(token.content for token in tokens[:at])
    return env["own"].in_sentence(code, before) or f"<code>{breakable(code)}</code>"


def _close(tokens: Sequence[Token], start: int) -> int:
    """Return where an element that is opened at `start` has ended."""
    level = tokens[start].level
    return next(at + 1 for at in range(start + 1, len(tokens)) if tokens[at].level == level)


def _formula(text: str, formulas: Entries) -> str:
    """Set a block as the formula that it is; "" where it is none."""
    lines = next((latex for begins, latex in formulas.items() if text.lstrip().startswith(begins)), ())
    math = formula_html(lines)
    return f'<div class="block formula" tabindex="0">{math}</div>' if math else ""


def _block(code: str, language: str, before: str) -> str:
    """Set a block of code, or what it prints, or what is drawn in characters."""
    if language == "python":
        lines, _ = highlight_lines(code.rstrip("\n"))
        joined = "\n".join(lines)
        return f'<div class="block python"><pre tabindex="0" class="code"><code>{joined}</code></pre></div>'
    name, label = ("output", '<p class="label">prints</p>') if (before, language) == ("python", "text") else ("", "")
    if language in SHELLS or (not language and all(line.startswith(COMMANDS) for line in code.split("\n") if line)):
        name = "commands"
    return f'<div class="block {name}">{label}<pre tabindex="0"><code>{escape(code.rstrip())}</code></pre></div>'


def _trap(reader: MarkdownIt, content: Sequence[Token], traps: Entries, own: OwnCommands) -> str:
    """Fold an item of the list behind what it begins with in bold; without that it stands open."""
    body = reader.renderer.render(content, reader.options, {"own": own})
    lead, bold, rest = body.removeprefix("<p>").partition("</strong>")
    if not bold or not lead.startswith("<strong>"):
        return f"<li>{body}</li>"
    plain = "".join(piece.content for token in content[:2] for piece in token.children or ())
    named = " ".join(each for begins, ids in traps.items() if plain.startswith(begins) for each in ids)
    opening = f'<details class="trap" data-mistakes="{escape(named)}">'
    return f"<li>{opening}<summary>{lead}{bold}</summary><p>{rest.strip()}</details></li>"
