"""grader open: learners searched, filtered and sorted in a browser, and a run's pages, for whoever has the link."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.browser import Visitor
from support.class_results import made_records
from support.hand_ins import ANSWERS, SUMS, TINY, write

from grader.batch.results import read_results
from grader.cli.grader.group import grader
from grader.record import Record
from grader.reports.pages.code_page import HandInCode, alike_page
from grader.web.class_pages import CLASS_POLICY, class_view, make_class_app
from grader.web.server import PageServer

SECONDS = 60
MANY = 2_000
STEP_MS = 100  # promised for a step with MANY learners, the quickest of TRIES
SLOWER = 20  # a machine that others use, too
TRIES = 5
FEW = 200  # rows that are there until all are asked for


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """The results of three learners, with their pages."""
    place = tmp_path_factory.mktemp("class")
    files = {"ann/argmax_2d.py": ANSWERS["argmax_2d"], "bob/moving_average.py": SUMS, "zoë/moving_average.py": SUMS}
    words = ["run", str(write(place / "in", files)), "--out", str(place / "out"), "--course", str(TINY), "--seed", "5"]
    done = CliRunner().invoke(grader, [*words, "--jobs", "1", "--pictures"])
    assert done.exit_code == 0, done.output
    return place / "out"


@pytest.fixture
def opened(results):
    """`grader open`, and its link."""
    command = [sys.executable, "-m", "grader.cli.grader.group", "open", str(results), "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"})
    try:
        yield process, re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def test_the_pages_of_a_run_are_served_to_whoever_has_the_link(opened):
    """Report, feedback and code, the table's data, and nothing beside them; SIGTERM ends it."""
    process, link = opened
    visitor = Visitor(link)
    assert visitor.ask("GET", "/report.html").status == 403
    assert visitor.enter() == 303 and visitor.ask("GET", visitor.key).status == 303
    assert "Learners" in visitor.read("/") and "<h1" in visitor.read("/report.html")
    for row in json.loads(visitor.read("/learners.json"))["learners"]:
        assert row["id"] in visitor.read(f"/{row['page']}")
        assert visitor.ask("GET", f"/{row['code']}").status == 200
    for path in ("/results.sqlite", "/feedback/../results.sqlite", "/feedback/%2e%2e/results.sqlite", "/feedback/"):
        assert visitor.ask("GET", path).status == 404
    assert visitor.ask("GET", "/", headers={"Host": "evil.example"}).status == 421
    assert visitor.ask("GET", "/", headers={"Cookie": None}).status == 403
    process.send_signal(signal.SIGTERM)
    assert process.wait(SECONDS) == 128 + signal.SIGTERM


def test_somebody_elses_results_bring_no_script_and_lead_nowhere(results, tmp_path):
    """Of a results folder the run's pages alone are served: no script, no page beside them, and no linked folder."""
    out = tmp_path / "out"
    shutil.copytree(results, out)
    (out / "feedback/steal.js").write_text("fetch('/code/secret.html')")
    planted = ("feedback/planted.html", "feedback/in/ann.html", "alike/x.html", "alike/in/1.html")
    for name in planted:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("Your session has ended: type your password.")
    (out / "alike/1.html").write_text(alike_page({}, "softmax", []))
    shutil.rmtree(out / "code")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/secret.html").write_text("SECRET")
    (out / "code").symlink_to(tmp_path / "home")
    (out / "report.html").unlink()
    (out / "report.html").symlink_to(tmp_path / "home/secret.html")
    with PageServer(make_class_app(out, "A course", read_results(out)[1]), 0, "grader open", CLASS_POLICY) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        assert visitor.ask("GET", "/feedback/ann.html").status == visitor.ask("GET", "/alike/1.html").status == 200
        assert visitor.ask("GET", "/feedback/zo%C3%AB.html").status == 200
        for path in ("feedback/steal.js", "feedback/ann.json", "code/secret.html", "report.html", *planted):
            assert visitor.ask("GET", f"/{path}").status == 404, path
        (out / "report.html").unlink()
        os.mkfifo(out / "report.html")
        assert visitor.ask("GET", "/report.html").status == 404


