"""Facts without a table of mistakes: each is said of code that is so, and none of right code."""

from __future__ import annotations

import math

import pytest
import torch
from diagnosis.test_diagnosis import each_function, shared

from grader.judge.diagnosis.structural_facts import find_facts


def facts_about(lesson, function, version):
    """What is said of one of our own versions."""
    outputs = shared(lesson, function).outputs
    subject = outputs.subject_for(version)
    return find_facts(outputs, subject, outputs.observe_all(subject))


def attend(q, k, v, mask=None, scores=None, weights=lambda scores: scores.softmax(-1)):
    """Attention, with other scores or weights."""
    scores = q @ k.mT / q.size(-1) ** 0.5 if scores is None else scores
    return weights(scores if mask is None else scores.masked_fill(~mask, -math.inf)) @ v


def temperature(q, k, v, mask=None):
    return attend(q, k, v, mask, scores=q @ k.mT / q.size(-1))


def mean_of_values(q, k, v, mask=None):
    return attend(q, k, v, mask, scores=0.0 * q @ k.mT)


def over_the_batch(q, k, v, mask=None):
    return attend(q, k, v, mask, weights=lambda scores: scores.softmax(0))


def over_the_queries(q, k, v, mask=None):
    return attend(q, k, v, mask, weights=lambda scores: scores.softmax(-2))


def not_normalised(q, k, v, mask=None):
    return attend(q, k, v, mask, weights=torch.exp)


def reversed_keys(q, k, v, mask=None):
    return attend(q, k, v, mask, weights=lambda scores: scores.softmax(-1).flip(-1))


def with_noise(q, k, v, mask=None):
    return attend(q, k, v, mask) + torch.rand(())


def cut_off(q, k, v, mask=None):
    return attend(q.detach(), k, v, mask)


def scaled_by_the_batch(q, k, v, mask=None):
    return attend(q, k, v, mask) * len(q)


def changing(q, k, v, mask=None):
    v *= 2
    return attend(q, k, v, mask, weights=torch.exp)


def future_seen(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    return x.mean(1, keepdim=True) @ w_o.T + x @ w_v.T


SHOWS = "With the identity for `v`, which shows the weights"


@pytest.mark.parametrize(
    "version, words",
    [
        (
            temperature,
            f"{SHOWS}: These are the right weights for scores 0.4472 times as large (1/√5, and 5 is the last",
        ),
        (mean_of_values, f"{SHOWS}: All weights of a slice are equal"),
        (mean_of_values, "`q` and `k` have no influence"),
        (over_the_batch, "first sequence of the batch of your answer changes when only the last sequence of the batch"),
        (over_the_queries, "The first row of your answer changes when only the last row of `q` is changed"),
        (not_normalised, f"{SHOWS}: Along the last axis the values sum to"),
        (reversed_keys, f"{SHOWS}: Every column is there, in another order"),
        (with_noise, "A second call with the same arguments gives another answer"),
        (cut_off, "No gradient reaches `q`, though"),
        (changing, "A call changes `v`, which it was given."),
        (scaled_by_the_batch, "The first sequence of a batch is answered otherwise when it is alone"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_so_is_said(version, words):
    """Each fact is told of a function that is so."""
    assert words in " ".join(fact.says for fact in facts_about("attention", "scaled_dot_product_attention", version))


def test_a_look_at_later_tokens_is_said_with_the_mask():
    """An answer for the first token that depends on the last one is told, and that a mask was given."""
    said = facts_about("multi_head", "multi_head_attention", future_seen)

    assert any("only the last row of `x` is changed" in fact.says and "with `mask`" in fact.says for fact in said), said
    assert any("`w_q`, `w_k`" in fact.says and fact.kind == "no-influence" for fact in said), said


def test_an_argument_that_is_not_used_is_said():
    """`dim` without influence is told; so is a parameter of a module."""
    assert facts_about("softmax", "softmax", lambda x, dim=-1: x.softmax(-1)) == [
        ("no-influence", "`dim` has no influence: with other values your answer is the same.")
    ]


def test_a_parameter_that_is_not_used_is_said_once():
    """That no gradient reaches a bias which has no influence goes without saying."""
    build = shared("feed_forward", "FeedForward").mistake_set.build({"narrow": "hidden @ self.w2.weight.T"})

    assert facts_about("feed_forward", "FeedForward", build) == [
        ("no-influence", "`w2.bias` has no influence: with other values your answer is the same.")
    ]


def test_a_step_that_counts_only_later_is_not_said_to_have_no_influence():
    """While the rate rises it is the largest one: on later steps all depends on the step."""
    build = shared("learning_rate", "lr_at").mistake_set.build({"rise": "max_lr"})

    assert "no-influence" not in {fact.kind for fact in facts_about("learning_rate", "lr_at", build)}


@each_function
def test_nothing_is_said_of_right_code(lesson, function):
    """The reference and the alternatives give no fact."""
    diagnostician = shared(lesson, function)
    outputs, mistake_set = diagnostician.outputs, diagnostician.mistake_set
    for alternative in mistake_set.alternatives[:: max(1, len(mistake_set.alternatives) // 3)]:
        subject = outputs.subject_for(mistake_set.build(alternative.changes, alternative.version))

        assert find_facts(outputs, subject, outputs.observe_all(subject)) == [], alternative.name


def test_code_that_fails_leaves_no_facts():
    """Where nothing can be called, nothing is said."""

    def fails(q, k, v, mask=None):
        raise ValueError

    assert facts_about("attention", "scaled_dot_product_attention", fails) == []


@pytest.mark.parametrize("kind", [torch.Tensor, list])
def test_of_answers_far_too_large_nothing_more_is_asked(kind):
    """Each takes long to read: that the first is hundreds of times the right one says enough."""
    asked = []

    def repeats(x, dim=-1):
        asked.append(x)
        values = x.exp().reshape(-1).repeat(400)
        return values if kind is torch.Tensor else values.tolist()

    outputs = shared("softmax", "softmax").outputs
    subject = outputs.subject_for(repeats)
    seen = outputs.observe_all(subject)
    asked.clear()
    find_facts(outputs, subject, seen)
    assert len(asked) == 1
