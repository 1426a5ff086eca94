"""A topic with a question of every kind and an open one: what the quiz looks like is tried on it."""

from __future__ import annotations

from pathlib import Path

from grader.quiz.bank.bank import Bank

NAME = "every_kind"
ANSWERS = {  # a right answer to each question: what is drawn never changes it
    "numeric": "64", "shape": "(2, 3, 8); (2, 3, 3)", "predict": "tensor([3, 6])", "bug": "2", "formula": "2n^2d",
}  # fmt: skip

TOML = '''
title = "One of every kind"
lesson = "mean"

[[misconceptions]]
id = "d-not-root"
says = "divided the scores by d_k in place of its square root"
suggests = "see which of the two brings the standard deviation back to 1"
command = "learn read mean"

[[misconceptions]]
id = "softmax-sums"
says = "took softmax for the step that sums, where it only makes the weights"
suggests = "write down what softmax returns for two scores"
command = "learn quiz every_kind"

[[families]]
id = "every_kind.numeric"
kind = "numeric"
audits = ["variance"]
text = """
The components of q and k are independent, with mean 0 and variance 1. Both vectors have 64 components. What is the
variance of `q·k`, before anything is divided?

- Do not round.
- Say it as a number.
"""
explain = "Each of the 64 products has the variance 1, and variances of independent terms add up."
prove = """
q, k = torch.randn(2, 100_000, 64)
print((q * k).sum(dim=-1).var())    # close to 64
"""
answer = 64
wrong = { d-not-root = 8 }
feedback = { d-not-root = "8 is the standard deviation: the square root of what was asked for." }

[[families]]
id = "every_kind.shape"
kind = "shape"
text = "What are the shapes?"
code = """
x = torch.randn(2, 3, 8)
q = x @ torch.randn(8, 8)
scores = q @ q.transpose(-2, -1)
"""
blanks = ["q, after the first product", "scores, one for each pair of positions"]
answer = [[2, 3, 8], [2, 3, 3]]
explain = "The last axis is summed over; what is left is a row for each position and a column for each position."

[[families]]
id = "every_kind.predict"
kind = "predict"
text = "What is printed?"
code = """
x = torch.tensor([[1, 2], [2, 4]])
print(x.sum(dim=-1))
"""
answer = "tensor([3, 6])"
wrong = { softmax-sums = "tensor([3, 6, 0])" }
explain = "`dim=-1` is summed away: one number a row is left."

[[families]]
id = "every_kind.bug"
kind = "bug"
text = "One of these lines is wrong. Which one?"
code = """
scores = q @ k.transpose(-2, -1)
weights = scores.softmax(dim=-2)
return weights @ v
"""
answer = 2
fix = "weights = scores.softmax(dim=-1)"
explain = "Each query spreads a weight of 1 over the keys, and keys are the last axis."

[[families]]
id = "every_kind.order"
kind = "order"
text = "Put the steps of attention in their order."
steps = ["project x to q, k and v", "multiply q by k transposed", "divide by the root of d_k", "softmax over the keys"]
explain = "The scores come first, then their scale, then the weights."

[[families]]
id = "every_kind.choice"
kind = "choice"
audits = ["weights"]
text = "What does softmax do in attention?"
right = "It makes each query's scores into weights that are positive and sum to 1"
wrong = [
    { tag = "softmax-sums", text = "It sums the values, each with its weight, into one vector for each query" },
    { tag = "d-not-root", text = "It divides every score by the number of components of a key, so that none is large" },
]
explain = "The weighted sum is the product with V that comes after."

[[families]]
id = "every_kind.multi"
kind = "multi"
text = "Which of these move information between positions?"
options = [
    { text = "attention", right = true, tag = "softmax-sums" },
    { text = "the feed-forward network", right = false, tag = "d-not-root" },
    { text = "layer norm", right = false, tag = "d-not-root" },
]
explain = "Everything but attention sees one position at a time."

[[families]]
id = "every_kind.formula"
kind = "formula"
text = "How many multiplications are in the scores and the weighted sum of one layer, for n positions of width d?"
symbols = { n = [2, 50], d = [2, 50] }
answer = "2*n**2*d"
wrong = { d-not-root = "n**2*d" }
explain = "n² pairs, d products each, twice."

[[families]]
id = "every_kind.match"
kind = "match"
text = "What belongs together?"
pairs = [
    { left = "Q", right = "what a position looks for" },
    { left = "K", right = "what a position is found by" },
    { left = "V", right = "what a position hands over" },
]
explain = "Scores come from Q and K alone; V is what they select from."

[open]
number = 1
asks = """
Explain the attention formula softmax(QKᵀ/√d_k)V: where Q, K and V come from, what each step does, and why it is there.
"""
model_answer = """
Q, K and V are three learned linear maps of the same input. The product of Q with K transposed scores every pair of
positions. Dividing by √d_k keeps the scores at a standard deviation of about 1, since a sum of d_k products has the
variance d_k.

Softmax makes the weights, row by row, and the product with V takes the weighted sum.
"""

[[open.key_points]]
id = "variance"
says = "q·k of d_k independent components has the variance d_k, so dividing by √d_k brings it back to 1"

[[open.key_points]]
id = "weights"
says = "softmax, row by row over the keys, makes weights that are positive and sum to 1"

[[open.key_points]]
id = "sum"
says = "the output is a sum of values with those weights"

[[open.traps]]
id = "sums"
claims = "Softmax turns the scores into a weighted sum."
fix = "Softmax makes the weights. The weighted sum is the product with V that follows."
misconception = "softmax-sums"
'''


def write_every_kind(lessons: Path) -> Bank:
    """A bank of this one topic."""
    (lessons / "core").mkdir(parents=True, exist_ok=True)
    (lessons / "core" / f"{NAME}.quiz.toml").write_text(TOML, encoding="utf-8")
    return Bank(lessons)


def right_answer(question) -> str:
    """A right answer to a question as it was drawn."""
    letters = "abcdefgh"
    if question.kind == "choice":
        return letters[question.answer]
    if question.kind in ("order", "multi"):
        return " ".join(letters[place] for place in question.answer)
    if question.kind == "match":
        return " ".join(f"{number}{letters[place]}" for number, place in enumerate(question.answer, 1))
    return ANSWERS[question.kind]
