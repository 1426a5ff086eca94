"""A page of a run that somebody has put anything else into is told from those that our templates write."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import pytest
from support.class_results import HOSTILE, hostile_class, made_class
from support.read_page import Page

from grader.model.picture import Picture, pack_pictures
from grader.record import Record
from grader.reports.html_document import TEMPLATES
from grader.reports.page_grammar import ATTRIBUTES, ELEMENTS, can_be_ours
from grader.reports.pages.class_page import class_page
from grader.reports.pages.code_page import HandInCode, alike_page, code_page
from grader.reports.pages.feedback_page import feedback_page

OTHERS = {"assessment.html.j2", "quiz_items.html.j2"}  # pages that stand alone, in no results folder
GRID = {"mark": "rect", "data": {"name": "d"},
        "encoding": {"x": {"field": "x"}, "y": {"field": "y"}, "color": {"field": "v"}}}  # fmt: skip
BARS = {"mark": "bar", "data": {"name": "d"}, "encoding": {"x": {"field": "v"}, "y": {"field": "y"}}}
CURVES = {"mark": "line", "data": {"name": "d"},
          "encoding": {"x": {"field": "n"}, "y": {"field": "v"}, "color": {"field": "y"}}}  # fmt: skip


def made_pages() -> dict[str, str]:
    """Return pages of every kind, of a usual class, of one whose every text is an attack, and of one that is empty."""
    pages: dict[str, str] = {}
    for kind, (head, dicts) in {"usual": made_class(30), "hostile": hostile_class(), "empty": made_class(0)}.items():
        records = [Record.from_json(one) for one in dicts]
        code = {record.id: "code/x.html" for record in records}
        pages[f"report, {kind}"] = "".join(class_page(head, records, code=code))
        for number, record in enumerate(records):
            text = HOSTILE[number % len(HOSTILE)]
            pictures = {name: drawn(text) for name in record.lessons}
            sources = {name: f"def f():\n    return {text!r}  # {text}\n{text}" for name in record.lessons}
            pages[f"feedback, {kind} {number}"] = feedback_page(head, record, pictures)
            pages[f"code, {kind} {number}"] = code_page(head, record, sources, pictures)
        copies = [HandInCode(text, "code/x.html", text, {1}) for text in HOSTILE]
        pages[f"alike, {kind}"] = alike_page(head, "softmax", copies)
    return pages


def drawn(text: str) -> str:
    """Return a grid, bars and curves with a text wherever one stands."""
    rows: list[dict[str, Any]] = [{"x": text, "y": f"{text}{n}", "v": n / 3, "n": n, "text": text} for n in range(3)]
    specs: list[dict[str, Any]] = [GRID, BARS, CURVES]
    return pack_pictures(
        [Picture("p", text, text, data={"d": rows}, spec=spec | {"title": text}, notes=(text,)) for spec in specs]
    )


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return made_pages()


def test_every_page_that_our_reports_write_is_told_to_be_ours(pages):
    """With markup in names, code, messages and pictures, and with a script on one."""
    assert [name for name, page in pages.items() if not can_be_ours(page)] == []
    assert sum("<svg" in page and "<rect" in page and "<polyline" in page for page in pages.values()) > 60
    assert {"script"} <= {tag for tag, _ in Page(pages["report, usual"]).tags}


def test_what_is_allowed_is_what_the_templates_write():
    """No element or attribute of another is on the lists: whoever takes one out of the templates takes it off them."""
    files = [path for path in TEMPLATES.rglob("*.j2") if path.name not in OTHERS]
    text = "".join(re.sub(r"{[%#].*?[%#]}|<meta.*?>", "", path.read_text(), flags=re.DOTALL) for path in files)
    assert set(ELEMENTS.split("|")) | {"script", "style"} == set(re.findall(r"</?([a-z][a-z0-9]*)", text))
    assert set(ATTRIBUTES.split("|")) | {"fill", "href"} == set(re.findall(r' ([a-zA-Z0-9-]+)="', text)) - {"lang"}


TAMPERED = (
    "<iframe src=http://a>", "<img src=x onerror=alert(1)>", '<input name="a">', '<portal src="//a">', "< p>",
    '<iframe src="http://a"></iframe>', '<iframe srcdoc="&lt;link rel=preconnect&gt;"></iframe>',
    '<object data="http://a"></object>', '<embed src="http://a">', '<img src="http://a">',
    '<base href="http://a/">', '<link rel="preconnect" href="http://a">', '<LINK rel="dns-prefetch" href="http://a">',
    '<meta http-equiv="refresh" content="0;url=http://a">', "<meta/http-equiv=refresh content=0;url=//a>",
    '<meta charset="utf-8">', '<meta name="robots" content="noindex" http-equiv="refresh">',
    '<form action="http://a"><button>go</button></form>', '<button formaction="http://a">go</button>',
    '<a href="http://a">go</a>', '<a href="https://a">go</a>', '<a href="//a">go</a>', '<a href="\\\\a">go</a>',
    '<a href="javascript:alert(1)">go</a>', '<a href="data:text/html,a">go</a>', '<a href=" http://a">go</a>',
    '<a href="&#104;ttp://a">go</a>', '<a href="feedback/../../x.html">go</a>', '<a href="feedback//a.html">go</a>',
    '<a href="?key=1">go</a>', '<a href="/learners.json">go</a>', '<a href="#" ping="http://a">go</a>',
    '<a href="#" target="x">go</a>', '<a href="#" href="http://a">go</a>', '<a href="#"\n>go</a>', "<a href=#>go</a>",
    "<a href='http://a'>go</a>", '<A href="http://a">go</A>', '<a\thref="http://a">go</a>', '<a/href="http://a">go</a>',
    '<p href="#main">a</p>', '<p style="background:url(http://a)">a</p>', '<p onclick="alert(1)">a</p>',
    '<p class="a"onclick="alert(1)">a</p>', '<p class="a" onclick=alert(1) class="b">a</p>', "<p class='a'>a</p>",
    '<p class="a<b>">a</p>', '<p class="a>b">a</p>', "<p class=a>a</p>", '<body background="http://a">',
    '<script src="http://a"></script>', "<script>fetch('http://a')</script>", "<SCRIPT>alert(1)</SCRIPT>", "<script>",
    "<style>@import 'http://a';</style>", "<style>", "<!-- a -->", "<!--", "<?a>", "<![CDATA[a]]>", "</ a>", "<",
    "<p", "<p class=\"", "<textarea>", "<noscript>", "<template><img src=http://a></template>", "<plaintext>", "<xmp>",
    '<svg><image href="http://a"/></svg>', '<svg><use href="http://a#x"/></svg>', '<svg xmlns:xlink="a"></svg>',
    '<svg><a xlink:href="http://a"><text>a</text></a></svg>', '<svg><rect fill="url(http://a#x)"/></svg>',
    '<svg><foreignObject></foreignObject></svg>', '<svg><animate attributeName="href" to="http://a"/></svg>',
    '<svg><set attributeName="href"/></svg>', '<svg><rect filter="url(//a)"/></svg>', "<math></math>",
    '<video src="http://a"></video>', '<audio src="http://a"></audio>', '<source srcset="http://a">',
    '<frameset><frame src="http://a"></frameset>', '<marquee>a</marquee>', '<x-y>a</x-y>', '<p is="x-y">a</p>',
    "<p\x00>a</p>", "<\u212a>", "<\uff49frame src=http://a>",
)  # fmt: skip


def test_a_page_that_holds_anything_else_is_told(pages):
    """At its end, in its middle, in an attribute, in its title and before its head."""
    page = pages["report, usual"]
    assert can_be_ours(page)
    for place in ("</main>", "</title>", "</head>", "<p", 'class="lead"', "<!doctype html>", "</html>", "<style>"):
        for planted in TAMPERED:
            changed = page.replace(place, planted + place, 1)
            assert changed != page and not can_be_ours(changed), (place, planted)


def test_a_page_with_another_head_style_or_script_is_told(pages):
    """Each is ours whole, and nothing that is put into it or grows together around it is."""
    page = pages["report, usual"]
    style, script = (re.search(rf"<{name}>.*?</{name}>", page, re.DOTALL)[0] for name in ("style", "script"))
    assert can_be_ours(page.replace("Class report", "Class &lt;iframe&gt;"))
    for old, new in (
        ("default-src 'none'", "default-src *"), ('content="no-referrer"', 'content="unsafe-url"'),
        ("</style>", "@import 'http://a';</style>"), ("</script>", "fetch('http://a')</script>"),
        ("<!doctype html>\n", ""), ("<!doctype html>", "\ufeff<!doctype html>"), (page, ""), (page, "alike"),
        ("</main>", f"<ifr{script}ame src=http://a>"), ("</main>", f"<ifr{style}ame src=http://a>"),
        ("</main>", f'<p class="{script}" onclick="a">'), ("</main>", f"<scr{style}ipt>alert(1)</script>"),
    ):  # fmt: skip
        changed = page.replace(old, new, 1)
        assert changed != page and not can_be_ours(changed), new[:40]


def test_a_tag_of_a_million_attributes_takes_little_memory(pages):
    """It is given up after more of them than a tag of ours has."""
    page = pages["report, usual"] + "<p" + ' id="a"' * 600_000
    can_be_ours(page[: len(page) // 100])
    tracemalloc.start()
    try:
        assert not can_be_ours(page)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
