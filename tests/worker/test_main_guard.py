"""What runs only where a file is started by itself, a main guard or the file's own tests, is neither run nor read."""

from __future__ import annotations

import pytest
from worker.test_worker import loaded

from grader.source.forbidden_calls import find_forbidden_calls

NAMED_THE_PROGRAM = (
    "import lesson as me, operator\n"
    "me.__dict__.update({'__na' + 'me__': '__main__'})\nme.__setattr__('__na' + 'me__', '__main__')\n"
    "operator.setitem(me.__dict__, '__na' + 'me__', '__main__')\n"
)
GUARDED = "ran = []\nif '__main__' == __name__:\n    ran.append(1)\nif __name__ == '__main__':\n    ran.append(1)\n"


@pytest.mark.parametrize("watched", [False, True], ids=["", "watched"])
def test_what_is_behind_a_main_guard_never_runs(launcher, watched):
    """Whatever a module calls itself, its own and another's guard is untrue: the judge does not read behind it."""
    helper = NAMED_THE_PROGRAM.replace("lesson", "helper") + GUARDED
    names = "__name__, helper.__name__, *ran, *helper.ran"
    source = f"{NAMED_THE_PROGRAM}{GUARDED}import helper\ndef f():\n    return [{names}]\n"
    worker = launcher.lease()
    reply = worker.request(
        "load", name="lesson", path="lesson.py", source=source, siblings={"helper": ["helper.py", helper]}, forbids=[],
        names=["f"], device="cpu", shared=False, watched=watched,
    )  # fmt: skip
    assert "error" not in reply, reply
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert value == ["__main__", "__main__"]


@pytest.mark.parametrize("watched", [False, True], ids=["", "watched"])
def test_a_guard_in_a_function_or_a_block_never_runs_either(launcher, watched):
    """One that stands too deep by mistake is no other; what it binds stays local, and a `yield` in it is one."""
    source = NAMED_THE_PROGRAM + (
        "ran, n = [], 1\ntry:\n    if __name__ == '__main__':\n        ran.append(1)\nfinally:\n    pass\n"
        "class K:\n    if __name__ == '__main__':\n        ran.append(2)\n"
        "def g(__name__='__main__'):\n    if 0:\n        pass\n    elif __name__ == '__main__':\n"
        "        ran.append(3)\n"
        "def h():\n    if __name__ == '__main__':\n        yield\n"
        "def local():\n    if __name__ == '__main__':\n        n = 2\n    try:\n        return n\n"
        "    except UnboundLocalError:\n        return 0\n"
        "def f():\n    g()\n    return [__name__, list(h()), local(), *ran]\n"
    )
    worker = launcher.lease()
    reply = worker.request(
        "load", name="lesson", path="lesson.py", source=source, siblings={}, forbids=[], names=["f"], device="cpu",
        shared=False, watched=watched,
    )  # fmt: skip
    assert "error" not in reply, reply
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert value == ["__main__", [], 0]


@pytest.mark.parametrize("watched", [False, True], ids=["", "watched"])
@pytest.mark.parametrize(
    "runs",
    [
        "import doctest\ndoctest.testmod()",
        "from doctest import testmod\nprint(testmod(verbose=False))",
        "import unittest\nunittest.main()",
        "import sys, unittest\nsys.exit(unittest.main(exit=False))",
        "import doctest\nfailed, count = doctest.testmod()\nprint(failed, 'of', count)",
        "import doctest\ndef _test():\n    return doctest.testmod()\nassert _test().failed == 0",
        "from doctest import testmod as tm\nif True:\n    tm()",
        "def run_tests():\n    import doctest\n    doctest.testmod()\nrun_tests()",
        "try:\n    import doctest\nexcept ImportError:\n    doctest = None\nif doctest:\n    doctest.testmod()",
        "import unittest\nfrom unittest import mock\nwith mock.patch('builtins.print'):\n    unittest.main()",
        "try:\n    import unittest as ut\n    ut.main()\nexcept SystemExit:\n    pass",
        "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(), 2)\n"
        "s = unittest.TestSuite()\ns.addTest(T('test'))\nunittest.TextTestRunner().run(s)\nT('test').test()",
        "def run():\n    unittest.main()\nimport unittest\nrun()",
        "import importlib\nimportlib.import_module('doctest').testmod()\nd = __import__('doctest')\nd.testmod()",
        "def run():\n    return __import__('unittest').main()\nprint(run())",
        "class K:\n    @staticmethod\n    def check():\n        import doctest\n        doctest.testmod()\nK().check()",
        "if True:\n    def test():\n        import doctest\n        doctest.testmod()\n    test()",
        "import doctest\ndef test():\n    doctest.testmod()\ndef g(xs):\n"
        "    def test(x):\n        return x\n"
        "    return test(xs)\ntest()",
        "import doctest\nfailed, count = doctest.testmod()\ndef g(count):\n"
        "    failed = [n for count in [1] for n in [2]]\n"
        "    return lambda: failed + count\ndef h():\n    class K:\n        failed = 1\n"
        "        n = failed\n    return K",
    ],
)
def test_a_file_that_runs_its_own_tests_at_its_end_is_loaded_without(launcher, runs, watched):
    """They need a tracer, make code of texts or end the process: a right file of which only that is wrong is right."""
    source = f"def f():\n    'Return 1.\\n\\n    >>> f()\\n    2\\n    '\n    return 1\n{runs}\nafter = 1 / 1\n"
    worker = launcher.lease()
    reply = worker.request(
        "load", name="lesson", path="lesson.py", source=source, siblings={}, forbids=["softmax"], names=["f"],
        device="cpu", shared=False, watched=watched,
    )  # fmt: skip
    assert "error" not in reply, reply
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert (value, reply.get("output", "")) == (1, "")
    assert find_forbidden_calls(source, ["f"], {"softmax": "softmax"}.get) == {}


