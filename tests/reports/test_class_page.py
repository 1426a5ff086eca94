"""The page of a class: the whole class on one page that loads nothing, runs nothing of a learner's, and tells."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import subprocess
import sys

import pytest
from support.class_results import HOSTILE, LESSONS, hostile_class, made_class, made_head, made_records
from support.read_page import Page, colours, contrast

from grader.record import Record
from grader.reports import charts
from grader.reports.pages import class_findings, class_learners
from grader.reports.pages.class_page import class_page
from grader.reports.statistics.class_tally import ClassTally


def page(head, records, **more) -> Page:
    """Make the page of a class and read it."""
    return Page("".join(class_page(head, map(Record.from_json, records), **more)))


def tally_of(records) -> ClassTally:
    """Count a class."""
    tally = ClassTally(list(LESSONS))
    for record in records:
        tally.add(Record.from_json(record))
    return tally


@pytest.fixture(scope="module")
def forty() -> Page:
    return page(*made_class(40))


@pytest.fixture(scope="module")
def hostile() -> Page:
    return page(*hostile_class())


# --- one safe, self-contained file ------------------------------------------------------------------------------------


def test_nothing_is_loaded_from_elsewhere(forty):
    """No address but sections of the page and learners' pages beside it; no image, font, frame or linked style."""
    assert {tag for tag, _ in forty.tags} & {"img", "link", "iframe", "object", "embed", "base", "form"} == set()
    assert forty.values("src") == []
    assert all(re.match(r"#|feedback/s\d+\.html$", link) for link in forty.values("href"))
    assert not re.search(r"url\(|@import|https?:", forty.raw["style"][0] + forty.raw["script"][0])
    assert forty.unbalanced == [] and forty.open == []


def test_the_policy_allows_our_style_and_script_and_nothing_else(forty):
    """The hashes in the page's policy are those of the one style and the one script in it."""
    policy = next(meta["content"] for meta in forty.all("meta") if meta.get("http-equiv") == "Content-Security-Policy")
    for kind in ("style", "script"):
        assert len(forty.raw[kind]) == 1
        digest = base64.b64encode(hashlib.sha256(forty.raw[kind][0].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    assert forty.values("style") == []  # the policy would not allow it


def test_hostile_text_stays_text(hostile, forty):
    """Names, ids, messages, files and notes that are markup, scripts, addresses or escapes come out as text."""
    assert {tag for tag, _ in hostile.tags} <= {tag for tag, _ in forty.tags}
    assert not [name for _, attributes in hostile.tags for name in attributes if name.startswith("on")]
    assert {link[: len("feedback/")] for link in hostile.values("href") if link[0] != "#"} == {"feedback/"}
    assert all(re.fullmatch(r"feedback/[\w.~%-]+\.html|#[\w-]+", link) for link in hostile.values("href"))
    assert hostile.unbalanced == [] and hostile.raw == forty.raw
    for text in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}{% raw %}", "&lt;b&gt;"):
        assert text in hostile.text
    assert "../../etc" not in "".join(hostile.values("href"))


def test_control_characters_and_turned_directions_are_taken_out(hostile):
    """What would break the file, a terminal or the reading order is left out; the page can be written as UTF-8."""
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile.source)
    assert "مرحبا" in hostile.text and "👩" in hostile.text
    assert hostile.source.encode()


def test_long_names_are_cut(hostile):
    """Three hundred letters take no more of a table than sixty do."""
    label = next(text for text in HOSTILE if text.startswith("xxx"))

    assert f"{label[:59]}…" in hostile.text


@pytest.mark.slow
def test_hostile_names_do_not_meet_our_templates_in_any_class():
    """Any record alone, under every hostile name, gives a page of the same tags."""
    _, records = hostile_class()
    known = {tag for tag, _ in page(*hostile_class()).tags}
    for record in records:
        assert {tag for tag, _ in page(made_head(), [record]).tags} <= known


# --- read by everybody ------------------------------------------------------------------------------------------------


