"""Calls that are hidden in what a library keeps elsewhere, in modules in other hands, or in objects of one's own."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.source.forbidden_calls import find_forbidden_calls
from grader.source.hiding_names import HARMLESS, HARMLESS_OF, used_place
from grader.source.library_parts import COME_ALONG
from grader.worker.isolation.readable_paths import default_readable
from grader.worker.watch.call_monitor import matches
from grader.worker.watch.hiding_words import HIDING_ATTRIBUTES, HIDING_NAMES

FORBIDS = ("softmax",)
ANSWER = "def softmax(x, dim=-1):\n    return x\n"


def test_all_that_is_installed_with_torch_and_numpy_is_known() -> None:
    """Of what a worker may import, beside these, nothing is taken to be harmless because nobody has read it."""
    folders = [path for path in sys.path if path.endswith("site-packages")]
    shown = [Path(path) for path in default_readable(("torch", "numpy"), folders) if path.startswith(tuple(folders))]
    names = {path.stem for path in shown if path.suffix in ("", ".py")}

    assert names - {"torch", "numpy"} <= COME_ALONG


def objects_of_harmless_modules() -> Iterator[tuple[str, Any]]:
    """What answers may use of the standard library, its classes among it, by their names."""
    for name in sorted({*HARMLESS, *HARMLESS_OF}):
        with contextlib.suppress(ImportError):
            for own, thing in list(vars(importlib.import_module(name)).items()):
                if not own.startswith("__") and not used_place(f"{name}.{own}") and not inspect.ismodule(thing):
                    yield f"{name}.{own}", thing


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_attributes_of_what_is_harmless_lead_to_a_module() -> None:
    """Three steps from one, whatever their names, without one that is told: all names of a module would be in reach."""
    waiting = [(path, thing, 0) for path, thing in objects_of_harmless_modules()]
    plain = (int, float, str, bytes, tuple, list, set, frozenset, type(len), type(find), property)
    seen, found = set(), []
    for path, thing, depth in waiting:  # grows while it is read
        if inspect.ismodule(thing):
            found.append(path)
        elif depth < 3 and id(thing) not in seen and not isinstance(thing, plain):
            seen.add(id(thing))
            for name in dir(thing):
                if not name.startswith("__") and name not in HIDING_NAMES | HIDING_ATTRIBUTES:
                    with contextlib.suppress(Exception):
                        waiting.append((f"{path}.{name}", getattr(thing, name), depth + 1))

    assert len(seen) > 500 and found == []


def find(source, siblings=None):
    """The call that the lesson's function can reach, or None."""
    return find_forbidden_calls(source, ["softmax"], partial(matches, forbids=FORBIDS), siblings or {}, "softmax").get(
        "softmax"
    )


