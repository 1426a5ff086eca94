"""Forbidden calls at run time: seen under every name, in every thread, and no longer than they are forbidden."""

from __future__ import annotations

import functools
import gc
import inspect
import random
import sys
import threading
import traceback
import types
import warnings
from contextlib import contextmanager, suppress
from typing import Any

import numpy
import pytest
import torch
from torch.nn import functional
from torch.overrides import handle_torch_function

from grader.worker.arrays import pack
from grader.worker.operations import ModuleHost
from grader.worker.serve import _answer_sequences
from grader.worker.watch import call_monitor
from grader.worker.watch.call_monitor import CallBlocker, ForbiddenCall, changed_torch, prepare, watch
from grader.worker.watch.call_record import CallRecord
from grader.worker.wire import REPLY, read_frame

FORBIDS = ("softmax", "log_softmax", "scaled_dot_product_attention", "multi_head_attention_forward")
X, Q = torch.randn(3, 4), torch.randn(1, 2, 3, 4)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # torch would rather have something else traced
    TRACED = torch.jit.trace(lambda x: torch.softmax(x, -1), X, check_trace=False)
ATTENTION = torch.nn.MultiheadAttention(4, 2, batch_first=True)


def without_modes(x):
    with torch._C.DisableTorchFunction():
        return torch.softmax(x, -1)


def inside_of_another(x):
    return handle_torch_function(lambda inner: torch.softmax(inner, -1), (x,), x)


def in_a_thread(x):
    thread = threading.Thread(target=lambda: torch.softmax(x, -1))
    thread.start()
    thread.join()
    return x


