"""What the pages show: the course, the learner's folder and progress, and the judge's news."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from grader.model import Course, Lesson, LessonProgress, Way
from grader.store import Store
from grader.web.feed import Feed
from grader.workspace import Workspace, find


@dataclass(frozen=True)
class Site:
    """A learner's course. `on_open` is called, by any thread, with each lesson whose page is looked at."""

    course: Course
    workspace: Workspace
    open_store: Callable[[], AbstractContextManager[Store]]
    read_progress: Callable[[], dict[str, LessonProgress]]
    on_open: Callable[[Lesson], None]
    feed: Feed = field(default_factory=Feed)
    shown: threading.Event = field(default_factory=threading.Event)  # a first page was made

    def read_way(self) -> Way:
        """Return the way that the learner follows now: pages and terminal may change it while these pages are open."""
        return self.course.way(find(self.workspace.root).way)
