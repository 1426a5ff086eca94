"""grader.intake: hand-ins in git, read from clones that may be hostile; none of their code is run."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from support.hand_ins import SUMS, write

from grader.batch.make_record import make_record
from grader.errors import SubmissionError, UsageError
from grader.intake.discover import discover
from grader.intake.formats.repositories import BACKDATED, parse_deadline, read_list
from grader.intake.hand_in import read_hand_in
from grader.intake.learner import Entry, Learner
from grader.intake.name_patterns import NamePattern
from grader.intake.roster import Roster

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git: install it")

SETTINGS = (
    "-c",
    "user.name=x",
    "-c",
    "user.email=x@x",
    "-c",
    "protocol.file.allow=always",
    "-c",
    "init.defaultBranch=main",
)


def git(where: Path, *arguments: str, when: str = "2026-03-01T12:00:00+00:00") -> str:
    """Run git as the instructor would, without anybody's configuration."""
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
                   "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when, "HOME": str(where)}  # fmt: skip
    done = subprocess.run(
        ["git", *SETTINGS, *arguments],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return done.stdout.strip()


def commit(where: Path, files: dict[str, str | bytes], when: str = "2026-03-01T12:00:00+00:00") -> str:
    """Write files into a repository, made if need be, and commit them; the commit's name."""
    where.mkdir(parents=True, exist_ok=True)
    if not (where / ".git").exists():
        git(where, "init", "-q")
    write(where, files)
    git(where, "add", "-A", "-f")
    git(where, "commit", "-q", "-m", "work", when=when)
    return git(where, "rev-parse", "HEAD")


def read(path: Path, commit: str = "", before: int = 0):
    """What is read of a repository."""
    entry = Entry(path.name, path, "git", commit=commit)
    return read_hand_in(Learner(path.name, (entry,), path.name, before=before))


@pytest.fixture
def repository(tmp_path):
    commit(tmp_path / "ann", {"moving_average.py": SUMS, "deep/b.py": "x = 1", "notes.txt": "hello"})
    return tmp_path / "ann"


# --- what is read -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["working copy", "bare", "packed"])
def test_the_files_of_the_newest_commit_are_read(repository, form):
    """As committed, whatever lies in the working copy; bare and packed repositories too."""
    (repository / "moving_average.py").write_text("not committed")
    (repository / "new.py").write_text("not committed")
    path = repository
    if form == "bare":
        git(repository, "clone", "-q", "--bare", str(repository), "../bare.git")
        path = repository.parent / "bare.git"
    elif form == "packed":
        git(repository, "gc", "-q")
    hand_in = read(path)

    assert hand_in.files == {"moving_average.py": SUMS.encode(), "deep/b.py": b"x = 1"}
    assert hand_in.notes == [f"This is of commit {git(repository, 'rev-parse', 'HEAD')[:12]}."]


def test_a_commit_or_a_deadline_can_be_asked_for(repository):
    """A commit by its name or a tag; or the newest one by a moment, and a note says that there are later ones."""
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "hand-in")
    second = commit(repository, {"moving_average.py": "x = 2"}, "2026-03-02T12:00:00+00:00")
    commit(repository, {"moving_average.py": "x = 3"}, "2026-03-03T12:00:00+00:00")

    assert read(repository, "hand-in").files == read(repository, first[:8]).files
    assert read(repository, "HEAD~1").files["moving_average.py"] == b"x = 2"
    by_noon = read(repository, before=parse_deadline("2026-03-02 12:00+00:00"))
    assert by_noon.files["moving_average.py"] == b"x = 2"
    assert "were left out" in by_noon.notes[0] and second[:12] in by_noon.notes[1]
    assert "no commit by" in read(repository, before=parse_deadline("2026-02-01")).problem
    assert "no commit nowhere" in read(repository, "nowhere").problem


