"""Which sources' functions are free of memory, so that their calls may be made in any order."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.source.purity import is_pure

ROOT = Path(__file__).resolve().parents[2]

PURE = {
    "a function": "def f(x, dim=-1, scale=None):\n    y = []\n    y.append(x)\n    return y[0]\n",
    "constants": 'import math\nEPS = 1e-5\nINF = float("inf")\nSHAPE = (2, -3)\nPI = math.pi\n',
    "a class": "from torch import nn\nclass Block(nn.Module):\n    size = 3\n    def forward(self, x):\n"
    "        self.last = x\n        return x\n",
    "a decorator of torch": "import torch\n@torch.no_grad()\ndef f(x):\n    return x\n",
    "a trial behind the guard": 'def f(x):\n    return x\nif __name__ == "__main__":\n    print(f(1))\n',
    "keys and values that are kept": "def f(x, cache=None):\n    return x, (*(cache or ()), x)\n",
    "random numbers": "import torch\ndef f(x):\n    return torch.randn(3)\n",
    "dropout": "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n        self.d = nn.Dropout(0.1)\n",
    "a docstring": '"""What this is."""\n',
    "annotations": "from torch import Tensor, no_grad\n@no_grad()\ndef f(x: Tensor, n: list[int] | None = None) -> "
    "tuple[Tensor, ...]:\n    y: 'Tensor' = x\n    return y, y\n",
}
IMPURE = {
    "a list as default": "def train(model, losses=[]):\n    losses.append(1)\n    return losses\n",
    "a keyword's default": "def f(x, *, seen={}):\n    return seen.setdefault('x', x)\n",
    "a made default": "def f(x, table=dict()):\n    return table.setdefault(0, x)\n",
    "a lambda's default": "f = 0\ndef g(x):\n    return (lambda y, seen=[]: seen.append(y))(x)\n",
    "a global": "count = 0\ndef f(x):\n    global count\n    count += 1\n    return x * count\n",
    "a list at the top": "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)\n",
    "an object at the top": "import torch\ntable = torch.zeros(9)\ndef f(x):\n    table.add_(1)\n    return table\n",
    "a function made at the top": "def make():\n    seen = []\n    return seen.append\nf = make()\n",
    "a closure made by a decorator": "def counted(f):\n    seen = []\n    def g(x):\n        seen.append(x)\n"
    "        return len(seen)\n    return g\n@counted\ndef f(x):\n    return x\n",
    "a list of a class": "class A:\n    seen = []\n    def f(self, x):\n        self.seen.append(x)\n",
    "a cache": "from functools import lru_cache\n@lru_cache\ndef f(x):\n    return [x]\n",
    "a loop at the top": "for i in range(3):\n    x = i\n",
    "a branch at the top": "import torch\nif torch.get_num_threads():\n    x = []\n",
    "a decorator of one's own by a known name": "def property(f):\n    seen = []\n"
    "    return lambda x: seen.append(x) or f(x)\n@property\ndef f(x):\n    return x\n",
    "a known decorator from elsewhere": "from helper import memory as no_grad\n@no_grad\ndef f(x):\n    return x\n",
    "a number that is none": "def float():\n    return []\nseen = float()\ndef f(x):\n    return seen.append(x)\n",
    "a list made in an annotation": "note: (seen := [])\ndef f(x):\n    return seen.append(x)\n",
    "a list made where a result is announced": "def f(x) -> (seen := []):\n    return seen.append(x)\n",
    "a list made beside a parameter": "def f(x: (seen := [])):\n    return seen.append(x)\n",
    "a list made in an annotation of a class": "class A:\n    kept: (seen := [])\n",
    "a call in an annotation": "import made\ndef f(x: made.memory()):\n    return x\n",
    "what is printed": "def f(x):\n    print(x)\n    return x\n",
    "no Python": "def f(x:\n",
}


@pytest.mark.parametrize("what", PURE)
def test_what_remembers_nothing_is_pure(what):
    """Its calls know nothing of each other."""
    assert is_pure([PURE[what]])


@pytest.mark.parametrize("what", IMPURE)
def test_what_might_remember_is_not(what):
    """Whatever might carry something from one call to the next is taken to do so; beside a pure source, too."""
    assert not is_pure([IMPURE[what]])
    assert not is_pure([PURE["a function"], IMPURE[what]])


@pytest.mark.slow
def test_most_answers_of_learners_are_pure():
    """What learners write is hardly ever kept from being asked ahead."""
    sources = [path.read_text() for path in (ROOT / "tests" / "content" / "answers").rglob("*.py")]

    assert sum(is_pure([source]) for source in sources) > 0.85 * len(sources)
