"""The files of a hand-in as Python text, decoded once: what is matched and compared is what is judged."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.errors import SubmissionError
from grader.intake.hand_in import HandIn
from grader.intake.learner import Learner
from grader.intake.limits import is_artefact
from grader.intake.notebook.exported_file import read_exported, read_failed
from grader.intake.notebook.notebook_to_module import NotebookError, read_notebook
from grader.model import Submission
from grader.submission import UTF16_BOMS, decode_source, encode_source, without_number

READ_AS_NOTEBOOK = "It cannot be loaded as a file, and was read as a notebook: what fails is left out."
_WORD = re.compile(rb"[\w\x80-\xff]+")  # with letters of UTF-8
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
    named = _named_elsewhere(files)
    for path, content in files.items():
        try:
            text, content = _read(path, content, hand_in.note_of(path), names, known, path in named)
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


def _named_elsewhere(files: Mapping[str, bytes]) -> set[str]:
    """Return the paths of files that another may import: by a name that stands in one that is called otherwise.

    What has the same name is a copy or another attempt, and a notebook of Colab's holds its own name.
    """
    modules = {path: without_number(Path(path).stem) for path in files}
    words = {module.encode(): module for module in modules.values() if module.isidentifier()}
    named: set[str] = set()
    for path, content in files.items():
        named |= {words[word] for word in words.keys() & set(_WORD.findall(content))} - {modules[path]}
    return {path for path, module in modules.items() if module in named}


def _read(
    path: str,
    content: bytes,
    note: Callable[[str], None],
    names: Collection[str],
    known: Collection[str],
    is_named: bool,
) -> tuple[str, bytes]:
    """Return the text of a file as its author's, and what is written of it; *known* are modules that it may import.

    With *is_named* another file names it, and may import it. Raises NotebookError.
    """
    if not path.lower().endswith(".py"):
        module, own = read_notebook(content, note, names, whole=is_named)
        return own, module.encode("utf-8", "replace")
    try:
        text = decode_source(content, Path(path))
    except SubmissionError:  # what is legible tells which lesson it is for, and the lesson's result why it is not read
        return content.decode("utf-16" if content.startswith(UTF16_BOMS) else "utf-8", "replace"), content
    module, own = read_exported(text, note, names, known, whole=is_named)
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
    notes = [*submission.notes, READ_AS_NOTEBOOK]
    sources = {"": submission.source} | {name: source for name, (_, source) in submission.siblings.items()}
    found = {
        name: read_failed(source, notes.append, wanted, whole=len(sources) > 1) for name, source in sources.items()
    }
    framed = {name: each for name, each in found.items() if each}
    sources |= {name: each.module for name, each in framed.items()}
    siblings = {name: (path, sources[name]) for name, (path, _) in submission.siblings.items()}
    read = replace(submission, source=sources[""], siblings=siblings, notes=tuple(dict.fromkeys(notes)))
    return read, {**own, **{name: each.own for name, each in framed.items()}}