def test_a_commit_that_is_older_than_its_parent_is_noted(repository):
    """Work of after the deadline under a date of before it counts, and the result and the list say how far it is so."""
    read_by_noon = functools.partial(read, repository, before=parse_deadline("2026-03-02 12:00+00:00"))
    commit(repository, {"moving_average.py": "x = 2"}, "2026-03-02T10:00:00+00:00")
    assert not any(BACKDATED in note for note in read_by_noon().notes)
    commit(repository, {"moving_average.py": "x = 3"}, "2026-03-09T12:00:00+00:00")
    forged = commit(repository, {"moving_average.py": "x = 4"}, "2026-03-02T11:00:00+00:00")
    hand_in = read_by_noon()
    assert hand_in.files["moving_average.py"] == b"x = 4"
    (said,) = [note for note in hand_in.notes if BACKDATED in note]
    assert forged[:12] in said and "2026-03-09" in said
    assert not read(repository).notes[1:]
    (owner,) = discover(write(repository.parent, {"list.txt": "ann\n"}) / "list.txt", before=7).learners
    assert make_record(owner, [], digest="", notes=hand_in.notes).problem == said


def test_a_parent_of_a_year_that_no_calendar_has_is_noted(repository):
    """A committer's date may be any number; the hand-in is read all the same."""
    commit(repository, {"moving_average.py": "x = 2"}, "@99999999999999 +0000")
    commit(repository, {"moving_average.py": "x = 3"}, "2026-03-01T13:00:00+00:00")
    hand_in = read(repository, before=parse_deadline("2026-03-02 12:00+00:00"))

    assert hand_in.files["moving_average.py"] == b"x = 3"
    assert any(BACKDATED in note and "99999999999999 seconds" in note for note in hand_in.notes)


@pytest.mark.parametrize("hides", ["info/grafts", "shallow"])
def test_no_file_of_a_clone_hides_that_a_commit_is_dated_before_its_parent(repository, hides):
    """Grafts are not looked at; where a clone is said to be shallow, it is said that its dates tell less."""
    commit(repository, {"moving_average.py": "x = 2"}, "2026-03-09T12:00:00+00:00")
    forged = commit(repository, {"moving_average.py": "x = 3"}, "2026-03-01T13:00:00+00:00")
    write(repository / ".git", {hides: f"{forged}\n"})
    notes = read(repository, before=parse_deadline("2026-03-02")).notes

    assert any((BACKDATED in note) if hides == "info/grafts" else "Not all of its history" in note for note in notes)


def test_a_commit_that_is_too_full_to_be_read_has_its_date(tmp_path, monkeypatch):
    """The date is known before any file is read: none can hide that the work is late."""
    monkeypatch.setattr("grader.intake.hand_in.MAX_FILES", 1)
    commit(tmp_path / "ann", {"a.py": "", "b.py": ""})
    found = read(tmp_path / "ann")

    assert "too large" in found.notes[-1] and found.when == 1772366400.0


def test_dates_are_those_of_the_commits(repository):
    """A commit-graph beside the commits, in which each has another date, is not looked at."""
    late = "2026-12-01T00:00:00+00:00"
    commit(repository, {"moving_average.py": "x = 2"}, late)
    git(repository, "commit-graph", "write", "--reachable")
    path = repository / ".git/objects/info/commit-graph"
    graph = bytearray(path.read_bytes())
    chunks = [graph[8 + 12 * number : 20 + 12 * number] for number in range(graph[6])]
    (start,) = [int.from_bytes(chunk[4:]) for chunk in chunks if chunk.startswith(b"CDAT")]
    for row in range(2):  # of 36 bytes, the last 4 of which are the date
        graph[start + 36 * row + 32 : start + 36 * row + 36] = (1_770_000_000).to_bytes(4)
    graph[-20:] = hashlib.sha1(graph[:-20]).digest()
    path.chmod(0o600)
    path.write_bytes(graph)

    assert read(repository).when == parse_deadline(late)
    assert read(repository, before=parse_deadline("2026-06-01")).files["moving_average.py"] == SUMS.encode()


