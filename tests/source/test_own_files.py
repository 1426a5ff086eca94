"""What one of a learner's files has of another: the reader of the source follows a library's names through them all."""

from __future__ import annotations

import time
from functools import partial

import pytest

from grader.source.forbidden_calls import ForbiddenCall, find_forbidden_calls
from grader.worker.watch.call_monitor import matches


def find_call(source, function, siblings):
    """Return the first forbidden call that a function of softmax.py reaches."""
    is_forbidden = partial(matches, forbids=("softmax",))
    return find_forbidden_calls(source, [function], is_forbidden, siblings, "softmax").get(function)


USE = "\n\n\ndef softmax(x):\n    return "
PATCH = "from unittest.mock import patch as p"
HANDED_ON = {
    "a class": (f"from helper import p{USE}p.object(x)", PATCH, "unittest.mock"),
    "a module": (f"from helper import m{USE}m.patch(x)", "try:\n    from unittest import mock as m\nfinally:\n    1",
                 "unittest.mock"),
    "an attribute": (f"import helper as h{USE}h.p.object(x)", PATCH, "unittest.mock"),
    "all names": (f"from helper import *{USE}run(x)", "from timeit import timeit as run", "timeit.timeit"),
    "a name in quotes": (f"import helper{USE}getattr(helper, 'p')(x)", PATCH, "unittest.mock"),
    "a name of a module": (f"import helper{USE}helper.typing.get_type_hints(x)", "import typing",
                           "typing.get_type_hints"),
    "a part of a library": (f"import helper{USE}helper.torch.ops.aten.exp(x)", "import torch", "torch.ops"),
    "a function's name": (f"import helper{USE}helper.t.get_type_hints(x)", "import typing\ndef t(): pass\nt = typing",
                          "typing.get_type_hints"),
    "by another name": (f"import helper\nt = helper.t{USE}t.get_type_hints(x)", "import typing\nt = typing",
                        "typing.get_type_hints"),
    "a file in hands": (f"import helper\nh = helper{USE}h.p(x)", PATCH, "helper itself"),
    "all of a file": (f"import helper{USE}vars(helper)['p'](x)", PATCH, "vars"),
    "its own file": (f"import typing\nimport softmax as me{USE}me.typing.get_type_hints(x)", "",
                     "typing.get_type_hints"),
    "its own file in hands": (f"import typing\nimport softmax as me\nt = me{USE}t", "", "me itself"),
    "a file's file": (f"import helper{USE}helper.softmax.torch.ops.aten.exp(x)\nimport torch", "import softmax",
                      "torch.ops"),
    "of a class": (f"class A:\n    import helper as h{USE}A.h.typing.get_type_hints(x)", "import typing",
                   "helper itself"),
    "a name of a class": (f"class A:\n    from helper import t as z{USE}A.z(x)", "from timeit import timeit as t",
                          "timeit.timeit"),
    "a class's own name": (f"class A:\n    from typing import get_type_hints as z{USE}A.z(x)", "",
                           "typing.get_type_hints"),
    "a class's function": (f"class A:\n    from torch import softmax as z{USE}A.z(x)", "", "torch.softmax itself"),
    "one of two files": (f"import helper as h{USE}h.p(x)\ndef f():\n    import softmax as h", PATCH, "h"),
    "one of two names": (f"from helper import p{USE}p(x)\ndef f():\n    from softmax import p", PATCH, "unittest.mock"),
    "one of two meanings": (f"import helper{USE}helper.t.get_type_hints(x)",
                            "import math, typing\nt = math\nt = typing", "a name with two meanings"),
    "one of two meanings, by name": (f"from helper import t{USE}t.get_type_hints(x)",
                                     "import typing as t\ndef f():\n    import math as t", "t"),
    "a star's module": (f"from torch.nn.functional import *{USE}dataclasses._create_fn(x)", "",
                        "torch.nn.functional.dataclasses._create_fn"),
    "a star's module, by a file": (f"import helper{USE}helper.dataclasses._create_fn(x)",
                                   "from torch.nn.functional import *", "torch.nn.functional.dataclasses._create_fn"),
    "a class of one's own": ("from helper import R\nclass A(R):\n    def f(self, n):\n"
                             f"        return getattr(self, f'a{{n}}'){USE}A().f(x)",
                             "from torch import nn\nclass B(nn.Module): pass\nclass R(B): pass", None),
    "a loop's variable": (f"from helper import *{USE}[t * 2 for t in x] + list(map(lambda m: m, x))",
                          "import torch as t\nimport math as m", None),
    "another meaning behind": (f"from helper import *\nfrom time import time{USE}time()", "import time", None),
    "a variable like a file": (f"import helper\ndef f(x):\n    helper = x.sum()\n    return helper{USE}f(x)",
                               "import torch", None),
    "own names beside a star": (f"from helper import *{USE}stable_softmax(exp(x))",
                                "from torch import *\ndef stable_softmax(x):\n    return exp(x)", None),
    "a method": (f"from helper import A{USE}A(x).softmax(0)", "class A:\n    def softmax(self, dim):\n        return 1",
                 None),
    "one of two": (f"import math as m\nimport helper as m{USE}m.t(x)", "from timeit import timeit as t",
                   "timeit.timeit"),
    "a function of one's own": (f"import helper as h\nfrom helper import softmax as s{USE}h.softmax(s(x))",
                                "def softmax(x):\n    return x\ndef trial():\n    from torch import softmax\n", None),
    "nothing": (f"from helper import f{USE}f(x)", "from unittest import mock\ndef f(x):\n    return x", None),
    "what is harmless": (f"from helper import dataclass, nn, T{USE}x",
                         "from dataclasses import dataclass\nfrom torch import nn\nfrom unittest import TestCase as T",
                         None),
    "what is allowed": (f"from helper import *{USE}torch.exp(h.math.pi * x)", "import helper as h\nimport math, torch",
                        None),
    "a file of functions": (f"import helper\nh = [helper]{USE}h[0].f(x)", "def f(x):\n    return x", None),
    "trials": (f"from helper import Base, unittest{USE}x\nclass T(Base): pass\nif __name__ == '__main__':\n"
               "    unittest.main()", "import unittest\nclass Base(unittest.TestCase): pass", None),
}  # fmt: skip


