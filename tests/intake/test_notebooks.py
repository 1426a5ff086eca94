"""grader.intake: a notebook becomes a module of its definitions, whatever stands between them."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import json
import linecache
import random
import string
import sys
import traceback
import types
import warnings
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.hand_ins import make_notebook

from grader.intake.notebook import notebook_to_module
from grader.intake.notebook.cell_places import CellPlaces
from grader.intake.notebook.exported_file import read_exported, read_failed
from grader.intake.notebook.without_runs import without_runs
from grader.submission import MAX_BYTES


def converted(*cells: str, wanted: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The module that the cells make, and what was noted."""
    notes: list[str] = []
    return notebook_to_module.to_source(make_notebook(*cells).encode(), notes.append, wanted), notes


def run(*cells: str, wanted: tuple[str, ...] = ()) -> tuple[dict, str]:
    """The names of the module, and what was printed when it ran."""
    names: dict = {"__name__": "work"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(converted(*cells, wanted=wanted)[0], "work.ipynb", "exec", dont_inherit=True), names)
    return names, out.getvalue()


CALL = "get_ipython().run_cell_magic"
COLABS = "# Commented out IPython magic to ensure Python compatibility."


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell, expected", [
    ("%matplotlib inline\nx = 1", "# %matplotlib inline\nx = 1"),
    ("!pip install torch\nx = 1", "# !pip install torch\nx = 1"),
    ("!pip install \\\n  torch \\\n  numpy\nx = 1", "# !pip install \\\n# torch \\\n# numpy\nx = 1"),
    ("!ls\nx = (\n    1\n    != 2\n)", "# !ls\nx = (\n    1\n    != 2\n)"),
    ("if x:\n    !ls\nelse:\n    y = 2", "if x:\n    pass  # !ls\nelse:\n    y = 2"),
    ("files = !ls\nx = 1", "files = []  # !ls\nx = 1"),
    ("here = %pwd\nx = 1", "# here = %pwd\nx = 1"),
    ("%time x = 1", "x = 1"),
    ("if x:\n    %prun y = 2", "if x:\n    y = 2"),
    ("%time x = \\\n  1\n%prun -z f()", "# %time x = \\\n# 1\n# %prun -z f()"),
    ("%prun -q -s time -l10 x = f()", "x = f()"),
    ("%%timeit -n 3\nx = 1", "# %%timeit -n 3\n# x = 1"),
    ("%timeit x = 2", "# %timeit x = 2"),
    ("torch.softmax?\nx = 1", "# torch.softmax?\nx = 1"),
    ("%%time\nx = 1", "# %%time\nx = 1"),
    ("%%bash\nls | wc", "# %%bash\n# ls | wc"),
    ("x = (7\n     % 4)", "x = (7\n     % 4)"),
    ("%%writefile a.py\ndef f(): pass", "# %%writefile a.py\n# def f(): pass"),
    ("\n    x = 1\n\n    if x:\n        !ls", "\nx = 1\n\nif x:\n    pass  # !ls"),
    ("  %%time\n  x = 1", "# %%time\nx = 1"),
    ("%%time\n  x = 1\n  y = 2", "# %%time\nx = 1\ny = 2"),
    (">>> def f():\n...     return 1\n...\n>>> x = f()", "def f():\n    return 1\n\nx = f()"),
    ("\nIn [3]: def f():\n   ...:     return 1\n   ...: \n\nIn [12]: %ls", "\ndef f():\n    return 1\n\n\n# %ls"),
    ("%ls\ndef f():\n  \"\"\"\n>>> f()\n...\n  \"\"\"", "# %ls\ndef f():\n  \"\"\"\n>>> f()\n...\n  \"\"\""),
])  # fmt: skip
def test_what_only_a_notebook_understands_becomes_a_comment(cell, expected):
    """Magics, shell lines and questions are comments, on the lines they had; Python, also what is timed, stays.

    The prompts of a session that was pasted are taken off, as Jupyter does.
    """
    assert notebook_to_module.to_python(cell) == expected
    ast.parse(expected)


