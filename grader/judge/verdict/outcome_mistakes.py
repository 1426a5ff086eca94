"""Mistakes that show in how checks ended, before anything is probed: a missing function, a stub, an endless loop."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from grader.judge.checks.run_checks import NO_TIME_LEFT
from grader.judge.diagnosis.changed_arguments import CHANGED
from grader.judge.diagnosis.error_hints import UNKNOWN, hint_for
from grader.judge.diagnosis.structural_facts import SHARED
from grader.judge.errors import LearnerError
from grader.judge.values.difference_patterns import Fact
from grader.judge.verdict.facts import Facts
from grader.judge.verdict.messages import describe_error, show_frames
from grader.model import CheckResult, Named, Submission
from grader.source.forbidden_calls import HIDES
from grader.source.parse import parse
from grader.submission import RESERVED

AS_RETURNS_SAYS = "Give back exactly what the docstring says."
AS_NAMED = "Name its parts as the statement does; `print(list(model.state_dict()))` shows yours."
ADVICE = {  # on what is regular in wrong answers, by its kind
    "no-gradient": "Look for `.detach()`, `.data`, `.item()`, `torch.no_grad()` or a new `torch.tensor` on its way.",
    "wrong-gradient": "Look for `.detach()`, `.data` or `torch.no_grad()`, and for what is changed in place later.",
    "no-influence": "Find where it should come in: it is not used, overwritten, or changes what goes unused.",
    "all-zero": "Find the first line whose value is 0 everywhere: print each.",
    "wrong-factor": "Look for a constant that is missing, is there twice, or is another one.",
    "wrong-scale": "Print what all values are scaled by, for two inputs, and compare it with the formula.",
    "wrong-weights": "Print the scores, their exponentials and what divides them; compare each with the formula.",
    "wrong-order": "Print the shapes, and follow the order of the axes line by line.",
    "wrong-parts": "Return them in the order of the statement.",
    "inverted": "Turn it round.",
    "sees-too-much": "Look for a sum, a mean or a reshape over an axis that has to stay apart.",
    CHANGED: "Make a new tensor: `x = x + y` in the place of `x += y`, and no name that ends in `_`.",
    "not-repeatable": "Keep nothing between calls, and draw nothing at random.",
    SHARED: "Keep on `self` what belongs to an object, set in `__init__`: nothing on the class, and nothing global.",
}
_MISSING = re.compile(r"NameError: name '(\w+)' is not defined")
_BESIDE = "A file of yours has to be handed in beside this one, under the name that the import has."
_SHOWN_CHARS = 80  # of a line
_TRACEBACK_LINE = re.compile(r"^  \S.*:\d+( in |$)")  # as `describe_error` writes it; of a notebook too


def name_load_error(error: LearnerError) -> Named:
    """Name why a file could not be loaded."""
    during = "While your file was being loaded"
    hint = hint_for(f"{error.type_name}: {error.text}")
    if error.kind == "syntax":
        says = f"Python cannot read your file.\n{describe_error(error)}"
        return Named("syntax-error", "", says, "Fix the line shown." if hint is UNKNOWN else hint.advice)
    if error.kind == "timed-out":
        says = f"{during}, it did not come to an end.\n{describe_error(error)}"
        return Named("timeout", "", says, 'Put code that trains or tests behind `if __name__ == "__main__":`.')
    if error.kind == "out-of-memory":
        says = f"{during}, it asked for more memory than there is. {error.text}"
        return Named("out-of-memory", "", says, "Make nothing large at the top level of the file.")
    if error.kind == "crashed":
        return Named("crashed", "", f"{during}, its process died. {error.text}", "Remove what ends the process.")
    if error.kind == "forbidden" and error.text == "doctest":
        says = f"{during}, it ran `doctest`, which sets a tracer: that is refused where an exercise forbids calls."
        return Named("forbidden-call", "", says, 'Put its tests behind `if __name__ == "__main__":`.')
    if error.kind == "forbidden" and "." in error.text:
        says = "\n".join([f"{during}, it used `{error.text}`, {HIDES}", *show_frames(error.frames[-1:])])
        advice = "Write the names there, or look them up in objects of your own classes."
        return Named("forbidden-call", "", says, advice)
    if error.kind == "forbidden":
        says = f"{during}, it called `{error.text}`, which this exercise forbids."
        return Named(
            "forbidden-call", "", says, 'Write it yourself; a trial of it belongs behind `if __name__ == "__main__":`.'
        )
    return Named("exception", "", f"{during}, it raised an error.\n{describe_error(error)}", hint.advice)


def name_by_outcomes(facts: Facts, function: str, bad: Sequence[CheckResult]) -> Named | None:
    """Name what the ends of a function's failed checks show; None if only its answers can tell."""
    return _name_definition(facts, function, bad) or _name_stub(facts, function, bad) or _name_end(facts, function, bad)


