"""Import the array library at the lowest cost, in a process that forks or applies limits afterwards."""

from __future__ import annotations

import contextlib
import functools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from grader.worker.watch.cut_off import cut_off

SEED = 0  # of a learner's own draws: the same in every run, so that it tells nothing of one


def import_array_library(arrays: str) -> None:
    """Import numpy, and torch if *arrays* is "torch", without starting a thread or running an operator."""
    import faulthandler
    import random  # noqa: F401  for the learner's code: cheaper before the fork
    import tempfile

    import numpy.random

    numpy.random.seed(SEED)  # a worker seeds it again; what this imports is there before the fork

    # a worker may have nowhere to write, but a module that only asks for the folder must still import
    tempfile.tempdir = "/tmp"
    faulthandler.enable = cut_off()(_do_nothing)  # it is told of signals, which no worker can ask for
    if arrays == "torch":
        import torch
        import torch.overrides
        import torch.utils._python_dispatch

        torch.backends.cpu.get_cpu_capability()  # reads /proc/cpuinfo while it can
        torch.manual_seed(SEED)  # as for numpy; starts no device
        with contextlib.suppress(ImportError):  # newer torch imports it at an optimizer's first step
            import torch.profiler._cupti_monitor
        configure_torch()
        _prepare_functional_torch()
        # a script is the function itself: compiling one evaluates texts, types in comments too, and runs code unseen
        torch.jit._state.disable()
        # no worker may start a thread, and where torch cannot, it ends the process
        torch.set_num_threads = cut_off()(_do_nothing)
        # torch's own imports the compiler first: 800 modules, and a folder for its files, which is not there
        torch.use_deterministic_algorithms = cut_off(torch=torch)(_use_deterministic_algorithms)
        # else `assert_close` imports 500 modules first, for tensors of several machines
        torch.testing._comparison._HAS_DTENSOR = False
    from grader.worker.watch import bound_methods, call_monitor, graph, hardened_modules, library_uses

    call_monitor.prepare()
    hardened_modules.harden_wrapping()
    bound_methods.bind_methods()
    library_uses.ways()
    if arrays == "torch":
        graph.graph_at_start()


def _do_nothing(*_arguments: object, **_named: object) -> None:
    """Stand for a function that asks for what no worker has."""


def _use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Stand for torch's function of this name, but leave its compiler alone."""
    torch._C._set_deterministic_algorithms(mode, warn_only=warn_only)  # type: ignore[name-defined]  # noqa: F821


def configure_torch() -> None:
    """Make torch fast on tiny tensors: one thread (waking a second costs milliseconds), no compiler, no marks."""
    import torch

    from grader.worker.models import weights

    torch.set_num_threads(1)
    weights.let_layers_be_undrawn()
    _keep_compiler_out()
    _mark_for_profilers_alone()


def _keep_compiler_out() -> None:
    """Let optimizers be made and take steps without importing torch's compiler.

    The first `torch.optim.SGD(...)` imports `torch._dynamo` (0.8 s, 800 modules) only to exclude some methods from
    compilation, and each `step` asks it for a graph break. If another version of torch has nothing to replace here,
    all works as before, slower.
    """
    import torch

    for method in vars(torch.optim.Optimizer).values():
        plain: Any = getattr(method, "__wrapped__", None)
        if plain is not None and _is_defined_in(method, "_compile.py"):
            plain.__dynamo_disable = plain
    for found in vars(torch.optim).values():
        step: Any = getattr(found, "step", None)
        if hasattr(step, "hooked"):  # it was used, and its step is wrapped once more, whatever it was
            continue
        if isinstance(found, type) and _is_defined_in(step, "optimizer.py") and hasattr(step, "__wrapped__"):
            found.step = _step_without_gradients(step.__wrapped__)  # type: ignore[attr-defined]


def _prepare_functional_torch() -> None:
    """Let `torch.func` and checkpoints work without what they import late: a compiler, and scripts for `jvp`.

    They ask the compiler only to leave them alone. It takes seconds to import, and a folder for its files, so that a
    module of its name stands for it. `vmap` makes a library, once, for which it takes a frame.
    """
    import torch._functorch.vmap

    torch._functorch.vmap.lazy_load_decompositions()  # type: ignore[attr-defined]
    torch.autograd.forward_ad._maybe_load_decompositions = cut_off()(_do_nothing)
    compiler: Any = ModuleType("torch._dynamo")
    compiler.disable = compiler.disallow_in_graph = compiler.allow_in_graph = cut_off()(_leave_as_it_is)
    compiler.graph_break = cut_off()(_do_nothing)
    compiler.compiled_autograd = SimpleNamespace(_disable=contextlib.nullcontext)
    compiler.config = SimpleNamespace(error_on_nested_fx_trace=True)
    torch._dynamo = sys.modules[compiler.__name__] = compiler


def _leave_as_it_is(function: Any = None, *_arguments: object, **_named: object) -> Any:
    """Stand for a decorator, and for one that is made by a call."""
    return function or (lambda decorated: decorated)


def _mark_for_profilers_alone() -> None:
    """Let optimizers mark their steps for torch's profiler only while it runs: a mark takes a tenth of a small step."""
    import torch

    profiler: Any = torch.autograd.profiler
    is_running: Any = getattr(torch._C._autograd, "_profiler_enabled", None)
    if is_running is None:  # another torch
        return
    enter, leave = profiler.record_function.__enter__, profiler.record_function.__exit__

    @cut_off()
    def begin(mark: Any) -> Any:
        return enter(mark) if is_running() else mark

    @cut_off()
    def end(mark: Any, *raised: Any) -> None:
        if mark.record is not None:
            leave(mark, *raised)

    profiler.record_function.__enter__, profiler.record_function.__exit__ = begin, end


def _is_defined_in(function: Any, filename: str) -> bool:
    """Return True if a wrapper comes from a decorator in that file of torch."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.endswith(filename)


def _step_without_gradients(step: Any) -> Any:
    """Wrap *step* as torch's decorator does, but without the compiler."""
    import torch

    @cut_off()
    @functools.wraps(step)
    def plain_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return plain_step
