"""Who may import whom: the table of CONTRIBUTING, read from the source. Left may import right, never back."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from support.course_files import ROOT

BASE = {"errors", "model"}
MAY_IMPORT = {
    "errors": set(),
    "model": set(),
    "files": {"errors"},
    "source": {"worker"},  # beside the standard library, what a worker does not run
    "course": BASE | {"files", "source"},
    "submission": BASE | {"files", "source"},
    "workspace": BASE | {"files", "course", "submission"},
    "worker": set(),  # standard library, numpy and torch: nothing else of ours
    "judge": BASE | {"files", "course", "source", "submission", "worker"},
    "live": BASE | {"files", "judge"},
    "notebook": {"course", "files", "model", "terminal"},
    "api": {"judge", "quiz"},
    "isolation_selftest": BASE | {"judge", "worker"},
    "quiz": BASE | {"files", "course"},
    "authoring": BASE | {"files", "source", "course", "submission", "judge"},
    "record": {"model", "files"},
    "store": BASE | {"files"},
    "terminal": BASE,
    "reports": BASE | {"files", "record", "terminal"},
    "web": BASE | {"files", "course", "workspace", "submission", "store", "quiz", "record", "reports", "terminal"},
    "intake": BASE | {"files", "source", "submission"},
    "similarity": BASE | {"source"},
    "batch": BASE | {"course", "submission", "intake", "similarity", "judge", "record", "store", "reports"} | {"files"},
    "gradescope": BASE | {"course", "files", "intake", "judge", "authoring", "batch", "record", "reports"},
    "github": BASE | {"course", "files", "authoring"},
    "cli": BASE
    | {
        "files",
        "source",
        "course",
        "submission",
        "workspace",
        "judge",
        "isolation_selftest",
        "authoring",
        "store",
        "terminal",
    }
    | {"terminal", "record", "reports", "batch", "quiz", "gradescope", "github", "live", "intake", "web", "notebook"},
}
# Of the worker's package the judge uses what describes plain data, the acts that both carry out, and which names match.
WATCHED = {"watch.call_monitor", "watch.watched_source"}
JUDGE_FROM_WORKER = {"wire", "arrays", "operations", "preload", "isolation"} | WATCHED
SOURCE_FROM_WORKER = {"main_guard", "watch.hiding_words", "watch.rewritten_lookups"}
# The folders and modules inside the judge, each of which imports only those before it.
JUDGE_ORDER = (
    "__init__",
    "errors",
    "course_files",
    "own_limits",
    "values",
    "processes",
    "transcript",
    "mistakes",
    "diagnosis",
    "tracing",
    "course_answers",
    "checks",
    "verdict",
    "pictures",
    "kept_fingerprints",
    "mended_answers",
    "changed_source",
    "line_search",
    "examination",
    "session",
    "debug_replay",
    "debug_check",
)
ONLY_IN = {
    "click": {"cli", "terminal"},
    "rich": {"cli", "terminal", "reports"},
    "pytest": {"judge"},
    "sqlite3": {"store"},
    "torch": {"worker", "judge"},
    "hypothesis": set(),
    "jinja2": {"reports"},
    "fsrs": {"quiz"},
    "watchfiles": {"live"},
    "starlette": {"web"},
    "h11": {"web"},
    "uvicorn": {"web"},
    "markdown_it": {"web", "terminal"},
    "markupsafe": {"web", "reports"},
    "distributed": {"batch"},
    "vl_convert": {"reports", "web"},
}
FILES = sorted((ROOT / "grader").rglob("*.py"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The nodes of a file that the tests below look at."""
    looked_at = ast.Import | ast.ImportFrom | ast.FunctionDef
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, looked_at)]


@cache
def imports_of(path: Path) -> list[str]:
    """Every module that a file imports, anywhere in it, as a dotted name."""
    found = []
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path} imports relatively"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def room_of(path: Path) -> str:
    """The room of the house that a file belongs to: its folder below grader/, or its own name."""
    parts = path.relative_to(ROOT / "grader").parts
    return parts[0] if len(parts) > 1 else path.stem


def test_imports_run_one_way():
    """A file imports only from the rooms that the table allows."""
    for path in FILES:
        room = room_of(path)
        if room == "__init__":
            room = "errors"
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == "grader" and len(parts) > 1 and parts[1] != room:
                assert parts[1] in MAY_IMPORT[room], f"{path} imports {name}"
                if room == "judge" and parts[1] == "worker":
                    known = {parts[2], ".".join(parts[2:4])}
                    assert known & JUDGE_FROM_WORKER, f"{path} imports {name}"
                if room == "source":
                    assert {parts[2], ".".join(parts[2:4])} & SOURCE_FROM_WORKER, f"{path} imports {name}"
            if parts[0] in ONLY_IN:
                assert room in ONLY_IN[parts[0]], f"{path} imports {name}"


