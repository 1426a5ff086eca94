"""The known mistakes of one function: the lines that people write in place of the reference's.

A line of the reference that ends in `# step: NAME` is a step. A mistake names steps and what people write there, so
mistakes in different steps can be combined, and a submission that makes two or three at once can be recognised.

    softmax = MistakeSet("softmax", globals())

    softmax.mistake("sm-overflow", "You exponentiate ...", "Subtract the maximum ...", shift="x")
    softmax.alternative("a power of e", power="torch.e**shifted")
    softmax.example(torch.tensor([0.0, 1.0, 2.0]))

What recognises a mistake is what the checks of the function ask of it. `ask` and `probe` add what they do not ask.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.files import resolved
from grader.judge.course_files import load_file
from grader.judge.errors import LearnerError
from grader.judge.mistakes.common_mistakes import common_mistakes
from grader.judge.mistakes.marked_source import MarkedSource
from grader.judge.values.compare import ATOL

MAX_INCLUDED = 64  # files of mistakes that others include


@dataclass(frozen=True)
class Probe:
    """One observation of a function; functions that agree on every probe are taken to be equal.

    Attributes:
        stage: What this probe isolates, in words ("one token", "no mask"): shown where a mistake has no name.
        nan_tells_nothing: NaN in a submission's answer is no evidence (right code may give 0/0 on extreme input).
        aside: It recognises only mistakes that name it (`only`), and only where every other probe is answered right.
    """

    name: str
    run: Callable[[Any, Any], Any]
    atol: float = ATOL
    stage: str = ""
    nan_tells_nothing: bool = False
    aside: bool = False

    @property
    def title(self) -> str:
        """What it asks, in words."""
        return self.stage or self.name.replace("_", " ")


@dataclass(frozen=True)
class Mistake:
    """A known mistake, executable.

    Attributes:
        coding: Which way of making the mistake this is, where there are several.
        only: The names of the probes that recognise it, where others are random or do not matter; empty means all.
        alone: It is looked for beside another mistake only where nothing else explains the answers.
        line: Where it stands in its file.
    """

    id: str
    says: str
    suggests: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    version: Any = None
    coding: str = ""
    only: tuple[str, ...] = ()
    alone: bool = False
    line: int = 0

    @property
    def label(self) -> str:
        """Id and coding, unique in a set."""
        return f"{self.id} ({self.coding})" if self.coding else self.id


@dataclass(frozen=True)
class Alternative:
    """A correct way to write the function, other than the reference; it must score 10.0."""

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    version: Any = None
    line: int = 0


@dataclass(frozen=True)
class Example:
    """Arguments small enough to retype; the first on which a submission goes wrong is shown."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    line: int = 0