def name_by_errors(facts: Facts, function: str, bad: Sequence[CheckResult]) -> list[Named]:
    """Name mistakes that belong to no lesson: nothing returned, an error raised."""
    raised = [check for check in bad if check.outcome == "raised"]
    if raised:
        return [_name_exception(facts, function, raised[0])]
    if any("returned None" in check.message for check in bad):
        return [Named("returned-none", function, f"`{function}` returns None.", "End it with `return` and the result.")]
    return []


def name_randomness(function: str) -> Named:
    """Name dropout that is left on, where a lesson has no name of its own for it."""
    says = f"`{function}`: dropout is on, so that two calls with the same input give different answers."
    return Named("randomness", function, says, "Take the dropout out, or switch it off: `training=False`.")


def name_by_form(function: str, bad: Sequence[CheckResult]) -> list[Named]:
    """Name the faults of form that were mended in the checks."""
    found = {fault: check for check in reversed(bad) for fault in check.form.split(", ") if fault}
    named = [name_randomness(function)] if "random" in found else []
    if first := next((check for fault, check in found.items() if fault != "random"), None):
        says = f"`{function}`: {first.message.splitlines()[0]}"
        named.append(Named("wrong-format", function, says, AS_NAMED if "names" in found else AS_RETURNS_SAYS))
    return named


def name_by_facts(
    facts: Facts, function: str, found: Sequence[Fact], patterns: Sequence[Fact], values_differ: bool = False
) -> list[Named]:
    """Name what is regular in wrong answers that no known mistake explains: the fact that says most.

    That arguments are changed is named beside it: it is no reason for another one. Nor is a gradient that is lost the
    reason for wrong values: beside it is named what says most of these.

    Args:
        found: What the answers depend on.
        patterns: How the first wrong answer differs.
        values_differ: Not only gradients are wrong.
    """
    if default := _other_default(facts, function):
        return [Named("wrong-default", function, default, "Write the defaults as in the exercise.")]
    if name := _shared_default(facts, function):
        says = f"`{function}`: the default of `{name}` is made once, and what one call puts in it is there in the next."
        return [Named("shared-default", function, says, "Make it in the function, anew in each call.")]
    first = [fact for fact in found if fact.kind == SHARED or fact.kind.endswith("-gradient")]
    told = [fact for fact in (*first, *patterns, *found) if fact.kind]
    is_lost = values_differ and bool(told) and told[0].kind == "no-gradient"
    others = [fact for fact in told[1:] if fact.kind != CHANGED and not fact.kind.endswith("-gradient")]
    told[1:] = others[:is_lost] + [fact for fact in told[1:] if fact.kind == CHANGED]
    return [Named(fact.kind, function, fact.says, ADVICE[fact.kind]) for fact in told]


def _other_default(facts: Facts, function: str) -> str:
    """Tell an argument that has another default than in the exercise, where both are plain values."""
    wanted = next(each for each in facts.lesson.functions if each.name == function).signature
    with suppress(SyntaxError, ValueError, RecursionError):
        both = [parse(text) for text in (f"def {function}{wanted}: ...", facts.submission.source)]
        theirs, own = (_defaults(tree, function) for tree in both)
        for name in theirs.keys() & own.keys():
            right, found = ast.literal_eval(theirs[name]), ast.literal_eval(own[name])
            if found != right and None not in (found, right):  # None may be taken for another value inside
                return f"`{function}` has `{name}={found!r}` where the exercise says `{name}={right!r}`."
    return ""


def _shared_default(facts: Facts, function: str) -> str:
    """Return an argument whose default is a list, a dictionary or a set: of these there is one for all calls."""
    with suppress(SyntaxError, RecursionError):
        found = _defaults(parse(facts.submission.source), function)
        shared = ast.List | ast.Dict | ast.Set
        return next((name for name, default in found.items() if isinstance(default, shared)), "")
    return ""


