"""The only code that writes learner state."""

from grader.store.progress import Store

__all__ = ["Store"]
