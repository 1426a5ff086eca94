"""Forbidden calls, read from the source: what counts and what does not."""

from __future__ import annotations

import ast
import sys
import threading
import time
from functools import partial

import pytest
from support.repeat import rarely

from grader.source.forbidden_calls import find_forbidden_calls
from grader.submission import MAX_BYTES
from grader.worker.watch.call_monitor import matches

FORBIDS = ("softmax",)


def find_forbidden_call(source, function, forbids, siblings=None):
    """The call that one function can reach, or None."""
    return find_forbidden_calls(source, [function], partial(matches, forbids=tuple(forbids)), siblings).get(function)


OFFENCES = {
    "in a pattern, where an object of its own has such an attribute": "import torch\nclass Mine:\n    softmax = None\n"
    "def softmax(x, dim=-1):\n    match torch:\n        case object(softmax=f):\n            return f(x, dim)\n",
    "by name": "import torch\ndef softmax(x, dim=-1):\n    return torch.softmax(x, dim)\n",
    "as a method": "def softmax(x, dim=-1):\n    return x.softmax(dim)\n",
    "under an alias": "from torch.nn.functional import softmax as s\ndef softmax(x, dim=-1):\n    return s(x, dim)\n",
    "as a class": "from torch import nn\ndef softmax(x, dim=-1):\n    return nn.Softmax(dim)(x)\n",
    "as an operator": "import torch\ndef softmax(x, dim=-1):\n    return torch.ops.aten._softmax(x, dim, False)\n",
    "by getattr": "import torch\ndef softmax(x, dim=-1):\n    return getattr(torch, 'softmax')(x, dim)\n",
    "in a helper": "import torch\ndef h(x):\n    return torch.log_softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return h(x).exp()\n",
    "through a variable": "import torch\nf = torch.softmax\ndef softmax(x, dim=-1):\n    return f(x, dim)\n",
    "through one of several": "import torch\n(f,) = [torch.softmax]\ndef softmax(x, dim=-1):\n    return f(x, dim)\n",
    "through an annotated one": "import torch\nf: object = torch.softmax\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "bound in a try": "import torch\ntry:\n    f = torch.softmax\nexcept Exception:\n    f = None\n"
    "def softmax(x, dim=-1):\n    return f(x, dim)\n",
    "bound by a loop": "import torch\nfor f in [torch.softmax]:\n    pass\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "bound by a walrus": "import torch\nif (f := torch.softmax):\n    pass\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "in a class": "import torch\nclass K:\n    f = torch.softmax\ndef softmax(x, dim=-1):\n    return K.f(x, dim)\n",
    "in a default": "import torch\ndef softmax(x, dim=-1, f=torch.softmax):\n    return f(x, dim)\n",
    "by vars": "import torch\ndef softmax(x, dim=-1):\n    return vars(torch)['softmax'](x, dim)\n",
    "by __dict__": "import torch\ndef softmax(x, dim=-1):\n    return torch.__dict__['softmax'](x, dim)\n",
    "by attrgetter": "from operator import attrgetter as a\nimport operator, torch\n"
    "def softmax(x, dim=-1):\n    return operator.attrgetter('nn.functional.softmax')(torch)(x)\n",
    "a helper by its name in quotes": "import torch\ndef h(x):\n    return torch.softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return globals()['h'](x)\n",
    "out of a module of that name": "from torch.softmax.parts import K\ndef softmax(x, dim=-1):\n    return K(x)\n",
    "with everything beside it": "from torch.nn.functional import *\ndef go(x):\n    return log_softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return go(x).exp()\n",
    "out of a module of that name, with all of it": "from torch.softmax import *\n"
    "def softmax(x, dim=-1):\n    return Thing(max(x))\n",
    "in a pattern": "import torch\ndef softmax(x, dim=-1):\n    match torch:\n        case object(softmax=f):\n"
    "            return f(x, dim)\n",
    "by a class, before it gives the name a value": "import torch\ndef h(x):\n    return torch.softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    h = abs\n    class K:\n        y = h(x)\n        h = 1\n    return K.y\n",
    "behind an error of the module, which may be left out": "import torch\nraise ValueError\nf = torch.softmax\n"
    "def softmax(x, dim=-1):\n    return f(x, dim)\n",
    "behind a `return` and a `finally`": "import torch\ndef softmax(x, dim=-1):\n    try:\n        return x\n"
    "    finally:\n        return torch.softmax(x, dim)\n",
    "behind a `break` and an error, in blocks of their own": "import torch\ndef softmax(x, dim=-1):\n"
    "    while True:\n        try:\n            raise ValueError\n        except ValueError:\n            break\n"
    "    return torch.softmax(x, dim)\n",
    "behind a `return` of a helper": "import torch\ndef softmax(x, dim=-1):\n    def h():\n        return x\n"
    "    return torch.softmax(h(), dim)\n",
    "in the other part of a guard": "import torch\ndef softmax(x, dim=-1):\n    if __name__ == '__main__':\n"
    "        return x\n    else:\n        return torch.softmax(x, dim)\n",
    "by a class whose guard gives the name a value": "import torch\ndef h(x):\n    return torch.softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    h = abs\n    class K:\n        if __name__ == '__main__':\n            h = 1\n"
    "        y = h(x)\n    return K.y\n",
    "by a name that a guard makes the module's": "import torch\ndef put():\n    if __name__ == '__main__':\n"
    "        global f\n    f = torch.softmax\nput()\ndef softmax(x, dim=-1):\n    return f(x, dim)\n",
    "of another library": "from scipy.special import softmax as s\ndef softmax(x, dim=-1):\n    return s(x, dim)\n",
}
HIDDEN = {
    "an attribute in a pattern, of a name that the file gives one of its own": "class Mine:\n    sys = 1\n"
    "match softmax:\n    case object(sys=s):\n        s.modules\n",
    "exec": "exec('def softmax(x): pass')\n",
    "eval": "def softmax(x, dim=-1):\n    return eval('x')\n",
    "a switch of torch's": "import torch\nwith torch._C.DisableTorchFunction():\n    pass\n",
    "the same in quotes": "import torch\nD = getattr(torch, 'DisableTorchFunction', None)\n",
    "a library of kernels": "import torch\nL = torch.library.Library('aten', 'IMPL')\n",
    "the same, imported": "from torch.library import Library\n",
    "frames": "import sys\ndef softmax(x, dim=-1):\n    return sys._getframe().f_back\n",
    "C": "import ctypes as c\n",
    "our own modules": "from grader.worker.watch import call_monitor\n",
    "a private attribute": "import torch as t\nf = t._refs\n",
    "the same in quotes, under an alias": "import torch\nt = torch\nf = getattr(t, '_refs')\n",
    "a private module, imported": "from torch import _decomp\n",
    "operators": "from torch import ops as o\n",
    "loaded modules": "import sys as s\nfound = s.modules['x']\n",
    "loaded modules, imported": "from sys import modules\n",
    "the interpreter in other hands": "import sys\nfound = vars(sys)\n",
    "the interpreter through another module": "import threading\nfound = threading._sys\nfound = threading.sys\n",
    "a name put together": "f = getattr(object, '__sub' + 'classes__')\n",
    "a name put together, of its own object": "class K:\n    def f(self):\n"
    "        return getattr(self, '__cla' + 'ss__')\nK().f()\n",
    "the same, of a text": "f = getattr('x', '__cla' + 'ss__')\n",
    "a name put together before": "N = ''.join(['__sub', 'classes__'])\nf = getattr(object, N)\n",
    "a key put together": "import torch\nf = vars(torch)['soft' + 'max']\n",
    "a decorator": "import torch\n@torch._dynamo.disable\ndef h():\n    pass\n",
    "a class's body": "import torch\nclass K:\n    f = torch.ops.aten\n",
    "what runs a text though its name does not say so": "import gettext\n"
    "def softmax(x, dim=-1):\n    return gettext.c2py('n')(x)\n",
    "a function made of code": "from types import FunctionType\n"
    "def softmax(x, dim=-1):\n    return FunctionType(x, {})\n",
    "a text in torch's own language": "import torch\nf = torch.jit.CompilationUnit('text').f\n",
    "a module that loads others": "import imp\nm = imp.load_source('m', 'data')\n",
    "a text that is timed": "from timeit import timeit\ndef softmax(x, dim=-1):\n    return timeit('text')\n",
    "a text in an annotation": "import typing\ndef softmax(x, dim=-1):\n    return typing.get_type_hints(x)\n",
    "a template": "import jinja2\ndef softmax(x, dim=-1):\n    return jinja2.Template('text').render(x=x)\n",
    "a benchmark of torch's": "from torch.utils import benchmark as b\n"
    "def softmax(x, dim=-1):\n    return b.Timer('text')\n",
    "a pickle of numpy's": "import numpy as np\ndef softmax(x, dim=-1):\n    return np.load(x, allow_pickle=True)\n",
    "Python's own names in a harmless module": "import enum\ndef softmax(x, dim=-1):\n    return enum.bltns.eval(x)\n",
    "a harmless module that leads to frames": "import dataclasses\ndef f():\n    look = dataclasses.inspect\n"
    "    return look.stack()\nf()\n",
    "frames by way of torch": "import torch\ndef softmax(x, dim=-1):\n    return torch.inspect.stack()\n",
    "the same in another's hands, once more": "import enum\ndef f(m):\n    return m.bltns\nf(enum)\n",
    "the debugger": "import sys\ndef softmax(x, dim=-1):\n    sys.breakpointhook = sys.__breakpointhook__\n",
    "code as the name of a field": "import dataclasses\nclass A:\n    pass\nA.__annotations__ = {'x': int}\n",
    "frames in a pattern": "def f(e):\n    match e:\n        case object(__traceback__=t):\n            return t\n"
    "f(1)\n",
    "the interpreter in a pattern": "import torch\nmatch torch:\n    case object(sys=s):\n        pass\n",
    "the interpreter in another's hands": "import torch\ndef f(t):\n    return t.sys\nf(torch)\n",
    "the same in quotes, in another's hands": "import torch\ndef f(t):\n    return vars(t)['sys']\nf(torch)\n",
    "a private part in another's hands": "import torch\n[c] = [t._C for t in [torch]]\n",
    "frames as the names of methods": "class K:\n    def f_back(self):\n        pass\nnames = list(vars(K))\n",
    "frames as the names of arguments": "names = list(dict(tb_frame=1))\n",
    "frames as the names of parameters": "names = lambda f_locals: 0\n",
    "frames in a text of several names": "T, F = 'x.__traceback__ tb_frame'.split()\n",
    "frames in bytes": "T = b'__traceback__'.decode()\n",
    "what runs a text in other hands": "list(map(exec, ['x = 1']))\n",
    "a text in an annotation of a function": "from inspect import signature\n"
    "def g(x: 'text'): pass\nsignature(g, eval_str=True)\n",
    "the same, put together": "import inspect\ndef f(g):\n    inspect.signature(g, **{'eval' + '_str': True})\nf(f)\n",
    "a text that is a type": "from typing import Optional\nOptional['text'].__args__[0]._evaluate({}, {}, set())\n",
    "the same, of typing's own": "import typing\ntyping._eval_type(1, {}, {})\n",
    "its own function, imported": "from typing import _eval_type\n",
    "how a dataclass is written": "import dataclasses as d\nd._create_fn('f', (), ['text'])\n",
    "a dataclass of names that are texts": "import dataclasses\ndataclasses.make_dataclass('A', ['x'])\n",
    "a profiler of all threads": "import threading\nthreading.setprofile_all_threads(None)\n",
    "the same, of the interpreter": "from sys import _setprofileallthreads as s\ns(None)\n",
    "the same, in quotes": "import threading\nf = getattr(threading, 'settrace_all_threads')\n",
    "another kind of profiler": "import sys\nsys.monitoring.use_tool_id(2, 'x')\n",
    "what runs a file in another interpreter": "import sys\nsys.remote_exec(1, 'file')\n",
    "everything of a module that runs texts": "from timeit import *\ntimeit('text')\n",
    "everything of one that leads to frames": "from inspect import *\nstack()\n",
    "everything of one that has some that do": "from typing import *\nget_type_hints(1)\n",
    "what runs a text under another name": "def f(run=eval):\n    return run('1')\n",
    "a function of that name that was taken away": "def exec(x):\n    pass\ndel exec\nexec('x = 1')\n",
    "the same, by its key": "def exec(x):\n    pass\nglobals().pop('exec')\nexec('x = 1')\n",
    "a function of that name that comes later": "exec('x = 1')\ndef exec(x):\n    pass\n",
    "a function's own module": "run = print.__self__.eval\n",
    "a module's loader": "__loader__.load_module('x')\n",
    "a thread that is not watched": "import _thread\n_thread.start_new_thread(print, ())\n",
    "the same, of another module": "import threading\nthreading._start_new_thread(print, ())\n",
    "another profiler": "from _lsprof import Profiler\n",
    "a text that torch runs": "from torch import fx\ng = fx.Graph()\n",
    "a module's own package": "from . import _C\n",
    "the same, of another": "from .nn import functional\nf = functional.relu\n",
    "whose package it says to be in": "__package__ = 'builtins'\n",
    "a class's namespace": "class K(type):\n    @classmethod\n    def __prepare__(kind, *_):\n        return {}\n"
    "class A(metaclass=K):\n    pass\n",
    "all names of a library": "import torch\nf = [n for n in dir(torch) if n[:4] == 'soft']\n",
    "one name out of a library": "import torch\ndef softmax(x, dim=-1):\n    return vars(torch)['exp'](x)\n",
    "a dictionary, by the name of a lookup": "from operator import attrgetter\nf = attrgetter('__dict__')(object)\n",
    "a dictionary, in a pattern": "match object:\n    case object(__dict__=d):\n        f = d\n",
    "a dictionary that a pattern is compared with": "match print:\n    case print.__dict__:\n        f = 1\n",
    "all values of a library": "import torch\nf = [f for n, f in vars(torch).items() if n[:4] == 'soft']\n",
    "the same, by its dictionary": "import torch\nf = list(torch.__dict__.values())[7]\n",
    "a name that comes while it runs": "import torch.fft\ndef softmax(x, dim=-1):\n    return getattr(torch.fft, x)\n",
    "a lookup of one's own": "import torch\ndef getattr(m, n):\n    return m\nf = getattr(torch, 'pi')\n",
    "a handler that runs anywhere": "import signal\ndef softmax(x, dim=-1):\n    signal.signal(14, print)\n",
    "a thread of one's own kind": "import threading\ndef softmax(x, dim=-1):\n    threading.Thread(target=print)\n",
    "what runs when an object ends": "class K:\n    def __del__(self):\n        pass\nK()\n",
    "the same, of any object": "import weakref\ndef softmax(x, dim=-1):\n    weakref.finalize(x, print)\n",
    "when garbage is collected": "import gc\ngc.callbacks.append(print)\n",
    "a lookup under another name": "import torch\ng = getattr\nf = g(torch, 'x'.upper())\n",
    "a lookup in other hands": "import torch\nf = next(map(getattr, [torch], [input()]))\n",
    "a lookup of any object": "import torch\ng = object.__getattribute__\nf = g(torch, input())\n",
    "a library that is called self": "import torch\nfor self in [torch]:\n    f = getattr(self, input())\n",
    "the same, by a function": "import torch\ndef self(x):\n    return x\nf = getattr(self(torch), input())\n",
    "a pattern of any name": "class A:\n    __match_args__ = (input(),)\nA()\n",
    "all of a library, copied": "import functools, torch\n@functools.wraps(torch.nn.utils)\ndef f():\n    pass\n",
    "all of a library among one's own": "from torch import *\nf = [v for k, v in globals().items() if k[0] == 's']\n",
    "a descriptor": "import torch\nf = type(torch).x.__get__(torch)\n",
    "what a function in C knows": "import numpy as np\nf = np.random.ranf.func_globals\n",
    "objects by the collector": "import gc\nfound = gc.get_objects()\n",
    "a variable that an inner function binds": "import torch\ndef softmax(x, dim=-1):\n    m = 3\n    def g():\n"
    "        nonlocal m\n        m = torch\n    g()\n    return f(m)\n",
    "the same, by a class": "import torch\ndef softmax(x, dim=-1):\n    m = 3\n    class A:\n        nonlocal m\n"
    "        m = torch\n    return f(m)\n",
    "a variable of the module's": "import torch\nimport torch as m\ndef softmax(x, dim=-1):\n    global m\n    m = m\n"
    "    return f(m)\n",
    "one beside a comprehension's": "import torch as m\ndef softmax(x):\n    y = [m for m in x]\n    return f(m)\n",
    "one beside an inner lambda's": "import torch as m\ndef softmax(x):\n    return (lambda a=(lambda m: 0): f(m))()\n",
    "one beside a place's": "import torch as m\ndef softmax(x):\n    return [f(m) for x[[m for m in x][0]] in x]\n",
    "a default value": "import torch as m\ndef softmax(x, m=m):\n    return f(m)\n",
    "one that is given a library later": "import torch\ndef softmax(x):\n    m = 3\n    m = torch\n    return f(m)\n",
}
INNOCENT = {
    "a number with a library's name": "import torch\nimport math as m\nimport numpy as n\ndef softmax(x, dim=-1):\n"
    "    m, n = x.amax(dim, keepdim=True), 3\n    return torch.exp(x - m) / n\n",
    "a parameter of a library's name": "import torch\nimport numpy as n\ndef softmax(x, n=-1):\n    return x.sum(n)\n",
    "an attribute of one's own object": "import torch\nclass A:\n    def __init__(self, obj):\n        self.obj = obj\n"
    "    def go(self):\n        return self.obj.exp()\ndef softmax(x, dim=-1):\n    return A(x).go()\n",
    "a look whether a name is there": "import torch\nif 'x' in globals() or 'y' not in globals():\n    print('x')\n"
    "def softmax(x, dim=-1):\n    return torch.exp(x)\n",
    "its own name": "def softmax(x, dim=-1):\n    return softmax(x)\n",
    "a comparison behind the guard": "import torch\ndef softmax(x, dim=-1):\n    return x\n"
    "if __name__ == '__main__':\n    print(torch.softmax(x, 0))\n",
    "a helper that nothing calls": "import torch\ndef compare(x):\n    return torch.softmax(x, 0)\n"
    "def softmax(x, dim=-1):\n    return x\n",
    "a docstring": "def softmax(x, dim=-1):\n    '''Like torch.softmax.'''\n    return x\n",
    "a comment": "def softmax(x, dim=-1):\n    return x  # torch.softmax\n",
    "one's own lesson": "from softmax import softmax as mine\ndef softmax(x, dim=-1):\n    return mine(x, dim)\n",
    "one's own beside everything of a library": "from torch import *\ndef softmax(x, log_softmax=None):\n"
    "    softmin = -x\n    return softmax(softmin, log_softmax)\n",
    "an attribute of one's own": "class A:\n    def f(self):\n        return self.softmax\n"
    "def softmax(x, dim=-1):\n    return A().f()\n",
    "no Python at all": "def softmax(:\n",
    "a variable of its own name": "import torch\ny = torch.softmax(torch.ones(3), 0)\n"
    "def softmax(x, dim=-1):\n    y = x.exp()\n    return y\n",
    "a key of a dictionary": "def softmax(x, dim=-1):\n    return {'softmax': x}['softmax']\n",
    "evaluation mode": "def softmax(model, dim=-1):\n    return model.eval()\n",
    "a helper called eval": "def eval(x):\n    return x\ndef softmax(x, dim=-1):\n    return eval(x)\n",
    "collecting garbage": "import gc\ndef softmax(x, dim=-1):\n    gc.collect()\n    return x\n",
    "a parameter called compile": "def h(x, compile=True):\n    return x if compile else -x\n"
    "def softmax(x, dim=-1):\n    return h(x, compile=False)\n",
    "a compiler behind the guard": "def softmax(x, dim=-1):\n    return x\n"
    "if __name__ == '__main__':\n    exec('print(1)')\n",
    "the same, where the module says it is the program": "__name__ = '__main__'\nglobals()['__name__'] = '__main__'\n"
    "if __name__ == '__main__':\n    import ctypes\ndef softmax(x, dim=-1):\n    return x\n",
    "a look whether something is loaded": "import sys\nHERE = 'google.colab' in sys.modules\n"
    "def softmax(x, dim=-1):\n    return x\n",
    "where modules are looked for": "import sys\nsys.path.append('..')\ndef softmax(x, dim=-1):\n    return x\n",
    "a comparison with torch's parts that nothing calls": "import torch\ndef see(x):\n"
    "    return torch.ops.aten._softmax(x, 0, False)\ndef softmax(x, dim=-1):\n    return x\n",
    "private attributes of one's own": "class A:\n    def f(self, x):\n        return self._mask, x._backward\n"
    "def softmax(x, dim=-1):\n    return A().f(x)\n",
    "an attribute of one's own in a pattern": "class A:\n    softmax = _C = 1\ndef softmax(x, dim=-1):\n    match x:\n"
    "        case A(softmax=y):\n            return y\n    B, T, _C = x\n",
    "a name that holds the word": "class A:\n    def my_softmax(self, x):\n        return x\n"
    "def my_softmax(x):\n    return A().my_softmax(x)\na = A()\n"
    "def softmax(x, dim=-1):\n    return my_softmax(a.my_softmax(x))\n",
    "a layer by its number": "class A:\n    def f(self, x):\n        return [getattr(self, f'w{i}') for i in x]\n"
    "def softmax(x, dim=-1):\n    return A().f(x)\n",
    "a function by its constant name": "import torch\ndef softmax(x, dim=-1):\n    return getattr(torch, 'exp')(x)\n",
    "the standard library": "import json, os, time, timeit, traceback, types\n"
    "N, P = json.dumps(types.SimpleNamespace(a=1).a), os.path.join('a', 'b')\n"
    "def softmax(x, dim=-1):\n    s = timeit.default_timer()\n    try:\n        return x.exp()\n"
    "    except ValueError:\n        traceback.print_exc()\n    return time.time() - s\n",
    "everything of a harmless module, and facts": "import sys\nfrom typing import *\nfrom math import *\n"
    "def softmax(x: Optional[int], dim=-1):\n    print(sys.version_info, sys.maxsize, file=sys.stderr)\n    return x\n",
    "an end without more ado": "import os\ndef softmax(x, dim=-1):\n    os._exit(3)\n",
    "modules that are imported alone": "import gettext, imp, threading, unittest\n"
    "def softmax(x, dim=-1):\n    return x.exp()\n",
    "timing and debugging elsewhere": "import timeit, pdb\nfrom timeit import timeit as t\n"
    "def softmax(x, dim=-1):\n    return x\nif __name__ == '__main__':\n    print(t('softmax(1)'))\n",
    "one of its functions by its name": "def see(x):\n    import ctypes\ndef h(x):\n    return x\n"
    "def softmax(x, dim=-1):\n    return globals()['h'](x)\n",
    "the names of its own objects": "class A:\n    def f(self):\n        return dir(self), vars(self), self.__dict__\n"
    "def softmax(x, dim=-1):\n    return A().f()\n",
    "a function of a name that comes while it runs": "import torch.nn.functional as F\ndef softmax(x, dim=-1):\n"
    "    return getattr(F, dim)(x)\n",
    "names of whatever object": "def find(root):\n    return dir(root)\nfind(1)\n",
    "what a decorator of one's own wraps": "import functools\ndef timed(f):\n    @functools.wraps(f)\n"
    "    def g(*a):\n        return f(*a)\n    return g\n@timed\ndef softmax(x, dim=-1):\n    return x\n",
    "a name of its super class": "class A(B):\n    def f(self, n):\n"
    "        return getattr(super(), n), getattr(self, n)\n"
    "def softmax(x, dim=-1):\n    return A().f('x')\n",
    "an attribute that may be missing": "def softmax(x, dim=-1):\n    return getattr(x, 'grad', None)\n",
    "what is kept as long as it is used": "import weakref\nSEEN = weakref.WeakKeyDictionary()\n"
    "def softmax(x, dim=-1):\n    return x\n",
    "logsumexp": "import torch\ndef softmax(x, dim=-1):\n    return (x - torch.logsumexp(x, dim, True)).exp()\n",
    "what stands behind a `return`": "import doctest, torch\ndef softmax(x, dim=-1):\n    for i in x:\n"
    "        continue\n        exec('x')\n    return x\n    doctest.testmod()\n    print(torch.softmax(x, dim))\n",
    "a guard in a function": "import torch\ndef softmax(x, dim=-1):\n    y = x.exp()\n    return y\n\n"
    "    if __name__ == '__main__':\n        import doctest\n"
    "        doctest.testmod()\n        torch.softmax(y, dim)\n",
    "a guard in a method and in a class": "class K:\n    def f(self, x):\n        if '__main__' == __name__:\n"
    "            eval(x)\n        return x\n    if __name__ == '__main__':\n        import doctest\n"
    "        doctest.testmod()\ndef softmax(x, dim=-1):\n    return K().f(x)\n",
    "the version of torch": "import torch\nV = torch.__version__\ndef softmax(x, dim=-1):\n    return x\n",
    "too deep for any parser": f"x = {'-' * 50_000}1\ndef softmax(x, dim=-1):\n    return torch.softmax(x)\n",
    "a very long sum": f"x = 1{'+1' * 900}\ndef softmax(x, dim=-1):\n    return x\n",
    "a very long chain": "if 1:\n    pass\n" + "elif 1:\n    pass\n" * 900 + "def softmax(x, dim=-1):\n    return x\n",
}


