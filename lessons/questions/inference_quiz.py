"""Numbers for the questions on writing text with a trained model."""

from __future__ import annotations

import math
from random import Random
from typing import Any

Values = dict[str, Any]
WORDS = ("bank", "river", "boat", "mud", "reed", "tide", "duck", "fog")


def temperature(random: Random) -> Values:
    """Dividing the logits of two tokens by T raises their ratio to the power 1/T."""
    t, power, ratios = random.choice([(2, 0.5, (4, 9, 16, 25, 36, 49, 64, 81)), (0.5, 2, (2, 3, 4, 5, 6, 7, 8, 9)),
                                      (3, 1 / 3, (8, 27, 64, 125))])  # fmt: skip
    ratio = random.choice(ratios)
    changed = round(ratio**power)
    inverted = ratio**t
    answer = changed / (changed + 1)
    wrong = {
        "temperature-multiplied": inverted / (inverted + 1),
        "temperature-on-probabilities": ratio / (ratio + 1),
    }
    return {"ratio": ratio, "t": t, "whole": ratio + 1, "changed": changed, "sum": changed + 1,
            "step": f"the root of {ratio}" if t == 2 else f"the cube root of {ratio}" if t == 3 else f"{ratio}²",
            "effect": "flatter" if t > 1 else "sharper", "answer": answer, "wrong": wrong}  # fmt: skip


def _distribution(random: Random) -> list[float]:
    """Six different probabilities in hundredths, the larger ones first."""
    while True:
        cuts = sorted(random.sample(range(2, 99), 5))
        parts = sorted((b - a for a, b in zip([0, *cuts], [*cuts, 100], strict=True)), reverse=True)
        if len(set(parts)) == 6 and parts[0] <= 50 and parts[-1] >= 2:
            return [part / 100 for part in parts]


TABLES = (
    (0.5, 0.25, 0.05, 0.1, 0.1), (0.3, 0.24, 0.06, 0.25, 0.15), (0.45, 0.3, 0.15, 0.06, 0.04),
    (0.36, 0.24, 0.2, 0.12, 0.08), (0.5, 0.2, 0.1, 0.15, 0.05), (0.4, 0.2, 0.15, 0.15, 0.1),
)  # fmt: skip


def top_k(random: Random) -> Values:
    """The k likeliest keep their ratios and share all of the probability."""
    while True:
        shown, k = random.sample(random.choice(TABLES), 5), random.choice([2, 3])
        ranked = sorted(shown, reverse=True)
        if ranked[k - 1] > ranked[k]:
            break
    kept, asked = round(sum(ranked[:k]), 6), random.choice(ranked[:k])
    table = ", ".join(f"{name} {value:g}" for name, value in zip("ABCDE", shown, strict=True))
    wrong = {"not-renormalised": asked, "one-token-too-many": asked / (kept + ranked[k])}
    if min(abs(each - 1 / k) for each in (asked / kept, *wrong.values())) > 0.02:
        wrong["shared-evenly"] = 1 / k
    return {"k": k, "table": table, "shown": shown, "letter": "ABCDE"[shown.index(asked)], "asked": asked, "kept": kept,
            "answer": asked / kept, "wrong": wrong}  # fmt: skip


def top_p(random: Random) -> Values:
    """The smallest set of likeliest tokens whose probabilities sum to p or more."""
    while True:
        p = _distribution(random)
        limit = random.choice([0.6, 0.7, 0.75, 0.8, 0.9])
        sums = [round(sum(p[: count + 1]), 6) for count in range(6)]
        count = next(place for place, total in enumerate(sums) if total >= limit) + 1
        if limit not in sums and 2 <= count <= 4 and sums[count - 1] > limit + 0.015:
            break
    names = random.sample(WORDS, 6)
    options = []
    for place, (name, value) in enumerate(zip(names, p, strict=True)):
        tag = "top-p-drops-the-crossing" if place == count - 1 else "top-p-misread"
        options.append({"text": f"{name} {value:.2f}", "right": place < count, "tag": tag})
    return {"limit": limit, "p": p, "count": count, "below": sums[count - 2], "reached": sums[count - 1],
            "crossing": names[count - 1], "options": options}  # fmt: skip


def decode_shapes(random: Random) -> Values:
    """One step of writing with a cache: one query, all keys."""
    while True:
        batch, heads = random.choice([2, 3, 5]), random.choice([2, 3, 4, 6])
        cached, width = random.randrange(6, 15), random.choice([4, 5, 7, 8])
        if len({batch, heads, cached, cached + 1, width, heads * width}) == 6:
            break
    keys = cached + 1
    wrong = [
        {"tag": "whole-text-asks-again", "blank": 1, "shape": [batch, heads, keys, width]},
        {"tag": "new-key-forgotten", "blank": 2, "shape": [batch, heads, cached, width]},
        {"tag": "old-keys-forgotten", "blank": 2, "shape": [batch, heads, 1, width]},
        {"tag": "whole-text-asks-again", "blank": 3, "shape": [batch, heads, keys, keys]},
        {"tag": "new-key-forgotten", "blank": 3, "shape": [batch, heads, 1, cached]},
        {"tag": "whole-text-asks-again", "blank": 4, "shape": [batch, keys, heads * width]},
    ]
    answer = [[batch, heads, 1, width], [batch, heads, keys, width], [batch, heads, 1, keys], [batch, 1, heads * width]]
    return {"batch": batch, "heads": heads, "cached": cached, "keys": keys, "width": width, "d": heads * width,
            "answer": answer, "wrong": wrong}  # fmt: skip


