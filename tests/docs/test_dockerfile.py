"""The Dockerfile makes an image where the grader is an ordinary user; where none can be built, its steps."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from support.course_files import ROOT

TEXT = (ROOT / "Dockerfile").read_text()
STEPS = [
    tuple(line.split(maxsplit=1))
    for line in re.sub(r"\\\n\s*", "", TEXT).splitlines()
    if line.strip() and not line.startswith("#")
]
KNOWN = {"FROM", "RUN", "WORKDIR", "COPY", "USER", "ENTRYPOINT", "CMD"}
SECONDS = 1200


def test_the_image_is_built_and_judges_itself():
    """Built with what is there, `grader doctor` runs in it as an ordinary user without network, and finds isolation."""
    if not shutil.which("docker") or subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker to build with: install it, and start its daemon")
    subprocess.run(["docker", "build", "-t", "selfattend-test", str(ROOT)], check=True, timeout=SECONDS)
    words = ["docker", "run", "--rm", "--network", "none", "--cap-drop", "ALL", "selfattend-test"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_says_what_it_makes_and_ends_as_an_ordinary_user():
    """Known instructions, a pinned base, nothing fetched by ADD or a shell, no root at the end, `grader` begins."""
    assert {word for word, _ in STEPS} == KNOWN
    (base,) = (rest for word, rest in STEPS if word == "FROM")
    assert re.fullmatch(r"python:3\.1[1-3]\.\d+-slim-\w+", base), base
    assert not re.search(r"curl|wget|sudo|chmod 777|--privileged|:latest", TEXT)
    (user,) = (rest for word, rest in STEPS if word == "USER")
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", user)
    last = [word for word, _ in STEPS]
    assert last.index("USER") > max(number for number, word in enumerate(last) if word in ("RUN", "COPY"))
    ends = {word: json.loads(rest) for word, rest in STEPS if word in ("ENTRYPOINT", "CMD")}
    assert ends == {"ENTRYPOINT": ["grader"], "CMD": ["doctor"]}
    assert any(rest == f"useradd --uid {user.partition(':')[0]} --create-home grader" for _, rest in STEPS)


@pytest.mark.slow
def test_its_steps_work_in_a_bare_folder(tmp_path):
    """What is copied is there and not ignored; pip finds constraints for PyTorch and for all that the program needs.

    apt-get and useradd need a machine of their own, and are only recorded. pip has no index here, and so succeeds only
    if all that is asked for is installed, in the versions of constraints.txt.
    """
    image, bin_ = tmp_path / "image", tmp_path / "bin"
    image.mkdir()
    bin_.mkdir()
    for name in ("apt-get", "useradd", "rm"):
        program(bin_ / name, f'echo "{name} $@" >> "{tmp_path}/asked"')
    program(bin_ / "pip", f'shift; exec "{sys.executable}" -m pip install --dry-run --no-index "$@"')
    environment = {**os.environ, "PATH": f"{bin_}:/usr/bin:/bin"}
    context = {path for path in ROOT.iterdir() if f"!{path.name}" in (ROOT / ".dockerignore").read_text().splitlines()}
    installed = 0
    for word, rest in STEPS:
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                assert ROOT / source in context, f"{source} is ignored, or not there"
                copy(ROOT / source, image / target / ("" if (ROOT / source).is_file() else "."))
        elif word == "RUN":
            command = rest.replace('".[cluster]"', requirements())
            done = subprocess.run(["sh", "-ec", command], cwd=image, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, f"{rest}\n{done.stdout}{done.stderr}"
            installed += "pip install" in rest
    assert installed == 2
    assert "apt-get install -y --no-install-recommends bubblewrap git" in (tmp_path / "asked").read_text()
    wheel = tomllib.loads((image / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert all((image / name).exists() for name in [*wheel["only-include"], *wheel["force-include"], "README.md"])
    assert not list(image.rglob("*.pyc"))


def test_secrets_and_history_stay_out():
    """Everything is ignored but what the image needs."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[0] == "*" and "!.git" not in lines and "!tests" not in lines


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def copy(source: Path, target: Path) -> None:
    """Copy as COPY does: a file into a folder, a folder's content."""
    if source.is_file():
        shutil.copy(source, target)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"), dirs_exist_ok=True)


def requirements() -> str:
    """What pip reads in pyproject.toml for `.[cluster]`, as words for a shell: without a build backend it cannot."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return shlex.join([*project["dependencies"], *project["optional-dependencies"]["cluster"]])