def _defaults(tree: ast.Module, function: str) -> dict[str, ast.expr]:
    """Return the defaults of a function, or of a class's `__init__`, by parameter."""
    made = [node for node in tree.body if getattr(node, "name", "") == function]
    inner = [node for each in made if isinstance(each, ast.ClassDef) for node in each.body]
    for node in [*inner, *made][::-1]:
        if isinstance(node, ast.FunctionDef) and node.name in (function, "__init__"):
            given = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            return dict(zip(reversed(given), reversed(node.args.defaults), strict=False))
    return {}


def _name_definition(facts: Facts, function: str, bad: Sequence[CheckResult]) -> Named | None:
    kind, parameters = facts.found.get(function, ("missing", []))
    if kind == "missing":
        close = difflib.get_close_matches(function, facts.public, 1, 0.6)
        seen = f" There is a `{close[0]}`: is that the one?" if close else ""
        stub = f"Write it; `learn reset {facts.lesson.name}` brings the stub back."
        advice = f"Name it exactly `{function}`." if close else stub
        return Named("missing-function", function, f"Your file does not define `{function}`.{seen}", advice)
    if kind == "not-callable":
        says = f"`{function}` is not a function."
        return Named("missing-function", function, says, f"Define it: `def {function}(...)`.")
    wanted = next(f for f in facts.lesson.functions if f.name == function).signature
    refused = [check for check in bad if check.outcome == "raised" and check.message.startswith("TypeError")]
    if any("argument" in check.message.splitlines()[0] for check in refused) and not _accepts(parameters, wanted):
        what = f"`{function}` takes ({', '.join(parameters)}); it must take {wanted}."
        return Named("wrong-signature", function, what, f"Write `{function}{wanted}` as in the exercise.")
    return None


def _accepts(parameters: Sequence[str], wanted: str) -> bool:
    """Return True if a function with these parameters can be called as the exercise says."""
    expected = [part.split("=")[0].strip() for part in wanted.strip("()").split(",") if part.strip()]
    return any(name.startswith("*") for name in parameters) or list(parameters[: len(expected)]) == expected


def _name_stub(facts: Facts, function: str, bad: Sequence[CheckResult]) -> Named | None:
    ran = [check for check in bad if check.outcome != "skipped"]
    stub = Named("stub", function, f"`{function}` is not written yet.", f"Write `{function}`, then check again.")
    if not ran and _ends_as_stub(facts.submission.source, function):  # its checks wait for another function's
        return stub
    # torch raises NotImplementedError too, for a dtype that an operation does not know: the learner's own line tells
    if not ran or not all(check.outcome == "raised" and "raise NotImplementedError" in check.message for check in ran):
        return None
    place = _innermost_line(facts, ran[0])
    path = place.rpartition(":")[0] or facts.submission.path
    if path == facts.submission.path:
        lines = map(str.strip, ran[0].message.splitlines())
        inner = next((line.partition(" in ")[2] for line in lines if line.startswith(f"{place} in ")), function)
        if inner == function or not _ends_as_stub(facts.submission.source, inner):
            return stub
        what = f"`{function}` uses your `{inner}`, and that is not written yet."
        return Named("exception", function, what, f"Write `{inner}`, then check again.")
    other = Path(path).stem
    what = f"`{function}` uses your {other}.py, and that is not written yet."
    return Named("exception", function, what, f"Write {other}.py first: `learn read {other}`.")


def _ends_as_stub(source: str, name: str) -> bool:
    """Return True if a function, or each method of a class, still ends as in the exercise."""
    with suppress(SyntaxError, ValueError, RecursionError):
        made = next((node for node in parse(source).body if getattr(node, "name", "") == name), None)
        bodies = made.body if isinstance(made, ast.ClassDef) else [made]
        functions = [node for node in bodies if isinstance(node, ast.FunctionDef)]
        return bool(functions) and all(
            ast.unparse(node.body[-1]).startswith("raise NotImplementedError") for node in functions
        )
    return False


