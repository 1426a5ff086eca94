"""Numbers for the questions on what a model is trained to do."""

from __future__ import annotations

import math
from itertools import combinations
from random import Random
from typing import Any

from grader.api.questions import dot

NAMES = ("first", "second", "third", "fourth")


def predictions(random: Random) -> dict[str, Any]:
    """Next-token training predicts T − 1 tokens of each text, BERT's masking 15 % of T."""
    texts, length = random.choice([3, 4, 6, 8, 12, 16, 24, 32]), random.choice([100, 200, 300, 400, 500])
    each, masked = length - 1, length * 15 // 100
    wrong = {
        "obj-last-token-scored": texts * (length - masked),
        "obj-only-mask-scored": texts * (each - length * 12 // 100),
        "batch-batch-forgotten": each - masked,
    }
    return {"B": texts, "T": length, "each": each, "causal": texts * each, "all": texts * length,
            "masked": texts * masked, "answer": texts * (each - masked), "wrong": wrong}  # fmt: skip


def masking(random: Random) -> dict[str, Any]:
    """What becomes of n tokens: 15 % chosen, and of these 80 % [MASK], 10 % random, 10 % as they were."""
    n = random.choice([2000, 4000, 6000, 8000, 10_000, 20_000, 40_000, 60_000, 100_000])
    chosen, mask, few = n * 15 // 100, n * 12 // 100, n * 15 // 1000
    cases = [
        {
            "asked": "How many tokens does the loss count?",
            "answer": chosen,
            "why": "The loss asks for all that were chosen, whatever the input shows there.",
            "line": "chosen.sum()",
            "wrong": {"obj-only-mask-scored": mask, "obj-only-changed-scored": mask + few, "obj-masked-scores-all": n},
        },
        {
            "asked": "How many tokens of the input are [MASK]?",
            "answer": mask,
            "why": "So [MASK] stands at 0.15 · 0.8 = 12 % of all places.",
            "line": "mask.sum()",
            "wrong": {"obj-all-chosen-masked": chosen, "obj-shares-of-all": n * 8 // 10},
        },
        {
            "asked": "At how many places does the loss count, though the input shows no [MASK] there?",
            "answer": 2 * few,
            "why": f"Random ones and those that stay are scored like the others: together {2 * few:,}.",
            "line": "(chosen & ~mask).sum()",
            "wrong": {"obj-only-mask-scored": 0, "obj-only-changed-scored": few, "obj-shares-of-all": n * 2 // 10},
        },
        {
            "asked": "At how many places does the input show the token of the text?",
            "answer": n - mask - few,
            "why": f"To the {n - chosen:,} that were not chosen come the {few:,} that were, and stay.",
            "line": "(~mask & ~swapped).sum()",
            "wrong": {"obj-all-chosen-masked": n - chosen, "obj-shares-of-all": n // 10},
        },
    ]
    return {"N": n, "chosen": chosen, "mask": mask, "random": few, **random.choice(cases)}


def masked_perplexity(random: Random) -> dict[str, Any]:
    """The exponential of one mean over all chosen tokens: 0.8, 0.1 and 0.1 of three mean losses."""
    mask = random.randint(14, 26) / 10
    kinds = [mask, round(mask + random.randint(3, 12) / 10, 1), random.randint(1, 5) / 10]
    shares = [0.8, 0.1, 0.1]
    mean = dot(shares, kinds)
    wrong = {
        "obj-only-mask-scored": math.exp(mask),
        "obj-kinds-weigh-the-same": math.exp(sum(kinds) / 3),
        "ce-averages-perplexities": dot(shares, [math.exp(loss) for loss in kinds]),
        "ce-loss-for-perplexity": mean,
    }
    if not _far_apart([math.exp(mean), *wrong.values()]):
        return masked_perplexity(random)
    return {"mask": mask, "random": kinds[1], "stay": kinds[2], "mean": mean, "answer": math.exp(mean), "wrong": wrong}


def floor(random: Random) -> dict[str, Any]:
    """The entropy of a word given the words before it, or given all others, where some are repeated later."""
    a, b, fixed = random.randint(1, 2), random.randint(1, 2), random.randint(2, 4)
    k, m = random.sample([2, 3, 4, 5, 6, 8], 2)
    n, both = 2 * a + b + fixed, random.random() < 0.5
    told, free = a * math.log(k), b * math.log(m)
    one_side, both_sides = (told + free) / n, free / n
    answer = both_sides if both else one_side
    wrong = {
        "obj-reads-left-only" if both else "obj-sees-both-sides": one_side if both else both_sides,
        "obj-paid-twice": (2 * told + free) / n,
        "obj-certain-places-left-out": free / b if both else (told + free) / (a + b),
        "obj-perfect-pays-nothing": 0,
    }
    if not _far_apart([answer, *wrong.values()]):
        return floor(random)
    cost_told, cost_free = _times(a, f"ln {k}"), _times(b, f"ln {m}")
    if both:
        task = (
            "One word at a time is hidden, each once, and the model names it from all others, before it and behind it."
        )
        why = f"A word that stands there twice can be read off its twin; the words drawn once cost {cost_free}."
        moral = "Who reads from the left has a higher floor, and need not be the worse model: the tasks differ."
    else:
        task = "The model names each word, from the first on, and sees only the words before it."
        why = f"Each drawn word comes as a surprise, its repetition does not: {cost_told} and {cost_free}."
        moral = "No model that reads from the left gets below: that is the entropy of the language per word."
    return {
        "n": n, "a": a, "b": b, "k": k, "m": m, "fixed": fixed, "both": both,
        "told": ("One is drawn", "Two are drawn, each")[a - 1],
        "free": ("One more is drawn", "Two more are drawn, each")[b - 1], "task": task, "why": why,
        "moral": moral, "sum": cost_free if both else f"{cost_told} + {cost_free}",
        "line": f"drawn_once / {n}" if both else f"(drawn_and_repeated + drawn_once) / {n}",
        "answer": answer, "wrong": wrong,
    }  # fmt: skip


def contrastive(random: Random) -> dict[str, Any]:
    """The loss of one text: −ln of its partner's share among the similarities, divided by the temperature."""
    tau, count = random.choice([0.05, 0.1, 0.2]), random.choice([3, 4])
    width = min(16, round(140 * tau))  # in steps of 0.05: no logit lies by more than 7 above another
    lowest = random.randint(2, 18 - width)
    sims = [each / 20 for each in random.sample(range(lowest, lowest + width + 1), count)]
    place = random.randrange(count)
    gaps = [(each - sims[place]) / tau for at, each in enumerate(sims) if at != place]
    answer = _log_sum([0, *gaps])
    wrong = {
        "obj-temperature-left-out": _log_sum([each - sims[place] for each in sims]),
        "obj-partner-left-out": _log_sum(gaps),
        "obj-untrained-contrast": math.log(count),
    }
    if not 0.1 < answer < 2.5 or not _far_apart([answer, *wrong.values()]):
        return contrastive(random)
    multiplied = _log_sum([(each - sims[place]) * tau for each in sims])
    if _far_apart([multiplied, answer, *wrong.values()], ratio=1.025):  # a small temperature leaves nearly ln B
        wrong["obj-temperature-multiplied"] = multiplied
    shown = [f"{round(gap, 6):g}".replace("-", "−") for gap in gaps]
    return {
        "tau": tau, "B": count, "sims": sims, "listed": ", ".join(map(str, sims)), "place": place,
        "which": NAMES[place],
        "gaps": f"{', '.join(shown[:-1])} and {shown[-1]}", "terms": " + ".join(f"e^{gap}" for gap in shown),
        "blind": math.log(count), "answer": answer, "wrong": wrong,
    }  # fmt: skip


def _log_sum(logits: list[float]) -> float:
    """The logarithm of the sum of exponentials."""
    return math.log(sum(map(math.exp, logits)))


def _times(count: int, what: str) -> str:
    """So many times something, without a factor of 1."""
    return what if count == 1 else f"{count} · {what}"


def _far_apart(values: list[float], ratio: float = 1.04) -> bool:
    """Whether no two of these could be taken for each other after rounding."""
    pairs = ((min(abs(x), abs(y)), max(abs(x), abs(y)), x * y) for x, y in combinations(values, 2))
    return all(product < 0 or high > ratio * low + 0.004 for low, high, product in pairs)
