"""The known mistakes of one function, with the probes that recognise them and correct alternatives.

A *factory* makes the function from named *steps*. A mistake replaces steps by wrong ones, so mistakes in different
steps can be combined, and a submission that makes two or three at once can be recognised. A mistake that cannot be
made in this way gives a whole `version` of the function instead.

    softmax = MistakeSet("softmax", make_softmax, shift=own_maximum, total=sum_over_dim)

    @softmax.probe("rows far apart")
    def _(subject, rand): return subject.softmax(...)

    softmax.mistake("sm-overflow", says="...", suggests="...", shift=no_shift)
    softmax.alternative("through logsumexp", version=softmax_by_logsumexp)
    softmax.example(torch.tensor([0.0, 1.0, 2.0]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.judge.values.compare import ATOL


@dataclass(frozen=True)
class Probe:
    """One observation of a function; functions that agree on every probe are taken to be equal.

    Attributes:
        stage: What this probe isolates, in words ("one token", "no mask"): shown where a mistake has no name.
        nan_tells_nothing: NaN in a submission's answer is no evidence (right code may give 0/0 on extreme input).
    """

    name: str
    run: Callable[[Any, Any], Any]
    atol: float = ATOL
    stage: str = ""
    nan_tells_nothing: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known mistake, executable.

    Attributes:
        coding: Which way of making the mistake this is, where there are several.
        only: The names of the probes that recognise it, where others are random or do not matter; empty means all.
    """

    id: str
    says: str
    suggests: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    version: Any = None
    coding: str = ""
    only: tuple[str, ...] = ()

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


@dataclass(frozen=True)
class Example:
    """Arguments small enough to retype; the first on which a submission goes wrong is shown."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


class MistakeSet:
    """The factory, default steps, probes, mistakes and alternatives of one function.

    Attributes:
        together: How many mistakes at once are looked for.
    """

    def __init__(self, function: str, factory: Callable[..., Any], *, together: int = 2, **steps: Any) -> None:
        self.function = function
        self.factory = factory
        self.together = together
        self.steps = steps
        self.probes: list[Probe] = []
        self.mistakes: list[Mistake] = []
        self.alternatives: list[Alternative] = []
        self.examples: list[Example] = []

    def probe(self, name: str, **options: Any) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
        """Register `run(subject, rand) -> observation` as a probe of this name."""
        if any(probe.name == name for probe in self.probes):
            raise ValueError(f"two probes named {name!r}")

        def register(run: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
            self.probes.append(Probe(name, run, **options))
            return run

        return register

    def mistake(
        self,
        id: str,
        *,
        says: str,
        suggests: str,
        coding: str = "",
        only: tuple[str, ...] = (),
        version: Any = None,
        **changes: Any,
    ) -> None:
        """Register a mistake: wrong steps by name, or a whole wrong `version`.

        One id may have several codings.

        Raises:
            ValueError: It names steps or probes that there are not, or is registered already.
        """
        self._require_steps(changes)
        found = Mistake(id, says, suggests, changes, version, coding, only)
        if any(other.label == found.label for other in self.mistakes):
            raise ValueError(f"two mistakes labelled {found.label!r}")
        unknown = set(only) - {probe.name for probe in self.probes}
        if unknown:
            raise ValueError(f"{id} names unknown probes {sorted(unknown)}")
        self.mistakes.append(found)

    def alternative(self, name: str, *, version: Any = None, **changes: Any) -> None:
        """Register a correct alternative: other steps by name, or a whole `version`."""
        self._require_steps(changes)
        self.alternatives.append(Alternative(name, changes, version))

    def example(self, *args: Any, **kwargs: Any) -> None:
        """Register arguments small enough to retype; smallest first."""
        self.examples.append(Example(args, kwargs))

    def build(self, changes: Mapping[str, Any], version: Any = None) -> Any:
        """Make the function (or class) with these steps exchanged."""
        return self.factory(**{**self.steps, **changes}) if version is None else version

    def _require_steps(self, changes: Mapping[str, Any]) -> None:
        unknown = set(changes) - set(self.steps)
        if unknown:
            raise ValueError(f"{self.function} has no steps {sorted(unknown)}")
