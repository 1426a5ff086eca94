"""grader.source.scopes: a local variable that is named as a module, and read by a function within the function."""

import pytest

from grader.source.forbidden_calls import find_forbidden_calls

LOCAL = {
    "lambda":
        "import math as m, copy, time\ndef softmax(x, dim=-1):\n    m = x.exp()\n    f = lambda: m / 2\n"
        "    return f()\n",
    "inner":
        "import math as m, copy, time\ndef softmax(x, dim=-1):\n    copy = x.clone()\n    def total():\n"
        "        return sum(copy)\n    return total()\n",
    "arg":
        "import copy\ndef softmax(copy, dim=-1):\n    def total():\n        return sum(copy)\n"
        "    return total()\n",
    "comp in lambda":
        "import time\ndef softmax(x, dim=-1):\n    time = x.sum()\n    return (lambda: [time for i in x])()\n",
    "two deep":
        "import time\ndef softmax(x, dim=-1):\n    time = x.sum()\n    def a():\n        def b():\n"
        "            return print(time)\n        return b()\n    return a()\n",
    "loop":
        "import time\ndef softmax(x, dim=-1):\n    for time in range(3):\n        f = lambda y: y + (time)\n"
        "    return f(x)\n",
    "class inside":
        "import copy\ndef softmax(x, dim=-1):\n    copy = x + 1\n    class A:\n        def f(self):\n"
        "            return print(copy)\n    return A().f()\n",
}  # fmt: skip
MODULE = {
    "the module":
        "import torch\ndef softmax(x, dim=-1):\n    return (lambda: print(torch))()\n",
    "given module":
        "import torch, math as m\ndef softmax(x, dim=-1):\n    m = torch\n    return (lambda: print(m))()\n",
    "global":
        "import copy as m\ndef softmax(x, dim=-1):\n    global m\n    m = 1\n"
        "    return (lambda: print(m))()\n",
    "inner global":
        "import torch as m\ndef softmax(x, dim=-1):\n    m = 1\n    def f():\n        global m\n"
        "        return print(m)\n    return f()\n",
    "class level":
        "import torch as m\ndef softmax(x, dim=-1):\n    class A:\n        m = 1\n        def f(self):\n"
        "            return print(m)\n    return A().f()\n",
    "nonlocal":
        "import torch as m\nimport torch\ndef softmax(x, dim=-1):\n    m = 1\n    def g():\n"
        "        nonlocal m\n        m = torch\n    g()\n    return (lambda: print(m))()\n",
    "inner import":
        "import math as m\ndef softmax(x, dim=-1):\n    m = 1\n    def f():\n        import torch as m\n"
        "        return print(m)\n    return f()\n",
    "other function's":
        "import torch as m\ndef h(x):\n    m = 1\n    return m\ndef softmax(x, dim=-1):\n"
        "    return (lambda: print(m))()\n",
    "comp in class":
        "import torch as m\ndef softmax(x, dim=-1):\n    class A:\n        m = [1]\n"
        "        n = [print(m) for i in x]\n    return A\n",
    "default":
        "import torch as m\ndef softmax(x, dim=-1):\n    f = lambda m=m: print(m)\n    return f()\n",
    "walrus":
        "import torch as m, torch\ndef softmax(x, dim=-1):\n    (m := torch)\n"
        "    return (lambda: print(m))()\n",
    "del":
        "import torch as m\ndef softmax(x, dim=-1):\n    [0 for m in x]\n    return (lambda: print(m))()\n",
}  # fmt: skip


def find(source):
    return find_forbidden_calls(source, ["softmax"], lambda _: None).get("softmax")


@pytest.mark.parametrize("case", LOCAL)
def test_a_variable_of_the_function_around_is_no_module(case):
    """A lambda or a function in it reads what the function around it has bound."""
    assert find(LOCAL[case]) is None


@pytest.mark.parametrize("case", MODULE)
def test_what_may_be_the_module_is_taken_for_it(case):
    """A name that is the module's, a class's, another function's, or given a module."""
    call = find(MODULE[case])

    assert call is not None and call.hides
