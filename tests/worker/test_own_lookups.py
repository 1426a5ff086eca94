"""Names that stand nowhere are looked up in objects of the learner's own alone, in whosever hands a method is."""

import re

import pytest
from support.factories import course
from support.watched_softmax import complete, find, load

from grader.worker.watch.rewritten_lookups import may_look_up

# the last is what Python makes of any error while a class is told its names
REFUSED = re.compile(
    r"builtins\.(getattr|setattr|vars|locals)|object\.(__dict__|__bases__|__setattr__|self|obj|_module|parser|_C)"
    r"|'__builtins__'|.* is not looked up in .*"
    r"|'t'|descriptor '\w+' requires .*"
    r"|'B' object has no attribute 'gi_frame'|Error calling __set_name__ on 'B' instance 'b' in 'A'"
)
UNKNOWN = "def input(end='etubirttateg'):\n    return f'__{end[::-1]}__'\n"

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
        "KINDS = {'a': A}\nKINDS['a'].__repr__(object)\n",
    "shown and kept":
        "class A:\n    def __repr__(self):\n        return ''.join(f'{k}' for k, v in vars(self).items() if put(v))\n"
        "KINDS = {'a': A}\nKINDS['a'].__repr__(object)\n",
    "shown by one's own":
        "class A:\n    def __repr__(self):\n        return str(vars(self))\n"
        "def str(x):\n    return x\nKINDS = {'a': A}\nKINDS['a'].__repr__(object)\n",
    "shown in a form of one's own":
        "class A:\n    def __repr__(self):\n        return f'{vars(self):{self.n}}'\n"
        "KINDS = {'a': A}\nKINDS['a'].__repr__(object)\n",
    "names of the interpreter, in a loop":
        "class A:\n    def __init__(self, x, v):\n        for n in ('__class__', 'a'):\n            setattr(x, n, v)\n"
        "A(A, 1)\n",
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
        "class B(A, AttributeError):\n    pass\nB().look('j')\n",
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
            "from helper import A\nclass B(A, AttributeError):\n    pass\nB().look('frame')\n",
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
# In each a name is looked up, or set, that stands nowhere: what `input` gives.
UNREAD = {
    "a library's method of a class in hand":
        "from torch import nn\nf = nn.functional.dropout\n[nn.LSTM][0]._init_flat_weights(f)\n",
    "the same, of a class derived from it":
        "from torch import nn\nclass A(nn.LSTM):\n    pass\nclass B:\n    def _init_flat_weights(self):\n        pass\n"
        "f = nn.functional.dropout\nA._init_flat_weights(f)\n",
    "the same, told by its word":
        "from torch import nn\nf = nn.functional.dropout\n[nn.LSTM][0]._init_flat_weights(self=f)\n",
    "the same, looked up":
        "from torch import nn\nf = nn.functional.dropout\ngetattr([nn.LSTM][0], '_init_flat_weights')(f)\n",
    "the same, of a class's super":
        "from torch import nn\nclass A(nn.LSTM):\n    pass\nclass B(A):\n    pass\n"
        "f = nn.functional.dropout\nsuper(B, B)._init_flat_weights(f)\n",
    "the same, in a pattern":
        "from torch import nn\nf = nn.functional.dropout\nmatch [nn.LSTM][0]:\n"
        "    case object(_init_flat_weights=take):\n        take(f)\n",
    "the same, in a method of the class":
        "from torch import nn\nclass A(nn.LSTM):\n    def __init_subclass__(cls):\n"
        "        super()._init_flat_weights(nn.functional.dropout)\nclass B(A):\n    pass\n",
    "how a class of a library's begins":
        "from torch.distributions import Distribution\n[Distribution][0].__init__(print, validate_args=True)\n",
    "a name that lies about itself":
        "class S(str):\n    __hash__ = str.__hash__\n    def __eq__(self, other):\n        return True\n"
        "    def __ne__(self, other):\n        return True\nglobals().pop(S(input('snitliub')))\n",
    "a module behind a newer Python's":
        "import pathlib\nm = pathlib.Path('.').parser\n",
    "the module that an error names":
        "import torch\ntry:\n    torch.nothing\nexcept AttributeError as e:\n    f = e.obj.jit.trace\n",
    "the module that warnings hold":
        "import warnings\nf = warnings.catch_warnings()._module.re\n",
    "the module of an error":
        "try:\n    raise AttributeError(name='x', obj=object)\nexcept AttributeError as e:\n    e.obj\n",
    "a part, by all arguments": "from torch import nn\nnn.Linear(1, 1).get_buffer(**{'target': input()})\n",
    "a name of a method's function": "class A:\n    def f(self):\n        pass\ngetattr(A().f, input('slabolg'))\n",
    "a base that stands above":
        "from types import SimpleNamespace\nR = SimpleNamespace(__mro_entries__=lambda b: (super,))\n"
                                "class S(R):\n    pass\nS(int, 1)\n",
    "another base, later": "class A:\n    pass\nclass B:\n    pass\nA.__bases__ = (B,)\n",
    "a lookup that is told more than it says":
        "from operator import attrgetter\nsorted([object], key=attrgetter('__init__'))\n",
    "a layer that is pruned": "from torch.nn.utils import prune\nprune.l1_unstructured(object, input(), 1)\n",
    "a memory of one's own": "import copy\nclass M(dict):\n    def get(self, *k):\n        return object\n"
                             "copy.deepcopy(str.upper, M())\n",
    "a field that is called another name":
        "from dataclasses import dataclass, fields, replace\n@dataclass\nclass A:\n    a: int = 1\n"
        "fields(A)[0].name = input()\nreplace(A())\n",
    "the same, within": "import dataclasses as d\n@d.dataclass\nclass A:\n    a: int = 1\n@d.dataclass\nclass B:\n"
                        "    a: object\nd.fields(A)[0].name = input()\nd.asdict(B([A()]))\n",
    "a function of a file's": {
        "softmax": "import helper\ndef f(m):\n    return getattr(m, input('srehto')[2:-2])\nf(helper)\n",
        "helper": "from torch import exp as others\n",
    },
    "a class that the class of a base gives":
        "from abc import ABCMeta\nclass M(ABCMeta):\n    def __new__(m, name, bases, names):\n        return object\n"
        "class R:\n    def __mro_entries__(self, bases):\n        return ()\nclass X(R(), metaclass=M):\n    pass\n"
        "vars(X)\n",
    "a setter of what forwards":
        "A = type(list[int])\nA(object, ()).__setattr__(3, input(), 1)\n",
    "a module, in a pattern":
        "import warnings\nclass E:\n    def __eq__(self, m):\n        print(m)\ndef f(self):\n    match E():\n"
        "        case self._module:\n            pass\nf(warnings.catch_warnings())\n",
    "a name in code that nobody reads":
        "import torch\ndef f(x):\n    return 1\n    getattr(x, '__init_subclass__')\n"
        "getattr(torch.Tensor, input('ssalcbus_tini'))\n",
    "a name of a module's in code that nobody reads":
        "import torch\ndef f(x):\n    return 1\n    getattr(x, 'library')\n"
        "getattr(torch, input('yrarbil')[2:-2])\n",
    "the same, to be set":
        "import torch\ndef f(x):\n    return 1\n    setattr(x, 'exp', 1)\nsetattr(torch, input('pxe')[2:-2], 1)\n",
    "a module among a function's names":
        "import torch\ndef f():\n    t = torch\n    return [v for v in locals().values()]\nf()\n",
    "a module that comes among a function's names later":
        "import torch\ndef f():\n    d = locals()\n    t = torch\n    dir()\n    return d['t'].exp, locals()\nf()\n",
    "what another Namespace has":
        "from argparse import Namespace\nclass A:\n    def __init__(self):\n        self.n = 1\n"
        "k = type(Namespace())\nk.__init__(A(), **{input(): 1})\n",
    "a module, by a name that stands there": {
        "softmax": "import helper\ndef f(m):\n    setattr(m, 'SIZE', 1)\nf(helper)\n", "helper": "SIZE = 3\n",
    },
    "setting in other hands": "class A:\n    pass\nlist(map(setattr, [A()], [input('ssalc')], [int]))\n",
    "a lookup in other hands": "import functools\nfunctools.reduce(getattr, ['__class__', input('orm')[2:-2]], 1)\n",
    "what an alias of a type gives":
        "import typing\nclass A:\n    pass\ngetattr(typing.Annotated[type(A), 1], input('orm')[2:-2])\n",
    "what an alias of Python's own gives": "getattr(list[int], input('dneppa')[2:-2])\n",
    "a class of what forwards": "class G(type(list[int])):\n    pass\nG(object, ()).__dict__\n",
    "a class of what stands above": "class S(super):\n    pass\ngetattr(S(int, 1), input())\n",
    "a class of a file that forwards":
        "import codecs\nfrom tempfile import _TemporaryFileWrapper as W\nclass A(W):\n"
        "    pass\nA(object, '').__dict__\n",
    "a file with data alone": {
        "softmax": "import helper\ndef show(m):\n    return vars(m)\nshow(helper)\n",
        "helper": "SIZE = 3\n",
    },
    "Python's own functions, of the module": "globals()[input('snitliub')]['vars']\n",
    "the same, of its variables": "locals()[input('snitliub')]['vars']\n",
    "a part of a layer's": "from torch import nn\nnn.Linear(1, 1).get_buffer(input())\n",
    "a setter in a pattern": "match object:\n    case object(__setattr__=put):\n        put(object, input(), 1)\n",
    "a class that another name gives": {
        "softmax": "import helper\ndef f(q):\n    return 1\n    setattr(q, '__class__', 0)\n"
                   "class M:\n    pass\nsetattr(helper, input('ssalc'), M)\n",
        "helper": "SIZE = 3\n",
    },
    "an attribute of what is only called self":
        "class Mine:\n    _C = 1\ndef go(self):\n    return self._C\ngo(object)\n",
    "a method that a library's class is asked for":
        "from torch import nn\nclass A:\n    def f(self, n):\n"
        "        return nn.ParameterDict.__getitem__(self, n)\nA.f(object, input())\n",
    "a dictionary by a lookup": "getattr(object, '__dict__')\n",
    "a lookup that is handed on": "list(map(vars, [object]))\n",
    "a lookup under another name": "v = vars\nv(object)\n",
    "a module of another": "import torch\ngetattr(torch, input('krof')[2:-2])\n",
    "a library's function that is no other's":
        "import torch.nn.functional as F\ngetattr(F, ''.join(['handle_', 'torch_function']))\n",
    "a class that a metaclass gives":
        "A = object\nclass B(metaclass=lambda *_: A):\n    pass\nvars(B)\n",
    "names of arguments that stand nowhere":
        "class P:\n    def __init__(self, **sizes):\n        for name, size in sizes.items():\n"
        "            setattr(self, name, size)\nP(**{input(): 1})\n",
    "a lookup in a text":
        "f = getattr('', input())\n",
    "an attribute of a name that comes while it runs":
        "class T:\n    pass\nfor n in [input()]:\n    setattr(T, n, 1)\n",
    "a function that is handled as self":
        "try:\n    1 / 0\nexcept ArithmeticError as self:\n    getattr(self, input())\n",
    "one that a pattern calls self":
        "match print:\n    case self:\n        getattr(self, input())\n",
    "a lookup in what is only called self":
        "def f(self, n):\n    return getattr(self, n)\nf(print, input())\n",
    "an error of one's own":
        "class A(ValueError):\n    def f(self, n):\n        return getattr(self, n)\nA().f(input())\n",
    "one of no object":
        "class A:\n    @staticmethod\n    def f(self, n):\n        return getattr(self, n)\n"
        "A().f(print, input())\n",
    "a method that is taken of its class":
        "class A:\n    def f(self, n):\n        return getattr(self, n)\ng = A.f\ng(print, input())\n",
    "the same, of an object's":
        "class A:\n    def f(self, n):\n        return getattr(self, n)\ntype(A()).f(print, input())\n",
    "a class in other hands":
        "class A:\n    def f(self, n):\n        return getattr(self, n)\n[g] = [k.f for k in [A]]\n"
        "g(print, input())\n",
    "a class that is told of":
        "class B:\n    def __set_name__(self, owner, name):\n        owner.f(print, input())\nclass A:\n"
        "    b = B()\n    def f(self, n):\n        return getattr(self, n)\nA().f(input())\n",
    "a method of the class itself":
        "class A:\n    def f(self, n):\n        return getattr(self, n)\n    @classmethod\n"
        "    def g(cls, x, n):\n        return cls.f(x, n)\nA.g(print, input())\n",
    "any attribute of its own":
        "class A:\n    def __init__(self, n):\n        setattr(self, n, 1)\nA(input())\n",
    "one of a list, and another":
        "class A:\n    def __init__(self, name):\n        for name in ('wq', name):\n"
        "            setattr(self, name, 1)\nA(input())\n",
    "a method that is called by its class":
        "class A:\n    def f(self, n):\n        return getattr(self, n)\nA.f(print, input())\n",
    "any attribute by an object's dictionary":
        "def take(thing, name):\n    return thing.__dict__[name]\ntake(object, input())\n",
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
    "kwargs in other hands":
        "class C:\n    def __init__(self, **kwargs):\n        fill(kwargs)\n"
        "        for k, v in kwargs.items():\n            setattr(self, k, v)\ndef fill(d):\n"
        "    d[input()] = 1\nC(a=1)\n",
    "kwargs updated":
        "class C:\n    def __init__(self, **kwargs):\n        kwargs.update([(input(), 1)])\n"
        "        for k, v in kwargs.items():\n            setattr(self, k, v)\nC(a=1)\n",
}  # fmt: skip
KEPT = {
    "an object's obj":
        "class Node:\n    def __init__(self, obj):\n        self.obj = obj\nassert Node(3).obj == 3\n"
        "NAMES = globals()\nLATER = 4\nassert NAMES['LATER'] == 4 and 'LATER' in NAMES\n"
        "class Far:\n    __module__ = 'models'\n    def f(self, all):\n        all.append(self)\nFar().f([])\n",
    "wrappers, copies and fields":
        "import copy\nimport functools\nfrom dataclasses import asdict, astuple, dataclass, field, replace\n"
        "from operator import attrgetter, itemgetter, methodcaller\n"
        "def timed(f):\n    @functools.wraps(f)\n    def g(*a):\n        \"\"\"G.\"\"\"\n"
        "        return f(*a)\n    return g\n"
        "class Counted:\n    def __init__(self, f):\n        functools.update_wrapper(self, f)\n        self.f = f\n"
        "    def __call__(self, *a):\n        return self.f(*a)\n"
        "@timed\ndef one(x):\n    \"\"\"One.\"\"\"\n    return x\n@Counted\ndef two(x):\n    return x\n"
        "assert (one.__name__, one.__doc__, two.__name__, two(1)) == ('one', 'One.', 'two', 1)\n"
        "@dataclass(order=True)\nclass A:\n    n: int = 1\n    m: list = field(default_factory=list)\n"
        "    def __deepcopy__(self, memo):\n        return A(self.n, copy.deepcopy(self.m, memo))\n"
        "assert asdict(copy.deepcopy(A(2, [A()])))['m'] == [{'n': 1, 'm': []}] and replace(A(), n=3).n == 3\n"
        "assert astuple(A()) == (1, []) and sorted([A(2), A()], key=attrgetter('n'))[0].n == 1\n"
        "assert max(['a', 'B'], key=methodcaller('lower')) == 'B' and itemgetter(0)([1]) == 1\n",
    "dictionaries with attributes, and paths of names":
        "import functools, torch\nfrom operator import attrgetter\n"
        "class Config(dict):\n    __getattr__ = dict.get\n    __setattr__ = dict.__setitem__\n"
        "    __delattr__ = dict.__delitem__\n"
        "c = Config(a=1)\nc.b = 2\ndel c.a\nassert (c.a, c.b, getattr(c, 'b')) == (None, 2, 2)\n"
        "class P:\n    def __init__(self, x, y=2):\n        self.given = dict(locals())\n"
        "        for k, v in locals().items():\n            if k != 'self':\n                setattr(self, k, v)\n"
        "p = P(P(1))\nassert attrgetter('y', 'x.x')(p) == (2, 1)\n"
        "assert functools.reduce(getattr, 'x.y'.split('.'), p) == 2 and list(map(getattr, [p], ['y'])) == [2]\n"
        "class Attributes(dict):\n    def __init__(self, **given):\n        super().__init__(**given)\n"
        "        self.__dict__ = self\n"
        "a = Attributes(n=1)\na.m = 2\nassert (a['m'], a.n, vars(a)['n'], getattr(a, 'm')) == (2, 1, 1, 2)\n"
        "from argparse import Namespace\nargs = Namespace(n=1)\n"
        "assert vars(args) == {'n': 1} and 'n' in args and repr(args) == 'Namespace(n=1)'\n"
        "import logging\nlevel, kind = 'info', 'SGD'\nassert getattr(logging, level.upper()) == 20\n"
        "assert getattr(torch.optim, kind).__name__ == 'SGD'\n",
    "numbers of a file's": {
        "softmax": "import helper\ndef of(m):\n    return {n: getattr(m, n) for n in dir(m) if n.isupper()}\n"
                   "assert of(helper) == {'SIZE': 3}\n",
        "helper": "SIZE = 3\n",
    },
    "a dictionary that is filled, and looked at later":
        "class C:\n    def __init__(self, d):\n        held = self.__dict__\n        held.update(d)\n"
        "        self.later = 1\n        assert held['later'] == 1 and held is self.__dict__\n"
        "C(dict([('a', 1)]))\n",
    "a token that is called cls":
        "import torch\nfrom torch import nn\nclass V(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.head = nn.Linear(2, 2)\n    def forward(self, x):\n"
        "        cls = x[:, 0]\n        return self.head(cls)\n"
        "V()(torch.ones(1, 1, 2))\n",
    "functions that call what they are given self":
        "from torch import nn\nSEEN = []\ndef init(self):\n    SEEN.append(self)\ndef register(cls):\n"
        "    SEEN.append(cls)\n    return cls\n@register\ndef f():\n    pass\nnn.Linear(1, 1).apply(init)\n",
    "one that gives what another has":
        "import copy\nimport numpy as np\nimport torch\nclass W:\n    def __init__(self, inner):\n"
        "        object.__setattr__(self, 'inner', inner)\n    def __getattr__(self, name):\n"
        "        if name == 'inner':\n            raise AttributeError(name)\n"
        "        return getattr(self.inner, name)\n"
        "    def __array__(self, dtype=None, copy=None):\n        return self.inner.numpy()\n"
        "w = W(torch.ones(2))\nassert w.shape == (2,) and not hasattr(w, 'nothing')\ncopy.copy(w)\nnp.asarray(w)\n",
    "names that are members":
        "from enum import Enum\nfrom torch import nn\nfrom torch.nn import functional as F\nclass N(str, Enum):\n"
        "    RELU = 'relu'\nf = getattr(F, N.RELU)\nclass T:\n    def test_a(self):\n        return 1\n"
        "t = T()\nassert [getattr(t, n)() for n in dir(t) if n.startswith('test')] == [1]\n"
        "assert [getattr(t, n) for n in dir(t)]\n",
    "names of the file":
        "SIZE = 3\ndef f(n):\n    return globals()[n]\nglobals()['MORE'] = 4\nassert f('SIZE') == 3 and MORE == 4\n",
    "functions, layers and types by names":
        "import math\nimport torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
        "MADE = [getattr(torch, name) for name in 'float32 bool'.split()]\n"
        "MADE += [getattr(F, name)(MADE and torch.ones(1)) for name in ['relu', 'gelu', 'silu']]\n"
        "M"
        "ADE += [getattr(nn, name)() for name in ['GELU', 'ReLU']], *[getattr(math, name)(2.0) for name in ['sqrt']]\n",
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
    "told: k beside":
        "class C:\n    def __init__(self, **kwargs):\n        for k, v in kwargs.items():\n"
        "            setattr(self, k, v)\ndef f(x):\n    q, k, v = x\n    return k\nC(a=1)\n",
    "told: update":
        "class C:\n    def __init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n"
        "    def d(self):\n"
        "        return {k: v.d() if isinstance(v, C) else v for k, v in self.__dict__.items()}\n"
        "C(a=1, b=C(c=2))\n",
    "told: vars update":
        "class C:\n    def __init__(self, **kwargs):\n        vars(self).update(kwargs)\nC(a=1)\n",
    "told: update by names":
        "class C:\n    def __init__(self):\n        self.__dict__.update(a=1, b=2)\n"
        "        self.__dict__.update({'c': 3})\nC()\n",
    "told: item":
        "class C:\n    def __init__(self, **kwargs):\n        for key, value in kwargs.items():\n"
        "            self.__dict__[key] = value\ndef g(key):\n    return key\nC(a=1)\n",
    "told: list beside":
        "class C:\n    def __init__(self):\n        for n in ('a', 'b'):\n            setattr(self, n, 1)\n"
        "        [setattr(self, m, 1) for m in ('c',)]\ndef g(n, m):\n    return n\nC()\n",
    "told: inner":
        "class C:\n    def __init__(self):\n        def make():\n            for n in ('a', 'b'):\n"
        "                setattr(self, n, 1)\n        make()\nn = 3\nC()\n",
}  # fmt: skip