OFFENCES = {
    "a function": lambda x: torch.softmax(x, -1),
    "a method": lambda x: x.softmax(-1),
    "an operator": lambda x: torch.ops.aten._softmax(x, -1, False),
    "a loss": lambda x: functional.cross_entropy(x, torch.tensor([0, 1, 2])),
    "noise": lambda x: functional.gumbel_softmax(x),
    "a trace": lambda x: TRACED(x),
    "torch's modes switched off": without_modes,
    "inside of another function": inside_of_another,
    "a thread": in_a_thread,
    "every row": lambda x: torch.func.vmap(lambda row: torch.softmax(row, -1))(x),
    "without gradients": lambda x: torch.inference_mode()(lambda: x.softmax(-1))(),
    "attention": lambda _x: functional.scaled_dot_product_attention(Q, Q, Q, attn_mask=torch.ones(3, 3).bool()),
    "attention, whole": lambda _x: ATTENTION(Q[0], Q[0], Q[0]),
    "attention, fast": lambda _x: ATTENTION.eval()(Q[0], Q[0], Q[0], need_weights=False),
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("case", OFFENCES)
def test_a_forbidden_call_is_noticed(case):
    """Whatever way it is made, the call is answered as forbidden; afterwards torch is as it was."""
    host = ModuleHost({"f": OFFENCES[case]}, FORBIDS)
    try:
        reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    finally:
        host.close()

    assert reply["error"]["kind"] == "forbidden" and reply["error"]["text"] in FORBIDS
    assert torch.softmax(X, -1).shape == X.shape
    assert functional.scaled_dot_product_attention(Q, Q, Q).shape == Q.shape


def ask_ahead(host, x):
    """The reply to a message of one request that is sent ahead."""
    request = {"operation": "call", "target": "f", "args": [pack(x)], "kwargs": {}}
    return _answer_sequences(host, {"sequences": [[request]]}, REPLY)


def only_reply(answer):
    """The reply to the one request of a message."""
    (frame,) = answer["replies"]
    (reply,) = read_frame(frame.data)["replies"]
    return reply


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("case", OFFENCES)
def test_a_forbidden_call_is_noticed_ahead(case):
    """Asked ahead, where calls are only noted, no answer is given: all is to be asked again elsewhere, and watched."""
    host = ModuleHost({"f": OFFENCES[case]}, FORBIDS, frozenset({__file__}))
    try:
        ahead = ask_ahead(host, X)
    finally:
        host.close()

    assert ahead == {"suspect": True}


def test_a_forbidden_function_of_a_library_is_noticed_ahead():
    """A function that no operator stands for is noticed too: one in Python, one in C, one that is swallowed."""
    functions = (lambda x: numpy.linalg.norm(x), lambda x: x.dim(), swallowed)

    for function, name in zip(functions, ("norm", "dim", "numel"), strict=True):
        host = ModuleHost({"f": function}, (name,))
        reply = ask_ahead(host, X)
        host.close()

        assert reply == {"suspect": True}, name


def rate_of_a_scheduler(x):
    """The schedulers by a name that arises while it runs: no reader of the source sees it."""
    schedulers = next(part for name, part in vars(torch.optim).items() if name.startswith("lr_"))
    optimizer = torch.optim.SGD([torch.nn.Parameter(x)], lr=0.1)
    return schedulers.CosineAnnealingLR(optimizer, 10).get_last_lr()[0]


def test_what_stands_in_a_forbidden_module_is_refused():
    """A class of `lr_scheduler` has another name, and is refused with the module; what stands beside it is not."""
    for name, refused in (("lr_scheduler", True), ("swa_utils", False)):
        host = ModuleHost({"f": rate_of_a_scheduler}, (name,))
        request = {"operation": "call", "target": "f", "args": [X], "kwargs": {}}
        ahead, reply = ask_ahead(host, X), host.perform(request)
        host.close()

        assert ("suspect" in ahead) == refused
        assert reply.get("error", {}).get("text") == (name if refused else None)


@pytest.mark.parametrize("name", [name for name in dir(torch.optim) if name[0].isupper() and name != "Optimizer"])
def test_whatever_lies_in_a_forbidden_package_is_refused(name):
    """Of `torch.optim` that is each optimizer, whatever it and its module are called."""
    host = ModuleHost({"f": lambda x: getattr(torch.optim, name)([torch.nn.Parameter(x)])}, ("optim",))
    request = {"operation": "call", "target": "f", "args": [X], "kwargs": {}}
    ahead, reply = ask_ahead(host, X), host.perform(request)
    host.close()

    assert ahead == {"suspect": True}
    assert reply["error"]["text"] == "optim"


@pytest.mark.parametrize(
    ("entry", "call"),
    [
        ("choices", lambda x: random.Random(1).choices(range(3), weights=x[0].abs().tolist())),
        (
            "fusion",
            lambda x: torch.nn.utils.fuse_linear_bn_weights(x, x[:, 0], x[:, 0], x[:, 0].abs(), 1e-5, None, None),
        ),
    ],
)
def test_a_function_of_python_s_own_library_is_refused_as_torch_s_are(entry, call):
    """Of both those in Python are known by their names and their modules'."""
    host = ModuleHost({"f": call}, (entry,))
    ahead = ask_ahead(host, X)
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    host.close()

    assert ahead == {"suspect": True}
    assert reply["error"]["text"] == entry


def swallowed(x):
    with suppress(BaseException):
        x.numel()
    return x


def attend(q):
    q = q.clone().requires_grad_()
    weights = torch.exp(q @ q.transpose(-1, -2) - torch.logsumexp(q @ q.transpose(-1, -2), -1, keepdim=True))
    functional.layer_norm(weights @ q, (4,)).sum().backward()
    return q.grad


def test_what_is_not_forbidden_is_asked_once_ahead():
    """Where no call may be forbidden, the answers are taken."""
    calls = []
    host = ModuleHost({"f": lambda q: calls.append(q) or attend(q)}, FORBIDS)
    try:
        reply = only_reply(ask_ahead(host, Q))
    finally:
        host.close()

    assert len(calls) == 1 and reply["value"].shape == Q.shape


def test_what_is_not_forbidden_runs():
    """Sums, exponentials, norms, gradients and attention by hand are left alone."""
    host = ModuleHost({"f": attend}, FORBIDS)
    try:
        reply = host.perform({"operation": "call", "target": "f", "args": [Q], "kwargs": {}})
    finally:
        host.close()

    assert "error" not in reply and reply["value"].shape == Q.shape


def test_where_nothing_is_forbidden_nothing_is_changed():
    """Without names there is nothing to refuse, and ending twice does no harm."""
    before = dict(vars(functional))
    blocker = CallBlocker(())
    blocker.restore()
    blocker.restore()

    assert dict(vars(functional)) == before


def recurse():
    return recurse()


def recurse_and_optimize(x):
    """Take the profiler away, as Python does where its frame would be one too many."""
    with suppress(RecursionError):
        recurse()
    torch.optim.SGD([x.requires_grad_()], lr=0.1).step()
    return x


def test_an_endless_recursion_does_not_end_the_watch():
    """What is called after it was seen by nobody: the answer is an error, as that of the recursion itself."""
    host = ModuleHost({"f": recurse_and_optimize}, ("SGD",), frozenset({__file__}))
    ahead = ask_ahead(host, X)
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})

    assert ahead == {"suspect": True}
    assert reply["error"]["type"] == "RecursionError" and "nobody saw" in reply["error"]["text"]


