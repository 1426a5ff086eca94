"""Ids and file names that no two hand-ins of a run share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.files import file_name
from grader.intake.learner import Entry, Learner, printable
from grader.model.person_id import fold_id


def suggest_ids(wanted: str, known: Mapping[str, str]) -> list[str]:
    """Return the ids that are *wanted* as people are compared; else those that are similar, or whose names are."""
    import difflib  # here: only a mistyped name needs it

    if same := [own for own in known if fold_id(own) == fold_id(wanted)]:
        return same
    plain = {own: " ".join(sorted(re.findall(r"\w+", name.casefold()))) for own, name in known.items() if name}
    names = difflib.get_close_matches(" ".join(sorted(re.findall(r"\w+", wanted.casefold()))), set(plain.values()))
    named = [f"{own} ({known[own]})" for own, name in plain.items() if name in names]
    return named or difflib.get_close_matches(wanted, known)


def assign_ids(learners: Sequence[Learner], *, with_attempts: bool, before: int) -> list[Learner]:
    """Give each hand-in a unique id (`ann@2` with attempts) and file name, and keep only what reading it needs."""
    owners = [printable(one.id) for one in learners]
    wanted = [f"{owner}@{one.attempt}" if with_attempts else owner for owner, one in zip(owners, learners, strict=True)]
    ids = unique(wanted, [printable(one.first.name) for one in learners])
    files = [file_name(own_id) for own_id in ids]
    named = zip(learners, ids, owners, unique(files, files, fold=True), strict=True)
    return [
        replace(
            _finish(one, before), id=own_id, feedback=file, owner=owner if with_attempts and owner != own_id else ""
        )
        for one, own_id, owner, file in named
    ]


def _finish(learner: Learner, before: int) -> Learner:
    together = tuple(map(printable, learner.together))
    note = [f"Handed in together with {', '.join(together)}."] if together else []
    entries = (Entry(one.name, one.path, one.kind, one.inside, one.file, one.commit) for one in learner.entries)
    submitted = [one.submitted for one in learner.entries if one.submitted is not None]
    times = [one.submitted for one in learner.entries if one.submitted is not None and not one.is_numbered]
    return replace(
        learner,
        entries=tuple(entries),
        earlier=tuple(_finish(one, before) for one in learner.earlier),
        submitted=max(submitted, default=None),
        when=max(times, default=None),
        name=printable(learner.name),
        before=before if learner.kind == "git" else 0,
        together=together,
        notes=(*learner.notes, *note),
    )


def unique(names: Sequence[str], others: Sequence[str], *, fold: bool = False) -> list[str]:
    """Make equal names different: take the other name first, then add a number. With *fold*, case is ignored."""

    def key(name: str) -> str:
        return name.casefold() if fold else name

    counts = Counter(map(key, names))
    used: dict[str, int] = {}  # how often each name was wanted
    chosen = []
    for name, other in zip(names, others, strict=True):
        base = new = name if counts[key(name)] == 1 else other
        while key(new) in used:
            used[key(base)] = number = used.get(key(base), 1) + 1
            new = f"{base}-{number}"
        used[key(new)] = 1
        chosen.append(new)
    return chosen
