"""grader.source.scopes: which names a piece of Python assigns, imports, reads and changes."""

import ast

import pytest
from support.course_files import ROOT

from grader.source.parse import nodes_in
from grader.source.scopes import changed_names, module_names, names_read, root_name


def test_names_local_to_a_function_are_left_out():
    """Parameters, variables, loop variables and caught exceptions are local; defaults and globals are the module's."""
    code = """
def f(x, y=start):
    global count
    count = 1
    try:
        return [helper(item, y) for item in x]
    except ValueError as error:
        return (lambda z: z + offset)(error)
"""
    names = module_names(code)

    assert names.assigned == {"f"}
    assert names.read == {"start", "count", "helper", "ValueError", "offset"}


def test_assignments_of_every_kind_are_seen():
    """Loops, `with`, unpacking and `:=` assign; imports are told apart from them."""
    code = "import a.b, c as d\nfor i, (j, *k) in e: pass\nwith f as g: (h := 1)\nclass L: m = n\n"
    names = module_names(code)

    assert names.assigned == {"i", "j", "k", "g", "h", "L"}
    assert names.imported == {"a", "d"}
    assert names.bound == names.assigned | names.imported
    assert names.read == {"e", "f", "n"}


def test_what_a_class_reads_before_it_binds_it_is_the_module_s():
    """A function's variable of that name is not seen there."""
    code = (
        "def f(helper):\n    class K:\n        made = helper()\n        helper = 1\n        def g(self): return made\n"
    )

    assert module_names(code).read == {"helper", "made"}


def test_a_node_that_the_compiler_refuses_has_every_name():
    """The safe side: a node without a symbol table reads and assigns all that it mentions; a text raises."""
    code = "def f():\n    x = y\n    nonlocal x\n"

    assert module_names(ast.parse(code)).read == {"x", "y"}
    with pytest.raises(SyntaxError):
        module_names(code)


def test_an_object_is_changed_through_its_first_name():
    """Attributes and items lead back to the name of the object; a call ends that way unless it is allowed."""
    assert changed_names(ast.parse("a.b[0].c = d.e\nf().g = 1")) == {"a"}
    call = ast.parse("a.b().c", mode="eval").body
    assert (root_name(call), root_name(call, through_calls=True)) == ("", "a")


def test_what_opens_no_scope_reads_what_its_symbol_table_says():
    """A name that is read is found without a table where there is no scope, as in a long list of plain statements."""
    told = 0
    for path in (*ROOT.glob("grader/source/*.py"), *ROOT.glob("solutions/core/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                assert set(names_read(node, nodes_in(node))) == module_names(node).read, ast.unparse(node)
                told += 1
    assert told > 1000