def test_tables_have_captions_and_scoped_heads(forty):
    """A screen reader can say what a table is, and the head of each cell."""
    assert len(forty.all("caption")) == len(forty.all("table")) > 8
    assert all(head.get("scope") in ("row", "col") for head in forty.all("th"))
    assert {"lang": "en"} in forty.all("html") and {"class": "skip", "href": "#main"} in forty.all("a")


def test_pictures_say_what_they_show(forty):
    """Every picture has a title and a description that are there, or stands beside its number and is passed over."""
    ids = forty.values("id")
    labels = [svg.get("aria-labelledby") for svg in forty.all("svg") if svg.get("aria-hidden") != "true"]

    assert len(labels) == 1 + len(LESSONS) and all(set(label.split()) <= set(ids) for label in labels)
    assert len(ids) == len(set(ids))
    assert re.search(r"<desc[^>]*>1\.0 to 1\.9: \d+;", forty.source)


def test_headings_leave_no_level_out(forty):
    """One first heading, and below a heading only the next level."""
    levels = [int(tag[1]) for tag, _ in forty.tags if re.fullmatch(r"h[1-6]", tag)]

    assert levels.count(1) == 1
    assert all(second - first <= 1 for first, second in itertools.pairwise(levels))


@pytest.mark.parametrize("dark", [False, True])
def test_colours_can_be_read(dark):
    """Text has a contrast of 4.5 on everything it stands on, pictures of 3 on the paper, in light and in dark."""
    colour = colours(dark=False) | colours(dark=dark)
    texts = [(ink, paper) for ink in ("ink", "quiet", "link", "bad") for paper in ("paper", "raised")]
    texts += [("ink", f"h{step}") for step in range(6)] + [("ink", "bad-paper"), ("quiet", "bad-paper")]
    for ink, paper in texts:
        assert contrast(colour[ink], colour[paper]) >= 4.5, (ink, paper)
    assert contrast(colour["bar"], colour["paper"]) >= 3


def test_the_page_is_complete_without_script(forty):
    """The script makes buttons and a field; no text is in it, and no button waits for it in the page."""
    assert not forty.all("button") and not forty.all("input")
    assert all(f"s{1000 + number}" in forty.text for number in range(40))


def test_pages_load_no_template_engine_before_they_are_made():
    """Importing the report is cheap: it is on the way of commands that may never make a page."""
    pages = "import sys, grader.reports.pages.class_page, grader.reports.pages.feedback_page"
    code = f"{pages}; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.strip() == "False"


# --- what it says -----------------------------------------------------------------------------------------------------


def test_the_head_says_the_class_in_a_sentence(forty):
    """How many, mean, median, who is incomplete and missing; then course, seed and time; the protection at the foot."""
    head, records = made_class(40)
    scores = sorted(record["score"] for record in records)
    partial = sum(not record["complete"] for record in records)

    assert f"40 submissions: {40 - partial} scored, {partial} partial. Mean score {sum(scores) / 40:.1f}" in forty.text
    assert "3 learners handed nothing in." in forty.text
    assert "seed 20261" in forty.text and forty.text.rstrip().endswith(
        "ran under this protection: process, limits, landlock, seccomp."
    )
    assert "2026-11-20 10:00 UTC" in forty.text and head["course"]["title"] in forty.text


def test_the_graders_own_faults_are_told_apart(forty):
    """Who was not graded by the grader's fault is listed as such, with the lesson, and has no zero anywhere."""
    record = next(iter(made_records(1)))
    for lesson in record["lessons"].values():
        lesson |= {"state": "grader-error", "score": None, "checks": [], "mistakes": [], "weaknesses": []}
    record |= {"score": None, "complete": False, "problem": "The grader itself failed.", "name": "Ada"}
    found = page(made_head(), [record])

    assert "1 submission: 1 our fault." in found.text
    assert "The grader failed on A fault of the grader, never of the learner." in found.text
    assert re.search(r"Ada s1000 – not graded", found.text)
    assert "0.0" not in found.text
    assert "The grader failed on" not in forty.text


