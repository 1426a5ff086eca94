"""The magics and functions of the notebook. Only a kernel imports this: IPython is its own."""

# mypy: disable-error-code="no-untyped-call, untyped-decorator"
# (of IPython some functions have types, which differs by version)

from __future__ import annotations

import atexit
import re
import subprocess
from typing import Any

from IPython.core.error import StdinNotImplementedError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.display import display

from grader.notebook.cell_judge import CellJudge, plain_environment
from grader.notebook.questions import LEARN, ask_questions, go_on

FEW = 3  # questions
VEGA_LITE = "application/vnd.vegalite.v5+json"


@magics_class
class CourseMagics(Magics):
    """What a notebook can ask of the course; without a lesson it is the one of the last request."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._shell = shell
        self.lesson = ""
        self.judge = CellJudge()
        self.judge.start()
        atexit.register(self.judge.close)

    @line_cell_magic
    def check(self, line: str, cell: str | None = None) -> None:
        """Check a lesson: `%%check LESSON` above its code, or `%check [FUNCTION] [LESSON]` for what was run before.

        With `-v` in front all checks are listed.
        """
        words = line.split()
        do = "check_all" if words[:1] == ["-v"] else "check"
        *function, lesson = words[do == "check_all" :] or [self.lesson]
        if cell is not None and self._shell.run_cell(cell).error_before_exec:
            print("Nothing was checked: Python cannot read this cell.")  # an earlier one would be judged in its place
            return
        if cell is None and function and " ".join(function) not in self._shell.user_ns:
            print(f"Nothing was checked: no cell that has run defines `{' '.join(function)}`.")
            return
        below = {} if cell is None else {"cell": cell}
        self._display(self._ask(lesson, do=do, function=" ".join(function), **below))

    @line_magic
    def trace(self, line: str) -> None:
        """Show beside each line of your code the shapes that it makes: `%trace [LESSON]`."""
        self._display(self._ask(line.strip() or self.lesson, do="trace"))

    @line_magic
    def hint(self, line: str) -> None:
        """Show the next hint: `%hint [LESSON]`; with `--next` though the last check says what is wrong."""
        command = [*LEARN, "hint", *(line or self.lesson).split()]
        done = subprocess.run(command, capture_output=True, text=True, env=plain_environment())
        print(re.sub(r"\blearn (check|hint) ", r"%\1 ", done.stdout) or done.stderr, end="")

    def show(self, lesson: str = "") -> None:
        """Draw what your code answers, beside what is expected."""
        answer = self._ask(lesson or self.lesson, do="show")
        for picture in answer.get("pictures", ()):
            shown = {VEGA_LITE: picture["spec"], "image/svg+xml": picture["svg"], "text/plain": picture["text"]}
            display(shown, raw=True)  # a front end takes the richest that it knows

    def quiz(self, count: int | str = FEW, topic: str = "") -> None:
        """Ask some questions on the last lesson, or on a topic: `quiz(3)`, `quiz("softmax")`, `quiz(3, "softmax")`."""
        number, topic = (FEW, count) if isinstance(count, str) else (count, topic)
        if not isinstance(number, int) or number < 1 or not isinstance(topic, str):
            print('How many questions, or on what? quiz(3), quiz("softmax") or quiz(3, "softmax")')
            return
        if not (topic or self.lesson):  # the assessment is taken whole, and predicted before
            print('On what? quiz(3, "softmax"), or check a lesson first. The assessment, in a terminal: learn quiz')
            return
        topic = topic or self.lesson
        try:
            ask_questions(topic, number, print, input)
        except StdinNotImplementedError:
            print(f"No answer can be typed here. In a terminal: learn quiz {topic}")
        except (KeyboardInterrupt, EOFError):  # Ctrl-C, Ctrl-D
            print(f"\n{go_on(topic)}")

    def _display(self, answer: dict[str, Any]) -> None:
        if answer:
            display({"text/html": answer["html"], "text/plain": answer["text"]}, raw=True)

    def _ask(self, lesson: str, **request: Any) -> dict[str, Any]:
        if not lesson:
            example = 'show("LESSON")' if request["do"] == "show" else f"%{request['do']} LESSON"
            print(f"Which lesson? {example}")
            return {}
        cells = self._shell.history_manager.input_hist_raw[1:]  # so that cell [3] of a message is In [3]
        answer = self.judge.ask(lesson=str(lesson), cells=cells, **request)
        if "trouble" in answer:
            print(f"Error: {answer['trouble'].removeprefix('Error: ')}")  # a command that ended says so itself
            return {}
        self.lesson = lesson
        return answer
