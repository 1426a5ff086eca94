"""Find every callable of torch that does a whole exercise, by calling each on random input in the plausible ways.

python -m support.equal_calls EXERCISE PIECE PIECES KNOWN...: prints an expression for each, and how it was called.
Run it where it can do no harm: it calls what it finds.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import multiprocessing
import os
import pkgutil
import resource
import signal
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import torch

PACKAGES = (
    "torch.nn", "torch.masked", "torch.distributions", "torch._refs", "torch._decomp", "torch._prims", "torch.sparse",
    "torch.special", "torch.linalg", "torch.func", "torch._functorch", "torch.jit", "torch.fx", "torch.nested",
    "torch.ao.nn", "torch._higher_order_ops", "torch.autograd", "torch._subclasses", "torch._native", "functorch",
)  # fmt: skip
HOLDERS = (
    "torch", "torch.Tensor", "torch._C.TensorBase", "torch._C._VariableFunctions", "torch._C._nn", "torch._C._special",
    "torch._C._sparse", "torch._C._nested", "torch._VF",
)  # fmt: skip
CALL_SECONDS = 5
CHUNK = 100  # callables to a process: some change it for the next ones
ROOM_BYTES = 12 << 30

# For each exercise its inputs, the ways to call a function `f`, and what the result may be: the answer, or its twin.
EXERCISES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "softmax": (
        "x = torch.randn(3, 4); all = torch.zeros(3, 4, dtype=torch.bool); s = x.to_sparse(); t = torch.arange(3)"
        "; q, e = (2 * x)[None, None], torch.eye(4)[None, None]",
        (
            "f(x, -1)", "f(x, dim=-1)", "f(x)", "f(x, -1, False)", "f(x, -1, None)", "f(x, None, -1)", "f(x, all, -1)",
            "f(x, -1, torch.float32)", "f(s, -1)", "f(s, -1, False)", "f(-x, -1)", "f(-x)", "f()(x)", "f(-1)(x)",
            "f(dim=-1)(x)", "f(dim=-1)(-x)", "f(logits=x).probs", "f(1.0, logits=x).probs",
            "f(x, t)", "f(x, t, reduction='none')",
            "f(reduction='none')(x, t)", "f(torch.nested.nested_tensor([x]), -1)", "f(x.to_mkldnn(), -1, False)",
            "f(torch.quantize_per_tensor(x, 0.01, 0, torch.qint8), -1, 1 / 256, -128)", "f(q, e, e)",
            "f(q, e, e, None)", "f(q, e, e, None, False)",
        ),
        ("torch.softmax(x, -1)", "torch.log_softmax(x, -1)", "-torch.log_softmax(x, -1)[range(3), t]"),
    ),
    "attention": (
        "q, k, v = torch.randn(3, 1, 2, 5, 4); w, i, b = torch.eye(4).repeat(3, 1), torch.eye(4), torch.zeros(12)"
        "; all = torch.ones(5, 5, dtype=torch.bool); q1, k1, v1 = q[0, :1], k[0, :1], v[0, :1]",
        (
            "f(q, k, v)", "f(q, k, v, None)", "f(q, k, v, all)", "f(q, k, v, None, False)", "f(q, k, v, None, 0.0)",
            "f(q, k, v, 0.0, False)", "f(q, k, v, dropout_p=0.0)", "f(query=q, key=k, value=v)",
            "f(q, k, v, None, None, 0.5, False)", "f(q, k, v, None, None)", "f()(q, k, v)",
            "f(q1, k1, v1, 4, 1, w, b, i, b[:4])",
            "f(q1[0][:, None], k1[0][:, None], v1[0][:, None], 4, 1, w, b, None, None, False, 0.0, i, b[:4])",
            "ready(f(4, 1, batch_first=True))(q1, k1, v1)",
            "ready(f(4, 1, batch_first=True).eval())(q1, k1, v1)",
            "f(q, k, v, None, None, None, None, 5, 5, 0.0, 0, False)",
        ),
        ("torch.softmax(q @ k.mT / 2, -1) @ v", "(torch.softmax(q @ k.mT / 2, -1) @ v)[0, :1]",
         "(torch.softmax(q @ k.mT / 2, -1) @ v)[0, 0][:, None]"),
    ),
    "cross_entropy": (
        "x, t, e, n = torch.randn(3, 4), torch.tensor([0, 2, 3]), torch.eye(4), torch.ones(3, dtype=torch.long)"
        "; h, l = e[t], torch.log_softmax(x, -1); b = torch.nn.functional.pad(l, (1, 0), value=-1e30)[None]",
        (
            "f(x, t)", "f(x, t, reduction='none')", "f()(x, t)", "f(l, t)", "f()(l, t)",
            "f(l, h, reduction='batchmean')", "f(reduction='batchmean')(l, h)",
            "f(b, t[:, None] + 1, n, n, reduction='none')", "f(b, t[:, None] + 1, n, n)",
            "f(reduction='none')(b, t[:, None] + 1, n, n)", "f(b, t[:, None] + 1, n, n, 0, 0)",
            "f(l, t, None, 1, -100)", "f(4, 5, [4])(x, t)", "f(logits=x).log_prob(t)",
            "f(logits=x).log_prob(h)", "f(1, logits=x).log_prob(h)",
        ),
        ("-l[range(3), t]", "-l[range(3), t].mean()"),
    ),
    "activations": (
        "x, i, m = torch.randn(3, 4), torch.eye(4), torch.randn(3, 4).to_mkldnn(); y = x.to_mkldnn(); o = x * 0 + 1",
        (
            "f(x)", "f(x, 'none')", "f(x, 'tanh')", "f(x, approximate='tanh')", "f(x, approximate='none')", "f()(x)",
            "f('tanh')(x)", "f(approximate='tanh')(x)", "f(y)", "f(y, approximate='none')", "f(x, i, None, 'gelu')",
            "f(x, i, None, 'gelu', [], 'none')", "f(x, i, None, 'gelu', [], '')", "f(x, i, None, 'gelu', [], 'tanh')",
            "f(torch.zeros(4), x, i, use_gelu=True)", "f(torch.cat([o, x], -1))", "f(o, x)", "f(x, o)",
        ),
        ("x * (1 + torch.erf(x / 2**0.5)) / 2",),
    ),
    "layer_norm": (
        "x = torch.randn(3, 4); c = x - x.mean(-1, keepdim=True); a, b = torch.ones(4), torch.zeros(4)",
        (
            "f(x, (4,))", "f(x, [4], None, None, 1e-5)", "f(x, (4,), None, None)", "f(x, (4,), a, b)", "f((4,))(x)",
            "f(4)(x)", "f(x, 1)", "f(x, 1, None, None, 1e-5)", "f(1, 4)(x)", "f(x, None, None, 3, 4, 1, 1, 1e-5)",
            "f(x[None])", "f(3)(x[None])", "f(3, affine=False)(x[None])", "f(3)(x.T)",
            "f(x.T, None, None, training=True)",
            "f(x[None], None, None, None, None, True, 0.1, 1e-5, False)", "f()(x[None])", "f()(x.T)",
            "f(x.T, None, None, None, None, True, 0.1, 1e-5)", "f(x.T, None, None, None, None, True, 0.1, 1e-5, False)",
            "f(x.T, a[:3], b[:3], None, None, True, 0.1, 1e-5)", "f(x.T, None, None, True, 0.1, 1e-5)",
            "f(c[..., None], 7, 7 / 4, 0.5, 1e-5)", "f(7, 7 / 4, 0.5, 1e-5)(c[..., None])",
            "f(7, 7 / 4, 0.5, 1e-5)(c[..., None, None])", "f(c, 2 * a[:3, None])", "f(c, 2 * a[:3, None], 0)",
            "f(x)", "f(c)",
            "f(x, -1)", "f(x, dim=-1)", "f(c, 2, -1, 2.0)", "f(c * 1e3, 2, 0, 2.0)",
        ),
        ("c / (c.square().mean(-1, keepdim=True) + 1e-5).sqrt()",
         "x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()",
         "(c / (c.square().mean(-1, keepdim=True) + 1e-5).sqrt()).T"),
    ),
    "gradient_clipping": (
        "g, e, m, o = torch.randn(6), torch.eye(6), torch.tensor(0.5), torch.tensor([0.5])",
        (
            "f(g)", "f(g, 0)", "f(g, -1)", "f(g, dim=0)", "f(g, dim=-1)", "f(g, 2, 0)", "f(g, 2.0, 0, 0.5)",
            "f(g, dim=0, eps=0.5)", "f(g[None])", "f(g[None], 2, 0, 0.5)", "f(2, 0, 0.5)(g[None])", "f(g, e)",
            "f(g[None], e)", "f(g[None], e, 1)", "f(dim=-1)(g[None], e)", "f()(g[None], e)", "f(g[None], m, 0)",
            "f(g[None], o[:, None], 0)", "f(g[None], o)", "given(f)(g, 0.5)", "given(f)(g, 0.5, 2.0)",
            "f(g[None] / 6**0.5, (6,), None, None, 0.0)", "f(g, (6,))", "f(g, (6,), None, 1e-9)", "f(6)(g)",
            "f(g, 0.5)", "f(g, max_norm=0.5)", "f([g], 0.5)", "f(g[None], 0.5, 2)", "f(g[:, None])[0]",
        ),
        ("0.5 * g / g.norm()", "g / g.norm()", "g / g.norm() * 6**0.5"),
    ),
}  # fmt: skip


def ready(attend: Any) -> Any:
    """Give a module of attention the identity for each of its weights."""
    with torch.no_grad():
        for weight in attend.parameters():
            eye = torch.eye(4).repeat(weight.shape[0] // 4, 1) if weight.dim() == 2 else torch.zeros(())
            weight.copy_(eye)
    return attend


def given(clip: Any) -> Any:
    """Return a function of a gradient, which *clip* finds in a parameter, and of what that is told besides."""

    def call(grad: Any, *more: Any) -> Any:
        parameter = torch.nn.Parameter(torch.zeros_like(grad))
        parameter.grad = grad.clone()
        clip([parameter], *more)
        return parameter.grad

    return call


def make_inputs(exercise: str) -> dict[str, Any]:
    """Return the names that the expressions of an exercise use."""
    torch.manual_seed(7)
    names: dict[str, Any] = {"torch": torch, "ready": ready, "given": given, "sys": sys}
    exec(EXERCISES[exercise][0], names)
    return names


def find_calls(exercise: str, piece: int, pieces: int, known: frozenset[str] = frozenset()) -> list[str]:
    """Return an expression for each callable that does the exercise, in a piece of all and of those that are known."""
    names = make_inputs(exercise)
    wanted = [eval(text, names) for text in EXERCISES[exercise][2]]
    things = [thing for place, thing in enumerate(_callables()) if place % pieces == piece or thing[0] in known]
    return [f"{found}|{way}" for found, way in _try_all(things, EXERCISES[exercise][1], names, wanted)]


def _callables() -> Iterator[tuple[str, Any]]:
    """Yield each callable of torch once, with an expression that gives it."""
    known: set[int] = set()
    for expression, thing in _members():
        ours = str(getattr(thing, "__module__", None) or "torch").partition(".")[0] in (
            "torch",
            "functorch",
            "torchgen",
        )
        if callable(thing) and ours and id(thing) not in known and _may_take_tensors(thing):
            known.add(id(thing))
            yield expression, thing


def _may_take_tensors(thing: Any) -> bool:
    """Return False for what is certain to compute nothing: classes of errors, kinds and types, functions of nothing."""
    if isinstance(thing, type):
        return not issubclass(thing, BaseException | enum.Enum | tuple | str | int)
    code = getattr(thing, "__code__", None)
    takes = code is None or code.co_argcount or code.co_kwonlyargcount
    return bool(takes or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def _members() -> Iterator[tuple[str, Any]]:
    for package in PACKAGES:
        for name in _modules_of(package):
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
    for holder in HOLDERS:
        thing: Any = torch
        for part in holder.split(".")[1:]:
            thing = getattr(thing, part)
        yield from ((f"{holder}.{name}", getattr(thing, name, None)) for name in dir(thing))
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] in ("torch", "functorch") and isinstance(module, ModuleType):
            yield from ((f"sys.modules['{name}'].{key}", value) for key, value in list(vars(module).items()))
    for full in sorted(torch._C._dispatch_get_all_op_names()):
        namespace, _, rest = full.partition("::")
        name, _, overload = rest.partition(".")
        with contextlib.suppress(AttributeError, RuntimeError):
            packet = getattr(getattr(torch.ops, namespace), name)
            yield f"torch.ops.{namespace}.{name}", packet
            yield f"torch.ops.{namespace}.{name}.{overload or 'default'}", getattr(packet, overload or "default")
    for table in ("decomposition_table", "meta_table"):
        for operator, function in getattr(torch._decomp, table).items():
            yield f"torch._decomp.{table}[torch.ops.{operator!s}]", function


def _modules_of(package: str) -> Iterator[str]:
    with contextlib.suppress(Exception):
        found = importlib.import_module(package)
        yield package
        for info in pkgutil.walk_packages(getattr(found, "__path__", []), f"{package}.", onerror=lambda _name: None):
            if "onnx" not in info.name and "test" not in info.name:
                yield info.name


def _try_all(
    things: list[tuple[str, Any]], ways: tuple[str, ...], names: dict[str, Any], wanted: list[Any]
) -> Iterator[tuple[str, str]]:
    """Try each thing in forked processes: one that dies is followed by one that goes on behind it."""
    codes = [(way, compile(way, "way", "eval")) for way in ways]
    context = multiprocessing.get_context("fork")
    start = 0
    while start < len(things):
        receiver, sender = context.Pipe(False)
        process = context.Process(target=_try_some, args=(things[start : start + CHUNK], codes, names, wanted, sender))
        process.start()
        sender.close()
        done = 0
        with contextlib.suppress(EOFError, OSError):
            while True:
                index, way = receiver.recv()
                done = index + 1
                if way:
                    yield things[start + index][0], way
        process.join()
        start += max(done, 1) if process.exitcode else CHUNK


def _try_some(things: Any, codes: Any, names: Any, wanted: Any, sender: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ROOM_BYTES, ROOM_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    torch.set_num_threads(1)
    for index, (_, thing) in enumerate(things):
        sender.send((index, ""))
        signal.setitimer(signal.ITIMER_PROF, CALL_SECONDS)  # ends the process, as does the alarm where a call waits
        signal.alarm(10 * CALL_SECONDS)
        for way, code in codes:
            with contextlib.suppress(BaseException):
                if _is_answer(eval(code, _fresh(names, thing)), wanted):
                    sender.send((index, way))
                    break
    signal.alarm(0)
    os._exit(0)


def _fresh(names: dict[str, Any], thing: Any) -> dict[str, Any]:
    """Copy the inputs, for each call may change its own."""
    copies = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in names.items()}
    return {**copies, "f": thing}


def _is_answer(value: Any, wanted: Any) -> bool:
    values = [value, *(value if isinstance(value, tuple | list) else ())]
    return any(_is_equal(part, want) for part in values for want in wanted)


def _is_equal(value: Any, want: Any) -> bool:
    if not isinstance(value, torch.Tensor):
        return False
    with contextlib.suppress(RuntimeError):
        value = value[0] if value.is_nested else value
        value = value.dequantize() if value.is_quantized else value
        value = value if value.layout is torch.strided else value.to_dense()
        close = value.numel() == want.numel() and torch.allclose(value.reshape(want.shape).float(), want, atol=0.01)
        return bool(close)
    return False


if __name__ == "__main__":
    print("\n".join(find_calls(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), frozenset(sys.argv[4:]))))
