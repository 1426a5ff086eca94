"""What gets through when a layer is left out: measured, compared with `layers.toml`, shown as the table of the docs.

python tests/attacks/table.py            the recorded table, in Markdown
python tests/attacks/table.py --write    measure it anew on this machine (some 20 s), and record it
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])] if __name__ == "__main__" else []

from attacks.attack import Attack, attacks  # noqa: E402  found by the line above where this is run as a program
from attacks.attacked_class import AttackedClass, breaches, require_sandbox  # noqa: E402
from attacks.canaries import Canaries  # noqa: E402
from support import outer_sandbox  # noqa: E402

RECORDED = HERE / "layers.toml"
LAYERS = ("process-group", "limits", "no-new-privileges", "unprivileged-user", "landlock", "seccomp")

# What may be left out: nothing, each layer alone, the sandbox, the sandbox and each layer.
COLUMNS: dict[str, dict[str, Any]] = {
    "all layers": {},
    **{f"without {layer}": {"without": (layer,)} for layer in LAYERS},
    "without namespaces": {"isolation": "available"},
    **{f"without namespaces and {layer}": {"isolation": "available", "without": (layer,)} for layer in LAYERS},
    "--isolation process": {"isolation": outer_sandbox.ON_TRUST},
}

# The list of threats that the attacks are made from.
ENTRIES = (
    "rebinding torch, numpy, pytest, builtins, __eq__, __torch_function__, tensor subclasses",
    "os._exit at import and at each call",
    "forged, truncated, huge and endless frames on every descriptor",
    "reading the reference, the checks, /etc/passwd, home, other submissions, the environment",
    "writing the result store, the gradebook, its own source between lessons",
    "network by TCP, UDP, UNIX and abstract sockets, loopback and DNS",
    "signals and ptrace to parent, fork server and siblings",
    "kernel doors: namespaces, io_uring, keyctl, memfd, SysV IPC",
    "inherited descriptors, environment and memory",
    "fork bomb, thread flood, memory bomb, disk fill, descriptor exhaustion, output flood",
    "sleeping through its limit, ignoring SIGTERM, daemonised grandchildren",
    "answers that are no values: views, cycles, exploding exceptions, crashes",
    "forbidden calls: in threads, traced, hidden, smuggled by another lesson",
    "a .pth, sitecustomize.py, conftest.py, pytest.ini in the submission",
    "symlinks and hard links out of the folder",
    "zip with .., absolute names, links, bombs, encrypted, 100,000 members",
    "notebook with magics and shell lines",
    "honest on small inputs only, knows that it is graded, memorises seeds",
)


def scouts() -> list[Attack]:
    """Return the attacks that try many things and report what got through; the others would do harm."""
    return [attack for attack in attacks() if "recon.py" in attack.beside]


def measure_column(column: str, ground: Path) -> dict[str, list[str]]:
    """Run the scouts with what this column leaves out; in the outer sandbox where bubblewrap is left out too."""
    left_out = COLUMNS[column]
    if left_out.get("isolation", "required") == "required":
        return measure(ground, scouts(), **left_out)
    code = "import json; from pathlib import Path; from attacks.table import COLUMNS, measure, scouts"
    found: dict[str, list[str]] = json.loads(
        outer_sandbox.run(f"{code}; print(json.dumps(measure(Path('/tmp'), scouts(), **COLUMNS[{column!r}])))")
    )
    return found


def measure(
    ground: Path,
    which: Iterable[Attack],
    *,
    isolation: str = "required",
    without: Iterable[str] = (),
    watched: bool = False,
    secret_in_fork_server: bool = False,
) -> dict[str, list[str]]:
    """Run these attacks with these layers left out, on fresh bait, and return what gets through."""
    require_sandbox(isolation, without)
    folder = Path(tempfile.mkdtemp(dir=ground))
    folder.chmod(0o755)
    canaries = Canaries(folder / "canaries")
    # the judge hands this variable on to the fork server
    environment = {"CUDA_HOME": canaries.secret} if secret_in_fork_server else {}
    attacked = AttackedClass(
        "tiny", folder, canaries, isolation=isolation, without=without, watched=watched, places=["/tmp"], **environment
    )
    try:
        attacked.begin()
        found = {attack.name: _attack(attacked, attack) for attack in which}
    finally:
        attacked.process.close()
        canaries.close()
        shutil.rmtree(folder, ignore_errors=True)
    return {name: got for name, got in found.items() if got}


def _attack(attacked: AttackedClass, attack: Attack) -> list[str]:
    """Grade one attack; return what it reports and what the bait noticed."""
    result = attacked.grade(attack)
    harm = [text for text in result.harm if not text.endswith(("was changed", "was left"))]  # it says so itself
    return sorted({*breaches(result.record, attack.lessons[0]), *harm})


def other_machine() -> str:
    """Say why the recorded table is not for this machine; "" if it is."""
    from grader.judge.processes import bubblewrap
    from grader.worker.isolation import landlock, seccomp

    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root on Linux, as whom the table was made: run pytest as root"
    if landlock.abi_version() < 7:
        return f"needs a kernel with Landlock 7 or later, of which the table is; here is {landlock.abi_version()}"
    return bubblewrap.why_not() or seccomp.why_unavailable()


@cache
def recorded() -> dict[str, dict[str, list[str]]]:
    """Read the table: column, attack, what gets through."""
    return tomllib.loads(RECORDED.read_text())


def record() -> None:
    """Measure all columns and write `layers.toml`."""
    lines = ["# Written by table.py --write. What gets through, where something does.\n"]
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        Path(folder).chmod(0o755)
        for column in COLUMNS:
            lines.append(f'\n["{column}"]\n')
            found = measure_column(column, Path(folder))
            lines += [f"{name} = {json.dumps(got)}\n" for name, got in found.items()]
    RECORDED.write_text("".join(lines))
    recorded.cache_clear()


def markdown() -> str:
    """Format the table of docs/isolation.md."""
    lines = ["| Left out | What then gets through |", "|---|---|"]
    for column in COLUMNS:
        got = recorded()[column]
        cells = [f"**{name.replace('_', ' ')}**: {', '.join(found)}" for name, found in got.items()]
        lines.append(f"| {column} | {'; '.join(cells) or 'nothing'} |")
    return "\n".join(lines)


def list_of_attacks() -> str:
    """Format docs/attacks.md: the attacks by the threats that they are made from."""
    lines = []
    for entry in ENTRIES:
        lines += [f"\n**{entry}**\n", "| It tries | What is seen |", "|---|---|"]
        lines += [f"| {attack.tries} | {_seen(attack)} |" for attack in attacks() if attack.entry == entry]
    return "\n".join(lines)


def _seen(attack: Attack) -> str:
    words = []
    for lesson, seen in attack.seen.items():
        score = "no score" if seen.score is None else f"{'at most ' if seen.at_most else ''}{seen.score}"
        named = f", `{seen.mistake}`" if seen.mistake else ""
        whose = f"{lesson}: " if len(attack.seen) > 1 else ""
        words.append(f"{whose}{score}" if seen.at_most else f"{whose}{seen.state}, {score}{named}")
    return "; ".join(words)


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        record()
    print(list_of_attacks() if "--attacks" in sys.argv[1:] else markdown())
