"""Numbers and code for the questions on batches of text."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]


def targets(random: Random) -> Values:
    """The targets of one window."""
    while True:
        row = random.sample(range(10, 100), 10)
        block_size = random.choice([3, 4])
        starts = random.sample(range(1, 10 - block_size - 1), 2)
        place = random.randrange(2)
        s = starts[place]
        answer = row[s + 1 : s + block_size + 1]
        window = row[s : s + block_size]
        wrong = {
            "batch-target-is-input": window,
            "batch-target-two-ahead": row[s + 2 : s + block_size + 2],
            "batch-target-before": row[s - 1 : s + block_size - 1],
            "batch-target-rolled": [*window[1:], window[0]],
            "batch-other-window": row[starts[1 - place] + 1 : starts[1 - place] + block_size + 1],
        }
        if len({str(answer), *map(str, wrong.values())}) == 6 and s + block_size + 2 <= 10:
            break
    code = (
        f"data = torch.tensor({row})\n"
        f"inputs, targets = get_batch(data, torch.tensor({starts}), {block_size})\n"
        f"print(targets[{place}].tolist())"
    )
    return {"code": code, "start": s, "first": s + 1, "answer": str(answer),
            "wrong": {tag: str(each) for tag, each in wrong.items()}}  # fmt: skip


def windows(random: Random) -> Values:
    """How many starts are legal."""
    while True:
        ids, block_size = random.randrange(200, 3000), random.choice([8, 16, 32, 48, 64])
        answer = ids - block_size
        wrong = {"batch-forgets-last-target": answer + 1, "batch-last-start-as-count": answer - 1,
                 "batch-windows-side-by-side": ids // block_size, "batch-every-id-a-start": ids}  # fmt: skip
        if len({answer, *wrong.values()}) == 5:
            break
    return {"N": ids, "T": block_size, "last": answer - 1, "answer": answer, "wrong": wrong}


def questions(random: Random) -> Values:
    """How many predictions a training is scored on."""
    steps, texts, block_size = (
        random.choice([50, 100, 200, 300]),
        random.choice([4, 8, 12]),
        random.choice([16, 24, 40]),
    )
    answer = steps * texts * block_size
    wrong = {"batch-one-question-a-window": steps * texts, "batch-batch-forgotten": steps * block_size,
             "batch-last-has-no-target": steps * texts * (block_size - 1)}  # fmt: skip
    return {"steps": steps, "B": texts, "T": block_size, "answer": answer, "wrong": wrong}


BATCHES = """\
def split(data, share):
    cut = round(share * len(data))
    return data[:cut], data[cut:]

def get_batch(data, starts, T):
    steps = torch.arange(T)
    places = starts.unsqueeze(1) + steps
    inputs = data[places]
    targets = data[places + 1]
    return inputs, targets"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "cut = round((1 - share) * len(data))", 3, "with share = 0.9 training gets a tenth of the text",
     "share is the part for training, and the cut lies behind it."),
    (3, "return data[cut:], data[:cut]", 2, "with share = 0.9 training gets the last tenth of the text",
     "The beginning is for training, the end is held out."),
    (3, "return data[:cut], data[cut - 1:]", 2, "one id is in both parts",
     "The second part begins where the first one ends: a slice does not hold its end."),
    (3, "return data, data[cut:]", 2, "the model does far better on held-out text than it should",
     "The first part is the whole text, what is held out included."),
    (6, "steps = torch.arange(1, T + 1)", 9, "inputs and targets fit each other, but both begin one id too late, "
     "and a start of N − T − 1 is an error", "Window s begins at s: the steps are 0 … T − 1."),
    (7, "places = starts + steps", 8, "with as many starts as T there is one window and not T, else an error",
     "Without an axis of size 1 the starts are paired with the steps, and not each start with all of them."),
    (7, "places = starts.unsqueeze(1) * T + steps", 8, "a start of N − T − 1 is an IndexError",
     "starts are places in the row, and no numbers of blocks."),
    (9, "targets = data[places]", 10, "the loss falls to 0, and the model only repeats what it is given",
     "Those are the inputs once more: each id is its own answer."),
    (9, "targets = data[places - 1]", 10, "the model writes texts from right to left",
     "Those are the ids before. The target is the id behind."),
    (9, "targets = inputs.roll(-1, 1)", 8, "the loss at the last place of a window never gets small, at the others it "
     "does", "roll puts the first id of the window behind its last one."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """The two functions with one line spoilt, and what is seen of it."""
    return spoil_line(random, BATCHES, SPOILT, "batch-blames-the-symptom")