def test_mistakes_are_counted_over_those_who_handed_in():
    """ "9 of 38 ..." with everybody who made it, linked, and what helps."""
    _, records = made_class(40)
    who = [
        record for record in records
        if any(mistake["id"] == "sm-global-max" for mistake in record["lessons"]["softmax"]["mistakes"])
    ]  # fmt: skip
    judged = sum(record["lessons"]["softmax"]["score"] is not None for record in records)
    found = page(made_head(), records)
    entry = found.source[found.source.index("[sm-global-max]") - 600 :][:3000]

    assert f"<b>{len(who)} of {judged}</b>" in entry
    assert all(f'href="feedback/{record["feedback"]}.html"' in entry for record in who)
    assert "What helps: Subtract each slice" in entry


def test_errors_worded_for_each_learner_are_one_entry():
    """An error that names each learner's own line is counted once, in general words, with one for example."""
    records = list(made_records(3))
    for record in records:
        says = f"`softmax` raises an error ({record['id']}/softmax.py:3): IndexError: too many"
        record["lessons"]["softmax"] |= {
            "mistakes": [{"id": "exception", "function": "softmax", "says": says, "suggests": "Read it."}]
        }
    mistakes = class_findings.mistakes_of(tally_of(records))[0].other

    assert [(mistake.says, mistake.who.count) for mistake in mistakes] == [("`softmax` raises an error.", 3)]
    assert mistakes[0].example == "`softmax` raises an error (s1000/softmax.py:3): IndexError: too many"


def test_the_heat_map_is_the_share_of_points():
    """Earned over possible points of a skill, skipped checks at their price, the grader's faults left out."""
    lesson = {
        "state": "graded", "score": 5.0, "mistakes": [], "weaknesses": [],
        "checks": [
            {"id": name, "function": "", "says": "", "skill": skill, "outcome": outcome, "points": 2, "earned": earned}
            for name, skill, outcome, earned in [
                ("a", "shape", "passed", 2.0), ("b", "values", "failed", 0.5), ("c", "values", "skipped", 0.0),
                ("d", "masking", "grader-error", 0.0),
            ]
        ],
    }  # fmt: skip
    record = next(iter(made_records(1))) | {"lessons": {"softmax": lesson}}
    tally = tally_of([record, record])

    assert class_findings.earned_by_skill(tally.lessons["softmax"]) == {"shape": 1.0, "values": 0.125}


def test_help_is_offered_for_reasons_in_words():
    """Files that would not load, what is missing, work not begun, few points; the furthest behind first."""
    records = list(made_records(4))
    for record in records:
        for lesson in record["lessons"].values():
            lesson |= {"state": "graded", "score": 9.0, "mistakes": [], "weaknesses": []}
        record["score"] = 9.0
    first, second, third, fourth = records
    fourth["lessons"]["block"] |= {"state": "missing", "score": None, "checks": []}
    for name in ("block", "training", "multi_head"):
        first["lessons"][name] |= {"state": "missing", "score": None, "checks": []}
    second["lessons"]["softmax"] |= {"state": "would-not-import", "score": 1.0}
    second["lessons"]["block"] |= {"state": "timed-out", "score": 1.0}
    third["score"] = 4.0
    hands, more = class_learners.needing_help(tally_of(records))

    assert [(hand.row.id, hand.why) for hand in hands] == [
        ("s1000", "no file for multi_head, block and training"),
        ("s1001", "softmax could not be loaded; block did not finish in time"),
        ("s1003", "no file for block"),
        ("s1002", "less than half of the points so far"),
    ]
    assert more == 0


def test_the_heaviest_reason_comes_first():
    """What is not there comes before what is wrong; work that could not be read is said to be that."""
    unread, undefined = records = list(made_records(2))
    for lesson in unread["lessons"].values():
        lesson |= {"state": "missing", "score": None, "checks": [], "mistakes": [], "weaknesses": []}
    unread |= {"score": None, "complete": False, "problem": "The archive is damaged."}
    for name, lesson in undefined["lessons"].items():
        lesson |= {"state": "graded", "score": 1.0, "mistakes": [], "weaknesses": []}
        if name == "softmax":
            lesson["mistakes"] = [{"id": "missing-function", "function": "softmax", "says": "No.", "suggests": ""}]
    undefined["score"] = 1.0
    hands, _ = class_learners.needing_help(tally_of(records))
    found = page(made_head(), records)

    assert [hand.why for hand in hands] == [
        "handed in, could not be read: The archive is damaged.",
        "softmax without what it asks for; less than half of the points so far",
    ]
    assert "1 unreadable" in found.text and "not read" in found.text


