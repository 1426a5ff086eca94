"""The files of a hand-in as Python text, decoded once: what is matched and compared is what is judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import SubmissionError
from grader.intake.answers.names_taken import names_taken
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.intake.limits import is_artefact
from grader.intake.notebook.exported_file import read_exported, read_failed
from grader.intake.notebook.join_cells import Framed
from grader.intake.notebook.notebook_to_module import NotebookError, code_cells, read_notebook, to_python
from grader.intake.notebook.without_runs import without_runs
from grader.model import Submission
from grader.submission import MAX_BYTES, UTF16_BOMS, decode_source, encode_source

READ_AS_NOTEBOOK = "It cannot be loaded as a file, and was read as a notebook: what fails is left out."
READ_WITHOUT_RUNS = "It was not loaded in time, and was read without the loops and trials of the notebook's top level."
MAX_CODE_BYTES = 8 << 20  # that are judged, of all files of a hand-in together; those near the top come first


@dataclass
class Sources:
    """By their path: the `texts` of files, as their author wrote them, and the `contents` that are judged.

    Of a notebook, and a file out of one, both have the same lines; the guards between are in `contents` alone. What
    looks like a guard in a text is its author's.
    """

    texts: dict[str, str] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)


def read_sources(hand_in: HandIn, learner: Learner, names: Collection[str], packages: Collection[str]) -> Sources:
    """Return every file as Python text; a notebook that cannot be read becomes a note, or the problem.

    *names* are those of the lessons' functions, and *packages* what a worker may import, as pip calls it.
    """
    sources = Sources()
    bytes_left = MAX_CODE_BYTES
    known = {part.removesuffix(".py") for path in hand_in.files for part in path.split("/")}
    known |= {package.replace("-", "_") for package in packages}
    files = {path: content for path, content in hand_in.files.items() if not is_artefact(path)}
    taken = names_taken(_codes_of(files))
    for path, content in files.items():
        try:
            text, content = _read(path, content, hand_in.note_of(path), {*names, *taken[path]}, known)
        except NotebookError as error:
            if learner.kind == "notebook":
                hand_in.problem = str(error)
            hand_in.note(f"{path}: {error}")
            continue
        bytes_left -= len(content)
        if bytes_left < 0:
            hand_in.note(f"{path} and what comes after it were left out: there is too much code in it.")
            break
        sources.texts[path], sources.contents[path] = text, content
    return sources


def _codes_of(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Return the code of each file, cell by cell; none of what cannot be read, or is too much to be judged."""
    found: dict[str, list[str]] = {path: [] for path in files}
    bytes_left = MAX_CODE_BYTES
    for path, content in files.items():
        with suppress(NotebookError, SubmissionError):
            cells = [decode_source(content, Path(path))] if path.lower().endswith(".py") else code_cells(content)
            size = sum(map(len, cells))
            bytes_left -= size
            found[path] = [*map(to_python, cells)] if size <= MAX_BYTES and bytes_left >= 0 else []
    return found


def _read(
    path: str, content: bytes, note: Callable[[str], None], names: Collection[str], known: Collection[str]
) -> tuple[str, bytes]:
    """Return the text of a file as its author's, and what is judged of it; *known* are modules that it may import.

    *names* are to be defined by it: a lesson's, and those that others take. Raises NotebookError.
    """
    if not path.lower().endswith(".py"):
        module, own = read_notebook(content, note, names)
        return own, module.encode("utf-8", "replace")
    try:
        text = decode_source(content, Path(path))
    except SubmissionError:  # what is legible tells which lesson it is for, and the lesson's result why it is not read
        return content.decode("utf-16" if content.startswith(UTF16_BOMS) else "utf-8", "replace"), content
    module, own = read_exported(text, note, names, known)
    if module != text:
        with suppress(UnicodeEncodeError):  # what a magic runs may have signs that the file's encoding lacks
            return own, encode_source(module)
    return text, content


def read_failed_submission(
    submission: Submission, own: Mapping[str, str], wanted: Collection[str]
) -> tuple[Submission, Mapping[str, str]]:
    """Return a submission that cannot be loaded with its files that may be of a notebook read as that, and a note.

    Beside it stands what their author wrote of these, in place of *own*: the file's by "", others' by their module.
    """
    notes, sources = [READ_AS_NOTEBOOK], _sources_of(submission)
    taken = names_taken({name: [source] for name, source in sources.items()})
    found = {name: read_failed(source, notes.append, {*wanted, *taken[name]}) for name, source in sources.items()}
    framed = {name: each for name, each in found.items() if each}
    return _read_as(submission, framed, notes), {**own, **{name: each.own for name, each in framed.items()}}


def read_without_runs(submission: Submission, own: Mapping[str, str]) -> tuple[Submission, Mapping[str, str]]:
    """Return a submission that was not loaded in time without what takes long in its notebooks, and a note.

    Beside it stands what is left of *own*: the file's text as its author wrote it by "", others' by their module.
    """
    sources = _sources_of(submission).items()
    framed = {name: without_runs(source, own.get(name, source)) for name, source in sources}
    left = {name: framed[name].own for name in own.keys() & framed.keys()}
    return _read_as(submission, framed, [READ_WITHOUT_RUNS]), {**own, **left}


def _sources_of(submission: Submission) -> dict[str, str]:
    """Return the source of a submission by "", and those beside it by their module."""
    return {"": submission.source} | {name: source for name, (_, source) in submission.siblings.items()}


def _read_as(submission: Submission, framed: Mapping[str, Framed], notes: Iterable[str]) -> Submission:
    """Return a submission with other modules in the place of its sources, and notes."""
    sources = _sources_of(submission) | {name: each.module for name, each in framed.items()}
    siblings = {name: (path, sources[name]) for name, (path, _) in submission.siblings.items()}
    notes = tuple(dict.fromkeys((*submission.notes, *notes)))
    return replace(submission, source=sources[""], siblings=siblings, notes=notes)