@pytest.mark.parametrize("date", ["abc +0000", " "])
def test_a_commit_whose_date_cannot_be_read_has_none(repository, date):
    """Git takes it for one of 1970: by a deadline it is left out with a note, and without one it is not in time."""
    dated, tree = git(repository, "rev-parse", "HEAD", "HEAD^{tree}").split()
    raw = f"tree {tree}\nparent {dated}\nauthor x <x@x> 1 +0000\ncommitter x <x@x> {date}\n\nlate\n"
    write(repository, {"raw": raw})
    late = git(repository, "hash-object", "-t", "commit", "-w", "--literally", "raw")
    git(repository, "update-ref", "HEAD", late)
    by_then = read(repository, before=parse_deadline("2026-03-02"))

    assert read(repository).when is None and f"This is of commit {late[:12]}." in read(repository).notes
    assert f"This is of commit {dated[:12]}." in by_then.notes and by_then.when
    assert any(note.startswith(f"Commit {late[:12]} was left out") for note in by_then.notes)
    git(repository, "update-ref", "HEAD", git(repository, "commit-tree", tree, "-m", "x", when="2026-03-09T12:00:00Z"))
    assert "no commit by" in read(repository, before=parse_deadline("2026-03-02")).problem


def test_what_is_no_file_of_the_learner_is_left_out(tmp_path):
    """Links, submodules, Git LFS pointers, archives and files that are far too large are left out with a note."""
    other = tmp_path / "other"
    commit(other, {"a.py": "x = 1"})
    path = tmp_path / "ann"
    commit(path, {"moving_average.py": SUMS, "venv/lib.py": "x", "big.ipynb": b" " * (33 << 20), "all.zip": b"PK",
                  "lfs.py": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"})  # fmt: skip
    (path / "link.py").symlink_to("/etc/passwd")
    git(path, "submodule", "--quiet", "add", str(other), "lib")
    commit(path, {"b.py": "x = 2"})
    hand_in = read(path)

    assert sorted(hand_in.files) == ["b.py", "moving_average.py"]
    said = " ".join(hand_in.notes)
    for words in ("link.py was left out: it is a link", "lib was left out: it is another repository", "in Git LFS",
                  "big.ipynb was left out: it is too large", "all.zip was left out"):  # fmt: skip
        assert words in said


def test_a_commit_whose_names_lead_out_is_read_without_them(repository):
    """Git itself makes no such name; somebody can."""
    blob = git(repository, "rev-parse", "HEAD:deep/b.py")
    raw = b"100644 ../up.py\0" + bytes.fromhex(blob) + b"100644 ok.py\0" + bytes.fromhex(blob)
    made = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        cwd=repository, input=raw, capture_output=True, check=True, timeout=30,
    )  # fmt: skip
    name = git(repository, "commit-tree", made.stdout.decode().strip(), "-m", "x")
    hand_in = read(repository, name)

    assert hand_in.files == {"ok.py": b"x = 1"}
    assert "../up.py was left out" in hand_in.notes[1]


def test_a_content_that_was_not_cloned_is_not_fetched(repository):
    """A clone without the files' contents is read without them, and says so."""
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(repository, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repository}", "../thin")
    hand_in = read(repository.parent / "thin")

    assert not hand_in.files
    assert "not all of it was cloned" in hand_in.problem


# --- hostile clones ---------------------------------------------------------------------------------------------------


def test_nothing_that_a_clone_configures_is_run(repository, monkeypatch):
    """Hooks, monitors, filters, pagers, aliases and transports of a hostile clone leave no trace, and it is read."""
    trace = repository.parent / "trace"
    program = repository.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {trace}\n")
    program.chmod(0o755)
    missing = git(repository, "hash-object", "-w", "moving_average.py")
    write(repository, {".gitattributes": "*.py filter=evil diff=evil\n", "c.py": "x = 3"})
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "evil")
    for hook in ("post-checkout", "pre-commit", "post-index-change", "reference-transaction"):
        shutil.copy(program, repository / ".git/hooks" / hook)
    settings = {
        "core.fsmonitor": program, "core.hooksPath": repository.parent, "core.pager": program, "core.editor": program,
        "core.sshCommand": program, "core.askPass": program, "core.alternateRefsCommand": program,
        "core.gitProxy": program, "filter.evil.smudge": program, "filter.evil.clean": program,
        "filter.evil.process": program, "diff.evil.textconv": program, "diff.external": program,
        "alias.ls-tree": f"!{program}", "alias.cat-file": f"!{program}", "protocol.ext.allow": "always",
        "protocol.allow": "always", "remote.origin.url": f"ext::{program} %S", "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none", "extensions.partialClone": "origin",
        "core.repositoryformatversion": "1", "credential.helper": program, "gpg.program": program,
        "uploadpack.packObjectsHook": program,
    }  # fmt: skip
    for key, value in settings.items():
        git(repository, "config", key, str(value))
    (repository / ".git/objects" / missing[:2] / missing[2:]).unlink()  # to be fetched, if anybody asks
    trace.unlink(missing_ok=True)
    hand_in = read(repository)

    assert not trace.exists()
    assert sorted(hand_in.files) == ["c.py", "deep/b.py"]
    assert "moving_average.py was left out" in " ".join(hand_in.notes)

    monkeypatch.setattr("grader.intake.formats.git.ENVIRONMENT", {})
    read(repository)
    assert trace.exists()  # the trap is a real one: without what is forbidden there, it snaps


