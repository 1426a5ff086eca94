"""Find the code in a question's words, which a terminal shows in one font with all else."""

from __future__ import annotations

import ast
import re

CALL = r"(?:\((?:[^()]|\([^()]*\))*\))"
INLINE = re.compile(
    r"(?:\b[A-Za-z_]\w* [-=+*/@] )*"  # y = x - x.mean()
    rf"\b[A-Za-z_]\w*(?:\[[^\]]*\]|{CALL})?(?:\.\w+{CALL}?)*\.[A-Za-z_]\w+{CALL}*"
    rf"|\b[A-Za-z]{{2,}}\w*_\w*{CALL}?"  # masked_fill; d_k and W_Q are maths
    r"|\b[a-z_]+=-?\w+\b"  # keepdim=True
)
CODE_SIGN = re.compile(r"[=(\[@_+*/]|\.[a-z]")  # without any of these, what Python can read may be plain words
WORDS = re.compile(r"\\|\w \(| (?:in|and|or|if) |^[A-Z] = [\d.]+$")  # nor with one of these, or as a size


def mark_code(text: str) -> str:
    """Put backticks round the code in a text, unless its author has."""
    if "`" in text:
        return text
    if _is_code(text):
        return "\n".join(f"`{line}`" if line.strip() else line for line in text.split("\n"))
    return INLINE.sub(lambda found: f"`{found[0]}`", text)


def _is_code(text: str) -> bool:
    if text.isidentifier() or WORDS.search(text) or not CODE_SIGN.search(text):
        return False
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