HIDDEN = {
    "places of a class that is another one": "class P:\n    pass\nP = print\ndef f(p):\n    match p:\n"
    "        case P(a):\n            return a\nf(1)\n",
    "what sets any name, under a harmless one": "from torch import exp as e\n"
    "from unittest.mock import patch as e\nclass A:\n    f = e(input())\nA()\n",
    "what sets any name, as a base": "from unittest import TestCase as T\nfrom unittest.mock import Mock as T\n"
    "class A(T):\n    pass\nA(input())\n",
    "a lookup of several names": "from operator import attrgetter\nf = attrgetter('__doc__', input())(print)\n",
    "the class of a lookup": "import operator\nT = type(operator.attrgetter('shape'))\nf = T(input())(print)\n",
    "the same, by its attribute": "from operator import methodcaller\n"
    "f = methodcaller('item').__class__(input())(print)\n",
    "names that a dataclass is told": "import dataclasses\nclass A:\n    pass\nA.__dataclass_fields__ = {}\n"
    "dataclasses.replace(A())\n",
    "a writer that hands on": "import codecs\ncodecs.open('x').stream = print\n",
    "the code of a text": "import typing\nc = typing.List['1'].__args__[0].__forward_code__\n",
    "all names of any object": "import torch\np = torch.optim.lr_scheduler.LambdaLR(input(), print)\n"
    "p.lr_lambdas = [input]\nd = p.state_dict()\n",
    "all names of any object, in other hands": "def f(p):\n    p.lr_lambdas = [f]\n    return p.state_dict()\n"
    "d = f(input())\n",
    "a module that a call gives": "import torch\nm = torch.get_device_module('cpu').torch\n",
    "a schedule out of one": "def f(m):\n    return m.lr_scheduler.CyclicLR\nf(input())\n",
    "what another schedule gives": "def f(p):\n    p._scale_fn_custom = f\n    return p.state_dict()\nd = f(input())\n",
    "a class of pairs": "import enum\nE = enum.Enum('E', [(input(), 1)])\n",
    "a class that a metaclass makes": "from abc import ABCMeta\nA = ABCMeta('A', (), dict([(input(), 1)]))\n",
    "a module behind a path": "import pathlib\nm = pathlib.Path('.')._flavour.pathmod\n",
    "the code of a generator": "c = (n for n in ()).gi_code.replace(co_names=())\n",
    "a pickle of a loader's": "from torch.utils.data import DataLoader\n"
    "DataLoader([1]).multiprocessing_context.reducer.pickle.loads(b'')\n",
    "the same, by another way": "def f(m):\n    return m.pickle.loads(b'')\nf(input())\n",
    "a text in an annotation that torch reads": "from torch.utils.data import IterDataPipe\n"
    "class A(IterDataPipe):\n    def __iter__(self) -> 'print(1)':\n        pass\n",
    "a text that torch compiles": "import torch\nf = torch.CompilationUnit('def f(x):\\n    return x').f\n",
    "a module out of bytes": "import torch\nf = torch.import_ir_module_from_buffer(torch.CompilationUnit(), b'')\n",
    "a module out of all names": "import torch\ndef f(m):\n    return m.CompilationUnit\nf(vars(torch)['jit'])\n",
    "the same, by an attribute": "import torch\ndef f(m):\n    return m.CompilationUnit\nf(torch.__dict__['jit'])\n",
    "a text that numpy's tests run": "import numpy as np\nnp.testing.runstring('x = 1', {})\n",
    "the same, imported": "from numpy.testing import runstring as r\nr('x = 1', {})\n",
    "any address, as a number": "import numpy as np\nn = np.ctypeslib.c_intp.from_address(1)\n",
    "any address, as an array": "class A:\n    __array_interface__ = {}\nA()\n",
    "an array that leaves its memory": "import numpy as np\nf = np.lib.stride_tricks.as_strided\n",
    "a pickle in an array's file": "import numpy as np\nnp.lib.format.read_array(1, allow_pickle=True)\n",
    "a part of numpy by its own lookup": "import numpy as np\nf = np.__getattr__('testing').runstring\n",
    "what was called earlier": "import torch\nf = torch.jit.trace(id, ())\n",
    "the interpreter, as a stream": "import contextlib\nclass R(contextlib.redirect_stdout):\n"
    "    _stream = 'modules'\nR(1)\n",
    "the same, by way of a library's": "import inspect, torch\nf = inspect.signature(torch.exp).from_callable\n",
    "the same, with more": "import inspect, torch\ninspect.signature(torch.nn.Linear, globals={})\n",
    "an annotation, copied to an object of one's own": "import functools, sys\nkept = []\nclass A:\n"
    "    def __setattr__(self, n, v):\n        kept.append(v)\n"
    "def made(modules: sys.modules): pass\nfunctools.update_wrapper(A(), made)\n",
    "a load of more than weights": "import torch\ntorch.load('x', weights_only=False)\n",
    "a load that is told later": "import torch\nmore = {}\ntorch.load('x', weights_only=True, **more)\n",
    "a load by another reader": "import torch, json\ntorch.load('x', weights_only=True, pickle_module=json)\n",
    "a load of what is a library's": "import torch\ntorch.load(torch.serialization)\n",
    "a load of what is a library's own name": "import torch\ntorch.load(torch.nn.Linear)\n",
    "a load, handed on": "import torch\nload = torch.load\n",
    "an annotation, copied by a decorator": "import functools, sys\ndef made(modules: sys.modules): pass\n"
    "copy = functools.wraps(made)\n",
    "a resolver of names": "import logging.config as c\nc.BaseConfigurator({})\n",
    "the same, of a module in other hands": "import logging.config\n[c] = [m.config for m in (logging,)]\n",
    "who calls methods by their names": "import urllib.request as u\nu.OpenerDirector()\n",
    "who sets any attribute": "import argparse\nargparse.ArgumentParser()\n",
    "a lookup, imported under another name": "from operator import attrgetter as a\nf = a(input())(print)\n",
    "a method of a library's class that looks up a name": "from torch import nn\n"
    "def f(thing, name):\n    thing.keys = str\n    return nn.ParameterDict.__getitem__(thing, name)\nf(1, input())\n",
    "the same, before it is called": "import torch\nf = torch.nn.ParameterDict.__getitem__\n",
    "the beginning of another class's object": "from torch.distributions import Distribution\n"
    "def f(thing):\n    Distribution.__init__(thing, validate_args=True)\nf(print)\n",
    "a library in other hands": "import torch\ndef f(m):\n    return m\nf(torch)\n",
    "a part of it": "from torch import nn\nmine = [nn]\n",
    "one that is given another class": "def f(m, k):\n    m.__class__ = k\nf(1, 2)\n",
    "a pattern of any name": "import collections\nclass T(collections.namedtuple('P', [input()])):\n    pass\n"
    "match softmax:\n    case T(found):\n        pass\n",
    "one that is put together": "class T:\n    def f(self):\n"
    "        setattr(self, '__mat' + 'ch_args__', 1)\nT().f()\n",
    "another's method under a dictionary's name": "from torch import nn\ndict = nn.ParameterDict\n"
    "def f(thing, n):\n    return dict.__getitem__(thing, n)\nf(1, 2)\n",
    "a setter that is no dictionary's": "class A:\n    __setattr__ = list\n    __getattr__ = print\nA()\n",
    "what copy does with a class of one's own": "import copy\ncopy.dispatch_table[int] = print\n",
    "a dictionary of another kind, from outside": "import helper\nhelper.dict = print\n",
    "a class of classes in other hands": "import abc\n[abc.ABCMeta][0]('A', (), {input(): 1})\n",
    "the kind of Python's own": "k = dict.__class__\nk('A', (), {input(): 1})\n",
    "what an enumeration takes of a module": "from enum import Enum\nclass K(Enum):\n    A = 1\n"
    "K._convert_('B', 'operator', print)\n",
    "the kind of one's own": "from abc import ABC\nclass A(ABC):\n    pass\n"
    "k = A.__class__\nk('K', (), {input(): 1})\n",
    "a pattern of a class from elsewhere": "def f(x):\n    match x:\n"
    "        case Kind(y):\n            return y\nf(1)\n",
    "a printer of one's own": "import pprint\npprint.PrettyPrinter()._format(1, 2)\n",
    "a class by an alias": "from abc import ABCMeta as M\nM('A', (), {input(): 1})\n",
    "an enumeration of names, by keywords": "from enum import Enum\nEnum('A', names=[input()])\n",
    "a class that a call makes": "T = type('T', (), {input(): 1})\n",
    "a key that is put together": "def f(**k):\n    pass\nf(**{'__mat' + 'ch_args__': 1})\n",
    "the same, of one text": "T = type(*('T', (), {}))\n",
    "the same, of the type of a type": "T = type(type(1))('T', (), {})\n",
    "the same, of a class's class": "T = int.__class__('T', (), {})\n",
    "the same, in other hands": "t = type\nT = t('T', (), {})\n",
    "one's own class, set by its name": "class A:\n    pass\nsetattr(A(), '__class__', int)\n",
    "an object's whole dictionary": "class A:\n    pass\nA().__dict__ = {input(): 1}\n",
    "one that is imported as self": "from torch.nn.functional import relu as self\ngetattr(self, input())\n",
    "calls that are compiled": "import torch\nf = torch.compile(print, backend='eager')\n",
    "a class of classes": "class M(type):\n    pass\nM('T', (), {})\n",
    "a kind of module": "import torch\nclass M(type(torch)):\n    pass\nM('m')\n",
    "names of a class that come while it runs": "class T:\n    for n in input():\n        locals()[n] = 1\nT()\n",
    "the same, at once": "class T:\n    vars().update({})\nT()\n",
    "a class that hands on what another has": "import codecs\nclass A(codecs.StreamWriter):\n    def f(self, n):\n"
    "        return getattr(self, n)\nA(print).f(input())\n",
    "the same, of a library": "import torch\nfrom torch.utils.data.datapipes.utils.common import StreamWrapper\n"
    "class A(StreamWrapper):\n    def f(self, n):\n        return getattr(self, n)\nA(torch).f(input())\n",
    "what takes any name": "from torch.utils.data.datapipes.dataframe.dataframes import CaptureGetAttr\n"
    "CaptureGetAttr(print, input(), {}).execute()\n",
    "the function of a method": "class A:\n    def f(self, n):\n        return getattr(self, n)\n"
    "A().f.__func__(print, input())\n",
    "a tensor's class that is another one": "import torch\ntorch.Tensor = 1\n",
    "a lookup that is called by its name": "import operator\n"
    "operator.methodcaller('__getattribute__', input())(print)\n",
    "a module that a class imports": "class A:\n    import torch as t\nf = A.t.jit.trace\n",
    "the same, under a condition": "class A:\n    if True:\n        from torch import nn as t\nf = A.t.init\n",
    "a module that a class binds": "import torch\nclass A:\n    t = torch\nf = A.t.jit.trace\n",
    "a name of a number, given a module": "import torch\nfrom math import pi as m\ndef whole():\n    m = torch\n"
    "    return m\nwhole().jit.trace\n",
    "a name of one module, given another": "import torch\nimport torch.nn as F\ndef whole():\n    F = torch\n"
    "    return F.jit.trace\nwhole()\n",
    "a module among the module's names": "import torch\nt = globals()['torch'].jit.trace\n",
    "the same, one by one": "import torch\n[t] = [v for k, v in globals().items() if k == 'torch']\n",
    "the same, by a function under another name": "import torch\nnames = globals\nt = names()['torch'].jit.trace\n",
    "a class named as Python's own, in a pattern": "import collections\n"
    "class int(collections.namedtuple('P', [input()])):\n    pass\n"
    "match print:\n    case int(found):\n        f = found\n",
    "the same, of another object": "match print:\n    case A.int(found):\n        f = found\n",
    "a dictionary whose keys are code": "import typing\nT = typing.TypedDict('T', dict([(input(), int)]))\n",
    "a class that is made a dataclass later": "import dataclasses\nclass T:\n    pass\n"
    "dataclasses.dataclass(init=False)(T)\n",
    "a dataclass in other hands": "from dataclasses import dataclass as d\nclass T:\n    pass\n[*map(d, [T])]\n",
    "attributes that a copy sets": "import copy\nclass A:\n    def __reduce__(self):\n"
    "        return A, (), (None, dict([(input(), 1)]))\ncopy.copy(A())\n",
    "an annotation that a library evaluates": "import typing_extensions as types_of\n"
    "def hints(it: input()):\n    pass\nf = types_of.get_type_hints(hints)\n",
    "a module that a library imports by a text": "from fsspec.core import get_fs_token_paths as f\nf('x')\n",
    "torch, by a part that is not imported here": "import torch.nn.attention.flex_attention as part\n"
    "f = part.torch.jit.trace\n",
}  # fmt: skip
WHOLE = "import torch\ndef whole(x):\n    return torch.softmax(x, 0)\n"
PUT_IN = {
    "a table": "WAYS = {}\nWAYS['x'] = whole\ndef softmax(x, dim=-1):\n    return WAYS['x'](x)\n",
    "a list, by a method": "WAYS = []\nWAYS.append(whole)\ndef softmax(x, dim=-1):\n    return WAYS[0](x)\n",
    "the same, of the list's class": "WAYS = []\nlist.append(WAYS, whole)\n"
    "def softmax(x, dim=-1):\n    return WAYS[0](x)\n",
    "a function's attribute": "def h(x): pass\nh.f = whole\ndef softmax(x, dim=-1):\n    return h.f(x)\n",
    "what a function fills": "WAYS = []\ndef add(f):\n    WAYS.append(f)\nadd(whole)\n"
    "def softmax(x, dim=-1):\n    return WAYS[0](x)\n",
    "the same, through another": "WAYS = []\ndef put(f):\n    WAYS.append(f)\ndef add(f):\n    put(f)\nadd(whole)\n"
    "def softmax(x, dim=-1):\n    return WAYS[0](x)\n",
    "what a decorator fills": "WAYS = {}\ndef add(name):\n    return lambda f: WAYS.setdefault(name, f)\n"
    "@add('x')\ndef other(x):\n    return torch.softmax(x, 0)\ndef softmax(x, dim=-1):\n    return WAYS['x'](x)\n",
    "what two functions share": "def make():\n    held = []\n    return held.append, lambda x: held[0](x)\n"
    "put, get = make()\nput(whole)\ndef softmax(x, dim=-1):\n    return get(x)\n",
    "what a method fills": "WAYS = []\nclass K:\n    def put(self, f):\n        WAYS.append(f)\nK().put(whole)\n"
    "def softmax(x, dim=-1):\n    return WAYS[0](x)\n",
    "a function that is handed over": "def softmax(x, dim=-1):\n    me = softmax\n    return me.way(x)\n"
    "def put(f):\n    f.way = whole\nput(softmax)\n",
    "a default": "def softmax(x, dim=-1, ways=[]):\n    return ways[0](x)\nsoftmax.__defaults__[1].append(whole)\n",
    "a library's list": "torch.nn.Linear.parts.append(whole)\n"
    "def softmax(x, dim=-1):\n    return torch.nn.Linear.parts(x)\n",
    "the folders of modules": "import sys\nsys.path.append(whole)\n"
    "def softmax(x, dim=-1):\n    return sys.path[-1](x)\n",
    "the folders under another name": "import sys\nfrom sys import path\nsys.path.append(whole)\n"
    "def softmax(x, dim=-1):\n    return path[-1](x)\n",
    "a method of the environment": "import os\nos.environ.update = whole\n"
    "def softmax(x, dim=-1):\n    return os.environ.update(x)\n",
    "a library's table": "import numpy as np, numpy\nnp.typecodes['x'] = whole\n"
    "def softmax(x, dim=-1):\n    return numpy.typecodes['x'](x)\n",
    "a library": "torch.nn.functional.celu = whole\ndef softmax(x, dim=-1):\n    return torch.nn.functional.celu(x)\n",
    "a library, under another name": "from torch.nn import functional as F\nF.celu = whole\n"
    "def softmax(x, dim=-1):\n    return torch.celu(x)\n",
    "the module itself": "import softmax as me\ndef softmax(x, dim=-1):\n    return x\nme.softmax = whole\n",
    "the module's names": "def softmax(x, dim=-1):\n    return x\nglobals().update(zip(input(), [whole]))\n",
    "an object of tests": "import unittest\ncheck = unittest.TestCase()\ncheck.f = whole\n"
    "def softmax(x, dim=-1):\n    return check.f(x)\n",
    "what it calls by itself": "from unittest import TestCase\ncheck = TestCase()\n"
    "check.addTypeEqualityFunc(int, whole)\ndef softmax(x, dim=-1):\n    check.assertEqual(1, 1)\n    return x\n",
    "a class": "class K:\n    pass\nsetattr(K, 'f', whole)\ndef softmax(x, dim=-1):\n    return K().f(x)\n",
}  # fmt: skip
INNOCENT = {
    "attributes by their places": "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: int\n    b: int\n"
    "def f(p):\n    match p:\n        case P(a, b):\n            return a + b\nf(P(1, 2))\n",
    "names of types": "import typing_extensions as types_of\nfrom typing_extensions import Self\n"
    "def softmax(x: types_of.Annotated[int, 1], dim: types_of.Literal[1] = 1):\n    return x\n",
    "names of arguments, and parts of a plain layer": "import torch\nfrom torch import nn\nclass P(nn.Module):\n"
    "    def __init__(self, **sizes):\n        super().__init__()\n        for name, size in sizes.items():\n"
    "            setattr(self, name, nn.Parameter(torch.ones(size)))\n"
    "def softmax(x, dim=-1):\n    b = nn.Module()\n    b.attn = nn.Module()\n    for n in ('wq', 'wk'):\n"
    "        setattr(b.attn, n, P(weight=3, bias=2))\n    return x\ndef other(bs):\n    return [b for b in bs]\n",
    "methods of a library's classes": "import torch\nfrom torch import nn\nclass A(nn.Module):\n"
    "    def __init__(self):\n        nn.Module.__init__(self)\n        self.w = nn.ModuleList()\n"
    "    def forward(self, x):\n        return torch.Tensor.exp(x), nn.Module.__repr__(self)\n"
    "def softmax(x, dim=-1):\n    return A()(x)\n",
    "a dataclass": "import dataclasses\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    n: int\n"
    "@dataclasses.dataclass(frozen=True)\nclass B:\n    n: int = 1\ndef softmax(x, dim=-1):\n    return A(1), B()\n",
    "a function of torch named as an old module": "from torch import chunk, select\nimport torch\n"
    "def softmax(x, dim=-1):\n    return chunk(x, 2), torch.trace(x), select(x, 0, 0)\n",
    "a variance in a variable": "import torch\ndef softmax(x, dim=-1):\n    vars = x.var(dim)\n    return vars\n",
    "a name of two functions": "import torch\nf = torch.exp\nf = torch.relu\n"
    "def softmax(x, dim=-1):\n    return f(x)\n",
    "numbers in a class": "import torch, math\nclass A:\n    kind = torch.float32\n    pi = math.pi\n"
    "def softmax(x, dim=-1):\n    return A.pi, A.kind\n",
    "a comparison at the top": "import torch\nx = torch.ones(3)\nprint(softmax(x) - torch.softmax(x, 0))\n",
    "the same, where the answer keeps what it has": "import torch\nKEPT = {}\nSCALE = 1.5\n"
    "def softmax(x, dim=-1):\n    KEPT[dim] = x\n    return x * SCALE\n"
    "print(softmax(torch.ones(3)) - torch.softmax(torch.ones(3), 0) * SCALE)\n",
    "a comparison beside an empty text": "import torch\nx = torch.softmax(torch.ones(3), 0)\n"
    "def softmax(x, dim=-1):\n    return ''.join([]) or x\n",
    "flags of a library": "import torch\ntorch.backends.cudnn.benchmark = True\n"
    "def compare(x):\n    return torch.softmax(x, 0)\n",
    "a library under another name": "import torch, math\nF = torch.nn.functional\nm = math\n"
    "def softmax(x, dim=-1):\n    return F.relu(x) * m.pi\n",
    "whether a library has something": "import torch\nNEW = hasattr(torch, 'rms_norm')\n",
    "names that are like a module's": "class A:\n    def __init__(self, reduction):\n"
    "        self.reduction = reduction\n        self.code = self.profile = self.signal = 1\n"
    "def softmax(x, dim=-1):\n    return A('mean').reduction, A('sum').code\n",
    "a lookup that is used at once": "import operator\ndef softmax(x, dim=-1):\n"
    "    n = operator.attrgetter('shape')(x)\n    m = map(operator.attrgetter('ndim'), [x])\n"
    "    return sorted([x], key=operator.attrgetter('ndim')), n, m, operator.methodcaller('sum')(x)\n",
    "a script of one's own, called": "import torch\ndef h(x):\n    return x\ng = torch.jit.script(h)\n"
    "def softmax(x, dim=-1):\n    return g(x)\n",
    "a script of one's own": "import torch\n@torch.jit.script\ndef h(x: torch.Tensor):\n    return x\n"
    "def softmax(x, dim=-1):\n    return h(x)\n",
    "attributes of its own, by number": "class A:\n    def __init__(self, n, **more):\n        for i in range(n):\n"
    "            setattr(self, f'w{i}', i)\n            self.__dict__[f'v{i}'] = i\n"
    "        for name in ('wq', 'wk'):\n            setattr(self, name, 1)\n"
    "        for name, size in {'a': 1}.items():\n            setattr(self, name, size)\n"
    "        [setattr(self, each, n) for each, n in (('b', 1), ('c', 2))]\n"
    "def softmax(x, dim=-1):\n    return A(3, b=1)\n",
    "the attribute of a frozen dataclass": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass A:\n"
    "    n: int\n    def __post_init__(self):\n        object.__setattr__(self, 'n', 2)\n"
    "def softmax(x, dim=-1):\n    return A(1)\n",
    "its own class in many ways": "class A:\n    kinds = 3\n    def f(self, n):\n        return getattr(self, n)\n"
    "    def g(self):\n        return type(self).__name__, self.__class__.__name__, A.__name__\n"
    "def softmax(x, dim=-1):\n    return A().f('g')\n",
    "a base that is called by its name": "class A:\n    def __init__(self, n):\n        self.n = n\nclass B(A):\n"
    "    def __init__(self, n):\n        A.__init__(self, n)\n        self.m = getattr(self, f'm{n}', 1)\n"
    "def softmax(x, dim=-1):\n    return B('n')\n",
    "patterns of Python's own classes": "def softmax(x, dim=-1):\n    match dim:\n        case int(n) | float(n):\n"
    "            return x\n    match x:\n        case {'a': a, **rest}:\n            return rest\n    return x\n",
    "contexts, caches, kinds": "import contextlib, enum, functools, logging\nLOG = logging.getLogger('x')\n"
    "class K(enum.Enum):\n    A = enum.auto()\n@functools.lru_cache(maxsize=None)\ndef h(n):\n"
    "    with contextlib.suppress(ValueError), contextlib.nullcontext():\n        return n\n"
    "def softmax(x, dim=-1):\n    LOG.debug('%s', h(1))\n    return x, K.A\n",
    "kinds and handlers of a log, in annotations too": "import logging, inspect, fnmatch\n"
    "LOG = logging.getLogger('x')\nLOG.addHandler(logging.StreamHandler())\n"
    "LOG.handlers[0].setFormatter(logging.Formatter('%(message)s'))\n"
    "def f(x, log: logging.Logger | None = None, adapter: logging.LoggerAdapter = None):\n    return log, adapter\n"
    "def softmax(x, dim=-1):\n    return f(x, LOG)[0], inspect.isfunction(f), fnmatch.fnmatch('a', '*')\n",
    "a hint of a kind that nothing calls": "import argparse, torch\nfrom typing import Callable, Optional\n"
    "def h(x, args: argparse.Namespace = None, f: Callable[[torch.Tensor], torch.Tensor] = None):\n    return x\n"
    "def softmax(x, dim=-1, hook: Optional[torch.utils.hooks.RemovableHandle] = None) -> tuple[torch.Tensor, ...]:\n"
    "    return h(x)\n",
    "weights alone, a log's ways, an error's text": "import logging, torch, traceback\n"
    "logging.captureWarnings(True)\nlogging.disable(logging.DEBUG)\nlogging.log(10, 'x')\n"
    "def softmax(x, dim=-1):\n    try:\n        return torch.load('x.pt', 'cpu', weights_only=True)\n"
    "    except OSError as error:\n        traceback.print_exception(error)\n"
    "        return ''.join(traceback.format_exception(error))\n",
    "what an optimizer takes": "import inspect, torch\ndef softmax(x, dim=-1):\n"
    "    return 'fused' in inspect.signature(torch.optim.AdamW).parameters, x\n",
    "windows of an array": "import numpy as np\n"
    "def softmax(x, dim=-1):\n    return np.lib.stride_tricks.sliding_window_view(x, 2)\n",
    "trials compared with numpy's help": "import torch, numpy as np\ndef softmax(x, dim=-1):\n"
    "    return torch.exp(x) / torch.exp(x).sum(dim)\nfound = {}\nfor n in range(3):\n    x = torch.randn(n)\n"
    "    np.testing.assert_almost_equal(softmax(x).numpy(), torch.softmax(x, -1).numpy())\n"
    "    found[f'{n}'] = softmax(torch.randn(n)) - torch.softmax(torch.randn(n), -1)\n",
    "a trial by a test of its own": "import torch\nSHAPES, CACHE = [], {}\ndef size(x):\n"
    "    CACHE[x.ndim] = x.numel()\n    return CACHE[x.ndim]\ndef softmax(x, dim=-1):\n"
    "    SHAPES.append((x.shape, size(x)))\n    return torch.exp(x) / torch.exp(x).sum(dim)\n"
    "def test_softmax():\n    x = torch.randn(3)\n"
    "    assert torch.allclose(softmax(x), torch.softmax(x, -1))\ntest_softmax()\nprint(SHAPES)\n",
    "trials of a function that is handed over": "import torch\nfrom torch.nn import functional as F\n"
    "def softmax(x, dim=-1):\n    return torch.exp(x) / F.relu(torch.exp(x)).sum(dim)\nerrors, fs = [], []\n"
    "def compare(name, f, g):\n    x = torch.randn(3)\n    print(name, torch.allclose(f(x), g(x)))\n"
    "compare(softmax.__name__, softmax, torch.softmax)\nx = torch.randn(4)\nfs.append(softmax)\n"
    "fs.append(F.softmax)\nerrors.append((softmax(x) - F.softmax(x, -1)).abs().max().item())\n"
    "print(softmax(x).allclose(F.softmax(x, -1)), F.softmax(x, -1).allclose(softmax(x)))\n",
    "settings at the top, and a trial": "import os, sys, torch\nos.environ['A'] = '1'\n"
    "os.environ.setdefault('B', '1')\n"
    "torch.backends.cudnn.deterministic = True\nif '..' not in sys.path:\n    sys.path.append('..')\n"
    "sys.path.insert(0, os.path.dirname(__file__))\ndef softmax(x, dim=-1):\n    return torch.exp(x)\n"
    "x = torch.ones(2)\nprint(softmax(x) - torch.softmax(x, -1))\n",
    "tests of unittest": "import unittest, torch\nfrom unittest import TestCase\nclass T(unittest.TestCase):\n"
    "    def test_sum(self):\n        pass\nclass U(TestCase):\n    def test_same(self):\n"
    "        x = torch.ones(2)\n        self.assertTrue(torch.equal(softmax(x), torch.softmax(x, -1)))\n",
    "tests of unittest that are skipped": "import torch, unittest\nfrom unittest import skip\n"
    "@unittest.skipUnless(torch.cuda.is_available(), 'no GPU')\nclass T(unittest.TestCase):\n"
    "    @skip('later')\n    def test_sum(self):\n        pass\n    @unittest.skipIf(1, reason='x')\n"
    "    @unittest.expectedFailure\n    def test_same(self):\n        pass\n",
    "a check of unittest within the answer": "from unittest import TestCase\ncheck = TestCase()\n"
    "def softmax(x, dim=-1):\n    check.assertEqual(x.ndim, 2)\n    return x\n",
    "its own class": "def softmax(x, dim=-1):\n    y = map(lambda each: type(each), [x])\n"
    "    return type(x)(x), isinstance(x, type), x.__class__, type(x) is int, y, type(list(x))\n",
}  # fmt: skip