@pytest.mark.parametrize("what", HANDED_ON)
def test_what_a_file_has_of_anothers_imports_counts(what):
    """What could hide a call counts where it is used, whichever of the learner's files imports it."""
    source, helper, place = HANDED_ON[what]
    siblings = {"helper": ("helper.py", f"{helper}\n")}
    call = find_call(f"{source}\n", "softmax", siblings)

    assert (call and (call.name, call.path, call.hides)) == (place and (place, "", True))


DOOR = "from timeit import timeit\ndef f(x):\n    return timeit(x)\n"
REACHED = {
    "its function": ("import helper", "helper.f(x)", {"helper": DOOR}),
    "an import of a function": ("import math\ndef g(x):\n    import helper as h\n    return h.f(x)", "g(x)",
                                {"helper": DOOR}),
    "what it runs": ("import helper", "x", {"helper": f"{DOOR}f(1)\n"}),
    "a class of it": ("from helper import A\nclass B(A): pass", "B().g(x)",
                      {"helper": f"{DOOR}class A:\n    def g(self, x):\n        return f(x)\n"}),
    "a table of it": ("from helper import WAYS", "WAYS[0](x)", {"helper": f"{DOOR}WAYS = []\nWAYS.append(f)\n"}),
    "a decorated function": ("from helper import WAYS", "WAYS[0](x)", {"helper": (
        "from timeit import timeit\nWAYS = []\ndef add(f):\n    WAYS.append(f)\n    return f\n"
        "@add\ndef f(x):\n    return timeit(x)\n")}),
    "a name that it has not": ("import helper", "helper.g(x)",
                               {"helper": f"{DOOR}def __getattr__(n):\n    return f\n"}),
    "a name that is given": ("import helper\nhelper.g = helper.__dict__.popitem()[1]", "helper.g(x)",
                             {"helper": f"def g(x):\n    return x\n{DOOR}"}),
    "all its names": ("import helper", "vars(helper).popitem()[1](x)", {"helper": f"import math\n{DOOR}"}),
    "the module": ("import helper\nh = [helper]", "h[0].f(x)", {"helper": DOOR}),
    "a name in quotes": ("import helper", "getattr(helper, 'f')(x)", {"helper": DOOR}),
    "everything": ("from helper import *", "f(x)", {"helper": DOOR}),
    "by way of another": ("import helper", "helper.other.f(x)", {"helper": "import other\n", "other": DOOR}),
    "by a name of another": ("from helper import o", "o.f(x)", {"helper": "import other as o\n", "other": DOOR}),
    "by a star of another": ("from helper import *", "other.f(x)", {"helper": "import other\n", "other": DOOR}),
    "by way of two": ("import a", "a.b.other.f(x)", {"a": "import b\n", "b": "import other\n", "other": DOOR}),
    "by two stars": ("import a", "a.b.f(x)", {"a": "import b\n", "b": "from other import *\n", "other": DOOR}),
}  # fmt: skip