def positions_computed(random: Random) -> Values:
    """How many token positions pass through the layers while a prompt is continued."""
    while True:
        prompt, new, cached = random.randrange(5, 13), random.randrange(3, 7), random.random() < 0.5
        once, again = prompt + new - 1, new * prompt + new * (new - 1) // 2
        answer = once if cached else again
        if cached:
            wrong = {"last-token-fed-back": once + 1, "cache-not-used": again, "prompt-read-for-free": new}
        else:
            wrong = {"last-token-fed-back": again + prompt + new, "cache-supposed": once,
                     "length-stands-still": new * prompt}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    if cached:
        why = (f"The prompt goes through in one pass of {prompt} positions, and that gives the first new token. Each "
               f"of the other {new - 1} needs one more position, that of the token before it: {prompt} + {new - 1} = "
               f"{once}. Without a cache it would be {again}.")  # fmt: skip
    else:
        passes = " + ".join(str(prompt + step) for step in range(new))
        why = (f"Every pass reads all that is there so far: {passes} = {again} positions. With a cache it would be the "
               f"prompt and one position for each further token, {once}.")  # fmt: skip
    return {"prompt": prompt, "new": new, "how": "with a KV cache" if cached else "without any cache",
            "cached": cached, "why": why, "answer": answer, "wrong": wrong}  # fmt: skip


def two_words(random: Random) -> Values:
    """Greedy decoding takes the likelier first word and misses the likelier pair."""
    while True:
        first = random.choice([0.55, 0.6, 0.7])
        after_a, after_b = random.choice([0.2, 0.3, 0.4, 0.5]), random.choice([0.7, 0.8, 0.9])
        greedy, best = round(first * after_a, 6), round((1 - first) * after_b, 6)
        if best > greedy + 0.02:
            break
    wrong = {"greedy-is-the-best": greedy, "second-word-alone": after_b, "best-words-mixed": first * after_b}
    return {"first": first, "rest": round(1 - first, 6), "after_a": after_a, "after_b": after_b, "greedy": greedy,
            "answer": best, "wrong": wrong}  # fmt: skip


LOOP = """\
model.eval()
for _ in range({steps}):
    logits = model(ids[:, -{window}:])
    last = logits[:, -1] / {t}
    least = last.topk({k}, dim=-1).values[:, -1:]
    last = last.masked_fill(last < least, -torch.inf)
    p = last.softmax(dim=-1)
    new = torch.multinomial(p, 1)
    ids = torch.cat([ids, new], dim=1)"""
SLIPS = {  # what stands there in place of the right line: the line, why it is wrong
    "model.train()": (1, "In train mode dropout is on: it would disturb every prediction."),
    "    logits = model(ids[:, :{window}])": (
        3, "When the text is longer than the window, the model must see its end; this shows it the beginning."),
    "    last = logits[:, 0] / {t}": (4, "The next token is predicted at the last position, not at the first one."),
    "    last = logits[:, -1] * {t}": (4, "Logits are divided by the temperature; multiplying does the opposite."),
    "    last = last.masked_fill(last < least, 0.0)": (
        6, "A logit of 0 is a perfectly good logit: exp(0) = 1. Only −∞ leaves no probability."),
    "    last = last.masked_fill(last > least, -torch.inf)": (
        6, "This removes the likeliest tokens and keeps the others."),
    "    p = last.softmax(dim=0)": (
        7, "Each text's probabilities run over the vocabulary, dim=-1. dim=0 is the batch."),
    "    new = p.argmax(dim=-1, keepdim=True)": (
        8, "This always takes the likeliest token: with it, temperature and top-k change nothing."),
    "    ids = torch.cat([new, ids], dim=1)": (9, "The new token follows the text; here it is put before it."),
}  # fmt: skip


def sampling_loop(random: Random) -> Values:
    """Sampling with temperature and top-k, with one line wrong."""
    steps, window, k, t = random.choice([6, 9]), random.choice([4, 5]), random.choice([3, 4]), 0.7
    slip = random.choice(sorted(SLIPS))
    line, why = SLIPS[slip]
    lines = LOOP.format(steps=steps, window=window, k=k, t=t).split("\n")
    fix, lines[line - 1] = lines[line - 1].strip(), slip.format(window=window, t=t)
    blamed = {"kth-is-the-limit": 5, "mask-before-softmax": 6, "all-tokens-may-be-drawn": 8}
    wrong = {tag: place for tag, place in blamed.items() if place != line}
    return {"steps": steps, "window": window, "k": k, "t": t, "code": "\n".join(lines), "answer": line, "fix": fix,
            "why": why, "wrong": wrong}  # fmt: skip


def perplexity(random: Random) -> Values:
    """The perplexity of two tokens is the root of the product of their inverse probabilities."""
    root, (low, high) = random.choice([2, 3, 4, 5, 10]), random.choice([(1, 3), (2, 4), (0, 2)])
    first, second = random.sample([root**low, root**high], 2)
    answer = root ** ((low + high) // 2)
    wrong = {
        "inverse-of-the-mean": 2 / (1 / first + 1 / second),
        "mean-of-the-inverses": (first + second) / 2,
        "product-without-root": first * second,
    }

    def shown(inverse: int) -> str:
        return "1" if inverse == 1 else f"1/{inverse}"

    return {"first": shown(first), "second": shown(second), "inverses": [first, second], "product": first * second,
            "answer": answer, "loss": math.log(answer), "wrong": wrong}  # fmt: skip
