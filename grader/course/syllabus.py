"""Read `course.toml`: the course's name, its tracks and lessons in order, and its limits."""

from __future__ import annotations

import re
import sys
from collections.abc import Container
from dataclasses import fields
from pathlib import Path
from typing import Any

from grader.course.tables import Table, read_toml
from grader.errors import CourseError
from grader.model import FULL_WAY, Course, Limits, Track, Way

FORMAT = 1
ARRAYS = ("torch", "numpy")


def read_syllabus(path: Path) -> tuple[Course, dict[str, Table]]:
    """Return the course without its lessons, and for each lesson's name the table of `course.toml` that lists it.

    Raises CourseError with the line of the first fault.
    """
    table = read_toml(path)
    _check_format(table)
    table.only("format", "id", "title", "version", "arrays", "packages", "tracks", "ways", "limits")
    if table.text("arrays") not in ARRAYS:
        raise table.error(f'"arrays" must be one of {", ".join(ARRAYS)}', "arrays")
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", table.text("id")):
        raise table.error('"id" must be made of small letters, digits, hyphens, dots and underscores', "id")
    tracks, places = _tracks(table.tables("tracks"))
    course = Course(
        root=path.parent,
        id=table.text("id"),
        title=table.text("title"),
        version=table.text("version"),
        arrays=table.text("arrays"),
        tracks=tracks,
        lessons={},
        limits=Limits(**read_limits(table.table("limits"))),
        packages=table.texts("packages"),
        shorter_ways=_ways(table.tables("ways") if "ways" in table.data else [], places),
    )
    return course, places


def check_name(table: Table, key: str, name: str) -> None:
    """Raise CourseError unless a name is fit for a folder, a file and a module."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        what = f'"{name}" is no name for a file and a module: use small letters, digits and underscores'
        raise table.error(what, key, name)


def _check_format(table: Table) -> None:
    found = table.whole("format")
    if found > FORMAT:
        what = f"this course has format {found}; this version of selfattend reads formats up to {FORMAT}"
        where = table.error("", "format").where
        raise CourseError(what, where=where, next_step="pip install --upgrade selfattend")


def _tracks(tables: list[Table]) -> tuple[tuple[Track, ...], dict[str, Table]]:
    tracks: dict[str, Track] = {}
    places: dict[str, Table] = {}
    for table in tables:
        track = _track(table)
        if track.name in tracks:
            raise table.error(f'there are two tracks "{track.name}"', "name")
        for lesson in track.lessons:
            if lesson in places:
                raise table.error(f'the lesson "{lesson}" is in two tracks', "lessons", lesson)
            places[lesson] = table
        tracks[track.name] = track
    return tuple(tracks.values()), places


def _track(table: Table) -> Track:
    table.only("name", "title", "lessons", "optional")
    track = Track(table.text("name"), table.text("title"), table.texts("lessons"), table.flag("optional"))
    check_name(table, "name", track.name)
    for lesson in track.lessons:
        check_name(table, "lessons", lesson)
        if lesson in sys.stdlib_module_names:
            raise table.error(f'"{lesson}" is a module of Python: a lesson cannot have its name', "lessons", lesson)
    return track


def _ways(tables: list[Table], known: Container[str]) -> tuple[Way, ...]:
    ways: dict[str, Way] = {}
    for table in tables:
        table.only("name", "title", "lessons")
        way = Way(table.text("name"), table.text("title"), table.texts("lessons"))
        check_name(table, "name", way.name)
        if not way.lessons:
            raise table.error(f'the way "{way.name}" has no lessons', "name")
        if way.name == FULL_WAY or way.name in ways:
            raise table.error(f'there is a way "{way.name}" already', "name")
        for lesson in way.lessons:
            if lesson not in known:
                raise table.error(f'"{lesson}" is in no track', "lessons", lesson)
        ways[way.name] = way
    return tuple(ways.values())


def read_limits(table: Table) -> dict[str, Any]:
    """Return the limits that a table gives, by name."""
    table.only(*(field.name for field in fields(Limits)))
    return {key: table.number(key) if key.endswith("_seconds") else table.whole(key) for key in table.data}
