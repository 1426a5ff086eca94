"""grader.source.hiding_module: methods that a library's class gives to whoever has the class, for any object."""

import pytest

from grader.source.forbidden_calls import find_forbidden_calls

OF_ITS_OBJECT = {
    "module init":
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n"
        "        nn.Module.__init__(self)\n        self.w = nn.ModuleDict()\nA()\nKINDS = [A]\n",
    "litgpt":
        "import torch.nn as nn\nimport helper\nclass A(helper.Base):\n    def __init__(self, config):\n"
        "        nn.Module.__init__(self)\n        self.b = nn.Linear(1, 1)\n    def forward(self, x):\n"
        "        return helper.Base.forward(self, x)\n",
    "getattr wrapper":
        "from torch import nn\nclass W(nn.Module):\n    def __init__(self, m):\n        super().__init__()\n"
        "        self.m = m\n    def __getattr__(self, name):\n        try:\n"
        "            return super().__getattr__(name)\n        except AttributeError:\n"
        "            return getattr(self.m, 'x')\nW(1)\n",
    "module dict":
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layers = nn.ModuleDict({f'layer{i}': nn.Linear(1, 1) for i in range(3)})\n"
        "    def forward(self, x):\n        for i in range(3):\n            x = self.layers[f'layer{i}'](x)\n"
        "        return x\nA()\n",
    "parameter dict":
        "from torch import nn\nclass A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.w = nn.ParameterDict({'q': nn.Parameter()})\n    def forward(self, x):\n"
        "        return x @ self.w['q']\nA()\n",
    "super forward":
        "from torch import nn\nclass A(nn.Linear):\n    def forward(self, x):\n"
        "        return super().forward(x) + nn.Linear.forward(self, x)\nA(1, 1)\n",
    "base forward":
        "from torch import nn\nclass B(nn.Module):\n    def forward(self, x):\n        return x\n"
        "class A(B):\n    def forward(self, x):\n        return B.forward(self, x)\nA()\n",
    "type name":
        "from torch import nn\nclass A(nn.Module):\n    def extra_repr(self):\n"
        "        return f'{type(self).__name__} {self.__class__.__name__}'\n    @classmethod\n"
        "    def make(cls):\n        return cls()\nA.make()\n",
    "own function in class":
        "from torch import nn\nclass A(nn.Module):\n    def scores(q, k):\n        return q @ k\n"
        "    def forward(self, x):\n        return A.scores(x, x)\nA()\n",
    "key":
        "d = {'a': 1}\nprint(max(d, key=d.__getitem__), list(map(d.__getitem__, d)), d.__getitem__('a'))\n",
    "autograd function":
        "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x\n    @staticmethod\n    def backward(ctx, g):\n        return g\n"
        "def softmax(x, dim=-1):\n    return F.apply(x)\n",
    "class of layers":
        "from torch import nn\nclass A(nn.Module):\n"
        "    def __init__(self, layer=nn.Linear, norm=nn.LayerNorm):\n        super().__init__()\n"
        "        self.a = layer(1, 1)\nclass B(A):\n    pass\nKINDS = {'a': A, 'b': B}\nKINDS['a']()\n",
    "cuda":
        "import torch\ndef softmax(x, dim=-1):\n    return torch.cuda.is_available()\n",
    "tensor class":
        "import torch\nclass T(torch.Tensor):\n    pass\ndef softmax(x, dim=-1):\n    return T.exp(x)\n",
    "unittest":
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
        "        self.assertEqual(type(1), int)\n    @classmethod\n    def setUpClass(cls):\n"
        "        super().setUpClass()\n",
    "module init of what is called self":
        "from torch import nn\ndef f(self):\n    nn.Module.__init__(self)\nf(print)\n",
}  # fmt: skip
OF_ITS_OBJECT["an object that is made at once"] = (
    "from torch import nn\nclass A(nn.Linear):\n    pass\n"
    "def softmax(x, dim=-1):\n    return A(1, 1).to(x.device).eval()(x), A(1, 1).double()(x)\n"
)
OF_ANY_OBJECT = {
    "getitem":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "def look(f, k):\n    f._key_to_attr = same\n    return P.__getitem__(f, k)\nlook(same, input())\n",
    "transitively":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "class Q(P):\n    pass\nQ.__getitem__(same, input())\n",
    "type":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "type(P()).__getitem__(same, input())\n",
    "type of library":
        "def same(k):\n    return k\nfrom torch import nn\n"
        "type(nn.ParameterDict()).__getitem__(same, input())\n",
    "__class__":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "P().__class__.__getitem__(same, input())\n",
    "cls":
        "from torch import nn\nclass P(nn.ParameterDict):\n    @classmethod\n    def m(cls, f, k):\n"
        "        return cls.__getitem__(f, k)\ndef same(k):\n    return k\nP.m(same, input())\n",
    "alias":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\nR = P\n"
        "R.__getitem__(same, input())\n",
    "list":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n[R] = [P]\n"
        "R.__getitem__(same, input())\n",
    "list of library":
        "def same(k):\n    return k\nfrom torch import nn\n[R] = [nn.ParameterDict]\n"
        "R.__getitem__(same, input())\n",
    "parameter":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "def call(c, f, k):\n    return c.__getitem__(f, k)\ncall(P, same, input())\n",
    "getattr":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "getattr(P, '__getitem__')(same, input())\n",
    "handed":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "g = P.__getitem__\ng(same, input())\n",
    "handed var":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "def get(c):\n    return c.__getitem__\nget(P)(same, input())\n",
    "star":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "def call(c, a):\n    return c.__getitem__(*a)\ncall(P, (same, input()))\n",
    "other file": {
        "softmax":
            "from helper import P\ndef same(k):\n    return k\nP.__getitem__(same, input())\n",
        "helper":
            "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n",
    },
    "other file class": {
        "softmax":
            "from helper import P\ndef same(k):\n    return k\nclass Q(P):\n    pass\n"
            "Q.__getitem__(same, input())\n",
        "helper":
            "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n",
    },
    "other file module": {
        "softmax":
            "import helper\ndef same(k):\n    return k\nhelper.P.__getitem__(same, input())\n",
        "helper":
            "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n",
    },
    "distribution":
        "from torch.distributions import Distribution\nclass D(Distribution):\n    pass\ndef f(thing):\n"
        "    D.__init__(thing, validate_args=True)\nf(print)\n",
    "testcase run":
        "import unittest\nclass T(unittest.TestCase):\n    pass\ndef f(x):\n    f._testMethodName = input()\n"
        "    T.run(f)\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "testcase type":
        "import unittest\nclass T(unittest.TestCase):\n    def runTest(self):\n        pass\ndef f(x):\n"
        "    f._testMethodName = input()\n    type(T()).run(f)\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "testcase list":
        "import unittest\nclass T(unittest.TestCase):\n    pass\ndef f(x):\n    f._testMethodName = input()\n"
        "    [k.run(f) for k in [T]]\ndef softmax(x, dim=-1):\n    return f(x)\n",
    "lstm":
        "from torch import nn\nclass L(nn.LSTM):\n    pass\ndef f(x):\n    f._all_weights = [[input()]]\n"
        "    return L.all_weights.fget(f)\nf(1)\n",
    "self is none":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "def f(self, k):\n    return P.__getitem__(self, k)\nf(same, input())\n",
    "rebound self":
        "from torch import nn\nclass P(nn.ParameterDict):\n    def f(self, o, k):\n        self = o\n"
        "        return P.__getitem__(self, k)\ndef same(k):\n    return k\nP().f(same, input())\n",
    "nested base":
        "from torch import nn\nclass O:\n    class P(nn.ParameterDict):\n        pass\n"
        "O.P.__getitem__(print, input())\n",
    "method given away":
        "from torch import nn\nclass P(nn.ParameterDict):\n    def f(self, k):\n"
        "        return nn.ParameterDict.__getitem__(self, k)\ndef same(k):\n    return k\n"
        "P.f(same, input())\n",
    "partial":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "import functools\nfunctools.partial(P.__getitem__, same)(input())\n",
    "setitem":
        "from torch import nn\nclass P(nn.ParameterDict):\n    pass\ndef same(k):\n    return k\n"
        "P.__setitem__(same, input(), 1)\n",
    "another function of a module's class":
        "from torch import nn\ndef f(self, d):\n    nn.Module.__setstate__(self, d)\nf(print, 1)\n",
}  # fmt: skip


def find(files):
    files = files if isinstance(files, dict) else {"softmax": files}
    others = {name: (f"{name}.py", text) for name, text in files.items() if name != "softmax"}
    source = files["softmax"] + ("" if "def softmax" in files["softmax"] else "def softmax(x, dim=-1):\n    return x\n")
    return find_forbidden_calls(source, ["softmax"], lambda _: None, others, "softmax").get("softmax")


@pytest.mark.parametrize("case", OF_ITS_OBJECT)
def test_a_method_for_an_object_of_the_class_is_no_offence(case):
    """`super().f(x)`, `nn.Module.__init__(self)`, and what has the class for its object."""
    assert find(OF_ITS_OBJECT[case]) is None


@pytest.mark.parametrize("case", OF_ANY_OBJECT)
def test_a_method_that_may_be_given_any_object_hides_a_call(case):
    """It looks up whatever name of that: by one's own class, a further one, or the class of an object."""
    call = find(OF_ANY_OBJECT[case])

    assert call is not None and call.hides
