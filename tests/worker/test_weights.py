"""Modules get their weights as torch gives them, in less time, and nothing that is replaced is drawn."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn

from grader.worker.models.factories import make
from grader.worker.models.weights import copy_module, load_state, set_mode, without_drawing


class Everything(nn.Module):
    """Tied weights, buffers that are in the state and one that is not, parts in a list, and one that is absent."""

    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.table, self.norm = nn.Embedding(4, width), nn.LayerNorm(width)
        self.parts = nn.ModuleList([nn.Linear(width, width), nn.Linear(width, 4, bias=False)])
        self.parts[1].weight = self.table.weight
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("mask", torch.ones(3, dtype=torch.bool))
        self.register_buffer("rows", torch.arange(3), persistent=False)
        self.absent = None
        self.register_module("nothing", None)


class Prefixed(Everything):
    """Renames its weights as they come in."""

    def _load_from_state_dict(self, state, prefix, *rest):
        state["scale"] = state["scale"] + 1
        super()._load_from_state_dict(state, prefix, *rest)


class Counted(nn.Module):
    """Keeps something in its state that is no tensor."""

    def get_extra_state(self):
        return {"calls": 1}

    def set_extra_state(self, state):
        self.calls = state["calls"]


def hooked() -> nn.Module:
    module = nn.Linear(2, 2)
    module.register_load_state_dict_pre_hook(lambda _module, state, *_: state["weight"].mul_(2))
    return module


MODULES: dict[str, Any] = {
    "plain": Everything,
    "with a loading of its own": Prefixed,
    "with extra state": Counted,
    "with a hook": hooked,
    "with batch norm": lambda: nn.Sequential(nn.BatchNorm1d(3), nn.ReLU()),
    "with weight norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(3, 2)),
    "without weights": nn.Dropout,
    "of half precision": lambda: nn.Linear(2, 2).half(),
}


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("change", ["", "less", "more"])
def test_a_state_is_loaded_as_torch_loads_it(kind, change):
    """Whatever a module holds, its numbers afterwards and the names that do not fit are those torch gives."""
    mine, theirs = MODULES[kind](), MODULES[kind]()
    start = deepcopy(mine.state_dict())
    state = {name: torch.rand_like(value.float()) if torch.is_tensor(value) else value for name, value in start.items()}
    if change == "less" and state:
        state.popitem()
    if change == "more":
        state["further.weight"] = torch.ones(2)
    theirs.load_state_dict(deepcopy(start))
    found = load_state(mine, deepcopy(state))
    expected = theirs.load_state_dict(deepcopy(state), strict=False)
    assert found == (expected.missing_keys, expected.unexpected_keys, False)
    for name, value in theirs.state_dict().items():
        assert not torch.is_tensor(value) or torch.equal(mine.state_dict()[name], value), name


def test_a_wrong_shape_is_told_as_torch_tells_it():
    """A number that does not fit its place raises torch's own error."""
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        load_state(nn.Linear(2, 3), {"weight": torch.ones(2, 3), "bias": torch.ones(3)})


def test_a_module_without_init_is_told_as_torch_tells_it():
    """A module that never called `super().__init__()` raises the error that torch raises."""

    class Forgetful(nn.Module):
        def __init__(self) -> None:
            pass

    with pytest.raises(AttributeError) as mine:
        load_state(Forgetful(), {"weight": torch.ones(2)})
    with pytest.raises(AttributeError) as theirs:
        Forgetful().load_state_dict({"weight": torch.ones(2)}, strict=False)
    assert str(mine.value) == str(theirs.value)


def test_nothing_is_drawn_only_where_that_is_said():
    """Layers begin as zeros within `without_drawing`, take no random number, and are drawn again afterwards."""
    torch.manual_seed(1)
    before = torch.get_rng_state()
    with without_drawing():
        layers = nn.ModuleList([nn.Linear(2, 2), nn.Embedding(3, 2), nn.Linear(2, 2, bias=False)])
    assert all(not parameter.any() for parameter in layers.parameters())
    assert torch.equal(torch.get_rng_state(), before)
    assert nn.Linear(2, 2).weight.any()


