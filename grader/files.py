"""Read files of bounded size and the text of tables, name and list files, and replace them whole."""

from __future__ import annotations

import codecs
import errno
import os
import re
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from grader.errors import CourseError, MachineError, UsageError

AUDIT = "correct the file, then run `grader audit`"
# what no content of a file brings about
MACHINE_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
MAX_FILE_BYTES = 16 << 20  # of a course's file, a release's or a workspace's
SMALL_FILE = 64 << 10  # and what a file holds that does not say how large it is
MAX_NAME_BYTES = 100  # of the name of a learner's files; file systems take 255
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700  # of what says how somebody does
MAX_TOML_CHARS = 1 << 20  # the longest of a course has 36,000
MAX_KEY_DOTS = 8  # in a key of TOML; a course's have two
# strings of several lines, which may end in two quotes more than close them, of one line, and comments; each of these
# matches whatever begins it, or what is behind it would be gone through again and again
TOML_QUOTED = (
    r'"""(?s:\\.|[^\\]|\\\Z)*?(?:"""(?:"{0,2})|\Z)'
    r"|'''(?s:.)*?(?:'''(?:'{0,2})|\Z)"
    r"""|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|#[^\n]*"""
)
MAX_NUMBERED_BYTES = 200  # of such a name with a number, because it was taken
WESTERN = "Windows-1252"
# what each byte of it is; the five that it leaves out are as in Latin-1, so that any file is written as it was
_WESTERN_SIGNS = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
_WESTERN_BYTES = codecs.charmap_build(_WESTERN_SIGNS)


def at(path: Path, line: int = 0) -> str:
    """Format a location as editors and terminals understand it: `path:line`, or the path alone."""
    return f"{path}:{line}" if line else str(path)


def read_bounded(path: Path, limit: int, *, follow: bool = False) -> bytes:
    """Read at most *limit* bytes of an ordinary file, without waiting for a pipe. Raises OSError, for links too."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    flags |= 0 if follow else getattr(os, "O_NOFOLLOW", 0)
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        return file.read(min(limit, max(found.st_size, SMALL_FILE) + 1))  # room for `limit` takes longer than reading


def read_whole(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read an ordinary file, or what a link to one leads to. Raises OSError, also for more than *limit* bytes."""
    content = read_bounded(path, limit + 1, follow=True)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit >> 20} MiB", str(path))
    return content


class TableText(NamedTuple):
    """The text of a table, with a byte order mark where it has one, and the encoding in which its bytes were."""

    text: str
    encoding: str

    def note(self, what: str) -> str:
        """Say of a table, called *what*, that its encoding is a guess; "" where it is certain."""
        guessed = f"{what} is not UTF-8; it was read as {WESTERN}. Look whether the names are right."
        return guessed if self.encoding == WESTERN else ""


def decode_table(content: bytes) -> TableText:
    """Read a table as spreadsheets save it: in UTF-8, UTF-16 with a byte order mark, or as in the West, Windows-1252.

    Raises UnicodeDecodeError for what is no UTF-16 behind such a mark.
    """
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            return TableText(_decode(content, encoding), encoding)
    try:
        return TableText(_decode(content, "utf-8"), "utf-8")
    except UnicodeDecodeError:
        return TableText(_decode(content, WESTERN), WESTERN)


def encode_table(text: str, encoding: str, errors: str = "replace") -> bytes:
    """Write a text in an encoding that `decode_table` returned; `errors` is as `str.encode` has it."""
    if encoding == WESTERN:
        return codecs.charmap_encode(text, errors, _WESTERN_BYTES)[0]
    return text.encode(encoding, errors)


def fit_html(html: str, encoding: str) -> str:
    """Return HTML with a number, `&#8594;`, in the place of each sign that the encoding of a table lacks."""
    return _decode(encode_table(html, encoding, "xmlcharrefreplace"), encoding)


def _decode(content: bytes, encoding: str) -> str:
    if encoding == WESTERN:
        return codecs.charmap_decode(content, "strict", _WESTERN_SIGNS)[0]
    return content.decode(encoding)


