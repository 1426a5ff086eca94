"""From what a model replied to marks that can be shown: every quote is looked up in the answer, by code.

A mark whose quote does not stand in the answer is dropped. Of three votes two must agree; else a point is "unsure".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

from grader.errors import GraderError
from grader.quiz.judge.prompt import LONGEST, METS, VERSION, messages, schema
from grader.quiz.model import OpenQuestion

VOTES = 3
SHORTEST_QUOTE = 8
UNSURE = "unsure"
LONGEST_REPLY = 20_000  # characters that are looked at, and kept

_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


class Asks(Protocol):
    """A model: an Endpoint, but for tests of what is made of its replies."""

    def ask(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str: ...


class Vote(NamedTuple):
    """What one reply says of one key point, its quote found in the answer."""

    met: str
    quote: str


@dataclass(frozen=True)
class Suggestion:
    """What the votes come to for one key point. `met` is one of METS, or UNSURE; `votes` are those that hold."""

    id: str
    met: str
    quote: str
    votes: tuple[str, ...]


@dataclass(frozen=True)
class Judgement:
    """Suggestions for one answer. `replies` are the model's own words; `cut`: only the beginning was sent."""

    points: tuple[Suggestion, ...]
    replies: tuple[str, ...]
    cut: bool
    prompt: int = VERSION

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def judge(model: Asks, question: OpenQuestion, answer: str, votes: int = VOTES) -> Judgement:
    """Ask for the marks of one answer, `votes` times. Raises GraderError where no reply can be read."""
    sent = answer[:LONGEST]
    asked, held = messages(question, sent), schema(question)
    replies = tuple(model.ask(asked, held)[:LONGEST_REPLY] for _ in range(votes))
    read = [read_reply(reply, question, sent) for reply in replies]
    if not any(vote is not None for vote in read):
        what = "none of the model's replies is what was asked for"
        raise GraderError(
            what, where=f"it wrote: {replies[0][:200]!r}", next_step="learn judge setup, with another model"
        )
    ballots = [vote or {} for vote in read]
    points = tuple(_suggestion(point.id, ballots, votes) for point in question.key_points)
    return Judgement(points, replies, len(answer) > LONGEST)


def read_reply(reply: str, question: OpenQuestion, answer: str) -> dict[str, Vote] | None:
    """The marks of one reply that hold; None where there is no JSON object with points in it."""
    found = _object(_THOUGHT.sub("", reply))
    if found is None:
        return None
    known = {point.id for point in question.key_points}
    marks: dict[str, Vote] = {}
    twice: set[str] = set()
    for each in found:
        vote = _vote(each, answer)
        name = each.get("id") if isinstance(each, dict) else None
        if isinstance(name, str) and name in known:
            if name in marks and marks[name] != vote:
                twice.add(name)
            if vote is not None:
                marks[name] = vote
    return {name: vote for name, vote in marks.items() if name not in twice}


def is_in(quote: str, answer: str) -> bool:
    """Whether a quote stands in the answer word for word; how lines are broken does not matter."""
    plain = " ".join(quote.split())
    return len(plain) >= SHORTEST_QUOTE and plain in " ".join(answer.split())


def _vote(each: Any, answer: str) -> Vote | None:
    if not isinstance(each, dict) or each.get("met") not in METS:
        return None
    quote = each.get("quote", "")
    if not isinstance(quote, str):
        return None
    if each["met"] == "no" and not quote.strip():
        return Vote("no", "")
    return Vote(each["met"], quote.strip()) if is_in(quote, answer) else None


def _object(text: str) -> list[Any] | None:
    """The points of the first JSON object that has some, whatever stands around it."""
    decoder = json.JSONDecoder()
    for start in [match.start() for match in re.finditer(r"\{", text)][:100]:
        try:
            found, _ = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and isinstance(found.get("points"), list):
            points: list[Any] = found["points"]
            return points
    return None


def _suggestion(point: str, ballots: Sequence[Mapping[str, Vote]], votes: int) -> Suggestion:
    given = [ballot[point] for ballot in ballots if point in ballot]
    cast = tuple(vote.met for vote in given)
    for met in METS:
        if 2 * cast.count(met) > votes:
            return Suggestion(point, met, next(vote.quote for vote in given if vote.met == met), cast)
    return Suggestion(point, UNSURE, "", cast)
