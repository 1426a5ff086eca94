"""Hand-ins that are no plain folder of files: archives, links and notebooks, made from their descriptions.

form = "folder" | "zip" | "tar" | "notebook"
[[member]]  name, and one of: text; answer (a lesson, of which it is the right one); link or hard (where it leads);
            zeros (so many bytes).  times: so many of it, numbered.  encrypted: the archive says that it is.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attacks.attack import Attack
from support.course_files import ROOT


def pack_up(attack: Attack, folder: Path, facts: dict[str, Any]) -> Path:
    """Lay what an attack hands in into a folder of submissions, as mallory's."""
    form = attack.package.get("form", "folder")
    make = {"folder": _folder, "zip": _zip, "tar": _tar, "notebook": _notebook}[form]
    place = folder / f"mallory{ {'zip': '.zip', 'tar': '.tar.gz', 'notebook': '.ipynb'}.get(form, '') }"
    members = list(_members(attack, facts))
    make(place, members)
    return place


def _members(attack: Attack, facts: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each member with its `content`, if it is no link."""
    for name, text in attack.files(facts).items():
        yield {"name": name, "content": text.encode()}
    for member in attack.package.get("member", ()):
        for key in ("link", "hard"):
            if key in member:
                member = {**member, key: member[key].format(**facts)}
        for number in range(member.get("times", 1)):
            yield {**member, "name": member["name"].format(number=number), "content": _content(member)}


def _content(member: dict[str, Any]) -> bytes:
    if "answer" in member:
        return (ROOT / "solutions" / "core" / f"{member['answer']}.py").read_bytes()
    return bytes(member.get("zeros", 0)) or str(member.get("text", "")).encode()


def _folder(place: Path, members: list[dict[str, Any]]) -> None:
    for member in members:
        path = place / member["name"]
        path.parent.mkdir(parents=True, exist_ok=True)
        if "link" in member:
            path.symlink_to(member["link"])
        elif "hard" in member:
            os.link(member["hard"], path)
        else:
            path.write_bytes(member["content"])


def _zip(place: Path, members: list[dict[str, Any]]) -> None:
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in members:
            info = zipfile.ZipInfo(member["name"])
            info.compress_type = zipfile.ZIP_DEFLATED if len(member["content"]) > 100 else zipfile.ZIP_STORED
            info.external_attr = (0o120777 if "link" in member else 0o100644) << 16
            archive.writestr(info, member.get("link", "").encode() or member["content"])
    if any(member.get("encrypted") for member in members):
        _say_encrypted(place)


def _say_encrypted(place: Path) -> None:
    """Set the bit that says so, in every header of the archive (APPNOTE.TXT 4.4.4)."""
    raw = bytearray(place.read_bytes())
    for sign, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        at = raw.find(sign)
        while at >= 0:
            raw[at + offset] |= 1
            at = raw.find(sign, at + 4)
    place.write_bytes(raw)


def _tar(place: Path, members: list[dict[str, Any]]) -> None:
    with tarfile.open(place, "w:gz") as archive:
        for member in members:
            info = tarfile.TarInfo(member["name"])
            kind = tarfile.SYMTYPE if "link" in member else tarfile.LNKTYPE if "hard" in member else tarfile.REGTYPE
            info.type, info.linkname = kind, member.get("link", member.get("hard", ""))
            info.size = len(member["content"]) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(member["content"]))


def _notebook(place: Path, members: list[dict[str, Any]]) -> None:
    cells = [
        {"cell_type": "code", "source": member["content"].decode().splitlines(keepends=True)} for member in members
    ]
    place.write_text(json.dumps({"nbformat": 4, "metadata": {}, "cells": cells}))
