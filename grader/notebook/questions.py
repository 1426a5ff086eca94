"""Ask questions of the quiz in a notebook: `learn quiz --json` is asked, and answers are typed below the cell."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

LEARN = (sys.executable, "-P", "-m", "grader.cli.learn.group")  # -P: no module of the notebook's folder
STOP = ("q", "quit")
GO_ON = "Every answer is kept; call quiz again to go on."
PROMPT = "Your answer (? if you do not know it, 48! if sure, 48? for a guess; q stops): "


def ask_questions(topic: str, count: int, put: Callable[[str], None], read: Callable[[str], str]) -> None:
    """Ask up to `count` questions of a topic, or of the assessment; what is answered is kept.

    Args:
        put: Shows a text.
        read: Shows a prompt and returns what was typed.
    """
    words = [*LEARN, "quiz", *([topic] if topic else []), "--json"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as quiz:
        assert quiz.stdin and quiz.stdout
        try:
            for event in map(json.loads, quiz.stdout):
                if event["event"] == "question":
                    if not count:
                        put(GO_ON)
                        break
                    event["of"] = min(event["of"], event["number"] - 1 + count)
                count -= event["event"] == "mark"
                for text in _say(event):
                    put(text)
                if event["event"] in ("question", "unreadable"):
                    typed = read(PROMPT)
                    if typed.strip().lower() in STOP:
                        put(GO_ON)
                        break
                    quiz.stdin.write(f"{typed}\n")
                    quiz.stdin.flush()
        finally:
            quiz.stdin.close()  # it stops, and keeps what was answered
            quiz.stdout.read()


def _say(event: dict[str, Any]) -> Iterator[str]:
    if event["event"] == "question":
        yield f"{event['number']} of {event['of']}\n\n{event['text']}\n"
        if event["code"]:
            yield "".join(f"    {line}\n" for line in event["code"].split("\n"))
        for mark, text in (*((str(n), part) for n, part in enumerate(event["parts"], 1)), *event["options"].items()):
            yield f"  {mark}  {text}"
        yield event["how"]
    elif event["event"] == "unreadable":
        yield f"Not read: {event['reason']}. It costs nothing; type it again."
    elif event["event"] == "mark":
        right = event["verdict"] + (f" The answer is {event['right']}." if event["credit"] < 1 else "")
        yield "\n".join([right, *(f"{said[0].upper()}{said[1:]}." for said in event["says"]), "", event["explain"], ""])
    elif event["event"] == "nothing":
        yield event["says"]
    elif event["event"] == "end":
        yield f"{event['right']} of {event['answers']} right. learn report shows where you stand."
