"""`grader open`: look at the results of a class in the browser."""

from __future__ import annotations

import signal
import threading
import webbrowser
from pathlib import Path

import click

from grader.cli.options import WholeNumber
from grader.errors import UsageError
from grader.files import is_file
from grader.terminal.console import has_screen, put, wrap


@click.command("open")
@click.argument("out", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--port", type=WholeNumber(0, 65535), default=0, metavar="N", help="The port; any that is free.")
@click.option("--open/--no-open", "opens", default=True, help="Open the browser, or only print the link.")
@click.pass_context
def command(ctx: click.Context, out: Path, port: int, opens: bool) -> None:
    """Look at the results in DIR in the browser.

    Search learners, filter them by mistake, check and state.

    Links lead to the report, to everybody's feedback and to their code. The pages are on this machine alone, and for
    whoever has the link that is printed: it opens one browser. Ctrl-C ends it.

    \b
    Example:
      grader open results
      grader open results --no-open --port 8080
    """
    from grader.batch.results import read_results

    head, records = read_results(out)
    if not is_file(out / "report.html"):
        raise UsageError("there is no report here yet", where=str(out), next_step=f"grader report {out}")
    from grader.web.class_pages import CLASS_POLICY, make_class_app
    from grader.web.server import PageServer

    app = make_class_app(out, head["course"]["title"], records, head.get("missing") or ())
    with PageServer(app, port, "grader open", CLASS_POLICY) as server:
        put(f"Open  {server.make_link()}")
        put(wrap("The link is for one browser, and works once. Ctrl-C ends the pages.", 6))
        if opens and has_screen():
            threading.Thread(target=webbrowser.open, args=[server.make_link()], daemon=True).start()
        signal.signal(signal.SIGTERM, _end)
        threading.Event().wait()


def _end(*_: object) -> None:
    raise SystemExit(128 + signal.SIGTERM)
