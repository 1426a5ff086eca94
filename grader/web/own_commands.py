"""Say in a lesson's page what its text says of commands with the page's own links and buttons, where it has them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from html import escape

IN_A_SENTENCE = {"hint": ("#hints", "a hint"), "check": ("#side", "a check")}  # what one takes, or has made


@dataclass(frozen=True)
class OwnCommands:
    """What a page has for the commands on its lesson: `names` are those of the lesson, `asks` if it has questions."""

    name: str = ""
    names: Collection[str] = ()
    asks: bool = False

    def in_sentence(self, code: str, before: str) -> str:
        """Return a link in place of a command that stands after some text; "" where a terminal alone can do it."""
        place, says = IN_A_SENTENCE.get(self._verb(code), ("", ""))
        begins = not before.strip() or before.rstrip()[-1] in ".?!"
        return place and f'<a href="{place}">{says.capitalize() if begins else says}</a>'

    def in_block(self, code: str) -> str:
        """Return a list of what the page has in place of a block of commands; "" where it has not all of them."""
        items = [self._item(line) for line in code.strip().split("\n")]
        return f'<ul class="now">{"".join(f"<li>{item}</li>" for item in items)}</ul>' if all(items) else ""

    def _item(self, line: str) -> str:
        match self._verb(line):
            case "check":
                return '<a href="#side">Write it in the editor of this page</a>: each save is checked.'
            case "quiz" if self.asks:
                button = f'<button name="topic" value="{escape(self.name)}">Questions on this lesson</button>'
                return f'<form method="post" action="/quiz">{button}</form>'
        return ""

    def _verb(self, command: str) -> str:
        """Return what a command does with this lesson; "" for any other command."""
        match command.split():
            case ["learn", verb, name] if name in self.names:
                return verb
        return ""