@pytest.mark.parametrize("case", OFFENCES)
def test_a_forbidden_call_in_reach_is_found(case):
    """Whatever way it is called, the forbidden call is found with its line."""
    call = find_forbidden_call(OFFENCES[case], "softmax", FORBIDS)

    assert call is not None and not call.hides and matches(call.name, FORBIDS)
    assert "oftmax" in OFFENCES[case].splitlines()[call.line - 1] or call.line > 1


@pytest.mark.parametrize("case", INNOCENT)
def test_what_a_function_cannot_reach_is_no_offence(case):
    """Comparing with torch outside the exercise's function is good practice."""
    assert find_forbidden_call(INNOCENT[case], "softmax", FORBIDS) is None


def test_code_that_makes_a_generator_is_read_though_it_never_runs():
    """It means something where it stands, and so may what is beside it."""
    source = "import doctest\ndef softmax(x, dim=-1):\n    return x\n    doctest.testmod()\n"

    assert find_forbidden_call(source, "softmax", FORBIDS) is None
    assert find_forbidden_call(f"{source}    yield\n", "softmax", FORBIDS).name == "doctest.testmod"


@pytest.mark.parametrize("case", HIDDEN)
def test_what_could_hide_a_call_is_found(case):
    """Where calls are forbidden, so is what would keep them from being seen."""
    source = HIDDEN[case] + "def softmax(x, dim=-1):\n    return x\n"
    call = find_forbidden_call(source, "softmax", FORBIDS)

    assert call is not None and call.hides and "hidden" in call.says