@pytest.mark.parametrize("source, expected", [
    ("!pip install torch\n\nx = 1\nif x:\n    %ls\n", "# !pip install torch\n\nx = 1\nif x:\n    pass  # %ls\n"),
    ("get_ipython().system('pip install torch')\nx = 1\n", "pass\nx = 1\n"),
    ("gpu = !nvidia-smi\nx = 1\n", "gpu = []  # !nvidia-smi\nx = 1\n"),
    ("%time x = 1\n", "x = 1\n"),
    ("if 1:\n    get_ipython().run_line_magic('time', 'x = 1')\n", "if 1:\n    x = 1\n"),
    ("get_ipython().run_cell_magic('time', '', 'x = 1\\nf(x)  # slow\\n')\n", "x = 1; f(x)\n"),
    ("get_ipython().run_cell_magic('time', '', 'for x in y: f(x)')\n", "pass\n"),
    (f"{CALL}('time', '', 'def f():\\n    return 1\\n\\n%ls\\n')\nx = 1\n",
     "# %%time\ndef f():\n    return 1\n\n# %ls\n\nx = 1\n"),
    (f"{CALL}('capture', 'out', 'class A:\\n  x = 1')\n", "# %%capture out\nclass A:\n  x = 1\n"),
    (f"{CALL}('timeit', '', 'def f():\\n  pass')\n", "pass\n"),
    (f"{CALL}('writefile', 'a.py', 'def f():\\n  pass')\n", "pass\n"),
    (f"if 1:\n    {CALL}('time', '', 'def f():\\n  pass')\n", "if 1:\n    pass\n"),
    ("y = get_ipython().run_line_magic('time', 'f(x)')\n", "y = []\n"),
    ("get_ipython().run_line_magic('timeit', 'x = 1')\n", "pass\n"),
    ("# In[3]:\ndisplay(x)\nif x:\n    display(f(x), x) ;\n", "# In[3]:\npass\nif x:\n    pass\n"),
    (f"{COLABS}\n# %time x = 1\n# %ls\n# a comment\n", f"{COLABS}\nx = 1\n# %ls\n# a comment\n"),
    (f"{COLABS}\n# %%time\n# def f():\n#   return 1\n#\n# # why\n\n# done\n",
     f"{COLABS}\n# %%time\ndef f():\n  return 1\n\n# why\n\n# done\n"),
    ("# %time x = 1\nx = 2\n", None),
    (f"{COLABS}\n# %matplotlib inline\nx = 2\n\n# why?\n# %time x = 1\n# %%time\n# x = 3\n", None),
    (f"{COLABS}\nx = 2\n# %time y = x\n\n# %time x = 1\n", f"{COLABS}\nx = 2\ny = x\n\n# %time x = 1\n"),
    ("display(x); y = f(x)\n", None),
    ("from show import display\ndisplay(x)\n", None),
    ("def f(display):\n    display(3)\n", None),
    ("get_ipython().system('ls')\r\nx = 1\r\ndisplay(x)\r\n", "pass\nx = 1\npass\n"),
    ("# Windows\r\nx = 1\r\n# display(x)\r\n", None),
    ("torch.softmax?\nx = (1\n!= 2)\n", "# torch.softmax?\nx = (1\n!= 2)\n"),
    ("files = get_ipython().getoutput('ls')\nx = 1\n", "files = []\nx = 1\n"),
    ("x = (1\n!= 2)  # why?\n", None),
    ("if 1:\n    get_ipython().run_line_magic('ls', '')\n", "if 1:\n    pass\n"),
    ("def f():\n    return (7\n        % 4)\n", None),
    ('text = """\n!important\n"""\n', None),
    ("!pip install torch\nx = (\n", None),  # no Python without it either
    ("x = get_ipython().system\n", None),
])  # fmt: skip
def test_a_file_that_was_saved_out_of_a_notebook_is_python_without_its_magics(source, expected):
    """With what is timed, and cells that define something, and that is noted; else all stays, on the lines it had."""
    notes: list[str] = []

    assert notebook_to_module.file_to_python(source, notes.append) == (expected or source)
    assert len(notes) == (expected is not None)


def test_a_file_with_cells_that_imports_what_the_course_names_is_a_file():
    """What can be imported is known by the course and by the files beside it; of anything else it would fail."""
    source = "# %%\nimport einops, numpy\nfrom mine import g\n\n\ndef f(x):\n    return x\n\n\n# %%\nf('no')\n"

    assert read_exported(source, wanted=("f",), known=("einops", "numpy", "mine")).module == source
    assert read_exported(source, wanted=("f",), known=("numpy", "mine")).module != source


def read_file(source: str, wanted: tuple[str, ...] = ("f",)) -> tuple[dict, list[str], str]:
    """The names of a file that was saved out of a notebook, what was noted and what was printed."""
    notes: list[str] = []
    names: dict = {"__name__": "work"}
    text, own = read_exported(source, notes.append, wanted)
    assert source == text or source.splitlines().index("def f(x):") == text.splitlines().index("def f(x):")
    assert "_NotebookCell" not in own and own.count("\n") == text.count("\n")
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "work.py", "exec", dont_inherit=True), names)
    return names, notes, out.getvalue()


OWN = "import math\n\n\ndef f(x):\n    return math.exp(x)\n"
LINE = "get_ipython().run_line_magic"
COLAB = '"""work.ipynb\n\nAutomatically generated by Colab.\n"""\n'


@pytest.mark.parametrize("source", [
    f"# %%\nfrom IPython import get_ipython\n\n# %%\nget_ipython().system('ls')\n{OWN}",
    f"from IPython.display import display\n\n{OWN}\ndisplay(f(0))\n",
    f"# -*- coding: utf-8 -*-\n{COLAB}\nfrom google.colab import drive\ndrive.mount('/content')\n!ls\n{OWN}\nf('no')\n",
    f"#!/usr/bin/python\n# coding: utf-8\n\n# In[1]:\n\n\nimport nothing_here as plt\n{OWN}\n# In[ ]:\n\nplt.plot(1)\n",
    f"#%%Imports\nimport nothing_here\n#%%Mine\n{OWN}", f"#%%Mine\n{OWN}\n#%%\nawait f(1)\n",
    f"# %%\n{OWN}\n# %%\nawait f(1)\n", f"# Databricks notebook source\n{OWN}\ndbutils.fs.ls('/')\n",
    f"# In[1]:\n\n{OWN}\n# In[2]:\n\nfrom math import exp as f\n", "# In[1]:\n" + OWN + "# In[2]:\nassert f(1) == 2\n",
    f"# %%\nimport nothing_here\n{OWN}\n# %%\nf('no')\n".replace("\n", "\r\n"),
    "# In[1]:\nfrom math import exp as f, e\ndef f(x):\n    return e**x\n# In[2]:\nf('no')\n",
    "# In[1]:\nT = []\n\nfor n in range(2):\n    T.append(n)\ndef f(x):\n    return float(T[1])\n# In[2]:\nf('no')\n",
])  # fmt: skip
def test_a_file_out_of_a_notebook_is_read_as_that_would_be(source):
    """What plots, awaits, mounts or fails costs no function, and each stands on the line that it had."""
    names, notes, _ = read_file(source)

    assert names["f"](0) == 1.0
    assert all(note.startswith("It was saved out of a notebook: ") for note in notes)


@pytest.mark.parametrize("source", [
    f"# %%\n{OWN}\n# %%\nassert f(0) == 2\n", f"#%%\n{OWN}\n#%%\nfor i in range(3)\n    f(i)\n\n#%%\nprint(i)\n",
    f"{COLAB}\n{OWN}\nprint(f(\n", f"# %%\ndef g(x):\n\n# %%\n{OWN}", f"# In[1]:\n{OWN}\n# In[2]:\n'''\n",
])  # fmt: skip
def test_a_cell_that_fails_costs_the_others_nothing(source):
    """A file that cannot be loaded is read as the notebook that it may be of; what is no Python is told."""
    notes: list[str] = []
    names: dict = {}
    read = read_failed(source, notes.append, ("f",))
    assert read
    exec(read.module, names)

    assert names["f"](0) == 1.0
    assert any("it is no Python (line " in note for note in notes) == ("assert" not in source)


