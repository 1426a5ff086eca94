"""Hand-ins that nobody would make by hand: archives, notebooks, files and clones with odd parts, and damaged bytes.

    python tests/support/mutated_hand_ins.py FOLDER 100 [SEED]

The same seed makes the same hand-ins. What a learner could choose is drawn from lists of what has been trouble.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from support.hand_ins import ANSWERS, SUMS, add_member, make_notebook

Files = dict[str, bytes]

NAMES = (
    "moving_average.py", "argmax_2d.py", "basics/moving_average.py", "moving_average (1).py", "Argmax-2D.py",
    "work.ipynb", "argmax_2d.ipynb", "", ".", "..", "/", "./a.py", "../up.py", "/root.py", "a//b.py", "C:\\c.py",
    "a:b.py", "d\\e.py", "\0x.py", "a\0.py", "a\nb.py", "\x1b[31m.py", "\u202egnp.py", "ü/ü.py", "x.PY",
    "conftest.py", "numpy.py", "grader/x.py", "inner.zip", "inner.tar.gz", ".hidden.py", "venv/x.py",
    "moving_average.py/x.py", "notes.txt", "a/" * 70 + "x.py", "a/" * 1200 + "moving_average.py", "_" * 300 + ".py",
    "-" * 5000 + "x.py", "x" * 250 + ".py", "a b " * 60 + "(copy).py",
)  # fmt: skip
CELLS = (
    "%timeit f(x)", "files = !ls", " " * 3000, "?help", "%%bash\nls", "x = [", "return 1", "import numpy as np",
    "x" * 3000, "def f():\n    '''\n" + "a\n" * 50 + "'''", "with open('x') as f: y = f", "%" * 200,
    "a = " * 200 + "1", "class A: pass",
)  # fmt: skip
TEXTS = (
    b"", b"\0", b"x = 1\0", b"(" * 5000, b"x = " + b"-" * 20000 + b"1", b"a" + b".a" * 5000, b"x = " + b"9" * 5000,
    b"\xff\xfex\0", b"\xef\xbb\xbfx = 1", b"# coding: rot13\nx = 1", b"# coding: latin-1\nx = '\xe9'", b"\xff\xff",
    b"if 1:\n" * 300, b"f'{" * 100, b"lambda: " * 3000 + b"1", b"x = [" + b"[" * 150 + b"]" * 151, b"\r\r\n\x0c",
    b"x\\\n" * 99, b"import moving_average\nimport argmax_2d\n", b"from . import x", b"import " + b"a." * 3000 + b"b",
    b"[" * 100_000, b"{}", b'{"cells": 1}', b'{"cells": [1, null, {}]}', b'{"cells": [' + b"{}," * 999 + b"{}]}",
    b'{"a": ' * 3000, b"NaN", b'{"cells": [{"cell_type": "code", "source": ["\\ud800", 1]}]}',
    b'{"cells": [], "metadata": {"kernelspec": 7}}',
    b'{"worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}]}', b'{"cells": [' + b"9" * 5000 + b"]}",
    b'{"cells": [], "metadata": {"language_info": {"name": "R\\u001b[31m"}}}', b"PK\3\4", b"\x1f\x8b\x08\0",
)  # fmt: skip
ANSWERED = ("moving_average.py", "moving_average (1).py")  # what would be another answer


class Maker:
    """Makes the hand-in of one number."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def text(self) -> bytes:
        """Return what a file may hold: an answer, something odd, or either with damaged bytes."""
        answer = self.random.choice([*ANSWERS.values(), SUMS]).encode()
        chosen = self.random.choice([answer, answer, self.notebook(), self.random.choice(TEXTS)])
        return self.damage(chosen) if self.random.random() < 0.4 else chosen

    def notebook(self) -> bytes:
        """Return a notebook of an answer's lines and cells that are none."""
        cells = self.random.choices([*CELLS, *ANSWERS.values(), SUMS], k=self.random.randint(0, 6))
        return make_notebook(*cells, kernelspec=self.random.choice([{"language": "python"}, None, 1])).encode()

    def files(self) -> Files:
        """Return some files, mostly with names that have been trouble."""
        return {name: self.text() for name in self.random.choices(NAMES, k=self.random.randint(0, 12))}

    def damage(self, content: bytes, start: int = 0) -> bytes:
        """Return *content* with some bytes from *start* on replaced, repeated, left out or cut off."""
        raw = bytearray(content)
        for _ in range(self.random.choice((0, 1, 1, 2, 5, 20))):
            place = self.random.randint(min(start, len(raw)), len(raw))
            size = self.random.choice((1, 1, 2, 4, 8))
            odd = [b"\0" * size, b"\xff" * size, self.random.randbytes(size), raw[place : place + 4 * size] * 2, b""]
            raw[place : place + size] = self.random.choice(odd)
        return bytes(raw[: self.random.randint(0, len(raw))] if self.random.random() < 0.1 else raw)

    def zip(self) -> bytes:
        """Return a .zip, whose list of members is damaged more often than the rest."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w") as archive:
            for name, content in self.files().items():
                info = zipfile.ZipInfo("x")
                info.filename = name  # as it is: ZipInfo would mend it
                info.compress_type = self.random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
                info.external_attr = self.random.choice([0o100644, 0o120777, 0o040755, 0]) << 16
                archive.writestr(info, content)
        raw = made.getvalue()
        return self.damage(raw, self.random.choice([0, max(0, raw.find(b"PK\1\2"))]))

    def tar(self) -> bytes:
        """Return a .tar, damaged; sums of headers are mended, or nothing behind the first is looked at."""
        made = io.BytesIO()
        form = self.random.choice([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
        with tarfile.open(fileobj=made, mode="w", format=form) as archive:
            for name, content in self.files().items():
                if form != tarfile.USTAR_FORMAT or len(name) < 90:
                    add_member(archive, name, content)
        raw = bytearray(self.damage(made.getvalue()))
        for start in range(0, len(raw) - 511, 512):
            header = raw[start : start + 148] + b" " * 8 + raw[start + 156 : start + 512]
            if b"ustar" in header[257:263] and self.random.random() < 0.8:
                raw[start + 148 : start + 156] = b"%06o\0 " % sum(header)
        return bytes(raw)

    def gz(self) -> bytes:
        """Return a .tar.gz."""
        packed = gzip.compress(self.tar(), 1)
        return packed if self.random.random() < 0.7 else self.damage(packed)


def write_folder(place: Path, files: Files) -> None:
    """Write what a file system takes of these files below a folder."""
    place.mkdir(parents=True)
    for name, content in files.items():
        path = Path(f"{place}/{name}")
        try:
            if path.resolve().is_relative_to(place.resolve()):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        except (OSError, ValueError, RecursionError):
            continue


FILES: dict[str, Callable[[Maker], bytes]] = {
    ".zip": Maker.zip, ".tar": Maker.tar, ".tar.gz": Maker.gz, ".ipynb": lambda maker: maker.damage(maker.notebook()),
    ".py": Maker.text,
}  # fmt: skip


def make_hand_ins(folder: Path, count: int, seed: int = 1) -> list[str]:
    """Write that many hand-ins of all kinds into a folder, and return their ids."""
    folder.mkdir(parents=True)
    kinds = [*FILES, ""]
    made = []
    for number in range(count):
        maker, suffix = Maker(f"{seed}/{number}"), kinds[number % len(kinds)]
        place = folder / f"s{number:05d}{suffix}"
        if suffix:
            place.write_bytes(FILES[suffix](maker))
        else:
            inner = {f"inner{kind}": make(maker) for kind, make in FILES.items() if maker.random.random() < 0.2}
            write_folder(place, {**maker.files(), **inner})
        made.append(f"s{number:05d}")
    return made


def make_clones(folder: Path, repository: Path, count: int, seed: int = 1) -> Path:
    """Write a list of clones of a repository, each with damaged files in its git folder, and return its path."""
    folder.mkdir(parents=True)
    lines = []
    for number in range(count):
        maker, place = Maker(f"{seed}/{number}"), folder / f"s{number:05d}"
        shutil.copytree(repository, place)
        files = sorted(path for path in (place / ".git").rglob("*") if path.is_file() and "hooks" not in path.parts)
        for path in maker.random.sample(files, maker.random.randint(1, 3)):
            path.chmod(0o644)
            path.write_bytes(maker.damage(path.read_bytes()))
        lines.append(f"s{number:05d},{place.name}\n")
    listed = folder / "clones.csv"
    listed.write_text("".join(lines))
    return listed


def make_class_zip(path: Path, count: int, seed: int = 1, *, damaged: bool = False) -> None:
    """Write the .zip of a class; what is in its learners' folders has odd names. With *damaged*, its own bytes too."""
    maker = Maker(f"{seed}/class")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(f"s{number:05d}/moving_average.py", ANSWERS["moving_average"])
            odd = {name: text for name, text in maker.files().items() if not name.endswith(ANSWERED)} | {"": b""}
            for name, content in odd.items():
                info = zipfile.ZipInfo("x")
                info.filename = f"s{number:05d}/{name}" if maker.random.random() < 0.7 and name else name
                if info.filename not in archive.NameToInfo:
                    archive.writestr(info, content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(maker.damage(made.getvalue()) if damaged else made.getvalue())


if __name__ == "__main__":
    print(json.dumps(make_hand_ins(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:]))))