def test_what_a_worker_may_load_is_read_however_deep_the_judge_stands():
    """A source that compiles where no frames are below is read where hundreds are: it went unread, and hid all."""
    chain = "def never(a):\n    return a{}\n"
    deepest = deepest_that_compiles(lambda depth: chain.format(".b" * depth))
    source = chain.format(".b" * deepest) + HIDDEN["frames"]

    def from_below(frames):
        return from_below(frames - 1) if frames else find_forbidden_call(source, "softmax", FORBIDS)

    found = from_below(300)
    assert found is not None and found.hides


def deepest_that_compiles(write):
    """How deep a source may be that the compiler takes in a worker, where eight frames are below it."""
    found = [0, 20_000]

    def search(frames=6):
        if frames:
            search(frames - 1)
        while found[1] - found[0] > 1:
            middle = sum(found) // 2
            try:
                compile(write(middle), "", "exec")
                found[0] = middle
            except RecursionError:
                found[1] = middle

    thread = threading.Thread(target=search)
    thread.start()
    thread.join()
    return found[0]


def test_a_call_is_followed_into_the_learners_other_files():
    """A helper that is imported counts with its own file and line, whichever way it is imported; one that is not used
    does not."""
    siblings = {
        "helper": ("me/helper.py", "import torch\n\n\ndef go(x):\n    return torch.softmax(x, 0)\n"),
        "between": ("me/between.py", "import helper as h\n\n\ndef go(x):\n    return h.go(x)\n"),
        "quiet": ("me/quiet.py", "import torch\n\n\ndef see(x):\n    return torch.softmax(x, 0)\n\n\nONE = 1\n"),
    }
    uses = {
        "from helper import go as g\ndef softmax(x, dim=-1):\n    return g(x)\n": "me/helper.py",
        "import helper\ndef softmax(x, dim=-1):\n    return helper.go(x)\n": "me/helper.py",
        "import between as b\ndef softmax(x, dim=-1):\n    return b.go(x)\n": "me/helper.py",
        "from quiet import ONE\ndef softmax(x, dim=-1):\n    return x * ONE\n": None,
    }
    for source, path in uses.items():
        call = find_forbidden_call(source, "softmax", FORBIDS, siblings)

        assert (call.path, call.line) == (path, 5) if path else call is None


