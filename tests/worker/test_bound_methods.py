"""Methods of libraries that look up names in their object: each takes objects of its own class alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from grader.worker.watch.bound_methods import METHODS

ROOMS = ("unittest.case", "torch.nn.modules.", "torch.nn.utils.parametrize", "torch.distributions.", "torch.optim.")
LOOKUPS = {"getattr", "setattr", "delattr"}
# `all_weights` is a property, which is told no object; what a descriptor is told is the object that has it
FINE = {("torch.nn.modules.rnn.RNNBase", "all_weights"), ("torch.distributions.utils.lazy_property", "__get__")}


def looking_up(source: str) -> set[tuple[str, str]]:
    """The methods of a source's classes that look up in their first parameter a name that does not stand there."""
    found = set()
    for cls in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        for method in (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.args.args):
            for call in ast.walk(method):
                match call:
                    case ast.Call(ast.Name(name), [ast.Name(of), ast.expr() as key, *_]) if name in LOOKUPS:
                        if of == method.args.args[0].arg and not isinstance(key, ast.Constant):
                            found.add((cls.name, method.name))
    return found


@pytest.mark.slow
def test_every_method_that_looks_up_a_name_is_bound() -> None:
    """By what the sources of the installed torch and of Python's TestCase do: another version may have one more."""
    import torch

    assert torch.nn and torch.optim and torch.distributions
    found = set()
    for path, module in sorted(sys.modules.items()):
        if path.startswith(ROOMS) and (file := getattr(module, "__file__", None)) and file.endswith(".py"):
            found |= {(f"{path}.{cls}", method) for cls, method in looking_up(Path(file).read_text(encoding="utf-8"))}
    bound = {(path, name) for path, names in METHODS.items() for name in names}

    assert found - bound - FINE == set()
    assert ("torch.nn.modules.rnn.RNNBase", "_init_flat_weights") in found


def test_a_bound_method_goes_on_for_objects_of_its_class() -> None:
    """Layers are made, filled and copied as before; another object is refused."""
    code = (
        "import copy, torch\nfrom torch import nn\n"
        "from grader.worker.watch.bound_methods import bind_methods\nbind_methods()\n"
        "m = nn.Sequential(nn.LSTM(2, 3), nn.ParameterDict({'a': torch.ones(2)}))\n"
        "m[1]['b'] = nn.Parameter(torch.ones(1))\nm[0] = copy.deepcopy(m[0])\nm.load_state_dict(m.state_dict())\n"
        "assert m[1]['a'].sum() == 2 and torch.distributions.Normal(0.0, 1.0, validate_args=True).mean == 0\n"
        "assert nn.LSTM._init_flat_weights.__name__ == '_init_flat_weights'\n"
        "try:\n    nn.LSTM._init_flat_weights(nn.Linear(1, 1))\nexcept TypeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.stdout == "descriptor '_init_flat_weights' requires a 'RNNBase' object\n", done.stderr
