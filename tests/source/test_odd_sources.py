"""Whatever words a source holds, its readers answer, and ask the disk about none of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.repeat import SOAK

from grader.source import forbidden_calls
from grader.source.forbidden_calls import UNREAD, find_forbidden_calls
from grader.source.hiding_names import HARMLESS, HARMLESS_OF
from grader.source.side_effects import has_no_side_effects
from grader.worker.watch.call_monitor import matches

WAYS = """\
getattr({library}, {word!r}).foo
block = getattr({library}, {word!r})(); block(x)
getattr(getattr({library}, {word!r}), {word!r})(x)
{library}.__getattr__({word!r})(x)
vars({library})[{word!r}]
operator.attrgetter({word!r})({library})
operator.methodcaller({word!r})({library})
importlib.import_module({word!r})
__import__({word!r})
sys.modules[{word!r}].{name}
{library}.{name}.{name}(x)
{library}.{long}
from {module} import *
from {module} import {name} as other
import {module}.{name} as other
class A({library}.{name}): pass
eval({word!r})
hasattr({library}, {word!r}) and setattr({library}, {word!r}, 1)
t = {library}; t.{name} = getattr(t, {word!r})
""".splitlines()
WORDS = ["", ".", "x.", ".x", "..", "a.b", "/", "/etc", "a" * 300, "ﬁ", "\0", "?", "softmax", "nn", "functional.", "*"]
NAMES = ["softmax", "nn", "A", "_", "__dict__", "functional", "collect", "default_timer", "ª"]
LIBRARIES = ["torch", "torch.nn", "torch.nn.functional", "numpy", "gc", "math", "F"]
SOFTMAX = partial(matches, forbids=("softmax",))
FRAME = (
    "import torch, gc, sys, operator, importlib, math, numpy\nimport torch.nn.functional as F\n{}\ndef softmax(x):\n"
)
modules = st.sampled_from(sorted({*HARMLESS, *HARMLESS_OF, "torch.nn", "numpy.lib", "typing"}))
words = st.sampled_from(WORDS) | st.text(max_size=8)
ways = st.builds(
    lambda way, word, module, name, library: way.format(
        word=word, module=module, name=name, library=library, long="a" * 300
    ),
    st.sampled_from(WAYS), words, modules, st.sampled_from(NAMES), st.sampled_from(LIBRARIES),
)  # fmt: skip


@settings(max_examples=300 * SOAK, deadline=None)
@given(st.lists(ways, min_size=1, max_size=3), st.booleans())
def test_the_readers_get_through_whatever_stands_there(found, is_at_import):
    """What is no Python has no forbidden call; of anything else it is known whether it has one."""
    at_import = "\n".join(found if is_at_import else [])
    inside = "".join(f"    try: {each}\n    except Exception: pass\n" for each in found if "class" not in each)
    source = FRAME.format(at_import) + inside + "    return x\n"

    calls = find_forbidden_calls(source, ["softmax"], SOFTMAX, None, "softmax")
    assert not any(call.name.startswith(f"{UNREAD} (") for call in calls.values()), calls
    assert has_no_side_effects([source], ["softmax"]) in (True, False)


@pytest.mark.parametrize("way", [way for way in WAYS if "{word!r}" in way])
def test_no_word_is_looked_up_on_the_disk(tmp_path: Path, way: str):
    """What is found is the same whether there is a folder, or a module, of that name, or none."""
    (tmp_path / "there").mkdir()
    (tmp_path / "module.py").touch()
    found = set()
    for name in ("there", "module", "missing"):
        line = way.format(word=str(tmp_path / name), library="torch.nn", name="A", module="math", long="a")
        calls = find_forbidden_calls(FRAME.format("") + f"    {line}\n    return x\n", ["softmax"], SOFTMAX)
        found.add(calls["softmax"].name.replace(str(tmp_path / name), "*") if calls else "")

    assert len(found) == 1


def test_a_file_that_a_reader_fails_on_counts_as_unread(monkeypatch: pytest.MonkeyPatch):
    """A fault of ours costs that hand-in its checks and is told as what it is; it ends no judge."""
    monkeypatch.setattr(forbidden_calls, "read_module", lambda *_: [][0])
    calls = find_forbidden_calls("def softmax(x): pass", ["softmax"], SOFTMAX)

    assert "holds something that the grader cannot read (IndexError)" in calls["softmax"].says