def test_what_an_import_is_made_to_call_is_watched(monkeypatch):
    """A function of the learner's, in place of one that a library calls while it is imported, is the learner's."""

    def f(x):
        def rate(*_):
            raise KeyError(rate_of_a_scheduler(x))

        monkeypatch.setattr("logging.getLogger", rate)
        try:
            import torch.distributed.elastic.rendezvous.api  # noqa: F401  no other lesson imports it
        except KeyError as error:
            return error.args[0]
        finally:
            monkeypatch.undo()

    host = ModuleHost({"f": f}, ("lr_scheduler",))
    reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})

    assert reply["error"]["text"] == "lr_scheduler"


def ends_late(own, work):
    """A generator in a circle with what it holds: the collector ends it."""
    own.append(work)
    try:
        yield
    finally:
        own[0]()


def leave_behind(work):
    own = []
    made = ends_late(own, work)
    next(made)
    own.append(made)


@contextmanager
def collecting_after(objects):
    before = gc.get_threshold()
    gc.set_threshold(objects)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.enable()


def test_nothing_is_collected_while_the_watch_looks_a_name_up():
    """What a generator does at its end runs where the collector comes: it came within the watch, which saw nothing."""
    found = []

    def note():
        found.append([frame.name for frame in traceback.extract_stack()])

    for objects in range(1, 16):  # after so many that are made: where that is depends on what is there already
        call_monitor._ENTRIES.clear()
        call_monitor.matches.cache_clear()
        with watch(FORBIDS, []), collecting_after(objects):
            for method in ("isalpha", "isascii", "isdigit", "islower", "isspace", "istitle", "isupper", "swapcase"):
                leave_behind(note)
                getattr("b", method)()
                torch.typename(1)

    assert found and not any("profile" in names for names in found)


def test_nothing_is_collected_before_an_answer_is_packed():
    """An answer is not finished by what is left behind, after the watch has ended."""
    answer = torch.zeros_like(X)

    def f(x):
        leave_behind(lambda: answer.copy_(x))
        return {"a": [answer]}

    host = ModuleHost({"f": f}, FORBIDS)
    host.keeps_garbage = True
    with collecting_after(1):
        gc.collect()
        gc.set_threshold(200)
        packed = [host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})]
        gc.set_threshold(1)
        packed = pack(packed)

        assert not gc.isenabled() and not any(packed[0]["value"]["a"][0].data)
    host.close()


def nodes_of_a_graph(x):
    """Differentiate without autograd's functions: each node that torch records is called."""
    leaf = torch.nn.Parameter(x.clone())
    node: Any = (leaf * leaf).grad_fn
    return node(torch.ones_like(x))


def kept_by_others(x):
    """Give what is kept for a backward pass to hooks of one's own, which come before any that refuse it."""
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        return nodes_of_a_graph(x)


@pytest.mark.parametrize("ahead", [False, True])
def test_where_autograd_is_forbidden_no_graph_is_recorded(ahead):
    """A graph's nodes have no name to be refused by; there are none. What needs no gradient runs."""
    for function in (nodes_of_a_graph, kept_by_others, lambda x: x * x, lambda x: torch.no_grad()(torch.exp)(x)):
        host = ModuleHost({"f": function}, ("autograd",))
        request = {"operation": "call", "target": "f", "args": [X.detach()], "kwargs": {}}
        reply = ask_ahead(host, X.detach()) if ahead else host.perform(request)
        if "replies" in reply:
            reply = only_reply(reply)

        assert ("error" in reply or "suspect" in reply) == (function in (nodes_of_a_graph, kept_by_others))


class Rebuilt(torch.nn.Module):
    """Has the forbidden function run where it is made, as one that is traced there does."""

    def __init__(self):
        super().__init__()
        self.kept = rate_of_a_scheduler(X.detach().clone())


def test_what_a_class_makes_is_watched():
    """A model that calls what is forbidden in its `__init__` is refused, as one that does so when it is called."""
    host = ModuleHost({"Rebuilt": Rebuilt}, ("lr_scheduler",))
    reply = host.perform({"operation": "build", "name": "Rebuilt", "args": [], "kwargs": {}})

    assert reply["error"]["text"] == "lr_scheduler"