LEADS_ON = {
    "with everything beside it": "from helper import *\ndef softmax(x, dim=-1):\n    return go(x)\n",
    "through another": "from between import *\ndef softmax(x, dim=-1):\n    return go(x)\n",
    "in a list": "import helper\nALL = [helper]\ndef softmax(x, dim=-1):\n    return ALL[0].go(x)\n",
    "under another name": "import helper\nh = helper\ndef softmax(x, dim=-1):\n    return h.go(x)\n",
    "of its own, imported": "import softmax as me\ndef softmax(x, dim=-1):\n    return me.go(x)\n",
    "of its own, one by one": "def softmax(x, dim=-1):\n    return [f for f in globals().values()][-1](x)\n",
    "of its own, by what it begins with": "def softmax(x, dim=-1):\n    here = globals()\n    return here[dim](x)\n",
}


@pytest.mark.parametrize("what", ["torch.softmax(x, 0)", "sys._getframe(x)"])
@pytest.mark.parametrize("way", LEADS_ON)
def test_whatever_leads_to_a_function_is_followed(way, what):
    """A module in other hands, all of one, and what is found by a name that is no constant count as used."""
    helper = f"import sys, torch\ndef go(x):\n    return {what}\n"
    siblings = {"helper": ("helper.py", helper), "between": ("between.py", "from helper import *\n")}
    source = LEADS_ON[way] + helper * way.startswith("of its own")
    call = find_forbidden_calls(source, ["softmax"], partial(matches, forbids=FORBIDS), siblings, "softmax")

    assert call["softmax"].hides == what.startswith("sys")