@pytest.mark.parametrize("case", HIDDEN)
def test_what_leads_to_any_name_is_found(case):
    """What runs texts, reads any address or takes any attribute by its name hides a call, wherever it is kept."""
    call = find(HIDDEN[case] + ANSWER)

    assert call is not None and call.hides


def test_a_module_that_is_handed_on_is_told_so():
    """It is not that torch is used."""
    call = find("import torch\ndef softmax(x, dim=-1, xp=torch):\n    return xp.exp(x)\n")

    assert call is not None and call.says.startswith("It hands on `torch` itself, as a value, behind which a call")


def test_a_class_of_unittest_that_is_no_base_hides_a_call():
    """Handed on it may run anything, and so may `unittest.main`; what a test that is run puts in is followed.

    That is where a function does so, or reads what comes of it: of the statements around it, all others that use
    unittest are not run.
    """
    test = "import torch, unittest\nPUT = {}\nclass T(unittest.TestCase):\n"
    test += "    def test(self):\n        PUT[0] = torch.softmax\n"
    uses = "def softmax(x, dim=-1):\n    return PUT[0](x, dim)\n"

    assert all(
        find(f"{test}def softmax(x, dim=-1):\n    return {use}\n").hides
        for use in ("unittest.TestCase", "unittest.main()", "map(unittest.TestCase, x)", "unittest.TestCase.run(x)")
    )
    assert all(
        find(f"import unittest\nfrom unittest import mock\nM = {use}\ndef g():\n    return M\n{ANSWER}").hides
        for use in ("mock.Mock()", "unittest.TestSuite()", "unittest.TestCase")
    )
    assert find(f"import doctest\nif True:\n    def g():\n        return 1\n    doctest.testmod()\n{ANSWER}").hides
    assert find(test + uses.replace("return", "T('test').debug()\n    return")).name == "softmax"
    assert find(f"{test}{ANSWER}K = unittest.TestCase\nunittest.main()\n") is None
    assert find(f"from unittest import mock\n{ANSWER}") is None
    assert (
        find("from unittest import mock\ndef softmax(x, dim=-1):\n    return mock.patch(x)\n").name == "unittest.mock"
    )