def test_every_room_is_in_the_table():
    """A new folder or module has to find its place in the table first."""
    assert {room_of(path) for path in FILES} - {"__init__"} <= set(MAY_IMPORT)


def test_the_cluster_is_imported_by_the_executors_alone():
    """Dask is optional: everything else works without its folder."""
    users = {path for path in FILES if any("batch.cluster" in name for name in imports_of(path))}
    cluster = ROOT / "grader/batch/cluster"
    assert {path for path in users if cluster not in path.parents} == {ROOT / "grader/batch/executors.py"}


def test_the_judge_is_read_from_top_to_bottom():
    """Inside the judge a file imports only from the folders and modules below its own."""
    for path in sorted((ROOT / "grader/judge").rglob("*.py")):
        position = JUDGE_ORDER.index(path.relative_to(ROOT / "grader/judge").parts[0].removesuffix(".py"))
        for name in imports_of(path):
            if name.startswith("grader.judge."):
                other = JUDGE_ORDER.index(name.split(".")[2])
                in_one_folder = other == position and path.parent.name != "judge"
                assert other < position or in_one_folder, f"{path} imports {name}"


def test_modules_import_in_no_circle():
    """No chain of imports comes back to where it began, counting those in functions and under TYPE_CHECKING."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in FILES}
    graph = {name: _modules_imported(path, set(modules)) - {name} for name, path in modules.items()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"circle: {' -> '.join((*path[path.index(name) :], name))}"
        if name not in done:
            for target in sorted(graph[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def _modules_imported(path: Path, modules: set[str]) -> set[str]:
    """The modules of the engine that a file imports anywhere in it."""
    return {name if name in modules else name.rpartition(".")[0] for name in imports_of(path)} & modules


# The kinds of course files, by the ends of their names, and what each may import of the engine.
COURSE_FILES = {
    "solutions/**/test_*.py": "grader.api.checks",
    "solutions/**/*_mistakes.py": "grader.api.checks",
    "solutions/**/*_pictures.py": "grader.api.pictures",
    "lessons/**/*_quiz.py": "grader.api.questions",
}


@pytest.mark.parametrize("course", [ROOT, ROOT / "tests/courses/tiny"], ids=lambda path: path.name)
def test_course_files_import_the_api_only(course):
    """Hidden checks, mistakes and quizzes import their part of `grader.api`; stubs and references nothing of ours."""
    allowed = {path: module for pattern, module in COURSE_FILES.items() for path in course.glob(pattern)}
    files = [path for folder in ("exercises", "solutions", "lessons") for path in (course / folder).rglob("*.py")]
    assert allowed.keys() <= set(files)
    for path in files:
        for name in imports_of(path):
            if name.startswith("grader"):
                assert name.rpartition(".")[0] == allowed.get(path), f"{path} imports {name}"


@pytest.mark.parametrize("module", ["checks", "pictures", "questions"])
def test_what_the_api_promises_is_explained(module):
    """The docstring of a public module explains each name that it exports, and it exports no other."""
    tree = ast.parse((ROOT / f"grader/api/{module}.py").read_text())
    exported = next(
        set(ast.literal_eval(node.value))
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    explained = set()
    for line in ast.get_docstring(tree, clean=False).splitlines():
        if line.startswith("    "):
            explained |= set(line.split("  ", 3)[2].split(", "))
    assert explained == exported


def test_no_circle_of_links_is_followed():
    """Paths of others go through `resolved`: `Path.resolve` raises RuntimeError, which nobody expects of a file."""
    for path in (path for path in FILES if ".resolve" in path.read_text()):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
        bare = {ast.unparse(node) for node in calls if node.attr == "resolve"} - {"Path(__file__).resolve"}
        assert not bare or room_of(path) == "worker", f"{path}: {bare}"


def test_what_is_left_to_the_long_run_is_there():
    """Each line of long_tests.txt names a test: one that was called otherwise would be in every run again."""
    for name in (ROOT / "tests" / "long_tests.txt").read_text().splitlines():
        file, function = name.split("[")[0].split("::")
        assert f"def {function}(" in (ROOT / "tests" / file).read_text(), name


def test_folders_and_files_are_of_readable_size():
    """No folder of the engine has more than 15 modules, no file more than 400 lines, no function more than 60."""
    modules = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert max(modules.values()) <= 15, modules.most_common(1)
    for path in FILES:
        assert path.read_text().count("\n") <= 400, path
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path}: {node.name}"
