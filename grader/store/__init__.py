"""The only code that writes learner state."""

from grader.store.store import Store

__all__ = ["Store"]