def elsewhere_file(eve: Path, ann: Path) -> None:
    shutil.rmtree(eve / ".git")
    (eve / ".git").write_text(f"gitdir: {ann / '.git'}\n")


def elsewhere_link(eve: Path, ann: Path) -> None:
    shutil.rmtree(eve / ".git")
    (eve / ".git").symlink_to(ann / ".git")


def elsewhere_objects(eve: Path, ann: Path) -> None:
    shutil.rmtree(eve / ".git/objects")
    (eve / ".git/objects").symlink_to(ann / ".git/objects")


def elsewhere_alternates(eve: Path, ann: Path) -> None:
    write(eve, {".git/objects/info/alternates": f"{ann / '.git/objects'}\n"})


def elsewhere_commondir(eve: Path, ann: Path) -> None:
    write(eve, {".git/commondir": f"{ann / '.git'}\n"})


def elsewhere_ref(eve: Path, ann: Path) -> None:
    (eve / ".git/refs/heads/main").unlink()
    (eve / ".git/refs/heads/main").symlink_to(ann / ".git/refs/heads/main")


def elsewhere_include(eve: Path, ann: Path) -> None:
    (eve / ".git/config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n[Include]\n\tpath = {ann / '.git/config'}\n"
    )


def elsewhere_include_far_down(eve: Path, ann: Path) -> None:
    config = eve / ".git/config"
    config.write_text(config.read_text() + "#\n" * (1 << 20) + f"[include]\n\tpath = {ann / '.git/config'}\n")


def elsewhere_pipe(eve: Path, ann: Path) -> None:
    (eve / ".git/packed-refs").unlink(missing_ok=True)
    os.mkfifo(eve / ".git/packed-refs")


def elsewhere_worktree(eve: Path, ann: Path) -> None:
    (eve / ".git/worktrees/a").mkdir(parents=True)
    os.mkfifo(eve / ".git/worktrees/a/HEAD")
    (eve / ".git/HEAD").write_text("ref: worktrees/a/HEAD\n")


def elsewhere_hook(eve: Path, ann: Path) -> None:
    (eve / ".git/hooks").mkdir(exist_ok=True)
    (eve / ".git/hooks/a").symlink_to(ann / ".git/refs/heads/main")
    (eve / ".git/HEAD").write_text("ref: hooks/a\n")


@pytest.mark.parametrize("lead", [
    elsewhere_file, elsewhere_link, elsewhere_objects, elsewhere_alternates, elsewhere_commondir, elsewhere_ref,
    elsewhere_include, elsewhere_include_far_down, elsewhere_pipe, elsewhere_worktree, elsewhere_hook,
])  # fmt: skip
def test_a_repository_that_leads_elsewhere_is_refused(repository, lead):
    """Nobody hands in another learner's repository by a file that leads there; the message says what to do."""
    commit(repository.parent / "eve", {"moving_average.py": "x = 1"})
    lead(repository.parent / "eve", repository)
    hand_in = read(repository.parent / "eve")

    assert not hand_in.files
    assert "clone it anew" in hand_in.problem