@pytest.mark.parametrize("runs", [
    "for _ in range(9):\n    K['b'] = f(1)", "K['b'] = f(1)", "while not K:\n    K['b'] = 1",
    "K['b'] = [f(i) for i in ()]", "K['b'] = Net().fit()",
])  # fmt: skip
def test_what_a_notebook_runs_can_be_left_out_of_its_module(runs):
    """Loops go, and calls of its own; definitions and constants stay, on their lines."""
    own = "class Net:\n    def fit(self):\n        return K\n\n\ndef f(x):\n    return x + 1\n"
    module, _ = converted("K = {'a': 1}", own, f"{runs}\n\nK['c'] = max(2, 3)", wanted=("f", "K"))
    read, names = without_runs(module, module), {}
    exec(read.module, names)

    assert names["K"] == {"a": 1, "c": 3} and names["f"](0) == 1
    assert read.own == read.module and len(read.own.split("\n")) == len(module.split("\n"))
    assert without_runs(own, own) == (own, own)


@pytest.mark.parametrize("source", [f"{OWN}f('no')\n", "# %%\ndef f(x): \0\n"])
def test_what_was_not_saved_out_of_a_notebook_may_fail(source):
    """Nor is a file changed in which nothing can be read."""
    assert read_failed(source, print, ("f",)) is None


@pytest.mark.parametrize("line, imports", [
    ("%run lib.py", True), ("%run ./lib.ipynb", True), ("%run -i 'lib'", True), (f"{LINE}('run', 'lib.py')", True),
    ("%run lib.py 3", False), ("%run class.py", False), ("%run torch.py", False), ("%run 'lib.py", False),
    (f"{LINE}('run', 'lib.py\\n')", False),
])  # fmt: skip
@pytest.mark.parametrize("code, needed", [
    ("def f(x):\n    return g(x)", True), ("f = g", True), ("NEG = g()\ndef f(x):\n    return NEG", True),
    ("def f(x):\n    return x", False), ("def f(x):\n    return x\nprint(g(f(1)))", False),
])  # fmt: skip
def test_a_file_that_is_run_is_imported_if_a_name_needs_it(line, imports, code, needed):
    """Any other may be a program that takes minutes; so may one with arguments."""
    text = read_exported(f"# In[1]:\n\n\n{line}\n{code}\n").module

    assert ("from lib import *" in text) == (imports and needed)


@pytest.mark.parametrize("below, gives", [
    ("from own_lib import *", 1), ("from own_lib import g", 1), ("%run own_lib.py", 1),
    ("from own_lib import *\ndef g():\n    return 2", 2), ("from own_lib import h as g", 3),
])  # fmt: skip
def test_what_is_imported_below_another_value_of_a_name_is_the_last(monkeypatch, below, gives):
    """So it is in the notebook, and what needs the import above it finds it there."""
    lib: Any = types.ModuleType("own_lib")
    lib.g, lib.h = lambda: 1, lambda: 3
    monkeypatch.setitem(sys.modules, "own_lib", lib)
    names, _ = run("def g():\n    raise NotImplementedError", below, "def f():\n    return g()")

    assert names["f"]() == gives


@pytest.mark.parametrize("head", [
    "import torch\n# %%\n", "from google.colab import drive\ndrive.mount('/content')\nimport math\n",
    "from __future__ import annotations\nimport torch\nimport math\n# %%\n\n", "import math\nimport torch\n\n",
])  # fmt: skip
def test_a_guard_finds_room_in_a_file_that_begins_with_imports(head):
    """They go down to empty lines, and each function stands on the line that it had."""
    names, _, _ = read_file(
        f"{head}def f(x):\n    return math.exp(x)\n\n# In[2]:\nimport math, nothing_here\nf('no')\n"
    )

    assert names["f"](0) == 1.0


def test_what_fails_in_a_file_out_of_a_notebook_says_its_line():
    """It is printed where the function, which needs it, prints."""
    names, _, printed = read_file("# In[1]:\n\ntable = open('/no/such')\ndef f(x):\n    return table\n")

    assert printed.startswith("Line 3 of the notebook: FileNotFoundError: ")
    with pytest.raises(NameError):
        names["f"](1)


@pytest.mark.parametrize("source", [
    OWN, f"#%%of it\n{OWN}import nothing_here\n", "def f(x): return 1\n# %%\n", "# %%\ndef f(x:\n",
    "# a comment\n# 100 %% of it\nimport nothing_here\n",
    "x = '# %%'\n", "'''\n!x\n'''\nx = 1\n", f"# %%\n{OWN}\n# %%\nf('no')\n", f"#%%\n{OWN}#%%\nassert f(1) == 2\n",
    f"'''\nfrom IPython I took it\n# In[1]:\n'''\n{OWN}f('no')\n",
])  # fmt: skip
def test_any_other_file_stays_as_it_is(source):
    """Also one that is no Python, or has no room for a guard, and one whose cells were written as a file."""
    notes: list[str] = []

    assert read_exported(source, notes.append, ("f",)) == (source, source) and not notes


@pytest.mark.parametrize("source, runs", [
    ("# %%\n# %%time\n# import math\n#\n#\n# def f(x):\n#     return 1\n\n# %%\nx = 1\n", True),
    ("# +\n# %%time\n# def f(x):\n#     return 1\n# +\nx = 1\n", True),
    ("# Databricks notebook source\n# MAGIC %%time\n# MAGIC def f(x):\n# MAGIC   return 1\n", True),
    ("# %%\n# %%bash\n# cat > f.py <<X\n# def f(x):\n#   return 1\n", False),
    (f"# In[1]:\n\n{CALL}('timeit', '', 'def f(x):\\n  return 1\\n')\n", False),
    ("# In[1]:\nopen('f.py', 'w').write('''\ndef f(x):\n  return 1\n''')\n", False),
])  # fmt: skip
def test_a_cell_that_an_export_made_a_comment_is_read_or_told(source, runs):
    """As jupytext and Databricks do with one that has a magic."""
    notes: list[str] = []
    names: dict = {}
    exec(read_exported(source, notes.append, ("f",)).module, names)

    assert ("f" in names and names["f"](1) == 1) is runs
    assert sum("`f`" in note or "`%%timeit`" in note for note in notes) == (not runs), notes