def test_what_a_guard_with_tests_binds_is_no_other_function_s_argument(launcher):
    """A table of functions is made whose arguments have the names of trial values, or of what the tests gave."""
    source = (
        "import doctest\nif __name__ == '__main__':\n    h, x = 1, 2\n    doctest.testmod()\n"
        "failed, count = doctest.testmod()\n"
        "def g(h, x):\n    count = h + x\n    return count\nTABLE = {'g': g}\ndef f():\n    return TABLE['g'](1, 2)\n"
    )
    worker = loaded(launcher, source)
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert value == 3


def test_a_name_of_the_learner_s_own_runs_no_tests(launcher):
    """What is called `testmod` or `main` there is a function like any other."""
    source = "import unittest\ndef testmod():\n    return [1]\nmain = testmod\nvalues = testmod() + main()\n"
    source += "def f():\n    return values\n"
    worker = loaded(launcher, source)
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert value == [1, 1]


@pytest.mark.parametrize(
    "source",
    [
        "from unittest import TestCase\ncheck = TestCase()\ndef f():\n    check.assertEqual(1, 1)\n    return 1\n",
        "import unittest\nS = unittest.TestSuite()\nn = S.countTestCases()\nm = n + 1\nprint(m)\n"
        "def f():\n    return m\n",
        "class K:\n    def __call__(self):\n        return 1\n    def self_test(self):\n        import doctest\n"
        "        doctest.testmod()\nclass L(K):\n    pass\nf = L()\n",
        "class K:\n    @staticmethod\n    def go():\n        return 1\n"
        "    def self_test(self):\n"
        "        import unittest\n        unittest.main()\nJ = K\nf = J.go\n",
        "def _f(tests=False):\n    if tests:\n        import doctest\n        doctest.testmod()\n"
        "    return 1\nf = _f\n",
        "try:\n    import math\n    import unittest\n    unittest.TestSuite()\nexcept ImportError:\n    pass\n"
        "def f():\n    return math.floor(1.5)\n",
        "if True:\n    import unittest\n    def f():\n        return 1\n    unittest.TestSuite()\n",
        "import unittest\nBASE, n = unittest.TestSuite(), 1\nclass K:\n    m = n\ndef f():\n    return K.m\n",
        "import unittest\nn = unittest.TestSuite().countTestCases() + 1\ndef f():\n    def g():\n        return n\n"
        "    return g()\n",
    ],
)
def test_what_the_answer_reads_is_bound_though_it_comes_of_tests(launcher, source):
    """Nothing is left out that a function or class reads, nor a definition that could test itself."""
    worker = loaded(launcher, source)
    value = worker.request("call", target="f", args=[], kwargs={})["value"]
    worker.close()

    assert value == 1


def test_a_guard_leaves_the_lines_of_a_source_as_they_are(launcher):
    """Where a file with a guard goes wrong is told by its own line."""
    worker = loaded(launcher, "if __name__ == '__main__':\n    print(1)\n    print(2)\n\ndef f():\n    return 1 / 0\n")
    error = worker.request("call", target="f", args=[], kwargs={})["error"]
    worker.close()

    assert 6 in error["frames"][-1]