def test_reading_changes_nothing_and_needs_no_ownership(repository):
    """A clone that belongs to somebody else is read as it is, and not a file of it is touched."""
    if os.getuid() == 0:
        for path in [repository, *repository.rglob("*")]:
            os.chown(path, 65534, 65534)
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*")}

    assert len(read(repository).files) == 2
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*")} == before


def test_git_is_given_a_limited_time(repository, monkeypatch):
    """A git process that does not come to an end is ended, and the hand-in has a problem."""
    slow = write(repository.parent / "bin", {"git": "#!/bin/sh\nexec sleep 60\n"}) / "git"
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    monkeypatch.setattr("grader.intake.formats.git.SECONDS", 1.0)

    assert "takes longer than" in read(repository).problem


def test_files_that_are_never_read_leave_room_for_those_behind_them(repository, monkeypatch):
    """Pictures in a folder that git lists first keep out no source."""
    monkeypatch.setattr("grader.intake.limits.MAX_ENTRIES", 20)
    (repository / "data").mkdir()
    for number in range(50):
        (repository / "data" / f"{number}.png").write_text("x")
    (repository / "zz.py").write_text("x = 1")
    git(repository, "add", "-A")
    git(repository, "commit", "-m", "pictures")

    assert "zz.py" in read(repository).files


def test_a_bomb_of_folders_is_left_early(repository):
    """Forty objects that stand for a million million empty folders are looked at only so far as files are."""
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--stdin")
    for _ in range(40):
        entries = "".join(f"040000 tree {tree}\t{name}\n" for name in "ab")
        (repository / "list").write_text(entries)
        with (repository / "list").open() as listed:
            done = subprocess.run(["git", "mktree"], cwd=repository, stdin=listed, capture_output=True, check=True)
        tree = done.stdout.decode().strip()
    git(repository, "update-ref", "HEAD", git(repository, "commit-tree", "-m", "bomb", tree))
    begun = time.monotonic()
    hand_in = read(repository)

    assert any("Only the first" in note for note in hand_in.notes) and time.monotonic() - begun < 20


@pytest.mark.parametrize("damage", ["objects", "HEAD", "config", "index"])
def test_a_damaged_repository_is_a_problem_and_no_accident(repository, damage):
    """A faulty repository gives its author a problem or files, and affects no other learner."""
    path = repository / ".git" / damage
    if path.is_dir():
        for file in path.rglob("??/*"):
            file.chmod(0o644)
            file.write_bytes(b"junk")
    else:
        path.write_bytes(b"\xff\0junk\n")
    hand_in = read(repository)

    assert hand_in.problem or hand_in.files


@pytest.mark.parametrize("settings", [
    "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfromTomorrow = true\n",
    "[core]\n\trepositoryformatversion = 99\n",
])  # fmt: skip
def test_a_form_that_this_git_does_not_know_is_no_empty_repository(repository, settings):
    """What is newer than the git program is said to be so; only a repository without a commit has none yet."""
    (repository / ".git/config").write_text(settings)
    git(repository.parent, "init", "-q", "new")

    assert "a newer one may, or a clone made anew" in read(repository).problem
    assert read(repository.parent / "new").problem == "The repository has no commit yet."


def test_a_commit_of_parents_that_are_not_there_is_a_damage_in_words(repository):
    """Git lists nothing of a commit whose parents are missing: the repository is said to be damaged."""
    tree = git(repository, "rev-parse", "HEAD^{tree}")
    parents = "".join(f"parent {number:040x}\n" for number in range(1, 9))
    write(repository, {"raw": f"tree {tree}\n{parents}author x <x@x> 1 +0000\ncommitter x <x@x> 1 +0000\n\nx\n"})
    git(repository, "update-ref", "HEAD", git(repository, "hash-object", "-t", "commit", "-w", "raw"))

    assert read(repository).problem == "The repository is damaged, or not all of it was cloned."


def test_without_git_the_reason_is_said(repository, monkeypatch):
    """Where git is not installed, that is the problem, and it is said."""
    monkeypatch.setenv("PATH", str(repository))

    assert "git is not installed" in read(repository).problem


# --- the list ---------------------------------------------------------------------------------------------------------


