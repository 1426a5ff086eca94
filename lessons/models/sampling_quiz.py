"""Numbers and code for the questions on sampling."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def shares(random: Random, count: int) -> list[float]:
    """Different probabilities in hundredths that sum to 1, none below 0.02."""
    while True:
        cuts = sorted(random.sample(range(2, 99), count - 1))
        parts = [b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)]
        if len(set(parts)) == count and min(parts) >= 2 and max(parts) <= 45:
            return [part / 100 for part in parts]


def both_cuts(random: Random) -> Values:
    """How many tokens are left by top-k and then top-p, of probabilities that are sorted."""
    while True:
        shown, k, p = sorted(shares(random, 8), reverse=True), random.choice([4, 5, 6]), random.choice([0.6, 0.7, 0.8])
        kept = round(sum(shown[:k]), 6)
        sums = [round(sum(shown[: place + 1]), 6) for place in range(8)]
        answer = next(place for place in range(8) if sums[place] >= p * kept) + 1
        apart = next(place for place in range(8) if sums[place] >= p) + 1
        near = min(abs(total - limit) for total in sums for limit in (p, p * kept))
        if near > 0.008 and 2 <= answer < apart < k:
            break
    table = ", ".join(f"{each:g}" for each in shown)
    wrong = {"sa-cuts-apart": apart, "top-p-drops-the-crossing": answer - 1, "sa-one-cut-alone": k}
    return {"shown": shown, "table": table, "k": k, "p": p, "kept": kept, "limit": p * kept, "below": sums[answer - 2],
            "reached": sums[answer - 1], "answer": answer, "wrong": wrong}  # fmt: skip


def first_above(probs: list[float], u: float) -> int:
    """The first place whose sum so far exceeds u."""
    return next(place for place in range(len(probs)) if round(sum(probs[: place + 1]), 6) > u)


def which_token(random: Random) -> Values:
    """The id that a given u draws."""
    while True:
        shown, u = shares(random, 6), random.randrange(5, 96) / 100
        sums = [round(sum(shown[: place + 1]), 2) for place in range(6)]
        answer, ranked = first_above(shown, u), sorted(shown, reverse=True)
        wrong = {
            "sa-takes-the-likeliest": shown.index(ranked[0]),
            "sa-one-before": answer - 1,
            "sa-adds-by-rank": shown.index(ranked[first_above(ranked, u)]),
        }
        if answer >= 2 and len({answer, *wrong.values()}) == 4 and min(abs(total - u) for total in sums) > 0.015:
            break
    return {"shown": shown, "u": u, "sums": ", ".join(f"{total:g}" for total in sums), "answer": answer, "wrong": wrong}


def which_temperature(random: Random) -> Values:
    """The temperature that makes one ratio of two probabilities another."""
    while True:
        base, over, under = random.choice([2, 3, 5]), random.randint(1, 5), random.randint(1, 5)
        before, after = base**over, base**under
        answer = over / under
        wrong = {"sa-temperature-inverted": under / over, "sa-temperature-as-ratio": before / after}
        if before != after and max(before, after) <= 700 and are_far_apart(answer, *wrong.values()):
            break
    sense = (
        "A ratio that shrinks needs a temperature above 1." if answer > 1 else "A ratio that grows needs one below 1."
    )
    return {"before": before, "after": after, "over": over, "under": under, "sense": sense, "answer": answer,
            "wrong": wrong}  # fmt: skip


def accident(random: Random) -> Values:
    """How likely a text has a token of the tail."""
    while True:
        percent, length = random.choice([1, 2, 3, 4, 5]), random.choice([10, 15, 20, 25, 30, 40, 50])
        tail = percent / 100
        none = (1 - tail) ** length
        wrong = {"sa-adds-chances": tail * length, "sa-chance-of-none": none, "sa-one-place": tail}
        if tail * length < 1 and are_far_apart(1 - none, *wrong.values(), least=0.04):
            break
    return {"percent": percent, "length": length, "base": round(1 - tail, 2), "none": none, "answer": 1 - none,
            "wrong": wrong}  # fmt: skip


NUCLEUS = """\
def draw(logits, t, p, u):
    probs = torch.softmax(logits / t, dim=-1)
    ranked, order = probs.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    ranked = ranked.where(before < p, 0.0)
    kept = torch.zeros_like(probs).scatter(-1, order, ranked)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return (kept.cumsum(dim=-1) <= u[:, None]).sum(dim=-1)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "probs = torch.softmax(logits * t, dim=-1)", 5, "the higher t is, the fewer tokens are ever drawn",
     "Logits are divided by the temperature."),
    (2, "probs = torch.softmax(logits, dim=-1) / t", 7, "with t = 2 and p = 0.6 nothing is ever cut off",
     "The logits are divided by the temperature; these probabilities no longer sum to 1."),
    (2, "probs = torch.softmax(logits / t, dim=0)", 7, "what one row draws changes with the other rows",
     "Each row's probabilities run over the vocabulary, dim=-1."),
    (3, "ranked, order = probs.sort(dim=-1)", 5, "the likeliest token is hardly ever drawn",
     "The sum has to begin with the likeliest: descending=True."),
    (4, "before = ranked.cumsum(dim=-1)", 7, "where one token has more than p, all ids are 0 and the sums NaN",
     "The token itself must not count: before it, the sum is smaller by its own probability."),
    (5, "ranked = ranked.where(before > p, 0.0)", 3, "only unlikely tokens are drawn",
     "Kept is what has less than p before it."),
    (5, "ranked = ranked.where(ranked > p, 0.0)", 4, "with p = 0.5 a row of which no token has half gives NaN",
     "p is compared with the sum before a token, and not with its own probability."),
    (6, "kept = ranked", 8, "id 0 is drawn most, whichever token is the likeliest",
     "The sorted probabilities have to go back to the ids that they came from."),
    (6, "kept = ranked.gather(-1, order)", 3, "with three tokens and more wrong ids are drawn",
     "gather with the order sorts once more. scatter brings each back to its place."),
    (7, "kept = kept / kept.sum(dim=0, keepdim=True)", 8, "with several rows ids beyond the vocabulary are drawn",
     "Each row is to sum to 1, and this makes the columns do so."),
    (8, "return (kept.cumsum(dim=-1) < u[:, None]).sum(dim=-1)", 5, "with u = 0 a token that was cut off is drawn",
     "The sum has to exceed u: where it equals u the search goes on."),
    (8, "return kept.argmax(dim=-1)", 5, "the same token is drawn whatever u is", "u is to decide."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """Sampling by top-p with one line spoilt, and what is seen of it."""
    return spoil_line(random, NUCLEUS, SPOILT, "sa-blames-the-symptom")