@pytest.mark.parametrize("source, name", [
    ("@(d := unittest.skip('x'))\ndef g():\n    pass\n", "unittest.skip"),
    ("@unittest.skip('x').f\ndef g():\n    pass\n", "unittest.skip"),
    ("g = unittest.skipIf(0, 'x')(f)\n", "unittest.skipIf"),
    ("@unittest.skip(torch.nn)\ndef g():\n    pass\n", "torch.nn itself"),
    ("@unittest.skip(torch.softmax)\ndef g():\n    pass\n", "softmax"),
    ("from mine import skip\nfrom unittest import skip\n@skip('x')\ndef g():\n    pass\n", "skip"),
    ("from unittest import skip\nfrom mine import *\n@skip('x')\ndef g():\n    pass\n", "skip"),
])  # fmt: skip
def test_what_marks_a_test_hides_nothing_as_a_decorator_alone(source, name):
    """In other hands, or under a name that another file gives, too, it may be anything; its arguments are read."""
    siblings = {"mine": ("mine.py", "from unittest.mock import patch as skip\n")}
    call = find(f"import torch, unittest\n{source}def softmax(x, dim=-1):\n    return g(x)\n", siblings)

    assert call is not None and call.name == name


@pytest.mark.parametrize("case", PUT_IN)
def test_what_the_import_puts_into_an_object_is_followed(case):
    """Who uses an object reaches what the module put into it while it was imported."""
    call = find(WHOLE + PUT_IN[case])

    assert call is not None and call.name == "softmax" and not call.hides