WAYS_ROUND = {
    "a chain of modules": ("import a\ndef softmax(x):\n    return a.b.go(x)\n", {"a": "import b\n", "b": "{}"}),
    "what a module gives by its own `__getattr__`": (
        "from a import go\ndef softmax(x):\n    return go(x)\n",
        {"a": "def __getattr__(name):\n    return {}\n"},
    ),
    "another import of the name, which is not used": (
        "from a import go\ndef softmax(x):\n    return go(x)\ndef f():\n    from b import go\n",
        {"a": "{}", "b": "def go(x):\n    return x\n"},
    ),
    "an import of a harmless name over another": (
        "import timeit\ndef softmax(x):\n    return timeit.timeit(x)\ndef f():\n    import math as timeit\n",
        {},
    ),
    "a function that a handler deletes": (
        "def exec(x): return x\ntry: 1\nexcept ValueError as exec: pass\ndef softmax(x):\n    return exec(x)\n",
        {},
    ),
}


@pytest.mark.parametrize("way", WAYS_ROUND)
def test_what_another_module_could_hide_is_found(way):
    """Whatever leads to a module of the learner's, and whatever a name means at last, what could hide a call counts."""
    source, beside = WAYS_ROUND[way]
    hidden = "exec('x')"
    siblings = {name: (f"{name}.py", text.replace("{}", hidden)) for name, text in beside.items()}
    found = find_forbidden_calls(source.replace("{}", hidden), ["softmax"], partial(matches, forbids=FORBIDS), siblings)
    assert found["softmax"].hides


