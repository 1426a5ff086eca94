"""What a hand-in holds that nothing could be read of: for whoever has to tell its author what to hand in instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from grader.intake.discover import Learner, printable
from grader.intake.folder_listing import opened_file
from grader.intake.formats.class_zip import open_class
from grader.intake.formats.zip_member import ArchiveError, is_own, member_name, members_of
from grader.intake.limits import DIRECTORY_BYTES, is_noise

MOST_NAMED = 5
MOST_LISTED = 1_000
UNOPENED = (".rar", ".7z", ".gz", ".bz2", ".xz", ".tar.xz", ".tar.bz2", ".zipx")
NOTHING = "There is no Python file and no notebook in it."


def nothing_to_read(learner: Learner, notes: Sequence[str]) -> str:
    """The sentences that say so, with the names of what is there; `notes` say already why some of it was left out."""
    names = list(dict.fromkeys(printable(name) for name in islice(_names(learner), MOST_LISTED)))
    said = [NOTHING]
    if names:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        said.append(f"What there is: {', '.join(names[:MOST_NAMED])}{more}.")
    packed = sorted({suffix for name in names for suffix in UNOPENED if name.lower().endswith(suffix)})
    if packed:
        said.append(f"Archives are opened that are a .zip or a .tar.gz, no {' or '.join(packed)}.")
    return " ".join([*said, *[note for note in notes if " left out: " in note or " cannot be read: " in note][:2]])


def _names(learner: Learner) -> Iterator[str]:
    """The names of the files in a hand-in; what cannot be listed has none."""
    if learner.kind == "git":
        return
    places = [(part.path, part.inside, part.name) for part in learner.parts]
    for path, inside, name in places or [(learner.path, learner.inside, "")]:
        try:
            yield from _below(path, inside, name or learner.source, f"{name}/" if name else "")
        except (OSError, RuntimeError, ArchiveError):
            yield from [name] if name else []


def _below(path: Path, inside: str, name: str, prefix: str) -> Iterator[str]:
    if inside.endswith("/"):
        yield from (prefix + one[len(inside) :] for one in open_class(path).below(inside))
    elif not inside and path.is_dir():
        found = (one for one in islice(path.rglob("*"), MOST_LISTED) if not one.is_dir())
        yield from sorted(prefix + str(one.relative_to(path)) for one in found if not is_noise(one.name))
    elif name.lower().endswith(".zip"):
        with opened_file(path, inside, lambda text: None) as file:
            members = [info for info in members_of(file, DIRECTORY_BYTES) if not info.is_dir()]
        yield from sorted(prefix + own for own in map(member_name, members) if is_own(own))
    else:
        yield name