def test_rare_mistakes_of_a_large_class_are_folded():
    """Of a lesson's ten mistakes the eight that most made are open; the other two can be opened, and are printed."""
    records = list(made_records(30))
    for number, record in enumerate(records):
        named = {"id": f"m{number % 10}", "function": "f", "says": f"No {number % 10}.", "suggests": ""}
        for name, lesson in record["lessons"].items():
            lesson |= {"mistakes": [named] if name == "softmax" else [], "weaknesses": []}
    source = page(made_head(), records).source
    assert source.count("Rarer mistakes: 2 more") == 1
    folded = source.partition("Rarer mistakes")[2].partition("</details>")[0]
    assert len(set(re.findall(r"\[m(\d)\]", folded))) == 2


def test_what_nobody_can_say_is_not_said():
    """Without a roster there is no count of those who handed nothing in; without pairs one line says so; names, which
    may hold commas, are parted by semicolons."""
    records = list(made_records(2))
    for record, name in zip(records, ("Galois, Évariste", "Fermat, Pierre"), strict=True):
        record["name"] = name
        for lesson in record["lessons"].values():
            lesson |= {"mistakes": [{"id": "m", "function": "f", "says": "No.", "suggests": ""}], "weaknesses": []}
    found = page(made_head(), records)

    assert "Nothing handed in" not in found.text and "No pairs found to look at." in found.text
    assert "Galois, Évariste; Fermat, Pierre" in found.text
    assert "No pairs found" not in page(made_head(complete=False), records).text
    assert "Nothing handed in 1" in page(made_head(missing=[{"id": "z", "name": ""}]), records).text
    missing = [
        {"id": str(number), "name": name} for number, name in enumerate(("Young, Bo", "Ångström, Al", "Lin, Cy"))
    ]
    assert "Ångström, Al 1 Lin, Cy 2 Young, Bo 0" in page(made_head(missing=missing), records).text


def test_a_file_that_is_no_text_is_not_called_a_syntax_error():
    """The class report says what it is, with the reason as an example."""
    (record,) = made_records(1)
    says = "Your file cannot be read: the file is not UTF-8 text: byte 0xff at offset 3, line 1."
    mistake = {"id": "unreadable-file", "function": "", "says": says, "suggests": "Save the file as UTF-8."}
    record["lessons"]["softmax"] |= {"state": "would-not-import", "mistakes": [mistake], "weaknesses": [says]}
    found = page(made_head(), [record])

    assert "The file is no text that Python could read." in found.text and says in found.text


def test_alike_is_a_place_to_look_and_no_verdict(forty):
    """Pairs stand with lesson, share and lines, the same mistake first; the page says what they are not."""
    assert "These are places to look, not a verdict." in forty.text
    rows = re.findall(r'<td class="r">(\d+)%</td><td>(yes|no)</td><td class="nowrap">([^<]+)<', forty.source)

    assert len(rows) == 4 and {lines for _, _, lines in rows} == {"12–31 and 10–28"}
    assert [same for _, same, _ in rows] == sorted((same for _, same, _ in rows), reverse=True)


def test_a_regrade_shows_what_it_changed(forty):
    """Before, now, the difference, and which lessons; those whose score stayed are only counted."""
    _, records = made_class(40)
    changed = [change for change in class_learners.find_changes(tally_of(records)) if change.lessons]
    first = changed[0]

    assert f"{first.before} {first.row.score} {first.difference:+.1f} softmax 1.0 → " in forty.text
    assert "4 submissions had been graded before; " in forty.text


