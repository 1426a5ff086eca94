"""What learners write beside an answer, where calls are forbidden: none of it is an offence, in whatever place."""

import pytest
from support.watched_softmax import ANSWER, find, load

TEST = """
def test_softmax():
    x = torch.randn(3, 4)
    assert torch.allclose(softmax(x), torch.softmax(x, -1))
"""

# Each with a test that nothing calls, and that names what is forbidden.
BESIDE = {
    "operator.setitem":
        "import operator\nd={}\noperator.setitem(d,'a',1)\n",
    "class setattr loop":
        "class C: pass\nfor n in ('a','b'):\n    setattr(C, n, property(lambda s: 1))\n",
    "vars(self) repr":
        "class C:\n    def __repr__(self):\n"
        "        return ', '.join(f'{k}={v}' for k, v in vars(self).items())\n",
    "self.__dict__.update":
        "class C:\n    def __init__(self, **k):\n        self.__dict__.update(k)\nc = C(a=1)\n",
    "slots":
        "class C:\n    __slots__ = ('a',)\n    def __init__(self, a):\n        self.a = a\n",
    "globals get":
        "ACT={'relu': torch.relu}\ndef get(n):\n    return globals()[n]\n",
    "globals in def name":
        "def run(n):\n    return globals()['softmax'](n)\n",
    "dir(self)":
        "class C:\n    def names(self):\n        return [n for n in dir(self) if not n.startswith('_')]\n",
    "names of layers":
        "from torch import nn\nprint(nn.Linear.__name__, nn.ReLU.__module__, nn.Linear.__doc__, type(nn.Linear))\n",
    "methods of a library by their class":
        "from collections import Counter, namedtuple\nfrom functools import reduce\nP = namedtuple('P', 'x y')\n"
        "print([*map(P._asdict, [P(1, 2)])], reduce(Counter.__add__, [Counter('a'), Counter('b')]))\n"
        "torch.Tensor.__rsub__(torch.ones(2), 1)\n",
    "type(self).__name__":
        "class C:\n    def n(self):\n        return type(self).__name__\n",
    "__class__.__name__":
        "class C:\n    def n(self):\n        return self.__class__.__name__\n",
    "super().__init__":
        "class M(torch.nn.Module):\n    def __init__(self):\n        super(M, self).__init__()\n",
    "init_weights apply":
        "def init(m):\n    if isinstance(m, torch.nn.Linear):\n        torch.nn.init.normal_(m.weight)\n"
        "model = torch.nn.Sequential(torch.nn.Linear(2,2))\nmodel.apply(init)\n",
    "signature":
        "import inspect\nprint(inspect.signature(test_softmax) if False else '')\n",
    "typing hints":
        "from typing import Optional, get_type_hints\ndef f(x: Optional[torch.Tensor]) -> None: ...\n",
    "generic":
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Box(Generic[T]):\n"
        "    def __init__(self, v: T):\n        self.v = v\n",
    "protocol":
        "from typing import Protocol\nclass P(Protocol):\n    def f(self) -> int: ...\n",
    "abc":
        "from abc import ABC, abstractmethod\nclass B(ABC):\n    @abstractmethod\n    def f(self): ...\n",
    "metaclass abc":
        "import abc\nclass B(metaclass=abc.ABCMeta):\n    pass\n",
    "enum":
        "from enum import Enum, auto\nclass E(Enum):\n    A = auto()\n    B = auto()\n"
        "print(E['A'], E.A.name, list(E))\n",
    "cached_property":
        "from functools import cached_property\nclass C:\n    @cached_property\n    def n(self):\n"
        "        return 1\n",
    "lru_cache":
        "from functools import lru_cache\n@lru_cache(maxsize=None)\ndef fib(n):\n"
        "    return n if n < 2 else fib(n-1) + fib(n-2)\nfib.cache_clear()\n",
    "registry":
        "REG = {}\ndef register(name):\n    def deco(f):\n        REG[name] = f\n        return f\n"
        "    return deco\n@register('relu')\ndef relu(x):\n    return x.clamp(min=0)\n",
    "class registry":
        "class Base:\n    subs = {}\n    def __init_subclass__(cls, **k):\n"
        "        super().__init_subclass__(**k)\n        Base.subs[cls.__name__] = cls\n"
        "class A(Base): pass\n",
    "new":
        "class S:\n    _i = None\n    def __new__(cls):\n        if cls._i is None:\n"
        "            cls._i = super().__new__(cls)\n        return cls._i\n",
    "singleton deco":
        "def singleton(cls):\n    inst = {}\n    def get(*a, **k):\n        if cls not in inst:\n"
        "            inst[cls] = cls(*a, **k)\n        return inst[cls]\n    return get\n@singleton\n"
        "class C: pass\n",
    "hooks":
        "acts = {}\ndef hook(name):\n    def fn(m, i, o):\n        acts[name] = o.detach()\n    return fn\n"
        "lin = torch.nn.Linear(2,2)\nlin.register_forward_hook(hook('lin'))\n",
    "state_dict":
        "m = torch.nn.Linear(2,2)\nsd = {k: v.clone() for k, v in m.state_dict().items()}\n"
        "m.load_state_dict(sd)\n",
    "named_parameters":
        "m = torch.nn.Linear(2,2)\nfor n, p in m.named_parameters():\n"
        "    print(n, p.shape, getattr(m, n).shape)\n",
    "rgetattr":
        "from functools import reduce\ndef rgetattr(o, a):\n    return reduce(getattr, a.split('.'), o)\n",
    "partial method":
        "import functools\nf = functools.partial(torch.sum, dim=-1)\n",
    "contextmanager":
        "from contextlib import contextmanager\n@contextmanager\ndef t(n):\n    yield\n",
    "timer class":
        "import time\nclass T:\n    def __enter__(self):\n"
        "        self.t = time.perf_counter(); return self\n    def __exit__(self, *a):\n"
        "        self.d = time.perf_counter() - self.t\n",
    "logging":
        "import logging\nlog = logging.getLogger(__name__)\nlog.setLevel(logging.INFO)\n"
        "logging.basicConfig(level=getattr(logging, 'INFO'))\n",
    "logging levels":
        "import logging, types\nlog = logging.getLogger(__name__)\nlog.setLevel(logging.WARN)\n"
        "class Short(logging.Filter):\n    def filter(self, record):\n        return len(record.msg) < 9\n"
        "log.addFilter(Short())\nprint(logging.NOTSET, isinstance(None, types.NoneType))\n",
    "named tuple in a pattern":
        "from typing import NamedTuple\nclass Shape(NamedTuple):\n    b: int\n    t: int\n"
        "class Base:\n    __slots__ = ()\nclass Other(Base): pass\n"
        "match Shape(1, 2):\n    case Shape(b, t):\n        print(b, t)\n",
    "warnings":
        "import warnings\nwith warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n",
    "rich except":
        "try:\n    from rich import print as rprint\nexcept ImportError:\n    rprint = print\n",
    "numpy":
        "import numpy as np\nA = np.arange(6).reshape(2,3)\nprint(A.sum(), np.exp(A))\n",
    "einops try":
        "try:\n    import einops\nexcept ImportError:\n    einops = None\n",
    "os environ":
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n",
    "sys path":
        "import sys, os\nsys.path.append(os.path.dirname(__file__))\n",
    "device":
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\ntorch.manual_seed(0)\n"
        "torch.set_printoptions(precision=4)\n",
    "dataclass frozen":
        "from dataclasses import dataclass, field, asdict, fields\n@dataclass(frozen=True)\nclass C:\n"
        "    n: int = 1\n    l: list = field(default_factory=list)\n    def __post_init__(self):\n"
        "        object.__setattr__(self, 'm', self.n * 2)\nprint(asdict(C()))\n"
        "for f in fields(C): print(f.name, f.type)\n",
    "replace":
        "from dataclasses import dataclass, replace\n@dataclass\nclass C:\n    n: int = 1\n"
        "c = replace(C(), n=2)\n",
    "from_dict":
        "from dataclasses import dataclass, fields\n@dataclass\nclass C:\n    n: int = 1\n"
        "    @classmethod\n    def of(cls, d):\n"
        "        return cls(**{f.name: d[f.name] for f in fields(cls) if f.name in d})\n",
    "namedtuple":
        "from collections import namedtuple\nfrom typing import NamedTuple\nP = namedtuple('P', 'x y')\n"
        "class Q(NamedTuple):\n    x: int\nprint(P(1,2)._replace(x=3), Q(1)._asdict())\n",
    "getattr own default":
        "class C: pass\nc = C()\nn = 'a'\nprint(getattr(c, n, None), hasattr(c, n))\n",
    "callable class":
        "class F:\n    def __call__(self, x):\n        return x\n    def __getattr__(self, n):\n"
        "        raise AttributeError(n)\n",
    "getitem":
        "class D:\n    def __len__(self): return 1\n    def __getitem__(self, i): return i\n"
        "    def __iter__(self): return iter([1])\nprint(D()[0])\n",
    "module getattr":
        "class W(torch.nn.Module):\n    def __init__(self, m):\n        super().__init__()\n"
        "        self.m = m\n    def __getattr__(self, n):\n        try:\n"
        "            return super().__getattr__(n)\n        except AttributeError:\n"
        "            return getattr(self.m, n)\n",
    "try print_exc":
        "import traceback\ntry:\n    1/0\nexcept Exception as e:\n    traceback.print_exc()\n"
        "    print(type(e).__name__, e.args, str(e))\n",
    "unittest":
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertTrue(torch.allclose(softmax(torch.ones(2)), torch.softmax(torch.ones(2), 0)))\n",
    "pytest":
        "try:\n    import pytest\nexcept ImportError:\n    pytest = None\n",
    "random":
        "import random\nrandom.seed(0)\nprint(random.choice([1,2]), random.random())\n",
    "math":
        "import math\nprint(math.sqrt(2), getattr(math, 'pi'))\n",
    "faulthandler":
        "import faulthandler\nfaulthandler.enable()\n",
    "utf-8":
        "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nprint('\\u2713')\n",
    "json pathlib":
        "import json\nfrom pathlib import Path\nprint(json.dumps({'a': 1}), Path('x').suffix)\n",
    "itertools":
        "from itertools import product, chain\nprint(list(product([1],[2])))\n",
    "copy":
        "import copy\nm = torch.nn.Linear(2,2)\n"
        "layers = torch.nn.ModuleList([copy.deepcopy(m) for _ in range(2)])\n",
    "property setter":
        "class C:\n    @property\n    def a(self): return self._a\n    @a.setter\n"
        "    def a(self, v): self._a = v\n",
    "staticmethod":
        "class C:\n    @staticmethod\n    def f(x): return x\n    @classmethod\n"
        "    def g(cls): return cls()\n",
    "F alias unused":
        "import torch.nn.functional as F\nprint(F.relu(torch.ones(1)))\n",
    "F table":
        "import torch.nn.functional as F\nACT = {'relu': F.relu, 'gelu': F.gelu}\n"
        "def act(n): return ACT[n]\n",
    "F getattr":
        "import torch.nn.functional as F\ndef act(n): return getattr(F, n)\n"
        "print(act('relu')(torch.ones(1)))\n",
    "cfg class":
        "class Config:\n    d_model = 8\n    n_heads = 2\ncfg = Config()\n"
        "print({k: v for k, v in vars(Config).items() if not k.startswith('__')}, cfg.__class__.__dict__.keys())\n",
    "main":
        "def main():\n    x = torch.randn(2)\n    print(torch.softmax(x, 0), torch.nn.Softmax(0)(x))\n"
        "if __name__ == '__main__':\n    main()\n",
    "assert end":
        "assert True\n",
    "jit":
        "@torch.jit.script\ndef f(x):\n    return x + 1\n",
    "no_grad":
        "@torch.no_grad()\ndef ev(x):\n    return x\n",
    "autograd fn":
        "class Sq(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x); return x * x\n    @staticmethod\n    def backward(ctx, g):\n"
        "        x, = ctx.saved_tensors; return 2 * x * g\n",
    "tensor subclass":
        "class T(torch.Tensor): pass\n",
    "type checking":
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch import Tensor\n",
    "overload":
        "from typing import overload, Union, Callable, List, Tuple, Dict, Any\n"
        "Fn = Callable[[torch.Tensor], torch.Tensor]\n",
    "jaxtyping":
        "try:\n    from jaxtyping import Float\nexcept ImportError:\n    Float = None\n",
    "walrus":
        "if (n := 3) > 2: pass\n",
    "match":
        "def f(v):\n    match v:\n        case {'a': x}: return x\n        case [1, *r]: return r\n"
        "        case _: return None\n",
    "lambda dict":
        "OPS = {'exp': lambda x: torch.exp(x)}\n",
    "del":
        "a = 1\ndel a\n",
    "global":
        "COUNT = 0\ndef inc():\n    global COUNT\n    COUNT += 1\ninc()\n",
    "nonlocal":
        "def c():\n    n = 0\n    def i():\n        nonlocal n\n        n += 1\n        return n\n"
        "    return i\n",
    "star import":
        "from torch.nn import *\nfrom math import *\n",
    "string.Template":
        "from string import Template\nprint(Template('$a').substitute(a=1))\n",
    "tqdm":
        "try:\n    from tqdm import tqdm\nexcept ImportError:\n    tqdm = lambda x: x\n",
    "matplotlib":
        "try:\n    import matplotlib.pyplot as plt\nexcept ImportError:\n    plt = None\n",
    "checkpoint":
        "def save(m, p):\n    torch.save(m.state_dict(), p)\ndef loadm(p):\n"
        "    return torch.load(p, weights_only=True)\n",
    "dataloader":
        "from torch.utils.data import Dataset, DataLoader\nclass D(Dataset):\n"
        "    def __len__(self): return 3\n    def __getitem__(self, i): return torch.tensor(i)\n"
        "dl = DataLoader(D(), batch_size=2)\n",
    "optimizer":
        "m = torch.nn.Linear(2,2)\nopt = torch.optim.Adam(m.parameters(), lr=1e-3)\n"
        "for g in opt.param_groups: g['lr'] = 1e-4\n",
    "backends":
        "torch.backends.cudnn.deterministic = True\n",
    "weakref":
        "import weakref\nclass C: pass\nc = C()\nr = weakref.ref(c)\n",
    "threading":
        "import threading\nlock = threading.Lock()\nwith lock: pass\n",
    "subclass dict":
        "class AD(dict):\n    def __getattr__(self, k): return self[k]\n"
        "    def __setattr__(self, k, v): self[k] = v\n",
    "__all__":
        "__all__ = ['softmax']\n__version__ = '1'\n",
    "docstring":
        "'''Softmax. See torch.softmax, __dict__ and globals().'''\n",
    "id hash":
        "class C:\n    def __eq__(self, o): return isinstance(o, C) and self.__dict__ == o.__dict__\n"
        "    def __hash__(self): return hash(tuple(self.__dict__.values()))\n",
    "format":
        "print('{0.shape} {x!r:>10}'.format(torch.ones(2), x=1))\n",
    "exception class":
        "class ShapeError(ValueError):\n    def __init__(self, got, want):\n"
        "        super().__init__(f'{got} {want}')\n        self.got = got\n",
    "gen":
        "def batches(x, n):\n    for i in range(0, len(x), n):\n        yield x[i:i+n]\n",
    "async":
        "import asyncio\nasync def f(): return 1\n",
    "sum operator":
        "from operator import add, itemgetter, mul\nfrom functools import reduce\n"
        "print(reduce(mul, [1,2,3]), sorted([(1,2)], key=itemgetter(1)))\n",
    "decorator wraps":
        "import functools, time\ndef timed(f):\n    @functools.wraps(f)\n    def w(*a, **k):\n"
        "        t = time.time()\n        r = f(*a, **k)\n        w.calls = getattr(w, 'calls', 0) + 1\n"
        "        return r\n    return w\n@timed\ndef g(x): return x\n",
    "check shapes deco":
        "import functools, inspect\ndef typed(f):\n    sig = inspect.signature(f)\n"
        "    @functools.wraps(f)\n    def w(*a, **k):\n        b = sig.bind(*a, **k)\n"
        "        b.apply_defaults()\n        return f(*b.args, **b.kwargs)\n    return w\n@typed\n"
        "def g(x): return x\n",
}  # fmt: skip


@pytest.mark.parametrize("case", BESIDE)
def test_what_stands_beside_an_answer_is_no_offence(launcher, case):
    """Whoever reads the source lets it pass, before the answer and after it, and so does a worker that loads it."""
    sources = [f"import torch\n{BESIDE[case]}{ANSWER}{TEST}", f"import torch\n{ANSWER}{TEST}{BESIDE[case]}"]

    assert [find({"softmax": source}) for source in sources] == [None, None]
    assert [load(launcher, {"softmax": source}).get("error") for source in sources] == [None, None]