class MistakeSet:
    """The probes, mistakes and alternatives of one function or class.

    Args:
        function: The name of the function or class.
        names: `globals()` of the file X_mistakes.py: its expressions may use the names there, and the reference is
            X.py beside it.
        reference: Another file with marked lines, where the reference itself cannot be marked.
        after: The names of what is done to the result, one step after the other; `value` in their expressions.
        checks: The names of the checks whose questions recognise its mistakes; all, unless they are given.
        read: What is seen of a value, of the names that are `missing` or `unexpected` in an object, and of its state:
            what it makes equal is one observation.
        together: How many mistakes at once are looked for.
        tolerances: By the name of a check, how far answers may be apart to be taken for equal.
        without: The names of checks that recognise no mistake.
        tells_errors_apart: An error that `ask` meets is known by its type; else any error is one observation.

    Attributes:
        steps: The names of the steps, with what the correct version has there.
    """

    def __init__(
        self,
        function: str,
        names: Mapping[str, Any],
        *,
        reference: Path | None = None,
        after: Sequence[str] = ("result",),
        checks: Collection[str] | None = None,
        read: Callable[[Any], Any] = lambda value: value,
        together: int = 2,
        tolerances: Mapping[str, float] | None = None,
        without: Sequence[str] = (),
        tells_errors_apart: bool = True,
    ) -> None:
        self.function, self.together, self.checks = function, together, checks
        self.tells_errors_apart = tells_errors_apart
        self.path = Path(names["__file__"])
        beside = self.path.with_name(self.path.name.replace("_mistakes", ""))
        self.source = MarkedSource(reference or beside, function, names, after)
        self.steps, self.parameters = self.source.steps, self.source.parameters
        self.read, self.tolerances, self.without = read, dict(tolerances or {}), frozenset(without)
        self.probes: list[Probe] = []
        self.mistakes: list[Mistake] = []
        self.alternatives: list[Alternative] = []
        self.examples: list[Example] = []
        self._said: dict[str, tuple[str, str]] = {}  # by labels and ids of other lessons, what they say and suggest
        self._taken: set[str] = set()  # labels of included mistakes

    def probe(self, name: str, **options: Any) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
        """Register `run(subject, rand) -> observation` as a probe of this name."""
        if any(probe.name == name for probe in self.probes):
            raise ValueError(f"two probes named {name!r}")

        def register(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
            self.probes.append(Probe(name, run, **options))
            return run

        return register

    def ask(
        self,
        name: str,
        *args: Any,
        by: str | Callable[..., Any] = "__call__",
        see: Callable[[Any], Any] = lambda answer: answer,
        stage: str | None = None,
        atol: float = ATOL,
        nan_tells_nothing: bool = False,
        aside: bool = False,
        **kwargs: Any,
    ) -> None:
        """Register one more question than the checks ask: the value for these arguments.

        Args:
            args: The arguments. One that is a function of `rand`, as `draw(3, 5)` makes, is drawn.
            by: How it is asked: "gradients", "observe", "on_slices", or a function of the function and its arguments.
            see: What is seen of the answer.
            stage: What it isolates, if that is not its name.
        """

        def run(subject: Any, rand: Any) -> Any:
            given = [each(rand) if callable(each) else each for each in args]
            named = {key: each(rand) if callable(each) else each for key, each in kwargs.items()}
            asked = getattr(subject, self.function)
            try:
                return see(getattr(asked, by)(*given, **named) if isinstance(by, str) else by(asked, *given, **named))
            except LearnerError as error:
                if self.tells_errors_apart or error.kind != "raised":
                    raise
                return "an error"

        stage = stage if stage is not None else "" if aside else name
        self.probe(name, stage=stage, atol=atol, nan_tells_nothing=nan_tells_nothing, aside=aside)(run)

    def mistake(
        self,
        id: str,
        says: str | None = None,
        suggests: str | None = None,
        *,
        coding: str = "",
        only: tuple[str, ...] = (),
        alone: bool = False,
        version: Any = None,
        **changes: Any,
    ) -> None:
        """Register a mistake: what stands in place of steps, or a whole wrong `version`.

        One id may have several codings; what the second does not say or suggest is what the one before it does, or
        what an included lesson says of that coding, or of that id.

        Args:
            coding: Which way of making the mistake this is, where there are several.
            only: The names of the checks and probes that recognise it; empty means all.
            alone: It is looked for beside another mistake only where nothing else explains the answers.
            version: A function, or an expression of the function's parameters.

        Raises:
            ValueError: It names steps that there are not, is registered already, or nothing is said.
        """
        self._require_steps(changes)
        mine = [other for other in reversed(self.mistakes) if other.id == id and other.label not in self._taken]
        before = [(other.says, other.suggests) for other in mine]
        known = [self._said[name] for name in (f"{id} ({coding})", id) if name in self._said]
        for said, suggested in (*known[:-1], *before[:1], *known):
            says, suggests = says or said, suggests or suggested
        if says is None or suggests is None:
            raise ValueError(f"{id}: nothing is said of it, or nothing suggested")
        found = Mistake(id, says, suggests, changes, self._version(version), coding, only, alone, _author_line())
        if any(other.label == found.label for other in self.mistakes):
            raise ValueError(f"two mistakes labelled {found.label!r}")
        self.mistakes.append(found)

    def alone(self, *args: Any, **changes: Any) -> None:
        """Register a mistake that is named only where it is the only one: sets of two take time to try."""
        self.mistake(*args, alone=True, **changes)

    def alternative(self, name: str, *, version: Any = None, **changes: Any) -> None:
        """Register a correct alternative: other steps by name, or a whole `version`."""
        self._require_steps(changes)
        self.alternatives.append(Alternative(name, changes, self._version(version), _author_line()))

    def common(self, prefix: str, *names: str, alone: bool = False, **own: tuple[str, str]) -> None:
        """Register mistakes that any function can have, by their names in `common_mistakes`.

        Args:
            prefix: Put before the names to make the ids.
            alone: As for `mistake`.
            own: By name, what is said and suggested in place of the general words.
        """
        for row in common_mistakes(self.source.required or self.parameters[:1], [*names, *own]):
            says, suggests = own.get(row.name, (row.says, row.suggests))
            changes: dict[str, Any] = {"coding": row.coding, "only": row.only, "alone": alone, **row.changes}
            self.mistake(f"{prefix}-{row.id}", says, suggests, **changes)

    def include(
        self,
        known: str | MistakeSet,
        *,
        only: Sequence[str] | None = None,
        without: Sequence[str] = (),
        says: str = "",
        words: Mapping[str, str] | None = None,
        alone: bool = False,
        **own: tuple[str, str],
    ) -> None:
        """Register the mistakes of another mistake set that have their steps and probes here, too.

        Another lesson's alternatives that have their steps here are registered as well, unless `only` is given.

        Args:
            known: It, or the name of the lesson whose first it is; `../track/lesson` in another track.
            only: Ids or labels to take; what is not taken lends its words to mistakes of its id.
            without: Ids, labels or names of alternatives to leave out.
            says: What its sentences begin with here, as "Inside attention,".
            words: What stands here in place of words of its sentences, as {"d_k": "d_head"}.
            alone: As for `mistake`, for all of them.
            own: By id, with `_` for `-`, what is said and suggested in place of its words.
        """
        others = [known] if isinstance(known, MistakeSet) else self._sets_of(known)
        self.source.names = {**others[0].source.names, **self.source.names}
        probes = {probe.name for probe in self.probes}
        for first, row in ((each is others[0], row) for each in others for row in each.mistakes):
            said = f"{says} {row.says[0].lower()}{row.says[1:]}" if says else row.says
            said, suggests = own.get(row.id.replace("-", "_"), (said, row.suggests))
            for word, here_so in (words or {}).items():
                said, suggests = said.replace(word, here_so), suggests.replace(word, here_so)
            for name in (row.label, row.id):
                self._said.setdefault(name, (said, suggests))
            names, taken = {row.id, row.label}, only is None or row.id in only or row.label in only
            here = row.changes and row.changes.keys() <= self.steps.keys() and probes.issuperset(row.only)
            if first and here and taken and not names & {*without}:
                changes: dict[str, Any] = {"coding": row.coding, "only": row.only, **row.changes}
                self.mistake(row.id, said, suggests, alone=alone or row.alone, **changes)
                self._taken.add(row.label)
        for way in others[0].alternatives if isinstance(known, str) and only is None else ():
            if way.changes and way.changes.keys() <= self.steps.keys() and way.name not in without:
                self.alternative(way.name, **way.changes)

    def _sets_of(self, lesson: str) -> Sequence[MistakeSet]:
        path = resolved(self.path.parent / f"{lesson}_mistakes.py")
        return _load_sets(path, path.stat().st_mtime_ns if path.is_file() else 0)

    def example(self, *args: Any, **kwargs: Any) -> None:
        """Register arguments small enough to retype; smallest first."""
        self.examples.append(Example(args, kwargs, _author_line()))

    def is_recognised_by(self, check: str) -> bool:
        """Return True if what a check asks recognises its mistakes."""
        return check not in self.without and (self.checks is None or check in self.checks)

    def require_checks(self, names: Set[str]) -> None:
        """Raise ValueError if it speaks of a check that is not one of these."""
        if unknown := {*self.without, *(self.checks or ()), *self.tolerances} - names:
            raise ValueError(f"{self.function} has no checks {sorted(unknown)}; it has {sorted(names)}")

    def build(self, changes: Mapping[str, Any], version: Any = None) -> Any:
        """Make the function (or class) with these steps exchanged."""
        return self.source.build(changes) if version is None else version

    def ways_of(self, ids: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """Yield the changes of each way of making these mistakes together; none where one is a whole version."""
        rows = [[row.changes for row in self.mistakes if row.id == each and row.changes] for each in ids]
        for changes in itertools.product(*rows) if ids else ():
            together = dict(itertools.chain.from_iterable(each.items() for each in changes))
            if len(together) == sum(map(len, changes)):  # no two of one step
                yield together

    def _version(self, version: Any) -> Any:
        return self.source.build_version(version) if isinstance(version, str) else version

    def _require_steps(self, changes: Mapping[str, str]) -> None:
        unknown = set(changes) - set(self.steps)
        if unknown:
            raise ValueError(f"{self.function} has no steps {sorted(unknown)}; it has {sorted(self.steps)}")
        try:
            self.source.require_python(changes)
        except SyntaxError as error:
            raise ValueError(f"what stands in the place of {', '.join(changes)} is not Python: {error.msg}") from None


@lru_cache(MAX_INCLUDED)
def _load_sets(path: Path, _changed: int) -> Sequence[MistakeSet]:
    """Load the mistake sets of a file, once for all that include it."""
    return tuple(load_file(path).MISTAKE_SETS)


def _author_line() -> int:
    """Return the line of the course's file that is being loaded."""
    frame = sys._getframe()
    while frame.f_code.co_name != "<module>" and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_lineno


def group_joinable(alternatives: Sequence[Alternative]) -> list[list[Alternative]]:
    """Return alternatives in groups whose changes may be made together: none of a step that another changes."""
    groups: list[list[Alternative]] = []
    for each in alternatives:
        together = (
            group
            for group in groups
            if not (each.version or group[0].version)
            and all(each.changes.keys().isdisjoint(other.changes) for other in group)
        )
        found = next(together, None)
        if found is None:
            groups.append([each])
        else:
            found.append(each)
    return groups