def test_a_changed_page_is_not_shown_and_what_to_do_is(results, tmp_path):
    """Nor is one in another encoding; of a folder that is not there nothing is. `grader report` mends it."""
    out = tmp_path / "out"
    shutil.copytree(results, out)
    report, page = out / "report.html", out / "feedback/ann.html"
    with PageServer(make_class_app(out, "A course", read_results(out)[1]), 0, "grader open", CLASS_POLICY) as server:
        visitor = Visitor(server.make_link())
        visitor.enter()
        whole = visitor.read("/report.html")
        assert whole == report.read_text() and visitor.read("/feedback/ann.html") == page.read_text()
        report.write_text(f"{whole}<iframe src=http://127.0.0.1:9/>")
        page.write_bytes(f"\ufeff{page.read_text()}".encode("utf-16"))
        for name in ("report.html", "feedback/ann.html"):
            answer = visitor.ask("GET", f"/{name}")
            assert answer.status == 403 and name in answer.body.decode() and b"<iframe" not in answer.body
            assert f"grader report {out}" in answer.body.decode()
        assert CliRunner().invoke(grader, ["report", str(out)]).exit_code == 0
        assert visitor.read("/report.html") == whole and "Feedback for" in visitor.read("/feedback/ann.html")
        shutil.rmtree(out / "code")
        for path in ("/code/ann.html", "/alike/1.html"):
            assert visitor.ask("GET", path).status == 404, path


@pytest.mark.parametrize("planted", [
    '<iframe src="{0}"></iframe>', '<iframe srcdoc="&lt;link rel=preconnect href={0}&gt;"></iframe>',
    '<iframe srcdoc="&lt;meta http-equiv=refresh content=0;url={0}&gt;"></iframe>', '<link rel=preconnect href="{0}">',
    '<meta http-equiv=refresh content="0;url={0}">',
])  # fmt: skip
def test_a_browser_asks_nobody_else_for_what_a_changed_page_says(results, tmp_path, page, planted):
    """Something listens on another port: nobody connects, though the page that was changed is opened."""
    out = tmp_path / "out"
    shutil.copytree(results, out)
    report = out / "report.html"
    app = make_class_app(out, "A course", read_results(out)[1])
    with socket.create_server(("127.0.0.1", 0)) as elsewhere, PageServer(app, 0, "grader open", CLASS_POLICY) as server:
        address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/"
        report.write_text(report.read_text().replace("</main>", planted.format(address) + "</main>"))
        page.goto(server.make_link("/report.html"))
        assert "was changed" in page.inner_text("h1")
        elsewhere.settimeout(1)
        with pytest.raises(TimeoutError):
            elsewhere.accept()


def test_what_is_not_there_is_said(tmp_path):
    """A folder without results is wrong usage."""
    done = CliRunner().invoke(grader, ["open", str(tmp_path)])
    assert done.exit_code == 2 and "no results of a run here" in done.output