AT_IMPORT = {
    "an annotation": "def unused(x: {}): pass\n",
    "one of the rest": "def unused(*a: {}, **k: int): pass\n",
    "one by keyword": "def unused(*, a: {}): pass\n",
    "one of what is returned": "async def unused() -> {}: pass\n",
    "one of a method": "class Unused:\n    def go(self, x: list[{}]): pass\n",
    "what an annotation calls": "def h(): return {}\ndef unused(x: h()): pass\n",
    "what an annotation takes an item of": "class D:\n    def __getitem__(self, i): return {}\n"
    "d = D()\ndef unused(x: d[0]): pass\n",
    "a keyword of a class": "class Unused(a={}): pass\n",
    "what a decorator gets": "def run(f): f()\n@run\ndef unused(): return {}\n",
    "the same, where the decorator has a known name": "def property(f): f()\n@property\ndef unused(): return {}\n",
    "the same, where it is given such a name": "def run(f): f()\nglobals()['prop' 'erty'] = run\n"
    "@property\ndef unused(): return {}\n",
    "the same, in the class": "def run(f): f()\nclass K:\n    property = run\n    @property\n    def go(): return {}\n",
    "the same, a part of no property": "def run(f): f()\nclass K:\n    setter = run\n"
    "@K.setter\ndef unused(): return {}\n",
    "what a library's function gets": "import functools\n@functools.partial(map, id)\ndef unused(): return {}\n",
    "what a decorator of a class gets": "def run(c): c.go()\n@run\nclass K:\n    def go(): return {}\n",
    "what a base gets": "class B:\n    def __init_subclass__(cls): cls.go()\nclass K(B):\n    def go(): return {}\n",
    "what a metaclass gets": "class M(type):\n    def __init__(cls, *a): cls.go()\n"
    "class K(metaclass=M):\n    def go(): return {}\n",
    "what is told of its class": "class D:\n    def __set_name__(self, owner, name): owner.go()\n"
    "class K:\n    d = D()\n    def go(): return {}\n",
    "what a class calls itself": "class K:\n    def go(): return {}\n    go()\n",
    "what a default calls": "class K:\n    def go(): return {}\n    def no(x=go()): pass\n",
    "a member of an enumeration": "import enum\nclass K(enum.Enum):\n    def __init__(self, x): return {}\n    A = 1\n",
}


