"""grader.source.what_runs: what is read of a source is what a worker runs of it."""

from __future__ import annotations

import ast

import pytest

from grader.source.what_runs import parse_what_runs
from grader.worker.main_guard import without_main_guard

SOURCES = {
    "a helper that tests behind its end": "import unittest\ndef g():\n    return 1\n    unittest.main()\ng()\n",
    "a helper that tests in a guard": "import doctest\ndef g():\n    if __name__ == '__main__':\n"
    "        doctest.testmod()\n    return 1\nx = g()\nprint(x)\n",
    "a name that is local by what never runs": "import unittest\nn = unittest.x\ndef g():\n    return n\n    n = 1\n",
    "a name that is read where nothing runs": "import unittest\nn = unittest.x\ndef g():\n    return 1\n    return n\n",
    "an import behind an error": "try:\n    raise ValueError\n    import unittest as t\n"
    "except ValueError:\n    t = abs\nt(1)\n",
}


@pytest.mark.parametrize("case", SOURCES)
def test_what_never_runs_counts_where_it_is_told_what_a_worker_runs(case):
    """The worker tells it by the whole source, and so does a reader: else one would run what the other leaves out."""
    source = SOURCES[case]
    tree, body = parse_what_runs(source)
    run = without_main_guard(ast.parse(source), source)

    assert [node.lineno for node in body] == [node.lineno for node in run]
    assert ast.unparse(tree) != ast.unparse(ast.parse(source))