@pytest.mark.parametrize("what", REACHED)
def test_what_is_reached_in_another_file_counts(what):
    """A door counts in whatever file it stands, if the exercise or the import can get there."""
    head, use, files = REACHED[what]
    siblings = {name: (f"{name}.py", text) for name, text in files.items()}
    call = find_call(f"{head}{USE}{use}\n", "softmax", siblings)

    assert call is not None and call.hides


def test_what_nothing_reaches_in_another_file_does_not_count():
    """A file of helpers may load, time and parse: what counts of it is what the exercise uses."""
    helpers = (
        "import argparse\nimport pickle\nfrom timeit import timeit\nimport torch\nSIZE = 3\n"
        "def shift(x):\n    return x - x.max() + 0 * SIZE\n"
        "def load(path):\n    return torch.load(path), pickle.load(open(path, 'rb'))\n"
        "def main():\n    parser = argparse.ArgumentParser()\n    return timeit(str(parser.parse_args()))\n"
    )
    siblings = {"helper": ("helper.py", helpers)}

    for head, use in (("from helper import shift", "shift(x)"), ("import helper", "helper.shift(x)"),
                      ("from helper import *", "shift(x)")):  # fmt: skip
        assert find_call(f"{head}{USE}{use}\n", "softmax", siblings) is None


@pytest.mark.parametrize("owner", ["torch.zeros(3)", "made", "held.made"])
def test_a_method_of_ones_own_lends_no_name_to_a_library_s(owner):
    """Of what a library's call gives, no method is the learner's, whatever theirs are called."""
    source = (
        f"import torch\nmade = torch.zeros(3)\nheld.made = torch.ones(3)\nclass A:\n    def softmax(self): pass{USE}"
    )

    found = find_call(f"{source}{owner}.softmax(0)\n", "softmax", {})
    assert found == ForbiddenCall("softmax", 9, written=f"{owner}.softmax")
    assert find_call(f"{source}A().softmax() + x.softmax()\n", "softmax", {}) is None


def test_all_names_of_a_library_come_through_another_file():
    """Who has everything of a file has what that file has of everything of torch."""
    siblings = {"helper": ("helper.py", "from torch.nn.functional import *\n")}
    call = find_call("from helper import *\ndef f(x):\n    return softmax(x, 0)\n", "f", siblings)

    assert call == ForbiddenCall("softmax", 3)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
def test_names_that_go_through_many_files_are_found_or_refused_soon(order):
    """Through three files in any order; a chain of hundreds, or hundreds that give all to all, is read by nobody."""
    few, many = ("import typing", *["from a{} import *"] * 2), ("import typing", *["from a{} import *"] * 400)
    wide = ["\n".join(f"from a{other} import *" for other in range(60)) + f"\nfrom math import *\nx{n} = 1\n"
            for n in range(60)]  # fmt: skip
    for texts in (few, many, wide):
        number = range(len(texts))[::order]
        siblings = {f"a{n}": (f"a{n}.py", text.format(n - order) + "\n") for n, text in zip(number, texts, strict=True)}
        last = number[-1]
        source = f"from a{last} import *\ndef f(x):\n    return typing.get_type_hints(x)\n"
        begun = time.process_time()
        call = find_call(source, "f", siblings)

        assert texts is wide or (call is not None and call.hides)
        assert time.process_time() - begun < 20