@pytest.mark.parametrize("case", [*TAKEN, *UNREAD])
def test_what_is_no_object_of_ones_own_is_looked_into_by_nobody(launcher, case):
    """What a method does with its object it could do with any: who reads the source refuses that, or the worker."""
    files = complete(TAKEN[case]) if case in TAKEN else complete(UNREAD[case], UNKNOWN)

    assert find(files) or REFUSED.fullmatch(load(launcher, files).get("error", {}).get("text", ""))


@pytest.mark.parametrize("case", KEPT)
def test_an_object_of_ones_own_may_be_looked_into(launcher, case):
    """`vars(self)`, and an attribute with a number in its name, whatever is done with other classes."""
    assert find(complete(KEPT[case])) is None
    assert "error" not in load(launcher, complete(KEPT[case]))


@pytest.mark.parametrize(
    "wrapped",
    [
        "functools.wraps(object)", "functools.wraps(torch)", "functools.wraps(functools.lru_cache(type))",
        "typing.functools.wraps(object)", "functools.wraps(contextlib.contextmanager(object))",
        "functools.wraps(functools.singledispatch(object))",
        "(lambda w: torch.distributions.utils.update_wrapper(w, object))",
        "functools.wraps(len, ('__self__',), ())", "functools.wraps(object, (Name('__subclasses__'),))",
    ],
)  # fmt: skip
def test_a_wrapper_gets_nothing_that_a_class_or_a_module_has(launcher, wrapped):
    """Whoever hands `update_wrapper` on, and by whatever way it comes: names and texts are copied of them, no more."""
    source = (
        "import contextlib, functools, typing, torch, torch.distributions\n"
        "class Name(str):\n    def __eq__(self, other):\n        return True\n    __hash__ = str.__hash__\n"
        f"class W:\n    pass\nw = W()\n{wrapped}(w)\nraise KeyError(*sorted(w.__dict__))\n"
    )
    told = load(launcher, complete(source))["error"]["text"]

    names = set(re.findall(r"\w+", told))

    assert "__wrapped__" in names and not names & {"__subclasses__", "__reduce__", "mro", "exp", "__self__"}


@pytest.mark.parametrize("case", TAKEN)
def test_a_source_that_looks_something_up_is_not_passed_over(case):
    """Whether a source is rewritten at all is seen without parsing it."""
    files = complete(TAKEN[case]).values()
    assert any(map(may_look_up, files))


@pytest.mark.parametrize(
    "source",
    [
        "nn.ParameterDict.__getitem__(\n    # this\n    self, n)", "M.f( # of\n"
        " self)", "self. # the\n  parser", "self.\\\nobj", "self . _C", "\uff47etattr(x, n)", "x.__dict__",
    ],
)  # fmt: skip
def test_comments_and_broken_lines_hide_no_lookup(source):
    """What may stand between two words is thought of."""
    assert may_look_up(source)


@pytest.mark.parametrize("name", [name for name, lesson in course().lessons.items() if lesson.forbids])
def test_most_references_are_not_rewritten(name):
    """They look nothing up, so their load costs what it did."""
    assert not may_look_up(course().lessons[name].solution_path.read_text())