def test_code_cells_stand_one_after_the_other():
    """Text cells are left out, cells of format 3 are found too, and lines may be a list or one text."""
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": "def a(): pass"}]}]}

    assert converted("a = 1", "b = 2")[0].count("--- code cell") == 2
    assert "def a()" in notebook_to_module.to_source(json.dumps(old).encode())


@pytest.mark.parametrize("raw, says", [
    (b"\xff\xfe", "UTF-8"), (b"hello", "JSON"), (b"[" * 100_000, "JSON"), (b"[]", "no cells"),
    (b'{"cells": 3}', "no cells"),
    (make_notebook("x <- 1", kernelspec={"language": "R"}).encode(), "R"),
])  # fmt: skip
def test_what_is_no_notebook_is_said(raw, says):
    """A file that is no notebook, or one of another language, is refused in a sentence."""
    with pytest.raises(notebook_to_module.NotebookError, match=says):
        notebook_to_module.to_source(raw)


@pytest.mark.parametrize("cells, gives", [
    (["def f(x):\n    if x:\n        display(x, f(0))\n    display('f')\n    return x"], 3),
    (["def show(x):\n    display(x)", "def f(x):\n    show(x)\n    return x"], 3),
    (["def display(x):\n    x.append(1)", "def f(x):\n    x = [x]\n    display(x)\n    return x"], [3, 1]),
    (["def f(x):\n    return max(\n        x,\n        len('display(x)')\n    )"], 10),
    (["display(3\n", "def f(x):\n    display(x)\n    return x"], 3),
])  # fmt: skip
def test_a_function_of_a_notebook_may_show_what_it_makes(cells, gives):
    """What it calls `display` for is left out there too, unless the notebook has a function of that name."""
    assert run(*cells)[0]["f"](3) == gives


# --- what is taken ----------------------------------------------------------------------------------------------------


def test_a_cell_that_stops_does_not_lose_the_others():
    """Imports that are not there, values that cannot be had and classes without a base: the rest works, and each is
    said in the output."""
    names, out = run(
        "import math, no_such_package\nimport no_such_module as m\nimport json",
        "data = open('/no/such/file').read()\ndef use(): return data",
        "class Net(m.Module):\n    pass",
        "def area(r):\n    return math.pi * r",
        "import math",
        "raise ValueError",
        "import sys; sys.exit(1)",
        "def half(x): return json.loads(str(x)) / 2",
    )

    assert names["area"](1) == pytest.approx(3.14159, abs=1e-5) and names["half"](3) == 1.5
    assert "Code cell 1 of the notebook: ModuleNotFoundError: No module named 'no_such_package'" in out
    assert "Code cell 2 of the notebook: FileNotFoundError" in out and "Code cell 3 of the notebook: NameError" in out


@pytest.mark.parametrize("cell", [
    "def f(x, by=BY):\n    return x", "@around\ndef f(x): return x", "class Mine(Base):\n    pass", "f = Mine()",
    "class Mine(Base):\n    pass\nf = Mine()",
])  # fmt: skip
def test_what_cannot_be_defined_says_why_when_it_is_called(cell):
    """A default, a decorator or a base of a cell below is not there yet; what is defined above as well stays that."""
    below = "BY = 1\ndef around(f): return f\nclass Base:\n    def __call__(self, x): return x"
    below += "\nclass Mine(Base): pass" if cell == "f = Mine()" else ""
    names, said = run(cell, below, wanted=("f",))

    with pytest.raises(NameError, match=r"it could not be defined\. Code cell 1 of the notebook: NameError: "):
        names["f" if "f" in names else "Mine"](3)
    assert "Code cell 1 of the notebook: NameError: " in said
    assert run("def f(x): return x", cell, below, wanted=("f",))[0]["f"](3) == 3


def test_a_class_of_one_that_cannot_be_defined_says_why_as_well():
    """What is missing is said, and not how the class in its place is made."""
    names, _ = run(
        "class Block(Base):\n    pass", "class Sub(Block):\n    pass", "class Base:\n    pass", wanted=("f",)
    )

    with pytest.raises(NameError, match=r"Code cell 2 of the notebook: NameError: it .* cell 1 .* name 'Base' is not"):
        names["Sub"]()


@pytest.mark.parametrize("cell", [
    "try:\n    import no_such_package\n    def fast(x): return 'fast'\nexcept ImportError:\n    pass",
    "if len('') > 1:\n    def fast(x): return 'fast'",
])  # fmt: skip
def test_a_block_that_defines_nothing_gives_no_name(cell):
    """A function that asks whether there is a faster one takes its own way; nothing failed."""
    names, said = run(cell, "def f(x): return fast(x) if 'fast' in globals() else 'slow'", wanted=("f",))

    assert names["f"](1) == "slow" and not said


@pytest.mark.parametrize("above, name, below", [
    ("from math import *", "sqrt", ""), ("try:\n    from math import *\nfinally:\n    pass", "sqrt", ""),
    ("", "sqrt", "from math import sqrt"), ("", "abs", ""),
])  # fmt: skip
def test_what_cannot_be_defined_takes_no_name_that_is_given(above, name, below):
    """Imports come first, wherever they are; these and what Python has itself are of use to the other functions."""
    cell = f"@later\ndef {name}(x): return x"
    names, said = run(above, cell, below, f"def f(x): return {name}(x)\ndef later(g): return g", wanted=("f",))

    assert names["f"](4) == {"sqrt": 2, "abs": 4}[name] and "NameError: name 'later'" in said