def test_of_few_there_are_counts_and_of_many_coefficients(forty):
    """Under thirty learners the page says that it only counts; from thirty on it shows intervals and coefficients."""
    few = page(*made_class(12))

    assert "Counts only: no check was run on 30 learners or more" in few.text
    assert "Item-rest" not in few.text and "95% interval" not in few.text
    assert "Item-rest" in forty.text and re.search(r"\d+% to \d+%", forty.text)


def test_checks_that_nobody_or_everybody_passes_are_listed():
    """Both are said of any class, with the check's own sentence."""
    records = list(made_records(6))
    for record in records:
        for check in record["lessons"]["softmax"]["checks"]:
            outcome = "failed" if check["skill"] == "stability" else "passed"
            check |= {"outcome": outcome, "earned": check["points"] if outcome == "passed" else 0.0}
    found = page(made_head(), records)
    nobody = found.text[found.text.index("Nobody passes") : found.text.index("Everybody passes")]
    everybody = found.text[found.text.index("Everybody passes") : found.text.index("Every check")]

    assert "Softmax: Survives scores near +1000 and -1000, case 1." in nobody
    assert "Softmax: Lets the right gradient through, case 1." in everybody


def test_two_of_one_name_are_told_apart():
    """Learners who share a name are called by their id too."""
    records = [record | {"name": "Ada Kim"} for record in made_records(2)]
    found = page(made_head(), records)

    assert "Ada Kim (s1000)" in found.text and "Ada Kim (s1001)" in found.text


def test_without_pages_to_link_to_there_are_no_links():
    """With link=False names are names."""
    found = page(*made_class(5), link=False)

    assert all(link.startswith("#") for link in found.values("href")) and "s1003" in found.text


@pytest.mark.parametrize("head", [{"lessons": []}, {"lessons": ["softmax"]}, made_head(complete=False)])
def test_an_empty_class_is_a_page_too(head):
    """No records, and a head of the least there can be: said in words, with no picture of nothing."""
    found = page(head, iter(()))

    assert "0 submissions." in found.text and "There are no submissions in these results." in found.text
    assert found.unbalanced == []
    assert ("Not the whole class yet." in found.text) == (head.get("complete") is False)


# --- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_large_class_stays_lean():
    """Records are gone through once; a learner's row takes less than 600 bytes, and lists end with how many more."""
    records = iter(made_records(500))
    missing = [{"id": f"m{number}", "name": ""} for number in range(372)]
    found = page(made_head(missing=missing), records)
    rows = found.source[found.source.index('class="learners') :].split("<tr>")[2:]

    assert next(records, None) is None
    assert len(rows) == 500 and max(len(row.encode()) for row in rows[:-1]) < 600
    assert "And 312 more; see gradebook.csv." in found.text
    assert len(found.source.encode()) < 500 * 1000


@pytest.mark.parametrize("scores, bins", [([], [0] * 10), ([1.0, 1.9, 9.9, 10.0], [2, 0, 0, 0, 0, 0, 0, 0, 1, 1])])
def test_ten_has_a_bar_of_its_own(scores, bins):
    """Work without a fault is not counted with what is nearly so."""
    picture = charts.histogram(scores, 100, 50, 10)

    assert charts.score_bins(scores) == bins == [bar.count for bar in picture.bars]
    assert all(bar.y >= 0 and bar.y + bar.height <= picture.base + 0.1 for bar in picture.bars)


def test_a_record_as_it_is_written_is_read_back():
    """The page of records that went through JSON is the same."""
    head, made = made_class(7)
    records = [Record.from_json(record) for record in made]
    again = [Record.from_json(json.loads(json.dumps(record.to_json()))) for record in records]

    assert again == records
    assert "".join(class_page(head, again)) == "".join(class_page(head, records))


def test_a_column_that_only_repeats_the_name_is_left_out(forty):
    """Ids are shown where there are names beside them, and nowhere else."""
    head, records = made_class(3)
    bare = page(head, [record | {"name": record["learner"], "late": False} for record in records])
    assert "Id" in forty.text.split() and "Id" not in bare.text.split()
