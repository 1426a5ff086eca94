"""Store learners' progress and the results of classes in SQLite files."""

from grader.store.progress import Store

__all__ = ["Store"]