@pytest.mark.parametrize("name", ["detach", "dtype", "numpy"])
def test_what_packs_an_answer_runs_no_code_of_the_learners(name, monkeypatch):
    """A tensor's own method that was exchanged is told: it would run after the watch has ended."""
    prepare()
    changed = property(lambda _: torch.softmax) if name == "dtype" else lambda x: torch.softmax(x, -1)
    host = ModuleHost({"f": lambda x: monkeypatch.setattr(torch.Tensor, name, changed) or x}, FORBIDS)
    try:
        reply = host.perform({"operation": "call", "target": "f", "args": [X], "kwargs": {}})
    finally:
        monkeypatch.undo()
        host.close()

    assert (reply["error"]["kind"], reply["error"]["text"]) == ("forbidden", f"torch.Tensor.{name}")


LAYOUTS: dict[str, Any] = {"mkldnn": torch.Tensor.to_mkldnn, "sparse": torch.Tensor.to_sparse}


def test_whoever_ends_the_blocking_is_found_out():
    """Code that has come by what blocks, and puts torch's operators back, gives no answer: that is seen behind it."""
    prepare()
    host = ModuleHost({}, ("softmax",))
    host.namespace = {"softmax": lambda x: host.blocker.restore() or x}
    found = host.perform({"operation": "call", "target": "softmax", "args": [torch.zeros(2)], "kwargs": {}})
    host.close()

    assert found["error"]["kind"] == "forbidden" and "softmax" in found["error"]["text"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_operator_is_blocked_in_every_layout(layout):
    """A kernel of another layout is refused where the key that comes before the device is left out, too."""
    x = LAYOUTS[layout](X)
    blocker = CallBlocker(("softmax",))
    softmax: Any = torch.softmax if layout == "mkldnn" else torch.sparse.softmax
    try:
        without = torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.BackendSelect))
        with pytest.raises(ForbiddenCall), without:
            softmax(x, 1)
    finally:
        blocker.restore()


def test_a_refusal_is_told_even_if_it_was_swallowed():
    """An `except BaseException` in a learner's thread does not hide what was refused."""
    blocker = CallBlocker(FORBIDS)
    try:
        with pytest.raises(ForbiddenCall):
            torch.softmax(X, -1)
    finally:
        blocker.restore()

    assert blocker.seen == ["softmax"]


def test_what_an_answer_is_packed_with_stays_as_it_was(monkeypatch):
    """A mode that is left on, another tensor class or another torch is told; a default device is none of these."""
    assert changed_torch() == ""
    with torch.overrides.BaseTorchFunctionMode():
        assert changed_torch() == "torch.overrides"
    with torch.device("cpu"):
        assert changed_torch() == ""
    with monkeypatch.context() as patch:
        patch.setattr(torch, "Tensor", type("Tensor", (), {}))
        assert changed_torch() == "torch.Tensor"
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=torch.Tensor))
    assert changed_torch() == "torch.Tensor"


def test_an_operator_is_refused_before_the_kernels_of_torchs_own_transforms():
    """vmap has kernels of its own, and a partial function in C is seen by no profiler."""
    blocker = CallBlocker(("attention",))
    try:
        with pytest.raises(ForbiddenCall):
            torch.func.vmap(functools.partial(torch.nn.functional.scaled_dot_product_attention))(Q, Q, Q)
        assert blocker.seen == ["attention"]
    finally:
        blocker.restore()


def test_what_turns_an_axis_into_a_number_is_no_normalising():
    """numpy's own mean, var and stack call `normalize_axis_index`, which computes nothing."""
    blocker = CallBlocker(("normalize", "layer_norm"))
    seen: list[str] = []
    try:
        with watch(("normalize", "layer_norm"), seen):
            a = X.detach().numpy()
            assert a.var(-1).shape and numpy.stack([a, a]).shape and numpy.expand_dims(a, -1).shape
            assert numpy.moveaxis(a, 0, -1).shape
    finally:
        blocker.restore()

    assert not seen


def test_what_turns_an_axis_into_a_number_lets_no_other_call_off():
    """Of the calls of a batch each is judged alone: numpy's helper may be the first of them, wherever it lies."""
    helper, normalize = numpy.lib.array_utils.normalize_axis_tuple, functional.normalize
    for called in ([helper], [helper, normalize], [normalize, helper]):
        record: Any = CallRecord()
        record._profiler = types.SimpleNamespace(getstats=lambda called=called: [entry_of(each) for each in called])

        assert record.may_hold(("normalize",)) == (normalize in called)


def entry_of(function):
    """What the profiler notes of a function that was called."""
    return types.SimpleNamespace(code=inspect.unwrap(function).__code__)
