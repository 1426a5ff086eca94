"""Read the folders of a course into the model, without running any of its content."""

from grader.course.find_course import WantedCourse, locate, trust
from grader.course.find_lesson import aliases, find_lesson
from grader.course.frontmatter import Part, read_parts
from grader.course.load_course import load, load_kept
from grader.course.stubs import read_functions

__all__ = [
    "Part",
    "WantedCourse",
    "aliases",
    "find_lesson",
    "load",
    "load_kept",
    "locate",
    "read_functions",
    "read_parts",
    "trust",
]
