"""No callable of torch does an exercise unseen: those that were found by calling all of them, each refused."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest
from support.course_files import ROOT
from support.equal_calls import make_inputs
from support.factories import course
from support.repeat import SOAK

from grader.source.forbidden_calls import find_forbidden_calls
from grader.worker.operations import ModuleHost
from grader.worker.watch.call_monitor import matches

EXERCISES = ("softmax", "attention", "cross_entropy", "activations", "layer_norm", "gradient_clipping")
ALGEBRA = re.compile("svd|qr|pinv")  # of one row a unit vector: a way to write it, that is no shorter
PIECES = 30  # of the callables; each is a test of its own, and SOAK=30 runs all of them
MAX_SECONDS = 1800  # for one piece


def found(exercise):
    """The callables that do the exercise, as pairs of an expression and a way to call it."""
    lines = (Path(__file__).parent / f"{exercise}_calls.txt").read_text().splitlines()
    return [tuple(line.split("|")) for line in lines]


def refusal(exercise, expression, way):
    """What the worker says of a call, in a submission that is loaded with the lesson's own list."""
    for module in re.findall(r"sys\.modules\['(.*?)'\]", expression) or ["torch._decomp"]:
        importlib.import_module(module)
    names = make_inputs(exercise)
    names["f"] = eval(expression, dict(names))
    host = ModuleHost({"call": lambda: eval(way, dict(names))}, course().lessons[exercise].forbids)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some names are old, and say so
            return host.perform({"operation": "call", "target": "call", "args": [], "kwargs": {}}).get("error", {})
    finally:
        host.close()


@pytest.mark.parametrize("exercise", EXERCISES)
def test_every_call_that_does_the_exercise_is_refused(exercise):
    """Functions, methods, operators, overloads, decompositions, modules, distributions: each is named as forbidden."""
    forbids = course().lessons[exercise].forbids
    said = {(expression, way): refusal(exercise, expression, way) for expression, way in found(exercise)}

    assert len(said) > (3 if exercise == "activations" else 20)
    assert [call for call, error in said.items() if error.get("kind") != "forbidden"] == []
    assert {error["text"] for error in said.values()} <= set(forbids)


@pytest.mark.soak
@pytest.mark.parametrize("piece", range(min(SOAK, PIECES)))
@pytest.mark.parametrize("exercise", EXERCISES)
def test_no_other_call_does_the_exercise(exercise, piece, tmp_path):
    """Callables of torch are called on random input in the plausible ways; what gives the answer is known."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "support.equal_calls", exercise, str(piece), str(PIECES),
         *dict(found(exercise))],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"}, capture_output=True, text=True,
        timeout=MAX_SECONDS,
    )  # fmt: skip
    calls = [tuple(line.split("|")) for line in done.stdout.splitlines()]

    assert done.returncode == 0 and len(calls) > 3, done.stderr[-2000:]
    unknown = set(calls) - set(found(exercise))
    unknown = {call for call in unknown if refusal(exercise, *call).get("kind") != "forbidden"}
    assert [call for call in unknown if not ALGEBRA.search(call[0])] == []


@pytest.mark.parametrize(("lesson", "line"), [
    ("softmax", "from torch.distributions import Categorical\nway = lambda x: Categorical(logits=x).logits"),
    ("learning_rate", "from torch.optim.lr_scheduler import CosineAnnealingLR as way"),
    ("learning_rate", "from torch.optim.swa_utils import SWALR as way"),
    ("cross_entropy", "from torch.distributions import kl_divergence as way"),
    ("cross_entropy", "from torch.nn import KLDivLoss as way"),
    ("cross_entropy", "import torch.distributions.kl\nway = torch.distributions.kl._kl_categorical_categorical"),
    ("score_scaling", "from torch.nn.functional import kl_div as way"),
    ("activations", "import torch\ntorch_of = [torch]\nway = torch_of[0].ops.mkldnn._linear_pointwise"),
    ("activations", "import torch\nway = torch._addmm_activation"),
    ("activations", "import torch\nway = torch.nn.TransformerEncoderLayer(2, 1, activation='ge' + 'lu').activation"),
    ("layer_norm", "from torch import renorm as way"),
    ("layer_norm", "from torch.nn.functional import local_response_norm as way"),
    ("layer_norm", "from torch.nn import CrossMapLRN2d as way"),
    ("layer_norm", "from torch.nn.utils.parametrizations import weight_norm as way"),
    ("layer_norm", "from torch.nn.utils.fusion import fuse_linear_bn_weights as way"),
    ("gradient_clipping", "from torch.nn.functional import normalize as way"),
    ("sampling", "from torch.distributions import OneHotCategorical as way"),
    ("sampling", "import torch\nway = torch.ops.aten.multinomial"),
    ("sampling", "from torch.nn.functional import gumbel_softmax as way"),
])  # fmt: skip
def test_what_does_an_exercise_under_another_name_is_refused(lesson, line):
    """Schedulers are Python of torch's, in which the worker sees nothing; the source names their module."""
    chosen = course().lessons[lesson]
    name = chosen.functions[0].name
    source = f"{line}\n\n\ndef {name}(*given):\n    return way(*given)\n"
    assert find_forbidden_calls(source, [name], partial(matches, forbids=tuple(chosen.forbids)))


def test_a_response_over_all_features_is_an_rms_norm():
    """With a window of all features torch's local response norm is the exercise whole, under whatever name."""
    import torch

    x = torch.randn(3, 4)
    way = getattr(torch.nn, "Local" + "Response" + "Norm")(7, 7 / 4, 0.5, 1e-5)
    right = x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    assert torch.allclose(way(x[..., None])[..., 0], right, atol=1e-5)

    host = ModuleHost({"call": lambda: way(x[..., None])}, course().lessons["layer_norm"].forbids)
    try:
        error = host.perform({"operation": "call", "target": "call", "args": [], "kwargs": {}})["error"]
    finally:
        host.close()
    assert error["kind"] == "forbidden"


@pytest.mark.parametrize("function", ["clip_grad_norm_", "clip_grads_with_norm_", "get_total_norm"])
def test_torchs_own_clipping_is_refused_in_parts_too(function):
    """The norm and the scaling are functions of their own: one after the other they are the whole exercise."""
    import torch

    if not hasattr(torch.nn.utils, function):
        pytest.skip("this torch has no such function")

    def call():
        weight = torch.nn.Parameter(torch.zeros(3))
        weight.grad = torch.ones(3)
        arguments = {"clip_grads_with_norm_": ([weight], 1.0, torch.tensor(3.0)), "get_total_norm": ([weight.grad],)}
        return getattr(torch.nn.utils, function)(*arguments.get(function, ([weight], 1.0)))

    host = ModuleHost({"call": call}, course().lessons["gradient_clipping"].forbids)
    try:
        error = host.perform({"operation": "call", "target": "call", "args": [], "kwargs": {}})["error"]
    finally:
        host.close()

    assert error["kind"] == "forbidden"


def test_a_row_that_torch_shortens_is_clipped_by_torch():
    """All gradients as one row of a table: `renorm` takes its norm and scales it, in one call."""
    import torch

    row = torch.ones(1, 9)
    for call in (lambda: row.renorm(2, 0, 1.0), lambda: torch.renorm(row, p=2, dim=0, maxnorm=1.0)):
        host = ModuleHost({"call": call}, course().lessons["gradient_clipping"].forbids)
        try:
            error = host.perform({"operation": "call", "target": "call", "args": [], "kwargs": {}})["error"]
        finally:
            host.close()
        assert error["kind"] == "forbidden"