class Steady(nn.Linear):
    """Stays in training mode, and so do its parts."""

    def train(self, mode=True):
        return super().train(True)


class Counting(nn.Module):
    """Counts how often its mode is set, which is a property."""

    def __init__(self) -> None:
        self.__dict__["set"] = 0
        super().__init__()
        self.inner = nn.Dropout()

    training = property(lambda self: self.set % 2 == 0, lambda self, mode: self.__dict__.update(set=self.set + 1))


def made_steady() -> nn.Module:
    module: Any = nn.Dropout()
    module.train = lambda mode=True: module
    return module


@pytest.mark.parametrize("make", [Everything, lambda: Steady(2, 2), Counting, made_steady])
def test_the_mode_is_set_as_torch_sets_it(make):
    """In each part, whatever a part's own `train` or `training` does."""
    mine, theirs = nn.Sequential(make(), nn.ReLU()), nn.Sequential(make(), nn.ReLU())
    for mode in (False, True, False):
        set_mode(mine, mode)
        theirs.train(mode)
        assert [part.training for part in mine.modules()] == [part.training for part in theirs.modules()]


def test_a_copy_of_a_module_shares_nothing():
    """What is done to a copy, its hooks and its mode included, leaves the module as it was."""
    module: Any = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    copy = copy_module(module)
    assert torch.equal(copy(torch.ones(1, 2)), module(torch.ones(1, 2)))
    with torch.no_grad():
        copy[0].weight.zero_()
    copy[0].register_forward_hook(lambda *_: torch.zeros(1))
    copy.eval().requires_grad_(False)
    assert module[0].weight.any()
    assert module(torch.ones(1, 2)).shape == (1, 2)
    assert module[0].training
    assert module[0].weight.requires_grad


def test_what_has_another_name_gets_the_numbers_of_its_shape():
    """So the answers of a module with names of its own can be read; three of one shape stay as they are."""
    module = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 3), *(nn.Linear(5, 5, bias=False) for _ in range(3)))
    before = deepcopy(module.state_dict())
    state = {f"w{name}": torch.randn_like(each) for name, each in before.items()}

    assert load_state(module, state) == ([*before], [*state], False)
    for name, found in module.state_dict().items():
        assert torch.equal(found, before[name] if found.shape == (5, 5) else state[f"w{name}"])


def test_a_number_that_is_lacking_is_no_place_for_one_of_another_shape():
    """Nothing is loaded, and no error raised, where a module has neither the names nor the shapes."""
    module = nn.Linear(2, 3)
    before = deepcopy(module.state_dict())

    assert load_state(module, {"table": torch.ones(7, 7)}) == (["weight", "bias"], ["table"], False)
    assert all(torch.equal(before[name], each) for name, each in module.state_dict().items())


def test_whoever_has_every_number_in_its_place_is_told_so():
    """Then only the names are wrong, and the rest can be judged."""
    module, state = nn.Sequential(nn.Linear(2, 3)), {"w": torch.ones(3, 2), "b": torch.ones(3)}

    assert load_state(module, state) == (["0.weight", "0.bias"], ["w", "b"], True)
    assert torch.equal(module(torch.ones(1, 2)), torch.full((1, 3), 3.0))


def test_the_layers_of_a_given_model_compute_only_where_it_runs_itself():
    """Who runs them one by one reads the text again, which no log would show: it gets other numbers."""
    state = {"layers.0.weight": torch.eye(3)}
    model = make({"kind": "model", "layers": [["embedding", 3, 3], ["fading_sum"]], "state": state}, [])
    ids = torch.tensor([[0, 1, 2]])

    assert torch.allclose(model(ids)[0, -1], torch.tensor([0.81, 0.9, 1.0]))
    assert torch.equal(model.layers(ids)[0, -1], torch.tensor([0.0, 0.0, 1.0]))