@pytest.mark.parametrize("hidden", ["exec('x')", "__import__('sys')._getframe()"])
@pytest.mark.parametrize("case", AT_IMPORT)
def test_whatever_of_a_definition_may_run_at_import_is_read(case, hidden):
    """Annotations run when a function is made, and bodies where something gets hold of what is defined."""
    source = AT_IMPORT[case].replace("{}", hidden) + "def softmax(x, dim=-1):\n    return x\n"
    call = find_forbidden_call(source, "softmax", FORBIDS)

    assert call is not None and call.hides


@pytest.mark.parametrize("header", ["f := torch.softmax", "f := [torch.softmax][0]"])
@pytest.mark.parametrize("way", ["def unused(x: ({})): pass", "def unused(x=({})): pass", "class K(*[({})] * 0): pass"])
def test_a_name_that_the_head_of_a_definition_binds_is_followed(header, way):
    """`def unused(x: (f := torch.softmax))` gives the module a name, as an assignment does."""
    source = f"import torch\n{way.format(header)}\ndef softmax(x, dim=-1): return f(x, dim)\n"
    call = find_forbidden_call(source, "softmax", FORBIDS)

    assert call is not None and call.name == "softmax" and not call.hides


OPEN = "import torch\nclass Trainer:\n    def load(self): return torch.load('x'), exec('x')\n"
ONLY_A_TYPE = {
    "a tensor": "def see(x: torch.Tensor, *r: 'Tensor', k: int = 1) -> 'torch.Tensor': pass\n",
    "one of several": "from typing import Optional\ndef see(x: Optional[torch.Tensor] = None) -> int | None: pass\n",
    "a class of one's own": "def see(t: Trainer, u: 'Trainer') -> Trainer: pass\n",
    "a layer that is forbidden": "def see(m: torch.nn.Softmax): pass\n",
    "a decorator of torch's": "class K(torch.nn.Module):\n    n: int = 3\n    @torch.no_grad()\n"
    "    def load(self): torch.load('x')\n    @property\n    def a(self): exec('x')\n"
    "    @a.setter\n    def a(self, v): exec('x')\n    @staticmethod\n    def b(x: torch.Tensor): exec('x')\n",
    "a dataclass": "from dataclasses import dataclass, field\n@dataclass(frozen=True)\nclass C:\n    n: int = 1\n"
    "    sizes: list = field(default_factory=list)\n    def f(self): exec('1')\n",
}


@pytest.mark.parametrize("case", ONLY_A_TYPE)
def test_a_type_is_no_use_of_what_it_names(case):
    """Honest annotations, decorators and bases lead to no body that nothing calls."""
    source = OPEN + ONLY_A_TYPE[case] + "def softmax(x, dim=-1):\n    return x\n"

    assert find_forbidden_call(source, "softmax", FORBIDS) is None
    if case == "a class of one's own":
        later = "from __future__ import annotations\n" + source.replace("t: Trainer", "t: list[Trainer]")
        assert find_forbidden_call(later, "softmax", FORBIDS) is None


def test_a_method_of_ones_own_module_is_no_offence():
    """`mine.softmax(x)` is one's own, where `mine` is one's own file."""
    siblings = {"mine": ("mine.py", "def softmax(x):\n    return x\n")}

    assert find_forbidden_call("import mine\ndef f(x):\n    return mine.softmax(x)\n", "f", FORBIDS, siblings) is None


def test_a_statement_that_binds_thousands_of_names_is_read_once():
    """`a = b = ... = lambda: (a, b, ...)` takes no longer than its length: it took minutes."""
    names = [f"a{number}" for number in range(4000)]
    source = f"import torch\n{' = '.join(names)} = lambda: ({', '.join(names)}, torch.exp)\n"

    started = time.process_time()
    found = find_forbidden_call(f"{source}def softmax(x):\n    return a0()\n", "softmax", ["exp"])

    assert found is not None
    assert time.process_time() - started < 10


