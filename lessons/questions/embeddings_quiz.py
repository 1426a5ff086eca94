"""Numbers for the questions on embeddings."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, dot

Values = dict[str, Any]


# --- a row of the table -----------------------------------------------------------------------------------------------


def one_hot_work(random: Random) -> Values:
    """A product of (T, V) and (V, D) takes T · V · D multiply-adds."""
    tokens, vocab, width = (
        random.choice([5, 8, 10, 20]),
        random.choice([500, 1000, 2000, 5000]),
        random.choice([32, 64]),
    )
    wrong = {"ebd-one-token": vocab * width, "ebd-only-the-ones": tokens * width, "ebd-width-forgotten": tokens * vocab}
    return {"T": tokens, "V": vocab, "D": width, "answer": tokens * vocab * width, "wrong": wrong}


# A word with two meanings, at place 2 in a text; then a text that is the same up to the word, one with the word at the
# same place but other words before it, and one with the word at another place.
TEXTS = {
    "bank": ("the old bank was closed", "the old bank was muddy", "a steep bank was wet", "mud lay on a steep bank"),
    "bat": ("the small bat was asleep", "the small bat was broken", "a long bat was lost", "he hit with a long bat"),
    "match": ("the short match was over", "the short match was wet", "a dry match is lit", "nobody had a dry match"),
    "spring": ("the last spring was warm", "the last spring was bent", "a new spring is bent", "who sold that spring"),
    "ring": ("the first ring was loud", "the first ring was gold", "a thin ring was found", "she lost the gold ring"),
}  # fmt: skip

MODELS = {True: "A causal decoder with learned positions", False: "An encoder with learned positions and no mask"}


def same_word(random: Random) -> Values:
    """What of a word is the same in two texts: before the blocks by its place, after them by what it can read."""
    word, other, causal = random.choice(sorted(TEXTS)), random.choice([1, 2, 3]), random.random() < 0.5
    first, second = TEXTS[word][0], TEXTS[word][other]
    in_place, same_before = other < 3, other == 1
    after = causal and same_before
    stands = "the same place in both" if in_place else "another place in the second text"
    at_input = (
        f"What enters the first block is the row plus the vector of the place. Here *{word}* stands at {stands}. "
        "Its query is made of this vector alone."
    )
    after_blocks = "From the first block on a token's vector holds what attention has read: " + (
        "under the causal mask the words up to the token itself, which are the same in both texts."
        if after
        else "under the causal mask the words up to the token itself, and those are not the same in both texts."
        if causal
        else "without a mask all words of the text, and those are not the same in both."
    )
    tag = "ebd-stays-static"
    if same_before:
        tag = "ebd-later-words-reach" if causal else "ebd-mask-supposed"
    options = [
        {"text": "the row that is looked up in the table of tokens", "right": True, "tag": "ebd-row-by-context"},
        {"text": "the vector that enters the first block", "right": in_place, "tag": "ebd-input-misjudged"},
        {"text": "its query in the first block", "right": in_place, "tag": "ebd-input-misjudged"},
        {"text": "its vector after the first block", "right": after, "tag": tag},
        {"text": "its vector after the last block", "right": after, "tag": tag},
    ]
    return {
        "word": word, "first": first, "second": second, "causal": causal, "options": options, "at_input": at_input,
        "model": MODELS[causal], "after_blocks": after_blocks,
        "why": f"The id picks the row, in any text. {at_input} {after_blocks}",
    }  # fmt: skip


SHARED = "The output layer is tied to this table."
SEPARATE = "The output layer has a matrix of its own."
FATES = {
    "stays": "It stays as it began: nothing acts on it.",
    "shrinks": "It shrinks towards 0: the decay alone acts on it.",
    "pushed": "The softmax acts on it: its logit is pushed down.",
    "spelt": "It follows the rows of ids that are spelt alike.",
}
UNUSED = ("The reserve token <unused{}>", "The special token <extra{}>",
          "The user name streamer{}, which was common in the tokenizer's own texts only,")  # fmt: skip


def unused(random: Random) -> Values:
    """The row of an id that never occurs: only decay acts on it, or the softmax where the table is tied."""
    tied, decay = random.random() < 0.5, random.random() < 0.5
    name = random.choice(["SGD", "AdamW" if decay else "Adam"])
    fate = "pushed" if tied else "shrinks" if decay else "stays"
    tags = {
        "stays": "ebd-tied-row-only-read" if tied else "ebd-decay-needs-gradient",
        "shrinks": "ebd-tied-row-only-read" if decay else "ebd-decay-imagined",
        "pushed": "ebd-untied-gives-logits", "spelt": "ebd-spelling-teaches",
    }  # fmt: skip
    why = {
        "pushed": "The row is never looked up, but h times this row is a logit at every place of every text, and never "
                  "that of the right word. So the gradient is p · h each time, and each step makes the logit less.",
        "shrinks": "The row is never looked up and gives no logit, so its gradient is 0. Weight decay does not ask for "
                   "a gradient: each step takes a small share of every number.",
        "stays": "The row is never looked up and gives no logit, so its gradient is 0, and there is no decay. If "
                 "the id comes up one day, the model meets a vector that chance has made.",
    }[fate]  # fmt: skip
    return {
        "what": random.choice(UNUSED).format(random.randint(2, 9)), "output": SHARED if tied else SEPARATE,
        "optimizer": f"{name} {'with' if decay else 'without'} weight decay" + (" on all parameters" if decay else ""),
        "tied": tied, "decay": decay, "name": name, "why": why, "right": FATES[fate],
        "wrong": [{"tag": tags[each], "text": FATES[each]} for each in FATES if each != fate],
    }  # fmt: skip


# --- two vectors ------------------------------------------------------------------------------------------------------

WHOLE_LENGTHS = ((1, 2, 2), (2, 3, 6), (1, 4, 8), (4, 4, 7), (2, 6, 9), (0, 3, 4), (2, 4, 4), (6, 6, 7))


def cosine(random: Random) -> Values:
    """The cosine of two vectors of whole lengths."""
    while True:
        a, b = ([random.choice([1, 1, -1]) * each for each in random.sample(part, 3)]
                for part in random.sample(WHOLE_LENGTHS, 2))  # fmt: skip
        ab = dot(a, b)
        length_a, length_b, distance = math.hypot(*a), math.hypot(*b), math.dist(a, b)
        answer = ab / (length_a * length_b)
        wrong = {
            "ebd-product-for-cosine": ab,
            "ebd-divides-once": ab / length_a,
            "ebd-distance-for-cosine": distance,
        }
        if 0.1 < abs(answer) < 0.95 and all(abs(each - distance) > 0.1 for each in (ab, ab / length_a, answer)):
            break
    return {"a": tuple(a), "b": tuple(b), "list_a": str(a), "list_b": str(b), "dot": ab, "length_a": round(length_a),
            "length_b": round(length_b), "distance": distance, "answer": answer, "wrong": wrong}  # fmt: skip


WORDS = ("tea", "milk", "rain", "snow", "salt", "sand", "wool", "silk")


def likeliest(random: Random) -> Values:
    """The largest product with h is with another row than the nearest, the best aligned and the longest one."""
    while True:
        h = (random.randint(1, 4), random.randint(1, 4))
        rows = [(random.randint(-2, 7), random.randint(-2, 7)) for _ in range(4)]
        if any(row == (0, 0) for row in rows):
            continue
        products = [h[0] * x + h[1] * y for x, y in rows]
        lengths = [math.hypot(*row) for row in rows]
        angles = [product / length for product, length in zip(products, lengths, strict=True)]
        distances = [-math.dist(h, row) for row in rows]
        tops = [_clear_top(each, by) for each, by in ((products, 0.9), (distances, 0.3), (angles, 0.1), (lengths, 0.2))]
        if sorted(tops) == [0, 1, 2, 3]:
            break
    words = random.sample(WORDS, 4)
    right, nearest, aligned, longest = (words[top] for top in tops)
    table = [("h", h), *zip(words, rows, strict=True)]
    wrong = {"ebd-nearest-row-wins": nearest, "ebd-angle-wins": aligned, "ebd-longest-row-wins": longest}
    return {
        "h": str(list(h)), "rows": str([list(row) for row in rows]), "products": str(products), "words": words,
        "scores": ", ".join(f"{word} {product}" for word, product in zip(words, products, strict=True)),
        "code": "\n".join(f"{name:6}" + "".join(f"{each:4}" for each in row) for name, row in table),
        "right": right, "nearest": nearest, "aligned": aligned, "longest": longest,
        "wrong": [{"tag": tag, "text": word} for tag, word in wrong.items()],
    }  # fmt: skip


def _clear_top(values: list[float], by: float) -> int:
    """Return the place of the largest value, or −1 if another one comes close."""
    *_, second, first = sorted(values)
    return values.index(first) if first - second > by else -1


# --- a token and its place --------------------------------------------------------------------------------------------


def append(random: Random) -> Values:
    """Appending P features gives a layer of M outputs M · P weights more."""
    width, more, outputs = distinct_sizes(random, 3, (8, 10, 12, 16, 20, 24, 30, 32, 40, 48, 60, 64))
    width, more = max(width, more), min(width, more)
    wrong = {"ebd-whole-matrix": outputs * (width + more), "ebd-token-part": outputs * width,
             "ebd-inputs-for-weights": more}  # fmt: skip
    return {"D": width, "P": more, "M": outputs, "total": width + more, "answer": outputs * more, "wrong": wrong}


SUMS = {
    2: "Two vectors are added: those of a token and of its place",
    3: "Three vectors are added, as in BERT: those of a token, of its place and of its segment",
}


def read_back(random: Random) -> Values:
    """The product of a sum of n random directions with another has the standard deviation √(n/D)."""
    n, width = random.choice([2, 3]), random.choice([16, 32, 64, 100, 128, 200, 256, 400, 512, 768, 1024])
    answer = math.sqrt(n / width)
    wrong = {
        "ebd-one-part": 1 / math.sqrt(width),
        "ebd-deviations-added": n / math.sqrt(width),
        "ebd-variance": n / width,
    }
    verdict = ", so in a table of many rows some other comes near it now and then" if answer > 0.2 else ""
    return {"n": n, "D": width, "sum_of": SUMS[n], "answer": answer, "sigmas": 1 / answer,
            "verdict": verdict or ", and the token can be read from the sum", "wrong": wrong}  # fmt: skip


def scale(random: Random) -> Values:
    """Sinusoids of root mean square √½ beside entries of 1/√D: √(D/2)."""
    width = random.choice(
        [32, 48, 64, 80, 96, 128, 160, 192, 200, 256, 288, 320, 384, 400, 512, 640, 768, 800, 1024, 1280]
    )
    answer = math.sqrt(width / 2)
    wrong = {"ebd-factor-kept": math.sqrt(0.5), "ebd-amplitude-for-rms": math.sqrt(width),
             "ebd-ratio-of-squares": width / 2, "ebd-ratio-turned-over": 1 / answer}  # fmt: skip
    return {"D": width, "row": 1 / math.sqrt(width), "squares": width / 2, "answer": answer, "wrong": wrong}