def test_what_another_module_puts_into_a_library_is_followed():
    """A module beside the lesson that gives torch another function counts, if the lesson imports it."""
    siblings = {"helper": ("helper.py", WHOLE + "torch.celu = whole\n")}
    call = find("import torch\nimport helper\ndef softmax(x, dim=-1):\n    return torch.celu(x)\n", siblings)

    assert call is not None and (call.name, call.path) == ("softmax", "helper.py")


@pytest.mark.slow
def test_files_that_are_too_large_to_be_read_hide_all():
    """What a tree of it would take is never asked for; together files may have as much as one."""
    large = "import torch; x = 1\n" + "x;" * 110_000 + "\n"
    alone = find(large + ANSWER)
    beside = find("import big\n" + ANSWER, {"big": ("big.py", large)})
    names = [f"m{number}" for number in range(4)]
    some = {name: (f"{name}.py", "x = 1\n" + "x;" * 20_000 + "\n") for name in names}

    assert alone is not None and alone.says.startswith("The file is too long")
    assert beside is not None and (beside.name, beside.path) == ("big.py", "big.py")
    assert find(f"import {', '.join(names)}\n" + ANSWER, some) is not None
    assert find("import m0\n" + ANSWER, some) is None


def test_a_file_that_nobody_can_read_hides_all():
    """Another file of the learner's that is nested too deeply runs, where the limit was raised; one that is not
    imported counts for nothing."""
    siblings = {"deep": ("deep.py", f"x = {'-' * 50_000}1\n")}
    call = find("import sys\nsys.setrecursionlimit(10**6)\nimport deep\n" + ANSWER, siblings)

    assert call is not None and call.hides and (call.name, call.path) == ("deep.py", "deep.py")
    assert find(ANSWER, siblings) is None


@pytest.mark.parametrize("case", INNOCENT)
def test_honest_code_is_not_taken_for_these(case):
    """A trial at the top of a file, an attribute by its number or a context hides nothing."""
    source = INNOCENT[case]

    assert find(source if "def softmax" in source else source + ANSWER) is None
