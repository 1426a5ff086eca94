"""The trained model of the lesson on induction heads: where its heads look, and what it loses without them."""

from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file

from grader.judge.course_files import load_file as load_module

ROOT = Path(__file__).resolve().parents[2]
_LESSON = load_module(ROOT / "solutions/analysis/induction.py")


@cache
def _texts():
    periods = torch.randint(10, 16, (400,))
    return _LESSON.repeat_runs(torch.randint(0, 40, (400, 20)), periods), periods


@torch.no_grad()
def _without(layer=None, head=None):
    """The trained model without a head; how often it is right, and its weights."""
    state = load_file(ROOT / "lessons/analysis/induction.safetensors")
    if layer is not None:
        state[f"layers.{layer}.wo.weight"][:, 16 * head : 16 * (head + 1)] = 0
    model = _LESSON.AttentionOnly(40, 20, 64, 4, 2)
    model.load_state_dict(state)
    ids, periods = _texts()
    logits, weights = model(ids)
    right = logits[:, :-1].argmax(-1) == ids[:, 1:]
    return right[torch.arange(19) >= periods[:, None]].float().mean().item(), weights


def the_previous_token_head_works_in_the_first_copy():
    """induction.md: give 0.99 to the token before them, and those of the second copy 0.05
    induction.md: A mean of one half is here a head
    """
    _, periods = _texts()
    before = _without()[1][0, :, 1].diagonal(-1, -2, -1)  # (B, T - 1)
    first, second = before[:, :9].mean(), before[torch.arange(1, 20) >= periods[:, None]].mean()
    assert first > 0.985 and 0.04 < second < 0.065 and 0.48 < before.mean() < 0.52, (first, second, before.mean())
    return f"queries 1 to 9: {first:.3f}, of the second copy: {second:.3f}, all: {before.mean():.2f}"


def a_score_is_not_what_is_lost():
    """induction.md: It is right in 95% of the cases. Without its previous-token head it is right in 38%.
    induction.md: head, of a score of 0.78, it is right in 92%
    induction.md: scores from 0.69 to 0.71
    """
    ids, _ = _texts()
    weights = _without()[1]
    found = _LESSON.head_report(lambda _: (None, weights), ids)
    assert (found["previous_head"], found["induction_head"]) == ((0, 1), (1, 3)), found
    scores = found["induction"][1].sort().values.tolist()
    assert abs(scores[-1] - 0.78) < 0.015 and 0.68 < scores[0] < scores[2] < 0.725, scores
    whole, no_note, no_best = (_without(*head)[0] for head in ((), (0, 1), (1, 3)))
    assert abs(whole - 0.95) < 0.015 and abs(no_note - 0.38) < 0.03 and abs(no_best - 0.92) < 0.015, (no_note, no_best)
    return (
        f"right: {whole:.3f}, without the note {no_note:.3f}, without the best induction head {no_best:.3f}; {scores}"
    )
