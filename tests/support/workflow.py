"""Run a GitHub workflow here: each job in a folder of its own with what its steps bring, each `run:` by bash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FAKE_GH = Path(__file__).with_name("fake_gh.py")
SECONDS = 240
TOKEN = "a-secret-token"
PINNED = re.compile(r"actions/[\w-]+@[0-9a-f]{40}")


PIP = """export PIP_NO_INDEX=1
[[ "${{@: -1}}" != *.whl ]] || exec "{own}" -m pip "$@" --no-deps --no-compile --target "{beside}"
said="{said}-$(cat <(echo "$@") constraints.txt requirements.txt 2>/dev/null | cksum | tr ' ' -)"
[[ -f "$said" ]] || {{ "{own}" -m pip "$@" > "$said.new" && mv "$said.new" "$said" || exit; }}
cat "$said\""""


@dataclass
class Step:
    """A `run:` step as it ended, with the environment that it was given."""

    job: str
    name: str
    status: int
    output: str
    environment: dict[str, str]


@dataclass
class Runner:
    """GitHub's machines: `place` is an empty folder, `github` holds the repositories that `gh` reaches.

    Nothing is installed: a machine brings our own Python, in which `pip` finds that all is there. In a job that never
    calls pip it has the standard library alone.
    """

    place: Path
    github: Path
    steps: list[Step] = field(default_factory=list)

    def run(self, repository: Path, workflow: str, event: str = "workflow_dispatch") -> list[Step]:
        """Run a workflow of a repository until a step fails; return the steps that were run."""
        text = (repository / ".github/workflows" / workflow).read_text()
        read = yaml.safe_load(text)
        began = len(self.steps)
        for name, job in read["jobs"].items():
            folder = self.place / f"{len(list(self.place.iterdir()))}-{name}"
            folder.mkdir()
            job["env"] = {**read.get("env", {}), **job.get("env", {})}
            for step in job["steps"]:
                if "schedule" in step.get("if", "") and event != "schedule":
                    continue
                if not self._do(repository, folder, name, job, step):
                    return self.steps[began:]
        return self.steps[began:]

    def _do(self, repository: Path, folder: Path, name: str, job: Any, step: Any) -> bool:
        if "run" in step:
            environment = {**job["env"], **step.get("env", {})}
            environment = {key: text.replace("${{ secrets.CLASS_TOKEN }}", TOKEN) for key, text in environment.items()}
            done = self._run(folder, job, step["run"], environment)
            self.steps.append(Step(name, step["name"], done.returncode, done.stdout, environment))
            return done.returncode == 0
        assert PINNED.fullmatch(step["uses"]), step
        self._use(repository, folder, step["uses"].split("@")[0].partition("/")[2], step.get("with", {}))
        return True

    def _use(self, repository: Path, folder: Path, action: str, options: dict[str, Any]) -> None:
        kept = self.place.parent / "artifacts" / str(options.get("name", ""))
        if action == "checkout":
            assert options["persist-credentials"] is False
            shutil.copytree(repository, folder, dirs_exist_ok=True)
        elif action == "upload-artifact":
            shutil.rmtree(kept, ignore_errors=True)
            source = folder / options["path"]
            kept.mkdir(parents=True)
            if source.is_dir():
                shutil.copytree(source, kept, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
            else:
                shutil.copy(source, kept)
        elif action == "download-artifact":
            shutil.copytree(kept, folder / options.get("path", "."), dirs_exist_ok=True)
        else:
            assert action == "setup-python", action

    def _run(self, folder: Path, job: Any, text: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        installs = any("pip install" in step.get("run", "") for step in job["steps"])
        bin_ = self.place.parent / f"bin-{installs}"
        if not bin_.exists():
            write_programs(bin_, installs)
        kept = {key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ}
        base = {**kept, "PATH": f"{bin_}:/usr/bin:/bin:/usr/sbin:/sbin", "FAKE_GITHUB": str(self.github), "CI": "true"}
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", text], cwd=folder, env={**base, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False,
        )  # fmt: skip


def write_programs(bin_: Path, installs: bool) -> None:
    """Write gh, python, pip, learn and sudo.

    pip finds no index, so that it fails if anything is missing or of another version; a wheel goes beside, for `learn`.
    It takes seconds to find that all is there: asked for the same again, in any test, it says what it said.
    """
    own, beside, said = sys.executable, bin_ / "installed", bin_.parents[1] / "pip-said"
    programs = {
        "gh": f'exec "{own}" -S "{FAKE_GH}" "$@"',
        "python": f'exec "{own}" {"" if installs else "-S "}"$@"',
        "pip": PIP.format(own=own, beside=beside, said=said),
        "learn": f'PYTHONPATH={beside} exec "{own}" -m grader.cli.learn.group "$@"',
        "sudo": "exit 0",  # what it would install or allow is there, or is left out
    }
    bin_.mkdir()
    for name, text in programs.items():
        (bin_ / name).write_text(f"#!/bin/bash\n{text}\n")
        (bin_ / name).chmod(0o755)