# --- what reading costs -----------------------------------------------------------------------------------------------

LINES = 20_000
SLOW = {
    "a body inside ninety statements": "".join(" " * n + f"for v{n} in w{n}:\n" for n in range(90))
    + " " * 90 + ";".join(["x"] * LINES) + "\ndef softmax(x): return " + ", ".join(f"v{n}" for n in range(90)),
    "aliases of aliases": "import torch as t0\n" + "".join(f"t{n + 1} = t{n}.x\n" for n in range(LINES)),
    "dots without end": "import torch\n" + ("x = torch" + ".a" * 2000 + "\n") * 25 + "def softmax(x): return torch.a",
    "a tuple": ", ".join(f"a{n}" for n in range(LINES)) + " = " + ", ".join(f"a{n}" for n in range(LINES)),
    "many stars": "".join(f"from torch.a{n} import *\n" for n in range(LINES // 4))
    + "def softmax(x): return " + ", ".join(f"n{n}" for n in range(LINES // 5)),
    "a chain of functions": "".join(f"def f{n}(): return f{n + 1}()\n" for n in range(LINES // 4)),
    "one of which each is called": "".join(
        f"def f{n}(): return f{n + 1}(), k{n}\nf{n}(k{n})\n" for n in range(LINES // 16)),
    "functions that change the same": "k = []\n" + "".join(
        f"def f{n}(): k.append(k)\nf{n}()\n" for n in range(LINES // 8))
    + "def softmax(x): return k\n",
}  # fmt: skip


@pytest.mark.parametrize("name", rarely(SLOW, ["a tuple", "aliases of aliases", "a chain of functions"]))
def test_the_time_that_reading_takes_grows_with_the_source(name):
    """No statement is read once for each that is around it, no name grows with the aliases on its way."""
    end = "" if "def softmax" in SLOW[name] else "def softmax(x): return a0, t9, f0()\n"
    source, taken = f"{SLOW[name]}\n{end}", []
    for _ in range(2):
        begun = time.process_time()
        find_forbidden_calls(source, ["softmax"], partial(matches, forbids=FORBIDS))
        taken.append(time.process_time() - begun)
        if taken[-1] < 3.0:
            return
    raise AssertionError(taken)


@pytest.mark.soak
def test_the_densest_source_is_read_in_the_time_that_a_judge_has_of_its_own():
    """A submission that uses up its own time cannot make the judge overstay as well, and so have no result."""
    source, ratios = "a()\n" * (MAX_BYTES // 4), []
    for number in range(3):  # the machine may be slower for one of both
        text, begun = f"{source}{number}\n", time.process_time()
        find_forbidden_calls(text, ["softmax"], lambda name: None)
        taken, begun = time.process_time() - begun, time.process_time()
        ast.parse(text)  # which takes a fourth of that, a second at most
        ratios.append(taken / (time.process_time() - begun))
        if ratios[-1] < 10:
            return
    raise AssertionError(ratios)


def calls_for_modules(count):
    """How many calls it takes to read a lesson and so many modules beside it, each of which mentions its own name."""
    texts = {f"m{n}": (f"m{n}.py", f"x = {n}\ny = __name__\n") for n in range(count)}
    used = ", ".join(f"{name}.y" for name in texts)
    source = "".join(f"import {name}\n" for name in texts) + f"def softmax(x): return {used}\n"
    calls = []
    sys.setprofile(lambda frame, event, what: calls.append(1) if event == "call" else None)
    try:
        assert find_forbidden_calls(source, ["softmax"], lambda name: None, texts, "softmax") == {}
    finally:
        sys.setprofile(None)
    return len(calls)


@pytest.mark.slow
def test_the_cost_of_many_modules_grows_with_their_number():
    """Each module beside a lesson is read by itself: 450 that mention `__name__` took 85 s."""
    assert calls_for_modules(450) < 15 * calls_for_modules(45)


@pytest.mark.parametrize("around", [
    "match torch.softmax:\n    case f:\n        pass\n", "for f in [torch.softmax]:\n    pass\n",
    "if True:\n    for f in [torch.softmax]:\n        x = 1\n", "with torch.softmax as f:\n    pass\n",
    "while (f := torch.softmax):\n    break\n", "try:\n    f = torch.softmax\nfinally:\n    pass\n",
])  # fmt: skip
def test_a_name_that_a_block_binds_leads_to_what_its_first_line_says(around):
    """What a loop, a `with`, a `match` or a condition binds is followed to where it comes from."""
    source = f"import torch\n{around}\ndef softmax(x, dim): return f(x, dim)\n"
    found = find_forbidden_calls(source, ["softmax"], lambda name: name if name == "softmax" else None)

    assert found["softmax"].name == "softmax" and not found["softmax"].hides


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("torch.softmax(x, dim)", "torch.softmax"),
        ("F.softmax(x, dim)", "F.softmax"),
        ("s(x, dim)", "torch.nn.functional.softmax"),
        ("(x / 1.0).softmax(dim)", "(x / 1.0).softmax"),
        (f"({'x + ' * 40}x).softmax(dim)", "softmax"),
    ],
)
def test_a_forbidden_call_is_named_as_it_is_written(line, written):
    """A learner whose own function is called `softmax`, too, sees which of both is meant."""
    imports = "import torch\nimport torch.nn.functional as F\nfrom torch.nn.functional import softmax as s\n"
    call = find_forbidden_call(f"{imports}def softmax(x, dim=-1):\n    return {line}\n", "softmax", FORBIDS)
    assert call.name == "softmax" and f"It calls `{written}`, which" in call.says
