"""Numbers and code for the questions on AdamW."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def first_step(random: Random) -> Values:
    """The first step on one weight."""
    while True:
        w, g = random.choice([-2.0, -1.0, 1.0, 2.0, 3.0]), random.choice([-40.0, -5.0, -0.3, 0.02, 0.5, 7.0, 60.0])
        lr, decay = random.choice([0.01, 0.02, 0.05, 0.1]), random.choice([0.1, 0.2, 0.5])
        sign = 1 if g > 0 else -1
        left = w - lr * decay * w
        answer = left - lr * sign
        wrong = {
            "adamw-no-correction": left - lr * sign * 0.1 / 0.001**0.5,
            "adamw-steps-like-sgd": left - lr * g,
            "adamw-decay-without-rate": w - decay * w - lr * sign,
            "adamw-forgets-the-decay": w - lr * sign,
            "adamw-goes-uphill": left + lr * sign,
        }
        if are_far_apart(answer, *wrong.values(), least=0.002):
            break
    return {"w": w, "g": g, "lr": lr, "decay": decay, "sign": "+" if sign > 0 else "−", "lost": lr * decay * w,
            "answer": answer, "wrong": wrong}  # fmt: skip


def running_mean(random: Random) -> Values:
    """A running mean of equal gradients, from 0."""
    while True:
        beta, t, g = random.choice([0.5, 0.8, 0.9, 0.95]), random.randrange(2, 9), random.choice([1.0, 2.0, 5.0, -4.0])
        answer = (1 - beta**t) * g
        wrong = {
            "adamw-mean-starts-full": g,
            "adamw-mean-is-sum": t * g,
            "adamw-what-is-forgotten": beta**t * g,
        }
        if are_far_apart(answer, *wrong.values(), least=0.02):
            break
    return {"beta": beta, "rest": 1 - beta, "t": t, "g": g, "answer": answer, "wrong": wrong}


def decay(random: Random) -> Values:
    """What decay alone leaves of a weight."""
    while True:
        w, lr, share = random.choice([1.0, 2.0, 4.0]), random.choice([0.01, 0.02, 0.05]), random.choice([0.1, 0.2, 0.5])
        n = random.choice([10, 20, 50, 100])
        answer = w * (1 - lr * share) ** n
        wrong = {
            "adamw-decay-without-rate": w * (1 - share) ** n,
            "adamw-forgets-the-decay": w,
        }
        if w - n * lr > 0.3:  # far from 0 the gradient of the decay has one sign, and hardly changes its size
            wrong["adamw-decay-in-gradient"] = w - n * lr
        if are_far_apart(answer, *wrong.values(), least=0.01):
            break
    return {"w": w, "lr": lr, "decay": share, "n": n, "share": lr * share, "answer": answer, "wrong": wrong}


STEP = """\
def adamw(w, g, m, v, t, lr, decay, beta1=0.9, beta2=0.999, eps=1e-8):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    m_hat = m / (1 - beta1**t)
    v_hat = v / (1 - beta2**t)
    w = w - lr * decay * w
    w = w - lr * m_hat / (v_hat.sqrt() + eps)
    return w, m, v"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "m = beta1 * m + g", 7, "with gradients that never change, steps become ten times lr",
     "The gradient is added whole, so m becomes a sum of ten gradients. Its share is 1 − beta1."),
    (2, "m = (1 - beta1) * m + beta1 * g", 4, "the first step is nine times too long, and m forgets within two steps",
     "The shares are exchanged: beta1 of the old stays, and 1 − beta1 of the new is added."),
    (3, "v = beta2 * v + (1 - beta2) * g", 7, "NaN appears where a gradient is negative",
     "That is a mean of g, whose root may not exist. v is the mean of g·g."),
    (3, "v = beta2 * v + (1 - beta2) * m * m", 2, "gradients of +1 and −1 in turn hardly make the steps smaller",
     "In m they have cancelled already. v is to hold the size of the gradients themselves, g·g."),
    (4, "m_hat = m", 2, "the first step is a tenth of lr",
     "m began at 0 and holds a tenth of the gradient after one step. It must be divided by 1 − beta1**t."),
    (5, "v_hat = v", 7, "the first step is 30 times as long as lr",
     "v holds a thousandth of g·g after one step, its root a thirtieth of |g|. It must be divided by 1 − beta2**t."),
    (5, "v_hat = v / (1 - beta1**t)", 4, "the first step is ten times as long as lr",
     "v has forgotten with beta2, so its correction is 1 − beta2**t."),
    (6, "w = w - decay * w", 7, "with a decay of 0.1 the weights are gone after some fifty steps",
     "The decay is multiplied by lr, too."),
    (6, "w = w + lr * decay * w", 7, "weights whose gradient is 0 grow and grow",
     "Decay takes a share off. Here it is put on."),
    (7, "w = w - lr * m_hat / (v_hat + eps)", 3, "a loss that is multiplied by 100 makes steps a hundred times shorter",
     "The root is missing: m̂ and √v̂ have the size of the gradient, v̂ that of its square."),
    (7, "w = w - lr * g / (v_hat.sqrt() + eps)", 2, "m is kept and makes no difference",
     "The step must go along the mean, m̂, and not along the last gradient."),
    (7, "w = w + lr * m_hat / (v_hat.sqrt() + eps)", 2, "the loss rises from the first step on",
     "The step goes uphill. It is subtracted."),
    (8, "return w, m_hat, v_hat", 4, "the first step is right, and the second is too long",
     "The corrected means would be corrected again in the next step. m and v are kept as they are."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A step of AdamW with one line spoilt, and what is seen of it."""
    return spoil_line(random, STEP, SPOILT, "adamw-blames-the-symptom")