def test_a_list_names_repositories_with_ids_and_commits(repository):
    """A path in a line, or an id and a path, or those and a commit; headings and comments are none."""
    root = repository.parent
    first = git(repository, "rev-parse", "HEAD")
    commit(repository, {"moving_average.py": "x = 2"})
    commit(root / "hw1-bob.git", {"a.py": "x"})
    write(
        root,
        {"list.csv": f'id,path,commit\n# spring\n\n41,ann,{first}\nann\n"Poe, Bob",hw1-bob.git\nhw1-bob.git\nnone\n'},
    )
    found = discover(root / "list.csv")

    assert [(one.id, one.kind) for one in found.learners] == [
        ("41", "git"), ("ann", "git"), ("Poe, Bob", "git"), ("hw1-bob", "git"), ("none", "git")]  # fmt: skip
    contents = [read_hand_in(one) for one in found.learners]
    assert [one.files.get("moving_average.py", b"") for one in contents] == [SUMS.encode(), b"x = 2", b"", b"", b""]
    assert "no folder none" in contents[4].problem
    assert found.learners[0].source == "ann"


def test_the_folder_of_git_itself_stands_for_its_repository(repository):
    """`find . -name .git` lists clones so; whose each is says the folder that it lies in."""
    commit(repository.parent / "bob.git", {"moving_average.py": "x = 2"})
    write(repository.parent, {"list.txt": "./ann/.git\nann/.git/\n7,ann/.git\nbob.git/.git\n"})
    learners = discover(repository.parent / "list.txt").learners

    assert [one.id for one in learners] == ["ann", "ann-2", "7", "bob"]
    assert all("moving_average.py" in read_hand_in(one).files for one in learners)


def test_a_list_goes_with_names_a_roster_and_a_deadline(repository):
    """Folder names can be read for ids, a roster joins them, and a deadline holds for all."""
    root = repository.parent
    write(root, {"list.txt": "ann\n", "class.csv": "id,login,name\n41,nn,Ann\n"})
    found = discover(
        root / "list.txt", names=NamePattern.parse("a(?P<id>.+)"), roster=Roster.read(root / "class.csv"), before=7
    )

    assert [(one.id, one.name, one.before) for one in found.learners] == [("41", "Ann", 7)]
    assert any("prove nothing" in note for note in found.notes)


@pytest.mark.parametrize("text, says", [
    ("", "empty"), ("nowhere\n", "none of its lines"), ("a,b,c,d\n", "line 1"), ("a,\n", "line 1"),
    ("ann\nx,ann,--upload-pack=evil\n", "line 2 of the list names no commit"), (b"\xff\xfe", "UTF-8"),
    ("ann\n/\n", "line 2 of the list names no folder"), ("ann\nx,/.git\n", "line 2 of the list names no folder"),
    ("ann\nx,..\n", "line 2 of the list names no folder"),
    ("ann\nx/.git/.git\n", "line 2 of the list names no folder"),
    (f"ann\nx,{'a' * 200_000}\n", "line 2 of the list is too long"), ("ann,~no-such-user/x\n", "none of its lines"),
])  # fmt: skip
def test_a_list_that_cannot_be_used_is_an_error(repository, text, says):
    """The line is named, and how one is written."""
    path = write(repository.parent, {"list.txt": text}) / "list.txt"
    with pytest.raises(SubmissionError, match=says) as error:
        read_list(path)
    assert "ID,PATH" in error.value.next_step


def test_a_day_is_meant_to_its_end():
    """A date without a time is the end of that day, in each spelling; what is no date is an error."""
    for day in ("2026-W09-7", "2026. 3. 1.", "20260301"):
        assert parse_deadline(day) == parse_deadline("2026-03-01")
    assert parse_deadline("2026-03-01") - parse_deadline("2026-03-01 23:59") == 59
    assert parse_deadline("2026-03-01T12:00:00+00:00") == 1772366400
    with pytest.raises(UsageError, match="no date"):
        parse_deadline("yesterday")
    for none in ("2026-03-01+01:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        with pytest.raises(UsageError, match="no date"):
            parse_deadline(none)
