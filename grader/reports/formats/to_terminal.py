"""Render a lesson's result for a terminal: the most useful first, readable at any width, with colour or without.

At first a screen shows what is wrong and what to do; every check, and all that is said of it, on request. Colour never
stands alone: each outcome is a sign and a word too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from rich.text import Text

from grader.model import CheckResult, Counterexample, LessonResult
from grader.reports.formats.terminal_checks import CheckList, message_line, outcome_mark
from grader.reports.record_view import TERMINAL_STATES, check_lines, listed_lines, prints_title
from grader.terminal.layout import BAD, COMMAND, GOOD, QUIET, STRONG, Layout, heading, prose
from grader.terminal.text import clean, plural, score_bar, score_text

BAR_CELLS = 20
MAX_FINDINGS = 3  # of what is wrong, where rows are scarce
MAX_LINES = 20  # in short, where nobody says how many rows there are
MAX_MESSAGE_LINES = 4  # of one finding
MAX_INPUT_LINES = 2  # of a failing input's call, and of each answer, where rows are scarce
MAX_PRINT_LINES = 5
MAX_PRINT_COLUMNS = 400


def assessment(
    result: LessonResult,
    layout: Layout,
    *,
    title: str = "",
    before: float | None = None,
    with_marks: bool = False,
    rows: int = MAX_LINES,
) -> str:
    """Render the assessment of one lesson; `before` is the score of the attempt before this one.

    `with_marks`: below the score each check is a sign, in the order of the list. `rows`: in short, it has so many.
    """
    lines = [*_head(result, layout, title), *_score(result, layout, before)]
    lines += _marks(result, layout) if with_marks else []
    lines += _notes(result, layout)
    rest = _everything(result, layout) if layout.everything else _in_short(result, layout, rows - len(lines))
    return layout.render(lines + rest)


def _everything(result: LessonResult, layout: Layout) -> list[Text]:
    checks = CheckList(result.checks, layout)
    lines = checks.render() if result.checks and result.state != "would-not-import" else []
    lines += _prints(result, layout)
    lines += _counterexamples(result.counterexamples, layout)
    lines += _list("Strengths", [prose(text) for text in result.strengths], layout.signs.passed, GOOD, layout)
    weaknesses = [checks.weakness(text, result.mistakes) for text in result.weaknesses]
    lines += _list("Weaknesses", weaknesses, layout.signs.failed, BAD, layout)
    return lines + _next(result, layout)


def _in_short(result: LessonResult, layout: Layout, rows: int) -> list[Text]:
    """Render what is wrong within so many rows: empty lines are left out first, then findings; one is always shown."""
    lines: list[Text] = []
    for shown, spaces, below in _ways_to_show(result, layout):
        more = len(result.weaknesses) - shown
        parts = _findings(result, layout, shown), _counted(result, layout, more), _commands(result, layout)
        found, counted, last = ([Text()] * (place < spaces and part != []) + part for place, part in enumerate(parts))
        lines = [*found, *below, *counted, *last]
        lines = lines if spaces >= 0 else [line for line in lines if line]
        if len(lines) <= rows:
            break
    return lines


def _ways_to_show(result: LessonResult, layout: Layout) -> Iterator[tuple[int, int, list[Text]]]:
    """Yield how many findings to show, before how many parts an empty line, and what stands below, the best way first.

    Findings beyond the most important ones take what is free, and no empty line's place. A line that is to blame is
    worth more than a long failing input. Fewer than 0 empty lines: there is none above the failing input either.
    """
    prints, examples = _prints(result, layout), result.counterexamples[:1]
    whole, short = (prints + _counterexamples(examples, layout, limit) for limit in (None, MAX_INPUT_LINES))
    count, most = len(result.weaknesses), 1 if _is_unwritten(result) else 3
    first, spaces = min(count, MAX_FINDINGS), range(most, -1, -1)
    fewest = min(first, 1)
    to_line = max((place + 1 for place in range(first) if _is_of_line(result, place)), default=fewest)
    yield from ((shown, most, whole) for shown in range(count, first, -1))
    yield from product(range(first, to_line - 1, -1), spaces, (whole,))
    if to_line > fewest:
        yield from ((to_line, each, below) for below in (short, prints) for each in spaces)
    yield fewest, -1, whole
    yield from product(range(to_line, fewest - 1, -1), (*spaces, -1), (short,))


def _is_of_line(result: LessonResult, place: int) -> bool:
    """Return True for a finding that says on which line it goes wrong."""
    return result.weaknesses[place] in {line.says for line in result.lines}


def summary(results: Sequence[LessonResult], layout: Layout) -> str:
    """Render several lessons: a line each with score and checks passed, then what is wrong with those that failed."""
    longest = max(len(result.lesson) for result in results)
    lines = []
    for result in results:
        style = GOOD if result.passed else BAD
        sign = layout.signs.passed if result.passed else layout.signs.failed
        counts = _counts(result.checks) if result.checks else "not checked"
        score = f"{score_text(result.score):>4}  {score_bar(result.score, 10, layout.signs)}"
        name = f"{result.lesson:<{longest}}  "
        lines.append(Text.assemble((f"{sign} ", style), (name, STRONG), f"{score}  {counts}"))
    for result in results:
        if not result.passed:
            weakness = result.weaknesses[0] if result.weaknesses else TERMINAL_STATES[result.state]
            lines += [Text(), Text.assemble((result.lesson, STRONG), "  ", (f"learn check {result.lesson}", COMMAND))]
            lines += layout.paragraph(2, prose(weakness.split("\n", 1)[0]))
    return layout.render(lines)


# --- the head ---------------------------------------------------------------------------------------------------------


def _head(result: LessonResult, layout: Layout, title: str) -> list[Text]:
    name = Text.assemble((title or result.lesson, STRONG))
    if result.file:
        name.append("  ").append(clean(result.file), layout.link(result.file))
    return _side_by_side(name, Text(f"{result.device}, seed {result.seed}", QUIET), layout)


def _score(result: LessonResult, layout: Layout, before: float | None) -> list[Text]:
    if result.score is None:
        line = Text("No score", STRONG)
    else:
        style = GOOD if result.passed else ""
        filled = score_bar(result.score, BAR_CELLS, layout.signs)
        score = f"{score_text(result.score)} / 10" + (" on the public checks" if result.public else "")
        line = Text.assemble((score, f"{STRONG} {style}"), "  ", (filled, style))
    facts = [_counts([check for check in result.checks if check.outcome != "grader-error"])]
    if before is not None and before != result.score:
        facts.append(f"before: {score_text(before)}")
    if result.hints_used:
        facts.append(f"{plural(result.hints_used, 'hint')} used")
    return _side_by_side(line, Text(", ".join(facts)), layout)


def _marks(result: LessonResult, layout: Layout) -> list[Text]:
    """Render the outcome of each check as a sign; nothing where none could be run."""
    if not result.checks or result.state == "would-not-import":
        return []
    marks = (outcome_mark(line.outcome, layout.signs) for line in listed_lines(result.checks))
    return layout.paragraph(0, Text(" ").join(Text(*mark) for mark in marks))


def _side_by_side(left: Text, right: Text, layout: Layout) -> list[Text]:
    """Put two texts into one line if they fit, else below each other."""
    fits = left.cell_len + right.cell_len + 2 <= layout.columns
    if fits:
        return [left.append("  ").append_text(right)]
    return [*layout.paragraph(0, left), *layout.paragraph(0, right)]


def _counts(checks: Sequence[CheckResult]) -> str:
    lines = check_lines(checks)
    return f"{sum(line.passed for line in lines)} of {plural(len(lines), 'check')} passed"


def _notes(result: LessonResult, layout: Layout) -> list[Text]:
    texts = [text for text in (TERMINAL_STATES[result.state], *result.notes) if text]
    return [line for text in texts for line in layout.item(f"{layout.signs.trouble} ", STRONG, prose(text))]


# --- in short ---------------------------------------------------------------------------------------------------------


def _findings(result: LessonResult, layout: Layout, shown: int) -> list[Text]:
    """Render what is wrong, as many findings as are shown, each with what to do about it."""
    if _is_unwritten(result):
        *names, last = [f"`{mistake.function}`" for mistake in result.mistakes]
        says = f"{', '.join(names)} and {last} are not written yet." if names else f"{last} is not written yet."
        return layout.item(f"{layout.signs.failed} ", BAD, prose(says))
    lines: list[Text] = []
    actions = {mistake.says: mistake.suggests for mistake in result.mistakes}
    for text in result.weaknesses[:shown]:
        first, *rest = [line for line in clean(text).strip().split("\n") if not line.startswith("Asked: ")]
        body = prose(first)
        for line in rest[:MAX_MESSAGE_LINES]:
            body.append("\n").append_text(message_line(line, layout))
        lines += layout.item(f"{layout.signs.failed} ", BAD, body)
        if action := actions.get(text):
            lines += layout.item(f"  {layout.signs.arrow} ", COMMAND, prose(action))
    return lines


def _is_unwritten(result: LessonResult) -> bool:
    return {mistake.id for mistake in result.mistakes} == {"stub"}


def _counted(result: LessonResult, layout: Layout, more: int) -> list[Text]:
    """Say how many findings are not shown, how many checks ended how, and how to see them."""
    counts = Counter(line.outcome for line in check_lines(result.checks))
    passed, waiting = counts.pop("passed", 0), counts.pop("skipped", 0)
    failed = counts.total()
    if _is_unwritten(result):
        return []
    if not failed or result.state == "would-not-import":
        return _with_command(f"... and {plural(more, 'more finding')}:", "shows", layout) if more else []
    parts = [f"{plural(failed, 'check')} failed"]
    parts += [f"{waiting} wait{'s' if waiting == 1 else ''} for {'it' if failed == 1 else 'them'}"] if waiting else []
    parts += [f"{passed} passed"] if passed else []
    says = f"... and {plural(more, 'more finding')}. " if more else ""
    return _with_command(f"{says}{', '.join(parts)}:", "lists", layout)


def _with_command(says: str, does: str, layout: Layout) -> list[Text]:
    """Say what shows the rest; it stands whole in a line, so that it can be copied."""
    last = layout.paragraph(0, Text(says))[-1]
    between = " " if last.cell_len + 1 + len(layout.more) <= layout.columns else "\n"
    return layout.paragraph(0, Text(f"{says}{between}{layout.more} {does} them.", QUIET))


def _commands(result: LessonResult, layout: Layout) -> list[Text]:
    """Render what to do next as one line of commands. What was just run is none; another file's check says why.

    What has a key is none either.

    Where each suggestion is what to do about a mistake, the lesson is what is left; a file that could not be loaded is
    checked again.
    """
    own = {f"learn {name} {result.lesson}" for name in ("check", "hint", "read", "solution")}
    told = [each for each in result.suggestions if each.command.startswith("learn check ") and each.command not in own]
    lines = [line for each in told if "--" not in each.command for line in layout.item("  ", "", prose(each.says))]
    asked = [each for each in result.suggestions if each.command.startswith("learn quiz ")]
    commands = dict.fromkeys(each.command for each in result.suggestions if each not in asked)
    if commands.pop(f"learn check {result.lesson}", "") is None and not commands:
        again = "check" if result.state == "would-not-import" else "read"
        commands = {f"learn {again} {result.lesson}": None}
    if layout.has_keys:
        own |= {f"learn check {result.lesson} --pdb"}
        commands = {each: None for each in commands if each not in own}
    body = _join_commands(commands, layout.columns - len("Next  "), " · " if layout.signs.arrow == "→" else ", ")
    for each in asked:
        body.append("\n" if body else "").append(f"{each.says.rstrip('.')}: ").append(each.command, COMMAND)
    return [*lines, *layout.item("Next  ", STRONG, body)] if body else lines


def _join_commands(commands: Iterable[str], room: int, between: str) -> Text:
    """Put commands side by side, each whole in one line, so that it can be copied."""
    body, used = Text(), 0
    for each in commands:
        if body and used + len(between) + len(each) > room:
            body.append("\n")
            used = 0
        elif body:
            body.append(between)
            used += len(between)
        body.append(each, COMMAND)
        used += len(each)
    return body


# --- below the checks -------------------------------------------------------------------------------------------------


def _prints(result: LessonResult, layout: Layout) -> list[Text]:
    """Render what the learner's code printed: in the first check that failed, or in all."""
    failing = next((check.output for check in result.checks if check.output and not check.passed), "")
    text = clean(result.output if layout.everything else failing or result.output).rstrip()
    if not text.strip():
        return []
    lines = text.split("\n")
    most = len(lines) if layout.everything else MAX_PRINT_LINES
    texts = [Text(line if layout.everything else line[:MAX_PRINT_COLUMNS]) for line in lines[:most]]
    if len(lines) > most:
        texts.append(Text(f"... {plural(len(lines) - most, 'more line')}: {layout.more} shows all", QUIET))
    return [*heading(prints_title(text)), *(part for line in texts for part in layout.paragraph(2, line))]


