"""Which sources may share a process: honest ones mostly do, and none that changes what the process holds for all."""

from __future__ import annotations

import re

import numpy  # noqa: F401  as in a judge: what the modules hold is looked up in those that are loaded
import pytest
import torch  # noqa: F401
from support.course_files import ROOT

from grader.source.side_effects import has_no_side_effects

GO = "class A:\n    def go(self):\n        self.help = 1\n"
OWN = ("softmax", "attention", "helper")
HEAD = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nimport numpy as np\n"

HARMLESS = {
    "a function": "def f(x):\n    y = x.exp()\n    y[0] = 1\n    y += 1\n    return y / y.sum(-1, keepdim=True)\n",
    "a module": """
class A(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w = nn.Linear(d, d)
        self.register_buffer("mask", torch.ones(d))

    def forward(self, x):
        self.last = x
        return self.w(x)
""",
    "classes that use each other": """
class A(nn.Module):
    pass

class B(A):
    def __init__(self):
        super(B, self).__init__()
        self.a = A()

def f(x: A) -> B:
    return B() if isinstance(x, A) else x
""",
    "a training step": """
def step(model, optimizer, x):
    optimizer.zero_grad(set_to_none=True)
    model.train()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
""",
    "its own lessons": "from softmax import softmax\nimport attention\nx = attention.attend(softmax(3), dim=1)\n",
    "what it tries out by itself": "if __name__ == '__main__':\n    import os\n    os.system('ls')\n",
    "a closure": """
def f(x):
    count = 0
    def add():
        nonlocal count
        count += 1
    add()
    return x * count
""",
    "an old way to begin": "class A(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n",
    "tied tables": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.tok, self.head = nn.Embedding(5, 3), nn.Linear(3, 5)\n        self.head.weight = self.tok.weight\n",
    "gradients": "def f(p):\n    return p - 0.1 * p.grad.cpu()\n",
    "weights by name": "def f(m, state):\n    m.load_state_dict(state)\n    return m\n",
    "layers of torch's": "from torch.nn import Linear\nclass A(Linear):\n    pass\nclass B(nn.LayerNorm):\n    pass\n",
    "an error, an object": "class A(ValueError):\n    pass\nclass B(object):\n    pass\n",
    "classes in annotations": "from typing import Dict, Optional\nclass A:\n    pass\n"
    "def f(x: list[A], y: A | None, z: Optional[A]) -> Dict[str, A]:\n    return isinstance(x, (A, nn.Linear))\n",
    "no Python": "def f(:\n",
}
WILD = {
    "a function of torch exchanged": "torch.softmax = lambda x, d: x\n",
    "a method of a class exchanged": "nn.Linear.forward = None\n",
    "setattr": "setattr(torch, 'help', print)\n",
    "the dictionary of a module": "torch.__dict__['help'] = print\n",
    "vars": "vars(torch)['help'] = print\n",
    "a builtin through its module": "import builtins\nbuiltins.abs = None\n",
    "a builtin through the hidden name": "__builtins__['abs'] = None\n",
    "modules": "import sys\nsys.modules['attention'] = None\n",
    "a module inside of a module": "torch.sys.modules.clear()\n",
    "one of its own names for a module": "from torch import library\n",
    "a kernel": "torch.library.Library('aten', 'IMPL')\n",
    "a thread": "import threading\n",
    "a hook for all modules": "from torch.nn.modules.module import register_module_forward_hook\n",
    "another default": "torch.set_default_dtype(torch.float64)\n",
    "a default by another way": "d = torch.set_default_dtype\n",
    "exec": "exec('import os')\n",
    "exec under a name": "e = exec\n",
    "exec that looks bound": "if False:\n    exec = 1\nexec('import os')\n",
    "an import by name": "__import__('os')\n",
    "getattr": "getattr(torch, 'sys')\n",
    "an instance's class": GO + "type(A()).go(torch)\n",
    "a metaclass": GO.replace("A:", "A(metaclass=dict):"),
    "a hook for classes derived from it": GO + "    def __init_subclass__(cls):\n        cls.go(torch)\n",
    "a class by its hidden name": GO + "    def no(self):\n        __class__.go(torch)\n",
    "annotations that give a class away": "import typing\n" + GO + "def h(x: A):\n    pass\n"
    "typing.get_type_hints(h)['x'].go(torch)\n",
    "what leads from any object to a frame": "class A:\n    def go(self):\n        return self.f_globals\n",
    "what leads from any object to modules": "class A:\n    def go(self):\n        return self.sys\n",
    "a module that is only loaded when asked for": "np.f2py.os.system('ls')\n",
    "a copy of attributes": "from functools import update_wrapper\nupdate_wrapper(torch, print)\n",
    "how an object is shown": "class A:\n    def __repr__(self):\n        return 'x'\n",
    "everything": "from torch import *\n",
    "a context manager as a target": "with torch.no_grad() as torch.help:\n    pass\n",
    "a loop's target": "for torch.help in [1]:\n    pass\n",
    "a name that says it is the program": "__name__ = '__main__'\nif __name__ == '__main__':\n    import os\n",
    "another way to say so": "import math as __name__\n",
    "a guard with another branch": "if __name__ == '__main__':\n    pass\nelse:\n    import os\n",
    "a gradient of a function": "def f(x):\n    f.grad = x\n",
    "data of a module": "torch.data = print\n",
    "data of a module, within a function": "def f(x):\n    torch.data = x\n",
    "a dict of torch's": "def f(x):\n    nn.functional.tf32_notes['x'] = x\n",
    "a dict of numpy's, by its name": "from numpy import typecodes\n",
    "files": "open('/tmp/x', 'w')\n",
}  # fmt: skip