@pytest.mark.slow
def test_pages_are_read_on_a_narrow_screen(results, page):
    """At 400 pixels nothing of a learner's page lies out of sight, and copies stand one below another."""
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto((results / "feedback/bob.html").as_uri())
    for area in ("html", ".scroll"):
        wide, seen = page.evaluate(f"(e => [e.scrollWidth, e.clientWidth])(document.querySelector('{area}'))")
        assert wide <= seen, area
    copies = [HandInCode(name, f"code/{name}.html", SUMS, {2}) for name in ("ann", "bob", "cy")]
    page.set_content(alike_page({}, "softmax", copies))
    boxes = [section.bounding_box() for section in page.query_selector_all(".beside section")]
    assert len(boxes) == 3 and all(box["x"] + box["width"] <= 400 for box in boxes)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_pictures_stand_on_the_page_of_code(opened, page, scheme):
    """Behind the server's policy, in the page's colours, within a narrow screen, with the numbers in words."""
    _, link = opened
    page.emulate_media(color_scheme=scheme)
    page.goto(link)
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(link.partition("?")[0] + "code/bob.html")
    box = page.locator("details svg[role=img]").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 400 and box["height"] > 60
    assert "expected: " in page.get_attribute("details svg", "aria-label")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    yours, expected, paper = page.evaluate("""[...document.querySelectorAll(".curve0, .curve1")].slice(-2)
        .map((line) => getComputedStyle(line).stroke).concat(getComputedStyle(document.body).backgroundColor)""")
    assert len({yours, expected, paper}) == 3
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The pages of many learners."""
    records = [Record.from_json(one) for one in made_records(MANY)]
    records[5] = replace(records[5], name="Ångström, Åsa")
    app = make_class_app(tmp_path_factory.mktemp("many"), "A course", records)
    with PageServer(app, 0, "grader open", CLASS_POLICY) as server:
        yield server, class_view(Path("nowhere"), records)


@pytest.mark.soak
def test_many_learners_are_filtered_at_once(many, page):
    """By name, state, mistake and check, and sorted: each step shows who fits, within its time."""
    server, view = many
    page.goto(server.make_link())
    page.wait_for_selector("body[data-ready]")
    learners = view["learners"]
    timed = """([what, value]) => {
        const field = document.getElementById(what), before = field.value;
        const set = (to) => {
            const begun = performance.now();
            field.value = to;
            field.dispatchEvent(new Event("input"));
            document.body.offsetHeight;
            return performance.now() - begun;
        };
        const spent = set(value);
        set(before);
        return Math.min(spent, set(value));
    }"""

    steps: list[float] = []

    def step(what: str, value: str) -> set[str]:
        steps.append(min(page.evaluate(timed, [what, value]) for _ in range(TRIES)))
        rows = page.evaluate("document.querySelectorAll('#learners tbody tr').length")
        assert rows <= FEW and page.is_visible("#more") == (page.inner_text("#count") != f"{rows} of {MANY}")
        page.evaluate("document.getElementById('more').click()")
        shown = page.evaluate("[...document.querySelectorAll('#learners tbody td:nth-child(2)')]"
                              ".map((cell) => cell.textContent)")  # fmt: skip
        assert page.inner_text("#count") == f"{len(shown)} of {MANY}"
        return set(shown)

    name = next(one["name"] for one in learners[17:] if one["name"].isascii())
    assert step("name", name.upper()) == {one["id"] for one in learners if name in f"{one['name']} {one['id']}"}
    assert step("name", "angstrom") == {learners[5]["id"]}
    assert len(step("name", "")) == MANY
    state = learners[3]["state"]
    of_state = {one["id"] for one in learners if one["state"] == state}
    assert step("state", state) == of_state
    made = {learners[number]["id"] for number in view["mistakes"][2]["learners"]}
    failed = {learners[number]["id"] for number in view["checks"][1]["learners"]}
    assert step("mistake", view["mistakes"][2]["key"]) == of_state & made
    assert step("check", view["checks"][1]["key"]) == of_state & made & failed
    assert step("state", "") == made & failed
    assert max(steps) < SLOWER * STEP_MS, steps


def test_what_is_chosen_is_there_again_on_the_way_back(results, page):
    """A name without its signs, a mistake in words and the order stand in the address; who is missing has no page."""
    named = {"ann": "Ann O'Neil"}
    records = [replace(one, name=named.get(one.id, one.id)) for one in read_results(results)[1]]
    app = make_class_app(results, "A course", records, [{"id": "1009", "name": "Gödel, Kurt"}])
    with PageServer(app, 0, "grader open", CLASS_POLICY) as server:
        page.goto(server.make_link())
        page.wait_for_selector("body[data-ready]")
        page.fill("#name", "oneil")
        assert page.inner_text("#learners tbody").startswith("Ann O'Neil") and "=oneil" in page.url
        page.fill("#name", "")
        page.select_option("#state", "nothing handed in")
        assert page.inner_text("#count") == "1 of 4" and page.locator("#learners tbody a").count() == 0
        page.select_option("#state", "")
        mistake = page.inner_text("#mistake option:nth-child(2)")
        assert mistake.startswith("moving_average: ") and " " in mistake.removeprefix("moving_average: ")[:-4]
        page.select_option("#mistake", index=1)
        for _ in range(2):
            page.click("#learners thead th:nth-child(3) button")
        before = page.inner_text("#learners tbody")
        page.click("#learners tbody a")
        page.wait_for_url("**/feedback/*")
        page.go_back()
        page.wait_for_selector("body[data-ready]")
        assert page.inner_text("#learners tbody") == before and page.inner_text("#count") == "2 of 4"
        assert page.get_attribute("#learners thead th:nth-child(3)", "aria-sort") == "descending"


@pytest.mark.slow
def test_the_table_is_sorted_by_numbers_and_by_words(many, page):
    """A click sorts up, a second one down; whoever has no score comes last, either way."""
    server, view = many
    page.goto(server.make_link())
    page.wait_for_selector("body[data-ready]")
    fields = [page.locator(f".filters #{name}").bounding_box() for name in ("name", "state", "mistake", "check")]
    assert len({(box["y"], box["height"]) for box in fields}) == 1, "the filters stand in one row"
    shown = "[...document.querySelectorAll('#learners tbody th')].map((cell) => cell.textContent)"
    names = page.evaluate(shown)  # first by name, as people sort
    assert names == page.evaluate(
        "(names) => names.toSorted(new Intl.Collator(undefined, {numeric: true}).compare)", names
    )
    page.click("#more")
    sort = "(column) => document.querySelectorAll('#learners thead button')[column].click()"
    cells = """(column) => [...document.querySelectorAll(`#learners tbody tr > :nth-child(${column})`)]
        .map((cell) => cell.textContent)"""
    for down in (False, True):
        page.evaluate(sort, 2)
        scores = page.evaluate(cells, 3)
        given = [float(text) for text in scores if text != "–"]
        assert given == sorted(given, reverse=down) and set(scores[len(given) :]) <= {"–"}
    page.evaluate(sort, 1)
    assert page.evaluate(cells, 2) == sorted((one["id"] for one in view["learners"]), key=lambda one: int(one[1:]))
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.scroll'))")