def test_what_only_tries_the_functions_out_is_not_run():
    """Demonstrations, checks, comparisons with the library and endless training cost nothing and give nothing away."""
    names, out = run(
        "import timeit\nimport torch\nx = torch.ones(3)\ndef softmax(x): return torch.exp(x)",
        "while True:\n    torch.zeros(3)\n    torch.nn.utils.clip_grad_norm_(x, 1)",
        "losses = [softmax(1) for _ in range(10**12)]\nprint(losses)\nassert False",
        "expected = torch.softmax(x, -1)\nassert torch.allclose(softmax(x), expected)",
        "print(timeit.timeit(lambda: softmax(torch.zeros(1)), number=10**12))\ncompiled = torch.compile(softmax)",
        "if __name__ == '__main__':\n    print('hello')",
        "losses",
    )

    assert not out
    assert {"expected", "losses", "compiled"}.isdisjoint(names) and names["softmax"](torch.zeros(1)) == 1


NEEDS = """\
def estimate(): return model
model = print("trained")
table, kept = {}, {}
def keep(function):
    kept[function.__name__] = function
table[1] = 3
def look_up(): return table[1]
@keep
def kept_one(): return table[1]
"""


@pytest.mark.parametrize("body", [
    "helper()", "(lambda: Part.take())()", "eval('look_up')()", "globals()['look_up']()", "kept['kept_one']()",
])  # fmt: skip
def test_what_only_a_function_uses_that_no_lesson_asks_for_is_not_run(body):
    """Nor is what that one needs: training, for the one that measures it. What the wanted one may call has all."""
    cells = (NEEDS, "def helper(): return look_up()\nclass Part:\n    take = look_up", f"def f(): return {body}")
    names, said = run(*cells, wanted=("f", "g"))

    assert names["f"]() == 3 and (said == "" or body.startswith(("eval", "globals"))) and "estimate" in names
    assert run(*cells, wanted=("g",))[1] == run(*cells)[1] == "trained\n"


def test_what_a_decorator_out_of_a_file_beside_may_keep_is_made_whole():
    """A function that it registers is called by no name of its own: what that one reads is run."""
    cells = ("from helpers import register", "EPS = 2", '@register("g")\ndef g(): return EPS', "def f(): return 1")
    source = notebook_to_module.read_notebook(make_notebook(*cells).encode(), print, ("f",)).own
    assert "EPS = 2" in source


def test_a_call_of_a_module_that_changes_what_a_function_uses_is_run():
    """It sets the module's state, or changes what it is given in place, one by one too."""
    names, _ = run(
        "import random\nimport numpy as np\nimport torch\nfrom torch.nn import init",
        "random.seed(3)\nrows = [2, 1, 3]\nnp.random.shuffle(rows)\nrows.sort()",
        "weights = [torch.ones(2), torch.ones(2)]\nfor weight in weights:\n    init.zeros_(weight)",
        "bias = torch.ones(1)\n_ = init.zeros_(bias)",
        "table = np.ones(1)\n_ = np.add(table, 5, out=table)",
        "lines = [1, 2]\nturned = lines\nnp.random.shuffle(turned)",
        "w1, w2 = torch.ones(1), torch.ones(1)\nfor w in (w1, w2):\n    init.zeros_(w)",
        "grid = [[1], [2]]\nfor row in grid:\n    row[0] = 3",
        "def f(): return [np.float64(1), rows, sum(map(torch.sum, weights)), init and bias, table, lines]",
        "def h(): return w1 + w2, grid, torch.ones(1)",
        "def g(): return random.random()",
    )

    assert names["f"]() == [1, [1, 2, 3], 0, 0, 6, names["turned"]] and names["g"]() == random.Random(3).random()
    assert names["h"]() == (0, [[3], [3]], 1)


@pytest.mark.parametrize("awaits", [
    "await load()", "async with load() as x:\n    print(x)", "x = [y async for y in load()]", "x = [\n  await load()]",
])  # fmt: skip
def test_a_statement_that_awaits_costs_no_other(awaits):
    """Jupyter runs it at the top level; the rest of its cell is read as if it were not there."""
    names, printed = run(f"SIZE = 2\n{awaits}\ndef f():\n    return SIZE\nasync def load():\n    await f()\n")

    assert names["f"]() == 2 and inspect.iscoroutinefunction(names["load"]) and not printed
    assert "'return' outside" in "".join(converted(f"{awaits}\nreturn 1\n")[1])


def test_what_the_functions_need_is_run():
    """Constants, tables filled in a loop, names changed by a call or in another's body, and what those need in turn."""
    names, _ = run(
        "size = 3\ntable = [0] * size\nfor i in range(size):\n    table[i] = scale(i) if False else i * 2",
        "rows = []\nrows.append(7)\nlimits: dict = {}\nlimits['a'] = 1\nlimits |= {'b': 2}",
        "def prepare():\n    global ready\n    ready = 5\nprepare()",
        "class Box: pass\nBox.size = 9\nsetattr(Box, 'depth', 4)",
        "if True:\n    def inner(): return 'inner'\nelse:\n    inner = None",
        "try:\n    import no_such_package\nexcept ImportError:\n    fallback = 8\nfallback: int",
        "first, (second, *_) = 1, (2, 3)\nwith open('/dev/null') as sink: pass",
        "def f():\n    return table, rows, limits, ready, Box.size, Box.depth, inner(), fallback, first, second, sink",
    )

    assert names["f"]() == ([0, 2, 4], [7], {"a": 1, "b": 2}, 5, 9, 4, "inner", 8, 1, 2, names["sink"])


@pytest.mark.parametrize("call", ["fill(table)", "fill(to=table, by=1)", "fill(table, print('tried') or 1)"])
def test_a_table_that_a_function_fills_is_full(call):
    """What a call puts into its argument is there; a call that only reads it, or is of another table, is not run."""
    names, said = run(
        "table = {}\nother = {}\ndef tell(it): print(it.get(1))",
        "def fill(to, by=1):\n    for i in range(3): to[i] = i * by",
        f"{call}\nfill(other, print('run'))\ntell(table)\nprint(table)\nprint(tell, len(table))",
        "def f(i): return table[i]",
    )

    assert names["f"](2) == 2 and said == ("tried\n" if "tried" in call else "")


