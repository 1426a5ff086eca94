"""Whose earlier results are: ids move to where their people are now, and no two results become one."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grader.batch.earlier_ids import find_exchanged, find_renamed
from grader.intake.learner import Entry, Learner
from grader.intake.roster import Roster
from grader.store.class_store import Owner

IDS = st.sampled_from(["1", "2", "3", "A", "a", "Ann", "Bob", "01"])
OWNERS = st.builds(Owner, IDS, st.sampled_from(["", "Ann Lee", "Bob Lee", "Cy Moe"]), st.sampled_from(["", "x", "y"]))


def make_roster(folder: Path) -> Roster:
    path = folder / "list.csv"
    path.write_text("id,name\n1,Ann Lee\n2,Bob Lee\n3,Cy Moe\n")
    return Roster.read(path)


def make_learner(id: str, name: str = "", account: str = "") -> Learner:
    return Learner(id, (Entry(id),), name=name, account=account, known=True)


@given(
    st.dictionaries(st.tuples(IDS, st.sampled_from(["", "@2"])), OWNERS, max_size=8),
    st.lists(st.builds(make_learner, IDS, OWNERS.map(lambda one: one.name)), max_size=4, unique_by=lambda one: one.id),
    st.booleans(),
)
def test_no_two_results_get_one_id(tmp_path_factory, drawn, learners, has_roster):
    """Whatever was graded and whoever is there, each result has an id of its own afterwards."""
    graded = {f"{id}{suffix}": Owner(id, one.name, one.account) for (id, suffix), one in drawn.items()}
    roster = make_roster(tmp_path_factory.mktemp("list")) if has_roster else None
    renamed, left = find_renamed(graded, learners, roster)
    after = [renamed[old][0] if old in renamed else old for old in graded]
    assert len({*after}) == len(graded) and {*left} <= {*after}
    again, _ = find_renamed({name: Owner(name.partition("@")[0]) for name in after}, learners, None)
    assert roster or not {old: new for old, new in again.items() if old not in left}


def test_people_are_found_by_account_name_and_id(tmp_path):
    """An account goes before a name, and a name before a number that somebody else of the list has."""
    graded = {"9": Owner("9", "Ann Lee", "account"), "2": Owner("2", "Moe, Cy"), "1@2": Owner("1", "Bob Lee")}
    learners = [make_learner("new", "Ann Smith", "account")]
    renamed, left = find_renamed(graded, learners, make_roster(tmp_path))
    assert renamed == {
        "9": ("new", Owner("new", "Ann Smith")),
        "2": ("3", Owner("3", "Cy Moe")),
        "1@2": ("2@2", Owner("2", "Bob Lee")),
    }
    assert left == []


def test_the_others_of_a_group_go_on_under_their_new_ids(tmp_path):
    """Who handed in together does so still, also where one's own id stays."""
    graded = {"1": Owner("1", "Ann Lee", together=("3",)), "3": Owner("3", "Bob Lee", together=("1",))}
    renamed, _ = find_renamed(graded, [], make_roster(tmp_path))
    assert renamed == {
        "1": ("1", Owner("1", "Ann Lee", together=("2",))),
        "3": ("2", Owner("2", "Bob Lee", together=("1",))),
    }


def test_an_id_that_is_somebody_else_s_now_is_given_up(tmp_path):
    """Of one person's two results one counts; the other leaves the id to whom the list gives it."""
    graded = {"1": Owner("1", "Bob Lee", "bob's"), "2": Owner("2", "Bob Lee")}
    learners = [make_learner("1", "Ann Lee"), make_learner("2", "Bob Lee", "bob's")]
    renamed, left = find_renamed(graded, learners, make_roster(tmp_path))
    assert renamed == {"1": ("1-2", Owner("1-2"))} and left == ["1-2"]


def test_who_is_known_by_name_or_account_keeps_a_score_whatever_the_file_is_called():
    """Only where neither says whose a result is, a file that is another's now is a doubt."""
    entries = {"1": "hw1.py", "2": "hw2.py"}
    one, two = (
        Learner(id, (Entry(file, Path(file)),), name=f"P {id}", account=f"a{id}") for id, file in entries.items()
    )
    for graded, is_told in (
        (Owner("1", "P 1", judged="hw2.py"), False), (Owner("1", "", "a1", judged="hw2.py"), False),
        (Owner("1", judged="hw2.py"), True), (Owner("1", judged="hw1.py"), False), (Owner("1", judged="old.py"), False),
    ):  # fmt: skip
        assert find_exchanged({"1": graded}, {}, [one, two]) == ({"1": ("hw2.py", "2")} if is_told else {})
    assert find_exchanged({"9": Owner("9", judged="hw2.py")}, {"9": "1"}, [one, two]) == {"1": ("hw2.py", "2")}
