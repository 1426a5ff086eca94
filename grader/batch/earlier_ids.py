"""Under which ids those who were graded before go on: a list may come later, and number people in its own way."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count

from grader.intake.group_attempts import match_roster
from grader.intake.learner import Entry, Learner
from grader.intake.roster import Roster
from grader.model.person_id import fold_id
from grader.store.class_store import Owner


def find_renamed(
    graded: Mapping[str, Owner], learners: Sequence[Learner], roster: Roster | None
) -> tuple[dict[str, tuple[str, Owner]], list[str]]:
    """Find whose id is another one than that under which they were graded.

    Whose a result is is found as for the hand-ins of now: by the account, else by the roster, else by an id that is
    written otherwise.

    Returns:
        The new id of each hand-in, and its owner, by the old id, also where only the ids of others of its group are new
        ones; and the ids of those that are left over, since their person has another result under the new one.
    """
    owners = _find_owners(list(dict.fromkeys(graded.values())), learners, roster)
    wanted = {old: owners[one].learner + old.removeprefix(one.learner) for old, one in graded.items()}
    ids = _choose_moves(wanted)
    left = [old for old, new in wanted.items() if new != old and old not in ids]
    lost = {*ids.values(), *(one.learner for one in learners)}.intersection(left)  # these ids are somebody else's now
    for old in lost:
        free = (f"{old}-{number}" for number in count(2))
        ids[old] = next(new for new in free if new not in {*wanted, *wanted.values(), *ids.values()})
    renamed = {old: (new, owners[graded[old]] if old not in lost else Owner(new)) for old, new in ids.items()}
    mates = {old: (old, owners[one]) for old, one in graded.items() if owners[one].together != one.together}
    return mates | renamed, [ids.get(old, old) for old in left]


def find_exchanged(
    graded: Mapping[str, Owner], renamed: Mapping[str, str], learners: Sequence[Learner]
) -> dict[str, tuple[str, str]]:
    """Find results that go on with another file than that to which a human gave a score, which is somebody else's now.

    A list without names may have been corrected: an id is another person's than it was. Whom an account or a name finds
    is who they were, whatever their file is called.

    Returns:
        The file, and whose it is now, by the id that the result goes on under.
    """
    here = {one.id: one for one in learners}
    whose = {each.source: one for one in learners for each in (one, *one.earlier)}
    found = {}
    for old, one in graded.items():
        new = renamed.get(old, old)
        now, other = here.get(new), whose.get(one.judged)
        if now is None or other is None or other.learner == now.learner:
            continue
        if not ((one.account and one.account == now.account) or (one.name and one.name == now.name)):
            found[new] = (one.judged, other.id)
    return found


def _find_owners(graded: Sequence[Owner], learners: Sequence[Learner], roster: Roster | None) -> dict[Owner, Owner]:
    """Return for each owner of earlier results who that is now."""
    by_account = {one.account: one for one in learners if one.account}
    by_id = {fold_id(one.learner): one for one in learners} | {one.learner: one for one in learners}
    stand_ins = [Learner(one.learner, (Entry(one.learner),), name=one.name, known=True) for one in graded]
    owners = {}
    for one, stand_in in zip(graded, match_roster(stand_ins, roster) if roster else stand_ins, strict=True):
        now = by_account.get(one.account) or by_id.get(stand_in.id) or by_id.get(fold_id(stand_in.id)) or stand_in
        owners[one] = Owner(now.learner, now.name or one.name)
    now_of = {one.learner: owner.learner for one, owner in owners.items()}
    return {
        one: replace(owner, together=tuple(now_of.get(mate, mate) for mate in one.together))
        for one, owner in owners.items()
    }


def _choose_moves(wanted: Mapping[str, str]) -> dict[str, str]:
    """Return the ids that change, old: new, so that no two become one."""
    moves = {old: new for old, new in wanted.items() if new != old}
    while blocked := _find_blocked(wanted, moves):
        for old in blocked:
            del moves[old]
    return moves


def _find_blocked(ids: Collection[str], moves: Mapping[str, str]) -> list[str]:
    """Return which ids would move to that of one that stays, or to that of an earlier mover."""
    first: dict[str, str] = {}
    for old, new in moves.items():
        first.setdefault(new, old)
    stays = {*ids} - moves.keys()
    return [old for old, new in moves.items() if new in stays or first[new] != old]
