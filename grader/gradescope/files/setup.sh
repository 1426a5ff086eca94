#!/usr/bin/env bash
# Installs what the autograder needs. Gradescope runs this once, when the autograder is built; nothing is installed or
# compiled when submissions are graded.
#
# To change what it does, edit these lines, or set the variables before it runs:
#   SELFATTEND_TORCH_INDEX  where PyTorch comes from. The default is PyTorch's own index of builds for the CPU, which
#                           are a tenth of the size; empty: the index that pip uses for everything else.
#   SELFATTEND_PIP_ARGS     more arguments for pip, such as "--index-url https://..." for a mirror
#   SELFATTEND_PYTHON       a Python that has all packages already: nothing is installed then
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
source_dir="$root/source"
environment="$root/selfattend"
torch_index="${SELFATTEND_TORCH_INDEX-https://download.pytorch.org/whl/cpu}"
read -r -a pip_args <<< "${SELFATTEND_PIP_ARGS:-}"

new_enough() {
    command -v "$1" > /dev/null \
        && "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2> /dev/null
}

find_python() {
    local candidate
    for candidate in python3.13 python3.12 python3.11 python3; do
        if new_enough "$candidate"; then
            echo "$candidate"
            return 0
        fi
    done
    return 1
}

install_python() {
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    apt-get install -y --no-install-recommends python3 python3-venv
    # the system's own Python is too old, as on Ubuntu 22.04: there is a newer one beside it
    find_python > /dev/null || apt-get install -y --no-install-recommends python3.11 python3.11-venv
}

if [[ -n "${SELFATTEND_PYTHON:-}" ]]; then
    python="$SELFATTEND_PYTHON"
else
    find_python > /dev/null || install_python
    "$(find_python)" -m venv "$environment"
    python="$environment/bin/python"
    pip=("$python" -m pip install --no-cache-dir --disable-pip-version-check)
    pip+=("${pip_args[@]}" -c "$source_dir/constraints.txt")
    if [[ -n "$torch_index" ]]; then
        "${pip[@]}" --index-url "$torch_index" torch
    fi
    "${pip[@]}" -r "$source_dir/requirements.txt"
fi

"$python" -m compileall -q "$source_dir/engine" "$source_dir/course"

# Learners' code runs as another user, who has no business here.
mkdir -p "$root/results"
chmod -R go= "$source_dir" "$root/results"

PYTHONPATH="$source_dir/engine" "$python" -c 'import grader.gradescope.autograde, numpy, pytest, torch; print("ready:", torch.__version__)'
