"""Ask questions of the quiz in a notebook: `learn quiz --json` is asked, and answers are typed below the cell."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from grader.terminal.console import beside, wrap

LEARN = (sys.executable, "-P", "-m", "grader.cli.learn.group")  # -P: no module of the notebook's folder
STOP = ("q", "quit")
ASKS = ("question", "predict", "certainty", "unreadable")  # events that wait for a line
CHANGE = ("c", "change")
PREDICTION = "What will you score, from 0 to 10? (Enter skips; q stops) "
ANSWER = "Your answer (! behind it if sure, ? for a guess; ? alone if you do not know it; q stops): "


def go_on(topic: str) -> str:
    """Say how what was broken off goes on, also in a kernel that knows of no lesson any more."""
    again = f'quiz("{topic}")' if topic else "learn quiz, in a terminal,"
    return f"Every answer is kept; {again} goes on."


def ask_questions(topic: str, count: int, put: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Ask up to `count` questions of a topic, or of the assessment, and what was missed again; each answer is kept.

    Args:
        put: Shows a text.
        read: Shows a prompt and returns what was typed.
    """
    words = [*LEARN, "quiz", *([topic] if topic else []), "--json", "--ask"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as quiz:
        assert quiz.stdin and quiz.stdout
        answer = prompt = ""
        try:
            for event in map(json.loads, quiz.stdout):
                name = event["event"]
                if name == "question" and not event["again"]:
                    if not count:
                        put(go_on(topic))
                        break
                    event["of"] = min(event["of"], event["number"] - 1 + count)
                    count -= 1
                for text in _say(event):
                    put(text)
                if name not in ASKS:
                    continue
                prompt = _prompt(event) or prompt  # what is not read is asked again
                answer = prompt if name == "question" else answer
                typed = read(_wrap(prompt) + " ")
                if name == "certainty" and typed.strip().lower() in CHANGE:
                    quiz.stdin.write(f"{typed}\n")
                    typed = read(_wrap(prompt := answer) + " ")
                if typed.strip().lower() in STOP:
                    put(go_on(topic))
                    break
                quiz.stdin.write(f"{typed}\n")
                quiz.stdin.flush()
        finally:
            quiz.stdin.close()  # it stops, and keeps what was answered
            quiz.stdout.read()


def _prompt(event: dict[str, Any]) -> str:
    """Return the prompt for what an event asks."""
    if event["event"] == "unreadable":
        return ""
    if event["event"] == "predict":
        return PREDICTION
    if event["event"] == "certainty":
        shares = ", ".join(f"{word[0]} {word} {share:.0%}" for word, share in event["means"].items())
        return f"How sure? {shares} (Enter: fairly; c changes the answer; q stops) "
    return ANSWER


def _wrap(text: str) -> str:
    """Wrap each line at words, as the terminal does."""
    return "\n".join(map(wrap, text.split("\n")))


def _say(event: dict[str, Any]) -> Iterator[str]:
    """Yield the texts that an event shows, wrapped, but for code."""
    if event["event"] == "question":
        if event["says"]:
            yield f"{_wrap(event['says'])}\n"
        again = "Again: " if event["again"] else ""
        yield f"{again}{event['title']}  {event['number']} of {event['of']}\n\n{_wrap(event['text'])}\n"
        if event["code"]:
            yield "".join(f"    {line}\n" for line in event["code"].split("\n"))
        for mark, text in (*((str(n), part) for n, part in enumerate(event["parts"], 1)), *event["options"].items()):
            yield beside(f"  {mark}  ", text, below=2)
        yield _wrap(event["how"])
    elif event["event"] == "unreadable":
        yield _wrap(f"Not read: {event['reason']}. It costs nothing; type it again.")
    elif event["event"] == "mark":
        right = event["verdict"] + (f" The answer is {event['right']}." if event["credit"] < 1 else "")
        says = (f"{said[0].upper()}{said[1:]}." for said in event["says"])
        yield _wrap("\n".join([right, *says, "", event["explain"], ""]))
    elif event["event"] in ("nothing", "predict"):
        yield _wrap(event["says"])
    elif event["event"] == "end" and event["score"] is not None:
        score = f"This session: {event['score']:.1f} of 10, {event['right']} of {event['answers']} right."
        yield _wrap("\n".join([score, *event["says"], "learn report shows where you stand."]))
