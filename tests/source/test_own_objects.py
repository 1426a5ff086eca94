"""grader.source.own_objects: where a name means an object of one's own, and who could make another of it."""

from functools import partial

import pytest

from grader.source.forbidden_calls import find_forbidden_calls
from grader.worker.watch.call_monitor import matches

# In each a method looks up a name in what it takes for its own object, and is called with a generator, or an error.
TAKEN = {
    "taken":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "A.look(g, 'frame')\n",
    "via type":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "type(A()).look(g, 'frame')\n",
    "type variable":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "t = type(A())\nt.look(g, 'frame')\n",
    "getattr type":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "getattr(type(A()), 'look')(g, 'frame')\n",
    "cls getattr":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    @classmethod\n"
        "    def m(cls, n):\n        return getattr(cls, f'loo{n}')\ng = (n for n in ())\n"
        "A.m('k')(g, 'frame')\n",
    "cls vars":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    @classmethod\n"
        "    def m(cls):\n        return vars(cls)['look']\ng = (n for n in ())\nA.m()(g, 'frame')\n",
    "super of class":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\nclass B(A):\n"
        "    @classmethod\n    def m(cls, g):\n        return super().look(g, 'frame')\ng = (n for n in ())\n"
        "B.m(g)\n",
    "super B B":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\nclass B(A):\n    pass\n"
        "g = (n for n in ())\nsuper(B, B).look(g, 'frame')\n",
    "class attr":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    g = look\n"
        "g = (n for n in ())\nA.g(g, 'frame')\n",
    "class attr list":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    g = [look]\n"
        "g = (n for n in ())\nA.g[0](g, 'frame')\n",
    "default":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n"
        "    def h(self, f=look):\n        return f\ng = (n for n in ())\nA().h()(g, 'frame')\n",
    "mangled":
        "class A:\n    def __look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "A._A__look(g, 'frame')\n",
    "property":
        "class A:\n    n = 'frame'\n    @property\n    def look(self):\n"
        "        return getattr(self, f'gi_{A.n}')\ng = (n for n in ())\nA.look.fget(g)\n",
    "global":
        "class A:\n    global look\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n"
        "g = (n for n in ())\nlook(g, 'frame')\n",
    "shown and asked":
        "class A:\n    def __repr__(self):\n        return ''.join(f'{v.gi}' for k, v in vars(self).items())\n"
        "KINDS = {'a': A}\nKINDS['a'].__repr__((n for n in ()))\n",
    "shown and kept":
        "class A:\n    def __repr__(self):\n        return ''.join(f'{k}' for k, v in vars(self).items() if put(v))\n"
        "KINDS = {'a': A}\nKINDS['a'].__repr__((n for n in ()))\n",
    "shown by one's own":
        "class A:\n    def __repr__(self):\n        return str(vars(self))\n"
        "def str(x):\n    return x\nKINDS = {'a': A}\nKINDS['a'].__repr__((n for n in ()))\n",
    "shown in a form of one's own":
        "class A:\n    def __repr__(self):\n        return f'{vars(self):{self.n}}'\n"
        "KINDS = {'a': A}\nKINDS['a'].__repr__((n for n in ()))\n",
    "names of the interpreter, in a loop":
        "class A:\n    def __init__(self, x, v):\n        for n in ('a', '__class__'):\n            setattr(x, n, v)\n"
        "KINDS = [A]\n",
    "of an item":
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(Generic[T]):\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nA[int].look(g, 'frame')\n",
    "of a default":
        "from collections import defaultdict\nclass A:\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nd = defaultdict(A)\n"
        "d.default_factory.look(g, 'frame')\n",
    "a super of a class, kept":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\nclass B(A):\n"
        "    @classmethod\n    def m(cls, g):\n        s = super()\n        return s.look(g, 'frame')\n"
        "g = (n for n in ())\nB.m(g)\n",
    "fields":
        "from dataclasses import dataclass, field, fields\n@dataclass\nclass A:\n    n: int = 1\n"
        "    def look(self, n):\n        return getattr(self, f'gi_{n}')\n@dataclass\nclass B:\n"
        "    a: A = field(default_factory=A)\ng = (n for n in ())\n"
        "fields(B())[0].default_factory.look(g, 'frame')\n",
    "fields type":
        "from dataclasses import dataclass, field, fields\n@dataclass\nclass A:\n    n: int = 1\n"
        "    def look(self, n):\n        return getattr(self, f'gi_{n}')\n@dataclass\nclass B:\n"
        "    a: A = None\ng = (n for n in ())\nfields(B())[0].type.look(g, 'frame')\n",
    "class decorator":
        "K = []\ndef keep(c):\n    K.append(c)\n    return c\n@keep\nclass A:\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nK[0].look(g, 'frame')\n",
    "own property":
        "K = []\ndef property(f):\n    K.append(f)\n    return f\nclass A:\n    @property\n"
        "    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "K[0](g, 'frame')\n",
    "own isinstance":
        "K = []\ndef isinstance(a, b):\n    K.append(b)\nclass A:\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nisinstance(1, A)\n"
        "K[0].look(g, 'frame')\n",
    "globals":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "globals()['A'].look(g, 'frame')\n",
    "self import":
        "import softmax as me\nclass A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n"
        "g = (n for n in ())\nme.A.look(g, 'frame')\n",
    "inner class":
        "class O:\n    class A:\n        def look(self, n):\n            return getattr(self, f'gi_{n}')\n"
        "g = (n for n in ())\nO.A.look(g, 'frame')\n",
    "self of function":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ndef f(self):\n"
        "    return A.look(self, 'frame')\ng = (n for n in ())\nf(g)\n",
    "cls as self":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    @classmethod\n"
        "    def m(cls):\n        return A.look(cls, 'x')\nA.m()\n",
    "through another":
        "class B:\n    def f(self):\n        return A.look(self, 'frame')\nclass A:\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n[k] = [B]\nk.f(g)\n",
    "rebound self":
        "class A:\n    def look(self, n, o):\n        self = o\n        return getattr(self, f'gi_{n}')\n"
        "g = (n for n in ())\nA().look('frame', g)\n",
    "inner self":
        "class A:\n    def look(self, n, o):\n        return (lambda self: getattr(self, f'gi_{n}'))(o)\n"
        "g = (n for n in ())\nA().look('frame', g)\n",
    "comp self":
        "class A:\n    def look(self, n, o):\n        return [getattr(self, f'gi_{n}') for self in [o]]\n"
        "g = (n for n in ())\nA().look('frame', g)\n",
    "leading base":
        "class A:\n    def look(self, n):\n        return getattr(self, f'ob{n}')\n"
        "class B(A, AttributeError):\n    pass\ntry:\n    1\nexcept B as e:\n    e.look('j')\n",
    "__class__ text":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "getattr(A(), '__class__').look(g, 'frame')\n",
    "match __class__":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "match A():\n    case object(__class__=k):\n        k.look(g, 'frame')\n",
    "set_name":
        "class B:\n    def __set_name__(self, owner, name):\n        owner.look((n for n in ()), 'frame')\n"
        "class A:\n    b = B()\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\nA()\n",
    "subclasshook":
        "import abc\nclass B(abc.ABC):\n    @classmethod\n    def __subclasshook__(cls, c):\n"
        "        c.look((n for n in ()), 'frame')\nclass A:\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\nisinstance(A(), B)\n",
    "setter off":
        "class A:\n    def f(self):\n        return 1\n    @f.setter\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\nA()\n",
    "other file takes": {
        "softmax":
            "import helper\ng = (n for n in ())\nhelper.A.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
    },
    "other file takes 2": {
        "softmax":
            "from helper import A\ng = (n for n in ())\nk = A\nk.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
    },
    "other file type": {
        "softmax":
            "from helper import a\ng = (n for n in ())\ntype(a).look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\na = A()\n",
    },
    "other file derives": {
        "softmax":
            "from helper import A\nclass B(A, AttributeError):\n    pass\nB().look('j')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
    },
    "static twice":
        "import abc\nclass A:\n    @staticmethod\n    @abc.abstractmethod\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nA().look(g, 'frame')\n",
    "wrapped":
        "import torch\nclass A:\n    @torch.no_grad()\n    def look(self, n):\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nA().look.__wrapped__(g, 'frame')\n",
    "third file type": {
        "softmax":
            "from helper import A\nfrom other import call\ng = (n for n in ())\ncall(A(), g)\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
        "other":
            "def call(a, g):\n    t = type(a)\n    return t.look(g, 'frame')\n",
    },
    "renamed": {
        "softmax":
            "from helper import A as Z\ng = (n for n in ())\n[k] = [Z]\nk.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
    },
    "star": {
        "softmax":
            "from helper import *\ng = (n for n in ())\n[k] = [A]\nk.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
    },
    "handed on": {
        "softmax":
            "from other import Z\ng = (n for n in ())\nZ.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
        "other":
            "from helper import A\nfrom helper import A as Z\n",
    },
    "handed by alias": {
        "softmax":
            "from other import Z\ng = (n for n in ())\nZ.look(g, 'frame')\n",
        "helper":
            "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n",
        "other":
            "from helper import A\nZ = A\n",
    },
    "nonlocal":
        "class A:\n    def look(self, n, o):\n        class X:\n            def m(s):\n"
        "                nonlocal self\n                self = o\n        X().m()\n"
        "        return getattr(self, f'gi_{n}')\ng = (n for n in ())\nA().look('frame', g)\n",
    "cls args":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    @classmethod\n"
        "    def m(*a):\n        return a[0]\ng = (n for n in ())\nA.m().look(g, 'frame')\n",
    "eq":
        "class B:\n    def __eq__(self, o):\n        o.look((n for n in ()), 'frame')\nclass A:\n"
        "    def look(self, n):\n        return getattr(self, f'gi_{n}')\ntype(A()) == B()\n",
    "mro":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\ng = (n for n in ())\n"
        "A.mro()[0].look(g, 'frame')\n",
    "cls in nested class":
        "class A:\n    def look(self, n):\n        return getattr(self, f'gi_{n}')\n    @classmethod\n"
        "    def m(cls, g):\n        class X:\n            def h(self):\n                k = cls\n"
        "                return k.look(g, 'frame')\n        return X().h()\ng = (n for n in ())\nA.m(g)\n",
    "new":
        "class A:\n    def __new__(cls, g):\n        K.append(cls)\n        return object.__new__(cls)\n"
        "    def look(self, n):\n        return getattr(self, f'gi_{n}')\nK = []\ng = (n for n in ())\nA(g)\n"
        "K[0].look(g, 'frame')\n",
}  # fmt: skip
KEPT = {
    "names in a loop":
        "class A:\n    def __init__(self):\n        for n in ('wq', 'wk'):\n            setattr(self, n, 1)\n"
        "KINDS = {'a': A}\nKINDS['a']()\n",
    "only shown":
        "from pprint import pformat\nclass A:\n    def __str__(self):\n        return f'{vars(self)}'\n"
        "    def __repr__(self):\n        return str(self.__dict__) + pformat(vars(self))\n"
        "    def text(self):\n        return ', '.join(\n"
        "            f'{k}={v}' for k, v in vars(self).items() if not k.startswith('_'))\n"
        "KINDS = {'a': A}\nKINDS['a']()\n",
    "enum":
        "from enum import Enum\nclass K(Enum):\n    A = 1\n    B = 2\nclass N:\n    def __init__(self):\n"
        "        self.k = K.A\n    def __repr__(self):\n        return str(vars(self)) + str(self.__dict__)\n"
        "N()\n",
    "factory":
        "from dataclasses import dataclass, field\n@dataclass\nclass S:\n    n: int = 1\n@dataclass\n"
        "class C:\n    s: S = field(default_factory=S)\n    def __str__(self):\n"
        "        return ', '.join(f'{k}={v}' for k, v in vars(self).items())\nC()\n",
    "setter":
        "class N:\n    @property\n    def g(self):\n        return self._g\n    @g.setter\n"
        "    def g(self, v):\n        self._g = v\n    @g.deleter\n    def g(self):\n        self._g = 0\n"
        "    def __repr__(self):\n        return f'{vars(self)}'\nN()\n",
    "class in a list":
        "class A:\n    pass\nclass N:\n    def f(self, n):\n        return getattr(self, f'w{n}')\n"
        "KINDS = [A]\nN()\n",
    "constant":
        "class N:\n    SIZE = 3\n    def f(self):\n"
        "        return vars(self), type(self).SIZE, self.__class__.SIZE\nprint(N.SIZE)\n",
    "enum loop":
        "from enum import Enum\nclass K(Enum):\n    A = 1\n    def show(self):\n"
        "        return self.__dict__\nfor k in K:\n    print(k, K['A'], K(1), K.A in K, len(K), list(K))\n",
    "classmethod":
        "class C:\n    def __init__(self, n=1):\n        self.n = n\n    @classmethod\n"
        "    def make(cls, n):\n        return cls(n=n)\n    @classmethod\n    def two(cls):\n"
        "        return cls.make(2)\n    def __repr__(self):\n        return f'{type(self)} {vars(self)}'\n"
        "C.make(1)\n",
    "nested use":
        "class C:\n    def f(self):\n        def show():\n            return vars(self)\n"
        "        return [getattr(self, f'w{i}') for i in range(3)], show(), lambda: self.__dict__\nC()\n",
    "base called":
        "class A:\n    def __init__(self):\n        self.a = 1\nclass B(A):\n    def __init__(self):\n"
        "        A.__init__(self)\n        super().__init__()\n"
        "        self.w = getattr(self, f'a{id(self)}', 0)\n    def same(self, o):\n"
        "        return type(self) is type(o) and type(o) == B and isinstance(o, (A, B)) and vars(self)\n"
        "B()\n",
    "other function has self":
        "def helper(x, self):\n    return x\nclass N:\n    def f(self):\n        return vars(self)\nN()\n",
    "error":
        "class E(ValueError):\n    pass\nclass N:\n    def f(self):\n        try:\n            raise E\n"
        "        except E as e:\n            raise E('x') from e\n        return vars(self)\nN()\n",
    "static":
        "class N:\n    @staticmethod\n    def make(a):\n        return a\n    def f(self):\n"
        "        return vars(self), N.make(1)\nN.make(2)\n",
    "match":
        "class N:\n    def f(self, o):\n        match o:\n            case N():\n"
        "                return vars(self)\nN()\n",
    "torch class":
        "from torch import nn\nclass M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        for i in range(3):\n            setattr(self, f'l{i}', nn.Linear(1, 1))\n"
        "    def forward(self, x):\n        return getattr(self, f'l{len(x)}')(x)\n"
        "BLOCKS = {'m': nn.Linear}\nM()\n",
    "two files": {
        "softmax":
            "from helper import A\nimport helper\nclass B(A):\n    def __init__(self):\n"
            "        super().__init__()\n        self.a = helper.A()\n"
            "print(isinstance(B(), A), type(B()).__name__)\n",
        "helper":
            "class A:\n    def __init__(self):\n        self.w1 = 1\n    def f(self, n):\n"
            "        return getattr(self, f'w{n}'), vars(self)\nA()\n",
    },
    "two files, kinds": {
        "softmax":
            "from helper import A\nclass C:\n    pass\nclass D:\n    pass\nKINDS = {'c': C, 'd': D}\n"
            "KINDS['c']()\nA().f(1)\n",
        "helper":
            "class A:\n    def __init__(self):\n        self.w1 = 1\n    def f(self, n):\n"
            "        return getattr(self, f'w{n}'), vars(self)\nA()\n",
    },
    "three files": {
        "softmax":
            "from helper import A\nfrom other import O\nprint(A(), O())\n",
        "helper":
            "class A:\n    def __init__(self):\n        self.w1 = 1\n    def f(self, n):\n"
            "        return getattr(self, f'w{n}'), vars(self)\nA()\n",
        "other":
            "class O:\n    def __repr__(self):\n        return f'{vars(self)}'\n",
    },
}  # fmt: skip


def find(files):
    """The first call that hides something, in reach of the lesson's function."""
    files = files if isinstance(files, dict) else {"softmax": files}
    others = {name: (f"{name}.py", text) for name, text in files.items() if name != "softmax"}
    source = files["softmax"] + ("" if "def softmax" in files["softmax"] else "def softmax(x, dim=-1):\n    return x\n")
    return find_forbidden_calls(source, ["softmax"], partial(matches, forbids=("softmax",)), others, "softmax").get(
        "softmax"
    )


@pytest.mark.parametrize("case", TAKEN)
def test_a_class_in_other_hands_is_trusted_with_no_object(case):
    """What a method does with its object it could do with any, if somebody has the method without one."""
    call = find(TAKEN[case])

    assert call is not None and call.hides


@pytest.mark.parametrize("case", KEPT)
def test_an_object_of_ones_own_may_show_what_it_has(case):
    """`vars(self)`, and an attribute with a number in its name, whatever is done with other classes."""
    assert find(KEPT[case]) is None