FILLERS = """\
import operator
import torch
from torch import nn
table, log = torch.zeros(3), {}
class Config:
    def grow(self): self.a = 1
config = Config()
def grow(): config.grow()
class Filler:
    def go(self, to): to.copy_(torch.ones(3))
filler = Filler()
class Made:
    def __init__(self, to=table): to.fill_(1)
def copy(to): to.copy_(torch.ones(3))
def by_way(to, times=1): copy(to)
def out(to): torch.add(torch.ones(3), 0, out=to)
def init(to): nn.init.ones_(to)
def one(i): table[i] = 1
def default(to=table): to.fill_(1)
def update(**settings): log.update(settings)
def train(to):
    to.sum().backward()
    to.copy_(torch.ones(3))
def loop(to):
    train(to)
    to.add_(1)
class Trainer:
    def fit(self, to):
        loop(to)
        to.add_(1)
def look(to):
    to.eval()
    to.train()
    to.sum()
"""


@pytest.mark.parametrize("call", [
    "copy(table)", "by_way(table)", "out(table)", "init(table)", "filler.go(table)", "for i in range(3): one(i)",
    "list(map(one, range(3)))", "[one(i) for i in range(3)]", "default()", "update(a=1)", "dict.update(log, a=1)",
    "operator.setitem(log, 'a', 1)", "vars(config).update(a=1)", "for k in 'a': setattr(config, k, 1)", "grow()",
    "_ = copy(table)", "assert copy(table) is None", "print(copy(table))",
    "for to in (table,): copy(to)", "[copy(to) for to in [table]]", "made = Made()", "made = Made(table)",
])  # fmt: skip
def test_what_an_own_function_changes_is_changed(call):
    """By a method, by what it calls, by a default or a name of the module, if nothing is made of the call."""
    names, said = run(FILLERS, call, "print('tried')", "def f(): return int(table.sum()), log, vars(config)")

    assert sum(map(bool, names["f"]())) == 1 and "tried" not in said


@pytest.mark.parametrize("call", ["train(table)", "loop(table)", "Trainer().fit(table)", "look(table)"])
def test_a_call_that_trains_is_left_out_with_a_note(call):
    """A network's training takes minutes, by whatever it calls; whoever needs what it changes reads what to do.

    So it is with one that only looks at what it is given. A function stays as it is.
    """
    text, notes = converted(FILLERS, f"{call}\ntorch.compile(f)", "def f(): return table", wanted=("f",))

    assert f" {call}" not in text and "torch.compile(f)" not in text
    assert "A call in code cell 2 was not run; if it changes `table`, write that outside of a function." in notes
    assert not any(
        "`torch`" in note for note in converted(FILLERS, "look(torch.e)", "def f(): torch.e", wanted=("f",))[1]
    )


def test_names_of_a_functions_own_need_nothing():
    """A demonstration that sets `x` is not needed by a function with a local `x`."""
    names, out = run("x = print('run')\nq = print('run')", "def f(x, *q, **k):\n    y = [x for x in q]\n    return y")

    assert not out and "x" not in names


@pytest.mark.parametrize("cells", [
    ("def mine(x): return x + 1", "f = mine"),
    ("def mine(x): return x + 1", "def f(x): return 0", "g = mine", "f = g"),
    ("f = lambda x: x + 1",),
    ("import functools\ndef mine(y, x): return x + y", "f = functools.partial(mine, 1)"),
    ("class Mine:\n    def __call__(self, x): return x + 1", "f = Mine()"),
    ("def mine(x): return x + 1", "if len('a') == 1:\n    f = mine\nelse:\n    f = lambda x: 0"),
])  # fmt: skip
def test_a_function_may_get_its_name_by_an_assignment(cells):
    """What is called by the name is then what was assigned last; a call that computes something is still not run."""
    names, said = run(*cells, "y = mine(print('tried'))\nf = f(3)")

    assert names["f"](3) == 4 and said == ""


@pytest.mark.parametrize("cell", [
    "f = make()", "f, other = mine, 3", "f = {'my': mine}['my']", "f: object = mine", "f = mine if True else 0",
    "try:\n    f = make()\nexcept Exception:\n    pass", "f = mine; print('tried')", "f = Whole.mine", "f = g = make()",
])  # fmt: skip
def test_a_name_that_an_exercise_wants_is_taken_whatever_it_is_given(cell):
    """Where no cell defines it, the cell that sets it is run; a variable of another name is not."""
    begin = "def mine(x): return x + 1\ndef make(): return mine\n"
    begin += "class Whole:\n    @staticmethod\n    def mine(x): return x + 1"
    names, _ = run(begin, cell, "y = mine(1)", wanted=("f", "g"))

    assert names["f"](3) == 4 and "y" not in names


OWN = """\
class Base:
    def __call__(self, x): return self.forward(x)
class Mine(Base):
    def forward(self, x): return x + 1
def make(by):
    def inner(x): return x + by
    return inner
def around(function): return lambda x: function(x) + 1
def mine(x): return x + 1
"""


@pytest.mark.parametrize("cell", [
    "f = Mine()", "f = make(1)", "f = around(f)", "f = around(lambda x: x)", "f, old = mine, f", "f: object = mine",
    "if True:\n    f = mine\nelse:\n    pass", "both = {'a': f, 'b': mine}\nf = both['b']", "f = mine if 1 else f",
    "f = Mine().forward", "own = Mine()\nf = own.forward", "own = Mine()\nf = own", "f = functools.partial(max, 4)",
    "class Other(Mine): pass\nf = Other()", "class Given(Base):\n    forward = Mine.forward\nf = Given()",
])  # fmt: skip
def test_what_the_last_cell_leaves_is_the_function(cell):
    """A wanted function that is given anew below its definition is the new one, as where all cells are run in turn."""
    cells = ("import functools\ndef f(x): return x", OWN, cell, "f(print('tried'))")
    names, said = run(*cells, wanted=("f",))

    assert names["f"](3) == 4 and said == ""
    assert all("judged" not in note for note in converted(*cells, wanted=("f",))[1])


