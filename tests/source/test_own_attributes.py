"""grader.source.own_classes: attributes that an object of one's own is given by names that are told."""

import pytest

from grader.source.forbidden_calls import find_forbidden_calls

TOLD = {
    "k beside":
        "class C:\n    def __init__(self, **kwargs):\n        for k, v in kwargs.items():\n"
        "            setattr(self, k, v)\ndef f(x):\n    q, k, v = x\n    return k\nC(a=1)\n",
    "update":
        "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n"
        "    def d(self):\n"
        "        return {k: v.d() if isinstance(v, C) else v for k, v in self.__dict__.items()}\n"
        "C(a=1, b=C(c=2))\n",
    "vars update":
        "class C:\n    def __init__(self, **kwargs):\n        vars(self).update(kwargs)\nC(a=1)\n",
    "update by names":
        "class C:\n    def __init__(self):\n        self.__dict__.update(a=1, b=2)\n"
        "        self.__dict__.update({'c': 3})\nC()\n",
    "item":
        "class C:\n    def __init__(self, **kwargs):\n        for key, value in kwargs.items():\n"
        "            self.__dict__[key] = value\ndef g(key):\n    return key\nC(a=1)\n",
    "list beside":
        "class C:\n    def __init__(self):\n        for n in ('a', 'b'):\n            setattr(self, n, 1)\n"
        "        [setattr(self, m, 1) for m in ('c',)]\ndef g(n, m):\n    return n\nC()\n",
    "inner":
        "class C:\n    def __init__(self):\n        def make():\n            for n in ('a', 'b'):\n"
        "                setattr(self, n, 1)\n        make()\nn = 3\nC()\n",
}  # fmt: skip
UNREAD = {
    "comp then":
        "k = input()\nclass C:\n    def __init__(self):\n        [1 for k in ('a',)]\n"
        "        setattr(self, k, 1)\nC()\n",
    "class level":
        "k = input()\nclass C:\n    def __init__(self):\n        class X:\n            for k in ('a',):\n"
        "                pass\n        setattr(self, k, 1)\nC()\n",
    "nested":
        "k = input()\nclass C:\n    def __init__(self):\n        def f():\n            for k in ('a',):\n"
        "                pass\n        setattr(self, k, 1)\nC()\n",
    "global":
        "def g():\n    global k\n    k = input()\nclass C:\n    def __init__(self):\n        global k\n"
        "        for k in ('a',):\n            g()\n            setattr(self, k, 1)\nC()\n",
    "nonlocal":
        "class C:\n    def __init__(self):\n        def g():\n            nonlocal k\n"
        "            k = input()\n        for k in ('a',):\n            g()\n"
        "            setattr(self, k, 1)\nC()\n",
    "kwargs rebound":
        "class C:\n    def __init__(self, **kwargs):\n        kwargs = {input(): 1}\n"
        "        for k, v in kwargs.items():\n            setattr(self, k, v)\nC(a=1)\n",
    "kwargs filled":
        "class C:\n    def __init__(self, **kwargs):\n        kwargs[input()] = 1\n"
        "        self.__dict__.update(kwargs)\nC(a=1)\n",
    "kwargs in other hands":
        "class C:\n    def __init__(self, **kwargs):\n        fill(kwargs)\n"
        "        for k, v in kwargs.items():\n            setattr(self, k, v)\ndef fill(d):\n"
        "    d[input()] = 1\nC(a=1)\n",
    "kwargs updated":
        "class C:\n    def __init__(self, **kwargs):\n        kwargs.update([(input(), 1)])\n"
        "        for k, v in kwargs.items():\n            setattr(self, k, v)\nC(a=1)\n",
    "double star":
        "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n"
        "C(**dict([(input(), 1)]))\n",
    "dict of any":
        "class C:\n    def __init__(self, d):\n        self.__dict__.update(d)\nC(dict([(input(), 1)]))\n",
    "other kwargs":
        "class C:\n    def __init__(self, kwargs):\n        self.__dict__.update(kwargs)\ndef f(**kwargs):\n"
        "    pass\nC(dict([(input(), 1)]))\n",
    "update handed on":
        "class C:\n    def __init__(self, n):\n        u = self.__dict__.update\n        u(n)\n"
        "C(dict([(input(), 1)]))\n",
    "update pairs":
        "class C:\n    def __init__(self, n):\n        self.__dict__.update([(n, 1)])\nC(input())\n",
    "class in other hands":
        "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n[k] = [C]\n"
        "k(a=1)\nk.__init__(print, b=2)\n",
    "other file": {
        "softmax":
            "from helper import C\nC(**dict([(input(), 1)]))\n",
        "helper":
            "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\nC(a=1)\n",
    },
    "partial":
        "import functools\nclass C:\n    def __init__(self, **kwargs):\n"
        "        self.__dict__.update(kwargs)\nfunctools.partial(C, a=1)(b=1)\nfunctools.reduce(C, [])\n",
    "underscore":
        "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n"
        "C(__reduce_x__=1)\n",
}  # fmt: skip


def find(files):
    files = files if isinstance(files, dict) else {"softmax": files}
    others = {name: (f"{name}.py", text) for name, text in files.items() if name != "softmax"}
    source = files["softmax"] + "def softmax(x, dim=-1):\n    return x\n"
    return find_forbidden_calls(source, ["softmax"], lambda _: None, others, "softmax").get("softmax")


@pytest.mark.parametrize("case", TOLD)
def test_names_that_stand_in_the_file_may_be_given(case):
    """Each function has its own variables, and arguments have the names that calls give them."""
    assert find(TOLD[case]) is None


@pytest.mark.parametrize("case", UNREAD)
def test_a_name_that_nobody_reads_hides_a_call(case):
    """A variable that another scope binds, and a dictionary that something else may fill."""
    call = find(UNREAD[case])

    assert call is not None and call.hides
