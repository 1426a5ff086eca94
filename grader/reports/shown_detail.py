"""Say what a mistake that the engine named is about, in words that no submission can choose freely.

Its own sentence may quote the submission. Told of it are the first name of an input or a parameter, which is the
course's, and the container or dtype of what is given back, of which there are few: no size, and nothing inside.
"""

from __future__ import annotations

import re

from grader.model import Named

# Of many inputs the first one alone is named, for a submission could choose which of them they are.
MORE = "(, `| and | \\(and more\\))?"
INPUT_NAMED = {
    "no-gradient": (re.compile(f"No gradient reaches `([\\w.]+)`{MORE}"), "No gradient reaches {what}."),
    "no-influence": (re.compile(f"^`\\w+`: `([\\w.]+)`{MORE}"), "{what} has no influence."),
}
DTYPE = "(?:bool|u?int(?:8|16|32|64)|b?float(?:16|32|64)|complex(?:64|128))"
KIND = f"an? (?:bool|int|float|str|list|tuple|dict|numpy {DTYPE}|{DTYPE} (?:tensor|numpy array))"
FORM_NAMED = re.compile(rf"^`\w+`:? (?:It returns|It returned|gives back) ({KIND}|the dtype {DTYPE})\b")
DTYPE_NAMED = re.compile(rf"^`\w+`: (?:Wrong dtype: (?:torch\.)?|In {DTYPE} it returns )({DTYPE})[,;]")


def detail_of(mistake: Named) -> str:
    """Return a sentence that tells the detail; empty if there is none that may be shown."""
    return _form_in(mistake) if mistake.id == "wrong-format" else _input_in(mistake)


def _input_in(mistake: Named) -> str:
    pattern, says = INPUT_NAMED.get(mistake.id, (None, ""))
    found = pattern.search(mistake.says) if pattern else None
    what = f"`{found[1]}`{' (and more)' if found[2] else ''}" if found else ""
    return f"`{mistake.function}`: {says.format(what=what)}" if what else ""


def _form_in(mistake: Named) -> str:
    form, dtype = FORM_NAMED.search(mistake.says), DTYPE_NAMED.search(mistake.says)
    what = form[1] if form else f"the dtype {dtype[1]}" if dtype else ""
    return f"`{mistake.function}` gives back {what}: its docstring asks for something else." if what else ""