@pytest.mark.parametrize("cell, is_told", [
    ("f = f(3)", False), ("for x in [1]:\n    f = f(x)", False), ("f = mine(3)", True), ("f = print('tried')", True),
    ("f, y = around(f), mine(3)", True), ("f = abs", True), ("if y:\n    f = mine\n    print('tried')", True),
    ("f = abs\ndef f(x): return x", False), ("class Some(dict): pass\nf = Some(x=3)", True),
    ("class Set(str):\n    def __len__(self): return 3\nclass Part(Set): pass\nf = Part()", True),
])  # fmt: skip
def test_what_may_be_a_trial_leaves_the_function_as_it_is_defined(cell, is_told):
    """Another function that uses it has the defined one, too; where no call of it is seen, that is told."""
    cells = ("def f(x): return x\ndef g(x): return f(x)", OWN, cell)
    names, said = run(*cells, wanted=("f", "g"))

    assert names["f"](3) == names["g"](3) == 3 and said == ""
    told = "The definition of `f` was judged; what code cell 3 gives that name was not."
    assert (told in converted(*cells, wanted=("f", "g"))[1]) == is_told


@pytest.mark.parametrize(
    "base", ["nn.Module", "torch.nn.modules.Linear", "Module", "n.Sequential", "Generic[T], nn.ReLU"]
)
def test_an_object_of_a_layer_of_torch_is_what_the_last_cell_leaves(base):
    """Its class has the method that calls it from torch, under whatever name that was imported."""
    assert "f = Mine()" in converted("def f(x): return x", f"class Mine({base}): pass\nf = Mine()", wanted=("f",))[0]


def test_what_is_defined_where_its_time_is_taken_again_and_again_is_none():
    """A cell of `%%timeit` leaves nothing behind; where it defines what a lesson asks for, that is told."""
    cells = ("def f(x): return x", "%%timeit\ndef f(x): return 0\nf(3)", "%%timeit\ndef g(): pass")

    assert run(*cells, wanted=("f",))[0]["f"](3) == 3
    assert converted(*cells, wanted=("f",))[1][:-1] == [
        "Code cell 2 was left out: nothing stays of what `%%timeit` defines."
    ]


@pytest.mark.parametrize("magic", ["black", "add_to f", "skip", "script python", "cython -a", "writefile a.txt"])
def test_what_is_defined_below_an_unknown_magic_is_told(magic):
    """It is not known what becomes of the cell; what no lesson asks for need not be told."""
    says = f"`f` stands below `%%{magic.split()[0]}`, which need not define it in the notebook."

    assert converted(f"\n%%{magic}\ndef f(x): return 0", wanted=("f",))[1][0] == f"Code cell 1 was left out: {says}"
    assert len(converted(f"%%{magic}\ndef f(x): return 0", wanted=("g",))[1]) == 1
    assert len(converted("%%writefile f.py\ndef f(x): return 0", wanted=("f",))[1]) == 1


@pytest.mark.parametrize("magic", ["debug", "pyinstrument", "wandb", "notify", "ipytest -q", "memit", "snakeviz"])
def test_a_magic_that_hands_its_cell_on_defines_what_is_below_it(magic):
    """As if it were not there."""
    assert run(f"%%{magic}\ndef f(x): return x")[0]["f"](3) == 3


@pytest.mark.parametrize("cell", [
    "%%bash\ncat > f.py <<'EOF'\ndef f(x):\n    return 0\nEOF", "%%bash\nif true; then\n  cat <<X\n  def f(x):\n",
    "from pathlib import Path\nPath('f.py').write_text('''import torch\n\ndef f(x):\n    return 0\n''')",
    "code = 'import torch\\ndef f(x): pass'\nwith open('f.py', 'w') as file:\n    file.write(code)",
])  # fmt: skip
def test_a_definition_that_is_only_a_text_is_told(cell):
    """Nothing runs it, unless it is given to `exec`; where something else defines the name, it may be any text."""
    notes = converted(cell, wanted=("f",))[1]

    assert len(notes) == 2 and "`f`" in notes[0] and "was left out: " in notes[0] and "ode cell 1" in notes[0], notes
    assert len(converted(cell, wanted=("g",))[1]) == 1
    assert "%%" in cell or len(converted("def f(x): pass", cell, wanted=("f",))[1]) == 1
    assert len(converted("code = 'def f(x): return 0'\nexec(code)", wanted=("f",))[1]) == 1


def test_own_definitions_go_before_imported_ones():
    """An import to compare with, in whatever cell, does not replace the learner's function; a later definition does."""
    names, _ = run("def dumps(x): return 'first'", "def dumps(x): return 'own'", "from json import dumps\ndumps(3)")

    assert names["dumps"](3) == "own"


def test_strings_over_several_lines_keep_their_text():
    """What has to be moved in by a space is not moved inside of strings."""
    names, _ = run(
        "if True:\n    text = '''a\n  b\n\nc'''\n    form = f'''{text}\n  d'''\n    more = 'e\\\nf'",
        "def g(): return text, form, more",
    )

    assert names["g"]() == ("a\n  b\n\nc", "a\n  b\n\nc\n  d", "ef")


def test_a_cell_that_is_indented_as_a_whole_is_read_as_it_is_run():
    """As out of a class or a page: IPython takes the indent away, and defines the function; half of one stays wrong."""
    names, _ = run("    def f():\n        return 1\n\n    x = 2\n", "\n\tdef g():\n\t\treturn f() + 1")

    assert names["f"]() == 1 and names["g"]() == 2
    assert converted("    def f():\n        return 1\n")[1] == converted("def f():\n    return 1\n")[1]
    assert "unexpected indent" in converted("def f(): return 1\n    x = 2\n")[1][0]