def _name_end(facts: Facts, function: str, bad: Sequence[CheckResult]) -> Named | None:
    # a check that was not run for want of time tells nothing where another one ended: in a flood of output, say
    ended = [check for check in bad if check.message != NO_TIME_LEFT] or bad
    first = {check.outcome: check for check in reversed(ended)}
    if "forbidden" in first:
        advice = "Write it from simpler operations; the docstring lists what is allowed."
        says, *where = first["forbidden"].message.splitlines()[:2]
        place = f"\n{where[0]}" if where and _TRACEBACK_LINE.match(where[0]) else ""
        return Named("forbidden-call", function, says + place, advice)
    if "timed-out" in first:
        line = _innermost_line(facts, first["timed-out"])
        says = f"`{function}` did not come back within {facts.call_seconds:g} s.{f' It was at {line}.' if line else ''}"
        return Named("timeout", function, says, "Look for a loop that never ends, or one over single elements.")
    if "out-of-memory" in first:
        says = f"`{function}` asked for more memory than there is."
        advice = "Print the shapes: a broadcast may have made a tensor far larger than meant."
        return Named("out-of-memory", function, says, advice)
    if "crashed" in first:
        says = f"The process died in `{function}`. {first['crashed'].message.splitlines()[0]}"
        return Named("crashed", function, says, "Remove what ends the process (`os._exit`) or floods its output.")
    return None


def _name_exception(facts: Facts, function: str, check: CheckResult) -> Named:
    """Name an error that the function raises, which may be in another lesson's file that this one imports."""
    head = check.message.splitlines()[0]
    line = _innermost_line(facts, check)
    path, _, number = line.rpartition(":")
    where = f" ({line})" if line else ""
    if path and path != facts.submission.path:
        file = Path(path)
        caller = _innermost_line(facts, check, {facts.submission.path})
        what = f"`{function}` uses your {file.name}, which raises an error{where}: {head}"
        return Named("exception", function, what, _advise_on_other_file(facts, file, caller))
    lines = facts.submission.source.split("\n")
    code = lines[int(number) - 1].strip() if line and int(number) <= len(lines) else ""
    says = f"`{function}` raises an error{where}: {head}" + (f"\n    {code}" if code else "")
    return Named("exception", function, says, _advise_on_import(facts, head) or hint_for(head).advice)


def _advise_on_import(facts: Facts, head: str) -> str:
    """Return what to do about a name that is missing since its import failed; "" for any other error.

    A notebook goes on after an import that fails, and what is read of it does, too.
    """
    if not (missing := _MISSING.match(head)):
        return ""
    there = RESERVED.union(facts.submission.siblings)
    waiting: list[ast.AST] = []
    with suppress(SyntaxError):  # Python reads larger files than we do
        waiting += parse(facts.submission.source).body
    for node in waiting:  # grows while it is read
        waiting += ast.iter_child_nodes(node) if isinstance(node, ast.With | ast.Try) else ()
        for alias in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            module = (getattr(node, "module", None) or alias.name).partition(".")[0]
            is_star = alias.name == "*" and module not in there
            if is_star or (alias.asname or alias.name.partition(".")[0]) == missing[1]:
                return f"`{ast.unparse(node)[:_SHOWN_CHARS]}` failed{', or gives no such name' * is_star}. {_BESIDE}"
    return ""


def _advise_on_other_file(facts: Facts, file: Path, caller: str) -> str:
    """Return what to do about an error in a file that is imported: it may be wrong, or called in a wrong way."""
    passing, look = facts.submission.passing, f"look at what {caller or 'your file'} gives it"
    if file.stem not in facts.lessons:
        return f"Fix {file.name} first."
    if passing is None:
        return f"See whether {file.name} passes by itself: `learn check {file.stem}`. If it does, {look}."
    if file.stem in passing:
        return f"{file.name} passes by itself: {look}."
    return f"Fix {file.name} first: `learn check {file.stem}`."


def may_be_at_fault(other: str, submission: Submission, named: Sequence[Named]) -> bool:
    """Return True if another lesson's file that this one imports is to be checked by itself.

    That is so if it did not pass as it is now; where results are not known, if an error was raised in it.
    """
    if submission.passing is not None:
        return other not in submission.passing
    return any(f"uses your {other}.py" in mistake.says for mistake in named)


def _innermost_line(facts: Facts, check: CheckResult, among: Collection[str] | None = None) -> str:
    """Return the innermost of the learner's lines that a check's message names, as path:line.

    An error's own text may look like such a line: only files that were handed in (or are `among` these) count.
    """
    files = among or {facts.submission.path, *(path for path, _ in facts.submission.siblings.values())}
    lines = [line.strip().split(" in ")[0] for line in check.message.splitlines() if _TRACEBACK_LINE.match(line)]
    return next((line for line in reversed(lines) if line.rpartition(":")[0] in files), "")
