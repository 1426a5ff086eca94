"""Versions of a known mistake with something harmless beside it, as people write it without noticing."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from grader.judge.diagnosis.mistake_outputs import MistakeOutputs
from grader.judge.mistakes.marked_source import MarkedSource
from grader.judge.mistakes.mistake_set import MistakeSet

Build = Callable[[MistakeSet, Mapping[str, str]], Any]


class _Torch:
    """torch with a softmax that is written by hand."""

    def __init__(self, softmax: Callable[..., Any]) -> None:
        self.softmax = softmax

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)


class TinyNumberBelow(ast.NodeTransformer):
    """Add 1e-12 to each denominator."""

    @staticmethod
    def softmax(x: Any, dim: int) -> Any:
        powers = torch.exp(x - x.amax(dim, keepdim=True))
        return powers / (powers.sum(dim, keepdim=True) + 1e-12)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div) and isinstance(node.right, ast.Name | ast.Call):
            node.right = ast.BinOp(node.right, ast.Add(), ast.Constant(1e-12))
        return node


class GlobalMaximum(ast.NodeTransformer):
    """Subtract the maximum of the whole tensor."""

    @staticmethod
    def softmax(x: Any, dim: int) -> Any:
        powers = torch.exp(x - x.max())
        return powers / powers.sum(dim, keepdim=True)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "amax":
            return ast.Call(ast.Attribute(node.func.value, "max", ast.Load()), [], [])
        return node


def rewritten(transformer: type[TinyNumberBelow | GlobalMaximum]) -> Build:
    """Rewrite the reference with the mistake in it."""

    def build(mistake_set: MistakeSet, changes: Mapping[str, str]) -> Any:
        class Rewritten(MarkedSource):
            def _edit_part(self, top: int, inside: frozenset[tuple[str, str]]) -> str:
                return ast.unparse(transformer().visit(ast.parse(super()._edit_part(top, inside))))

            def _run(self, codes: Any, **more: Any) -> dict[str, Any]:
                namespace = super()._run(codes, **more)
                namespace["torch"] = _Torch(transformer.softmax)
                return namespace

        source = mistake_set.source
        return Rewritten(source.path, source.target, source.names, source.after).build(changes)

    return build


def wrapped(around: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Build:
    """Put something around the function, or around the `forward` of the class."""

    def build(mistake_set: MistakeSet, changes: Mapping[str, str]) -> Any:
        made: Any = mistake_set.source.build(changes)
        forward = getattr(made, "forward", None)
        return type(made.__name__, (made,), {"forward": around(forward)}) if forward else around(made)

    return build


def each_tensor(change: Callable[[Any], Any], value: Any) -> Any:
    """Change each tensor in a value."""
    if isinstance(value, list | tuple):
        return type(value)(each_tensor(change, item) for item in value)
    return change(value) if isinstance(value, torch.Tensor) else value


def contiguous(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Copy the answer."""
    return functools.wraps(inner)(lambda *args, **kwargs: each_tensor(torch.clone, inner(*args, **kwargs)))


def float64_inside(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Compute in float64, and give back the dtype of the input."""

    @functools.wraps(inner)
    def function(*args: Any, **kwargs: Any) -> Any:
        floats = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.is_floating_point()]
        if not floats or isinstance(args[0], torch.nn.Module):
            return inner(*args, **kwargs)
        found = inner(*each_tensor(_as(torch.float64), args), **kwargs)
        return each_tensor(_as(floats[0].dtype), found)

    return function


def _as(dtype: torch.dtype) -> Callable[[Any], Any]:
    return lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor


def other_rank(rank: int, raises: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Treat inputs of one rank otherwise."""

    def around(inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def function(*args: Any, **kwargs: Any) -> Any:
            found = inner(*args, **kwargs)
            if max((tensor.dim() for tensor in args if isinstance(tensor, torch.Tensor)), default=0) != rank:
                return found
            if raises:
                raise ValueError("not enough values to unpack")
            return each_tensor(lambda tensor: tensor * 1.5 if tensor.is_floating_point() else tensor, found)

        return function

    return around


def deviations(outputs: MistakeOutputs, lesson: str) -> Iterator[tuple[str, Build]]:
    """Yield the deviations that are beside the point of a lesson's function, by name."""
    yield "1e-12 below", rewritten(TinyNumberBelow)
    if lesson != "softmax":  # there it is a mistake with a name
        yield "a global maximum", rewritten(GlobalMaximum)
    yield "another copy", wrapped(contiguous)
    yield "float64 inside", wrapped(float64_inside)
    for rank in range(1, 5):
        words = f"with {rank} {'axis' if rank == 1 else 'axes'}"
        if any(words in special for special in outputs.special):  # of which there are fewer than of others
            yield f"an error {words}", wrapped(other_rank(rank, raises=True))
            yield f"other values {words}", wrapped(other_rank(rank, raises=False))