def test_a_cell_that_is_no_python_says_so_when_its_function_is_called():
    """Its functions and classes are there, and raise what is wrong with the cell; other cells' stay as they are."""
    cells = ("def good(): return 1\ndef twice(): return 2", "def bad(x):\n    return (\n\nclass Worse:\n    pass",
             "def twice(:", "return 3", "def end(): return 3")  # fmt: skip
    names, _ = run(*cells)

    assert names["good"]() == 1 and names["twice"]() == 2 and names["end"]() == 3
    for name in ("bad", "Worse"):
        with pytest.raises(SyntaxError, match="line 2 of code cell 2: "):
            names[name](1, dim=2)
    notes = converted(*cells)[1]
    assert [note.split(" was")[0] for note in notes[:3]] == ["Code cell 2", "Code cell 3", "Code cell 4"]


def test_lines_tell_the_cell_and_the_line():
    """A traceback's line 302 is line 2 of cell 3; a cell of more than a hundred lines makes it a thousand."""
    for blank, line in (("", 302), ("\n" * 150, 3002)):
        source, notes = converted("import math", blank + "def g(): pass", "def f(x):\n    return 1 / 0\n", "f(3)")
        names: dict = {}
        exec(compile(source, "work.ipynb", "exec"), names)
        try:
            names["f"](1)
        except ZeroDivisionError as error:
            assert traceback.extract_tb(error.__traceback__)[-1].lineno == line
        assert f"line {line - 200 if not blank else 1002} is line 2 of code cell 1" in notes[-1]
    linecache.clearcache()


def test_a_header_that_nobody_wrote_for_a_cell_is_none():
    """A number of thousands of digits is no fault of ours."""
    assert CellPlaces(f"# --- code cell {'9' * 6000} ---\nx = 1\n").find(2) is None


def test_a_cell_has_the_number_that_the_notebook_shows():
    """`[7]` stands beside it, wherever it stands; its place counts where it was not run, or another has that number."""
    numbered = [7, None, 3, 3, True, 10**9]
    cells = [
        {"cell_type": "code", "source": f"def f{place}(): pass", "execution_count": number}
        for place, number in enumerate(numbered, 1)
    ]
    source = notebook_to_module.to_source(json.dumps({"cells": cells}).encode())
    places = [CellPlaces(source).find(100 * place + 1) for place in range(1, 7)]

    assert places == [(name, 1) for name in ("cell [7]", *(f"code cell {place}" for place in range(2, 7)))]


def test_texts_name_the_cell_in_place_of_the_module():
    """However a line is named; but no line of another file, of another text, or above all cells."""
    source, _ = converted("import math", "def g():\n    pass", "def f(x):\n    return 1 / 0\n")
    told = (
        "ZeroDivisionError on line 302 of work.ipynb.\n    return 1 / 0",
        "`f`: Line 201 is right: your `x`. Line 302 is where it goes wrong (in pass 2 of 3)",
        "`f`: Line 302 is the first that differs",
        "ValueError: line 302 is too long\n  work.ipynb:302 in f\n  other-work.ipynb:302 in f\n  work.ipynb:1",
        "line 302 of work.ipynbs, sketches/work.ipynb:302",
    )
    assert CellPlaces(source).tell_in(told, "work.ipynb") == (
        "ZeroDivisionError on line 2 of code cell 3.\n    return 1 / 0",
        "`f`: Line 1 of code cell 2 is right: your `x`. Line 2 of code cell 3 is where it goes wrong (in pass 2 of 3)",
        "`f`: Line 2 of code cell 3 is the first that differs",
        "ValueError: line 302 is too long\n  line 2 of code cell 3, in f\n  other-work.ipynb:302 in f\n  work.ipynb:1",
        told[4],
    )
    assert CellPlaces("def f(): pass").tell_in(told, "work.ipynb") == told


def test_an_elif_of_any_length_is_read():
    """However many assignments it chooses between; beyond what Python compiles, its cell is left out."""
    for length in (100, 600, 700, 800, 900, 1000):
        source, _ = converted("def f(x): return x", "if f: f = f\n" + "elif f: f = f\n" * length)
        assert "def f(x)" in source


def test_too_much_code_is_too_large_a_source():
    """A notebook with more code than a Python file may have is treated as such a file; a long notebook is not."""
    assert len(converted("x = 1\n" * (MAX_BYTES // 6 + 1))[0]) == MAX_BYTES + 1
    assert len(converted(*["def f(): pass"] * 5000)[0]) < MAX_BYTES


PIECES = [
    "def f(x):\n    return x", "x = 1; y = 2", "@g\ndef f(): pass", "x = '''\na\n'''; z = 3",
    "from __future__ import division", "class A(B): x = 1", "async def f(): await g()", "for i in x: pass",
    "%%time\nf()", "lambda: (yield)", "x = \\\n 3", "if 1:\n\tx = 1\n\ty = f'''\n{x}'''", "type X = int",
    "match x:\n    case 1: pass", "\fx = 1", "del x", "global x", "import a as b, c.d", "from x import *",
    "def f(a=b, *, c=d): global e; e = 1", "_NotebookCell = 1",
]  # fmt: skip
CODE = st.one_of(st.text(string.printable, max_size=40), st.text(max_size=20), st.sampled_from(PIECES))


@given(st.lists(st.lists(CODE, max_size=4).map("\n".join), max_size=5))
@example(["(" * 150, "-" * 5000 + "1", "a" + ".b" * 20_000, "[" * 90 + "]" * 90])
@example(["def f(" + ",".join(["a"] * 5000) + "): pass", "x = " + "9" * 5000, "\ud800", "\0"])
@settings(deadline=None, max_examples=200)
def test_any_cells_make_a_module_of_python(cells):
    """Whatever stands in the cells, what comes of them can be compiled."""
    source, _ = converted(*cells)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert compile(source, "work.ipynb", "exec", dont_inherit=True)