def _counterexamples(examples: Sequence[Counterexample], layout: Layout, most: int | None = None) -> list[Text]:
    """Render failing inputs, of each call and each answer at most so many lines."""
    lines = heading("Smallest failing input" if len(examples) == 1 else "Smallest failing inputs") if examples else []
    for example in examples:
        for part in (
            layout.paragraph(2, Text(clean(example.call), STRONG)),
            layout.item("  yours     ", QUIET, Text(clean(example.yours))),
            layout.item("  expected  ", QUIET, Text(clean(example.expected))),
        ):
            lines += part[:most]
            if most is not None and len(part) > most:
                lines[-1] = _cut_off(part[most - 1], layout.columns)
    return lines


def _cut_off(line: Text, columns: int) -> Text:
    """Return a line with three dots at its end, for what follows it."""
    kept = line.copy()
    kept.truncate(columns - len(" ..."))
    kept.rstrip()
    return kept.append(" ...", QUIET)


def _list(title: str, items: Sequence[Text], sign: str, style: str, layout: Layout) -> list[Text]:
    lines = [line for item in items for line in layout.item(f"  {sign} ", style, item)]
    return [*heading(title), *lines] if lines else []


def _next(result: LessonResult, layout: Layout) -> list[Text]:
    lines = heading("Next") if result.suggestions else []
    for number, suggestion in enumerate(result.suggestions, 1):
        says = prose(suggestion.says)
        fits = says.cell_len + len(suggestion.command) + 6 <= layout.columns
        says.append("  " if fits else "\n").append(suggestion.command, COMMAND)
        lines += layout.item(f"  {number} ", "", says)
    return lines
