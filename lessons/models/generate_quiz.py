"""Numbers and code for the questions on generating."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def shapes(random: Random) -> Values:
    """The shapes of one round of the loop, in which the text is longer than the window."""
    while True:
        batch, length, most = random.randrange(2, 6), random.randrange(4, 9), random.randrange(5, 12)
        done, vocab = random.randrange(2, 8), random.randrange(13, 40)
        now = length + done
        if now > most and len({batch, length, most, now, now + 1, vocab}) == 6:
            break
    wrong = [
        {"tag": "ge-window-too-long", "blank": 1, "shape": [batch, now]},
        {"tag": "ge-last-token-only", "blank": 1, "shape": [batch, 1]},
        {"tag": "ge-window-too-long", "blank": 2, "shape": [batch, now, vocab]},
        {"tag": "ge-keeps-positions", "blank": 3, "shape": [batch, 1, vocab]},
        {"tag": "ge-keeps-positions", "blank": 3, "shape": [batch, most, vocab]},
        {"tag": "ge-text-cut", "blank": 4, "shape": [batch, most]},
        {"tag": "ge-text-cut", "blank": 4, "shape": [batch, most + 1]},
    ]
    answer = [[batch, most], [batch, most, vocab], [batch, vocab], [batch, now + 1]]
    wrong = [each for each in wrong if each["shape"] != answer[each["blank"] - 1]]
    return {"batch": batch, "length": length, "most": most, "done": done, "vocab": vocab, "now": now, "read": most,
            "next": now + 1, "answer": answer, "wrong": wrong}  # fmt: skip


def forgotten(random: Random) -> Values:
    """The pass in which the first token falls out of the window."""
    most = random.choice([8, 12, 16, 20, 32, 64])
    length = random.randrange(3, most - 3)
    answer = most - length + 2
    wrong = {"ge-forgets-too-early": answer - 1, "ge-forgets-too-late": answer + 1, "ge-prompt-not-counted": most + 1}
    return {"most": most, "length": length, "last": answer - 1, "over": most + 1, "answer": answer, "wrong": wrong}


def tokens_read(random: Random) -> Values:
    """How many tokens all passes read, of which the later ones are as long as the window."""
    while True:
        length, new, most = random.randrange(3, 8), random.randrange(4, 8), random.randrange(6, 11)
        read = [min(length + step, most) for step in range(new)]
        wrong = {
            "ge-window-ignored": sum(length + step for step in range(new)),
            "ge-one-pass-too-many": sum(read) + most,
            "ge-prompt-read-once": length + new - 1,
        }
        if length < most < length + new - 1 and are_far_apart(sum(read), *wrong.values()):
            break
    return {"length": length, "new": new, "most": most, "passes": " + ".join(map(str, read)), "answer": sum(read),
            "wrong": wrong}  # fmt: skip


LOOP = """\
def generate(model, ids, new, max_len, pick):
    mode = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(new):
            logits = model(ids[:, -max_len:])
            token = pick(logits[:, -1])
            ids = torch.cat([ids, token.unsqueeze(1)], dim=1)
    model.train(mode)
    return ids"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "mode = True", 9, "a model that came in eval mode has its dropout on afterwards",
     "The mode that is put back has to be the one that was there."),
    (3, "model.train()", 7, "with argmax two calls give two texts", "In train mode dropout is on."),
    (4, "with torch.enable_grad():", 6, "the longer the text, the more memory its graph takes",
     "Nobody asks for gradients here: no_grad."),
    (5, "for _ in range(new - ids.shape[1]):", 8, "with a prompt of T tokens, T tokens too few are written",
     "new is how many tokens are appended: the prompt does not count."),
    (5, "for _ in range(new + 1):", 10, "one token too many comes back", "The loop has to go round new times."),
    (6, "logits = model(ids)", 8, "as soon as the text has more than max_len tokens, the model fails",
     "What the model reads has to be cut: ids[:, -max_len:]."),
    (6, "logits = model(ids[:, :max_len])", 7, "from max_len tokens on, the same token comes again and again",
     "These are the first tokens of the text. The model has to read its end."),
    (6, "logits = model(ids[:, -1:])", 7, "texts with the same last token go on alike",
     "Without a cache the model has to read all of the text that it is to know of."),
    (7, "token = pick(logits[:, 0])", 6, "the first new token is what should follow the first token of the text",
     "The next token is predicted at the last position."),
    (7, "token = logits[:, -1].argmax(dim=-1)", 10, "pick = sampling gives the same text at each call",
     "It is pick that has to choose."),
    (8, "ids = torch.cat([token.unsqueeze(1), ids], dim=1)", 6, "what comes back does not begin with the prompt",
     "New tokens belong behind the text."),
    (9, "model.eval()", 2, "a training run that writes a sample in between goes on without dropout",
     "The model has to come back in the mode in which it was."),
    (10, "return ids[:, -new:]", 8, "the prompt is missing from what comes back", "The whole text is asked for."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """The loop with one line spoilt, and what is seen of it."""
    return spoil_line(random, LOOP, SPOILT, "ge-blames-the-symptom")
