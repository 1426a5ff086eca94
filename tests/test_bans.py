"""Forbidden calls, read from the source: what counts and what does not."""

from __future__ import annotations

import pytest

from grader.judge.bans import find_ban

FORBIDS = ("softmax", "log_softmax")
OFFENCES = {
    "by name": "import torch\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n",
    "as a method": "def softmax(x, dim=-1):\n    return x.softmax(dim)\n",
    "under an alias": "from torch.nn.functional import softmax as s\ndef softmax(x, dim=-1):\n    return s(x, dim)\n",
    "as a class": "from torch import nn\ndef softmax(x, dim=-1):\n    return nn.Softmax(dim)(x)\n",
    "as an operator": "import torch\ndef softmax(x, dim=-1):\n    return torch.ops.aten._softmax(x, dim, False)\n",
    "by getattr": "import torch\ndef softmax(x, dim=-1):\n    return getattr(torch, 'softmax')(x, dim)\n",
    "in a helper": "import torch\ndef h(x):\n    return torch.log_softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return h(x).exp()\n",
    "through a variable": "import torch\nf = torch.softmax\ndef softmax(x, dim=-1):\n    return f(x, dim)\n",
}
INNOCENT = {
    "its own name": "def softmax(x, dim=-1):\n    return softmax(x)\n",
    "a comparison behind the guard": "import torch\ndef softmax(x, dim=-1):\n    return x\n"
    "if __name__ == '__main__':\n    print(torch.softmax(x, 0))\n",
    "a helper that nothing calls": "import torch\ndef compare(x):\n    return torch.softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return x\n",
    "a docstring": "def softmax(x, dim=-1):\n    '''Like torch.softmax.'''\n    return x\n",
    "a comment": "def softmax(x, dim=-1):\n    return x  # torch.softmax\n",
    "one's own lesson": "from softmax import softmax as mine\ndef softmax(x, dim=-1):\n    return mine(x, dim)\n",
    "an attribute of one's own": "class A:\n    def f(self):\n        return self.softmax\n"
    "def softmax(x, dim=-1):\n    return A().f()\n",
    "no Python at all": "def softmax(:\n",
}


@pytest.mark.parametrize("case", OFFENCES)
def test_a_forbidden_call_in_reach_is_found(case):
    """Whatever way it is called, the ban is found with its line."""
    ban = find_ban(OFFENCES[case], "softmax", FORBIDS)

    assert ban is not None and ban.name in FORBIDS
    assert "oftmax" in OFFENCES[case].splitlines()[ban.line - 1] or ban.line > 1


@pytest.mark.parametrize("case", INNOCENT)
def test_what_a_function_cannot_reach_is_no_offence(case):
    """Comparing with torch outside the exercise's function is good practice."""
    assert find_ban(INNOCENT[case], "softmax", FORBIDS) is None


def test_where_nothing_is_forbidden_nothing_is_found():
    """A lesson without bans has none."""
    assert find_ban(OFFENCES["by name"], "softmax", ()) is None