@pytest.mark.parametrize("case", HARMLESS)
def test_honest_code_has_no_side_effects(case):
    """What honest answers are made of may be followed by the next lesson in the same process."""
    assert has_no_side_effects([HEAD + HARMLESS[case]], OWN)


@pytest.mark.parametrize("case", WILD)
def test_what_could_change_the_process_is_not(case):
    """Whatever changes what Python or torch hold for all, or leads there, ends the process."""
    assert not has_no_side_effects([HEAD + WILD[case]], OWN)


def test_what_a_prompt_has_shown_last_changes_nothing(monkeypatch):
    """It keeps that as `_` among Python's names, where a loop's own `_` is another one."""
    monkeypatch.setattr("builtins._", 1, raising=False)

    assert has_no_side_effects([HEAD + "def f(x):\n    return [x + 1 for _ in range(3)]\n"], OWN)


def test_one_wild_file_is_enough():
    """A file that is imported counts as much as the lesson's own."""
    assert not has_no_side_effects([HEAD, "import os\n"], OWN)


def test_most_answers_of_learners_have_no_side_effects():
    """Of right answers as learners write them, more than seven in ten may share a process."""
    answers = [path.read_text() for path in (ROOT / "tests" / "content" / "answers").rglob("right_*.py")]
    harmless = [
        source for source in answers if has_no_side_effects([source], [*OWN, "causal_mask", "multi_head", "block"])
    ]

    assert len(harmless) >= 0.7 * len(answers)


def test_the_references_have_no_side_effects():
    """A learner who writes as the course does is served by one process."""
    for path in (ROOT / "solutions" / "core").glob("*.py"):
        if not re.search("test_|_mistakes|_pictures", path.name):
            assert has_no_side_effects([path.read_text()], OWN), path.name


def test_a_source_that_is_nested_too_deeply_may_do_anything():
    """A learner's other file may raise the limit of depth, and import it; what is no Python is never run."""
    assert not has_no_side_effects([f"x = {'-' * 50_000}1\n"], OWN)
    assert has_no_side_effects(["x = (\n"], OWN)