def load_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError, also where tomllib would take minutes.

    What it does for a line grows with the square of the parts of its key, those of its table's among them.
    """
    import tomllib  # here: the commands start without it

    if len(text) > MAX_TOML_CHARS:
        raise ValueError(f"it is longer than {MAX_TOML_CHARS} characters")
    if any(line.count(".") > MAX_KEY_DOTS for line in text.split("\n")) and _has_long_key(text):
        raise ValueError(f"a key has more than {MAX_KEY_DOTS} dots")
    return tomllib.loads(text)


def _has_long_key(text: str) -> bool:
    """Return True if a key of TOML has more than MAX_KEY_DOTS dots outside of quotes.

    Strings and comments are left out first, open ones up to where tomllib gives up; a value has one dot at most.
    """
    bare = re.sub(TOML_QUOTED, "", text)
    return any(part.count(".") > MAX_KEY_DOTS for part in re.split(r"[\n,=\[\]{}]", bare))


def file_name(name: str, limit: int = MAX_NAME_BYTES) -> str:
    """Return *name* in letters, digits and `_.@+-`, as the name of a file in a folder: no path, option or hidden file.

    A name that it returned comes back as it is.
    """
    plain = re.sub(r"[^\w.@+-]", "_", unicodedata.normalize("NFC", name)).strip(".")
    plain = f"_{plain}" if plain.startswith("-") else plain
    return plain.encode()[:limit].decode("utf-8", "ignore").rstrip(".") or "_"


def read_file(path: Path, what: str = "a file of the course", next_step: str = AUDIT) -> str:
    """Read *what* as text. Raises CourseError if it is missing, unreadable or not UTF-8."""
    try:
        return read_whole(path).decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise CourseError(f"{what} is missing", where=str(path), next_step=next_step) from None
    except OSError as error:
        what = f"{what} cannot be read ({error.strerror})"
        raise CourseError(what, where=str(path), next_step=next_step) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise CourseError(f"{what} is not UTF-8 text", where=at(path, line), next_step=next_step) from None


@contextmanager
def replacing(path: Path, suffix: str = f"{os.getpid()}.tmp", *, private: bool = False) -> Iterator[Path]:
    """Give a path beside *path* to write to. It replaces *path* at the end of the `with`; an exception removes it.

    A private one is there already, empty, and other users cannot read it.
    """
    temporary = path.with_name(f".{path.name}.{suffix}")
    temporary.unlink(missing_ok=True)  # of a killed run; or somebody's link, which would lead the writing elsewhere
    try:
        if private:
            make_private(temporary)
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a path beside *path* to make a folder at. It replaces *path* at the end; an exception removes it."""
    import shutil  # here: it loads compressors, and light commands make no folders

    path = path.absolute()
    made, old = (path.with_name(f".{path.name}.{os.getpid()}.{suffix}") for suffix in ("new", "old"))
    try:
        yield made
        if path.exists():
            path.rename(old)
        made.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextmanager
def blaming_the_machine() -> Iterator[None]:
    """Raise MachineError for what is this machine's fault, before it is taken for that of whose file is read."""
    try:
        yield
    except OSError as error:
        if error.errno not in MACHINE_ERRORS:
            raise
        what = f"a hand-in could not be read on this machine: {error.strerror}"
        next_step = "mend that (df -h, ulimit -n), then repeat the command with --resume"
        raise MachineError(what, where=str(error.filename or ""), next_step=next_step) from error


@contextmanager
def explain_unwritable(what: str, where: Path, next_step: str = "name another file with --out") -> Iterator[None]:
    """Turn an OSError into a UsageError, which calls what is written `what`."""
    try:
        yield
    except OSError as error:
        problem = f"{what} cannot be written: {error.strerror or error}"
        raise UsageError(problem, where=str(where), next_step=next_step) from None


def write_whole(path: Path, pieces: Iterable[str]) -> None:
    """Write a text file for its owner alone, which replaces the earlier one only when it is complete."""
    # always the same temporary name: what a killed run left is overwritten
    with replacing(path, "tmp", private=True) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)


def user_folder(variable: str, below_home: str) -> Path:
    """Return the program's folder in the one that a variable of XDG names, else in one below the user's home.

    Raises RuntimeError for a user who has no home.
    """
    named = Path(os.environ.get(variable, ""))  # a relative one would lead into a folder of somebody else
    return (named if named.is_absolute() else Path.home() / below_home) / "selfattend"


def cache_folder(name: str) -> Path | None:
    """Return the folder of this name for files that may be lost; None for a user who has no home."""
    below_home = "Library/Caches" if sys.platform == "darwin" else ".cache"
    with suppress(RuntimeError):
        return user_folder("XDG_CACHE_HOME", below_home) / name
    return None


def write_cached(path: Path, text: str, most: int) -> None:
    """Write a file of a cache folder, and remove the oldest beyond so many; what cannot be written is not kept."""
    with suppress(OSError):
        path.parent.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        make_folder(path.parent, PRIVATE_FOLDER)  # refuses a link, behind which other files would be the oldest
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="ascii")
        for old in sorted(path.parent.glob("*.json"), key=lambda each: -each.stat().st_mtime)[most:]:
            old.unlink()


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read. Raises OSError, also where something has that name."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder, unless it is there. Raises OSError, also for a link."""
    refuse_link(path)
    path.mkdir(mode, exist_ok=True)


def refuse_link(folder: Path) -> None:
    """Raise OSError for a link: somebody else's folder may hold one that leads out of it."""
    if folder.is_symlink():
        raise OSError(errno.ELOOP, f"{folder.name} is a link", str(folder))


def make_folders(root: Path, folder: Path) -> None:
    """Make a folder below *root*, and those between them. Raises OSError as `make_folder` does."""
    for parent in [*reversed(folder.relative_to(root).parents[:-1]), folder.relative_to(root)]:
        make_folder(root / parent)


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder, sorted, without links, hidden ones and what Python leaves behind."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        unwanted = path.suffix == ".pyc" or any(part.startswith((".", "__pycache__")) for part in parts)
        if path.is_file() and not path.is_symlink() and not unwanted:
            yield path


def is_file(path: Path) -> bool:
    """Do as `Path.is_file`, but return False for too long a name, and where a folder on the way may not be searched."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Do the same of a folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def resolved(path: Path) -> Path:
    """Return where links lead. Of links in a circle it is one of them, which opening then refuses with an OSError.

    `Path.resolve` raises RuntimeError for these up to Python 3.12.
    """
    return Path(os.path.realpath(path))


def is_same_file(path: Path, other: Path) -> bool:
    """Return True if two paths lead to one file; of files that are missing, if they are the same path."""
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # one is missing, which reading it will report
        return path.absolute() == other.absolute()
