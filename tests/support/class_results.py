"""Makes the results of a class without grading anyone: a head and records as `results.json` has them.

Learners differ in what they can do and checks in how hard they are, so that shares, mistakes and coefficients look as
they do in a class. Everything follows from the seed. `hostile_class` is what a page must survive.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

Record = dict[str, Any]

LESSONS = {
    "softmax": ("Softmax", ("softmax",)),
    "attention": ("Scaled dot-product attention", ("scaled_dot_product_attention",)),
    "causal_mask": ("The causal mask", ("causal_mask",)),
    "positional_encoding": ("Positions as sines", ("sinusoidal_positional_encoding",)),
    "multi_head": ("Many heads", ("split_heads", "merge_heads", "multi_head_attention")),
    "block": ("The transformer block", ("TransformerBlock",)),
    "training": ("Training", ("train_step", "train")),
}
# skill, checks of it in a lesson, points, how hard, and the check's sentence
CHECKS = (
    ("shape", 2, 1.0, -1.4, "Gives back the shape that the docstring says"),
    ("values", 6, 3.0, -0.3, "Equals the reference, entry by entry"),
    ("masking", 4, 2.0, 0.4, "Hides exactly the keys that the mask blocks"),
    ("stability", 3, 2.0, 0.7, "Survives scores near +1000 and -1000"),
    ("gradients", 3, 2.0, 0.1, "Lets the right gradient through"),
    ("generality", 3, 1.0, 0.2, "Works for other sizes and any number of leading axes"),
    ("hygiene", 3, 1.0, -1.8, "Leaves its inputs alone and keeps their dtype"),
)
ONLY_MASKED = ("attention", "causal_mask", "multi_head", "block")
MISTAKES = {
    "softmax": (
        ("sm-global-max", "You subtract the maximum of the whole tensor: a slice far below it underflows to 0/0.",
         "Subtract each slice's own maximum: `x.amax(dim=dim, keepdim=True)`."),
        ("sm-no-max", "You take `exp` of the scores as they come: above 88 it overflows to infinity.",
         "Subtract the maximum first."),
    ),
    "attention": (
        ("at-no-scale", "Your weights are softmax(q kᵀ) without the 1/√d_k: the wider the head, the more one key "
         "takes all.", "Divide the scores by `q.size(-1) ** 0.5` before softmax."),
        ("at-mask-transposed", "Your mask is transposed: it hides the past and shows the future.",
         "Let rows be queries and columns be keys."),
        ("at-mask-after-softmax", "You hide keys after softmax: their share is lost, and the weights of a query no "
         "longer sum to 1.", "Hide the scores before softmax."),
    ),
    "causal_mask": (
        ("cm-inverted", "Your mask is inverted: it says which keys are blocked, while here True = may attend.",
         "Turn it around with `~`."),
        ("cm-float", "Your mask holds the numbers 0 and 1, not False and True.", "Return a bool tensor."),
    ),
    "positional_encoding": (
        ("pe-frequency-inverted", "Your frequencies grow from pair to pair: you multiply the position by "
         "10000^(2i/d_model) where the formula divides.", "Divide, or use exp(-...): later columns turn slower."),
    ),
    "multi_head": (
        ("hd-view-without-transpose", "You reshape straight to (B, H, T, d): a head gets the features of other tokens.",
         "`view(B, T, H, d)` first, then `transpose(1, 2)`."),
    ),
    "block": (
        ("bl-weights-transposed", "Attention multiplies by its weight matrices as they are; they are laid out "
         "(out, in), as in nn.Linear.", "Use nn.Linear, or `y @ weight.T`."),
        ("bl-one-norm", "Both halves of the block use the same norm.", "Make `norm1` and `norm2`."),
    ),
    "training": (
        ("tr-no-zero-grad", "Gradients of earlier batches are still there: each step follows the sum of all.",
         "Call `optimizer.zero_grad()` before `backward()`."),
        ("tr-softmax-before-ce", "`cross_entropy` gets probabilities instead of raw logits: softmax is taken twice.",
         "Give `cross_entropy` the logits as they come."),
    ),
}  # fmt: skip
STRENGTHS = {
    "shape": "Shapes: every output has the right shape.",
    "values": "Values: they equal the reference's on ordinary inputs.",
    "masking": "Masking: what is hidden stays hidden, and nothing else is.",
    "stability": "Numerical stability: extreme inputs give right answers.",
    "gradients": "Gradients: what autograd gives equals the reference's.",
    "generality": "Generality: it works for other sizes, axes and leading dimensions too.",
    "hygiene": "Good manners: inputs are left alone, and dtype and device are kept.",
}
FIRST = (
    "Ada Amina Anh Bao Carlos Chidi Dilnoza Elif Emma Farid Greta Hana Ivan Jonas Kofi Lea Liam Luca Mei Mia Noor "
    "Olga Pablo Priya Rosa Sofía Tariq Uma Wei Zoë"
)
LAST = (
    "Abebe Andersson Costa Diallo Fischer García Haddad Ito Jansen Kaya Kim Kowalska Lindqvist Mbeki Moreau Nguyen "
    "Novák O'Brien Okafor Papadopoulos Rossi Schäfer Singh Tanaka Vogel Wang Yılmaz"
)
HOSTILE = (
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "javascript:alert(1)", "'; DROP TABLE x; --",
    "</style></title><svg onload=alert(1)>", "{{ 7 * 7 }}{% raw %}", "=HYPERLINK(\"http://evil\")", "../../etc/passwd",
    "مرحبا \u202e txt.exe", "👩‍🔬🧪" * 10, "x" * 300, "a\x00b\x1b[31mc\ud800d", "<!--", "]]>", "&lt;b&gt;",
)  # fmt: skip


def made_head(**more: Any) -> dict[str, Any]:
    """Make the head of the results of a whole class."""
    return {
        "schema": 1,
        "course": {"id": "transformers-from-scratch", "version": "0.1.0", "content": "80349e5e9a98edde",
                   "title": "Transformers from scratch, in PyTorch"},
        "engine": "0.1.0",
        "lessons": list(LESSONS),
        "titles": {lesson: title for lesson, (title, _) in LESSONS.items()},
        "seed": 20261,
        "device": "cpu",
        "isolation": ["process", "limits", "landlock", "seccomp"],
        "complete": True,
        "ignored": [],
        "missing": [],
        "unlisted": [],
        "started": "2026-11-20T09:58:04+00:00",
        "finished": "2026-11-20T10:00:31+00:00",
        "similar": [],
        **more,
    }  # fmt: skip


def made_records(count: int, seed: int = 1) -> Iterator[Record]:
    """`count` learners, each with a name of their own."""
    random = Random(seed)
    for number in range(count):
        name = f"{random.choice(FIRST.split())} {random.choice(LAST.split())}"
        yield made_record(random, f"s{1000 + number}", name, number)


def made_class(count: int, seed: int = 1) -> tuple[dict[str, Any], list[Record]]:
    """Make a head and `count` records: some are missing, pairs that are alike and scores that were regraded."""
    records = list(made_records(count, seed))
    random = Random(seed + 1)
    away = [{"id": f"s{900 + number}", "name": f"Robin No {number}"} for number in range(1, 2 + count // 20)]
    for record in records[:: max(2, count // 3)]:
        record["previous"] = made_before(record)
    pairs = [made_pair(random, records) for _ in range(min(4, count // 2))]
    return made_head(missing=away, similar=pairs, unlisted=["guest-account"], ignored=["notes.docx"]), records


def made_before(record: Record) -> dict[str, Any]:
    """Make what an earlier grading with a fault in `softmax` may have given."""
    lessons = {name: lesson["score"] for name, lesson in record["lessons"].items()}
    lessons["softmax"] = 1.0
    scores = [score for score in lessons.values() if score is not None]
    return {"score": round(sum(scores) / len(scores), 1), "lessons": lessons, "when": "2026-11-18T08:00:00+00:00"}


def made_pair(random: Random, records: list[Record]) -> dict[str, Any]:
    """Two hand-ins that are alike in one lesson."""
    first, second = random.sample(records, 2)
    return {
        "first": first["id"], "second": second["id"], "lesson": random.choice(list(LESSONS)),
        "share": round(random.uniform(0.78, 0.99), 2), "same_mistake": random.random() < 0.5,
        "first_lines": [12, 31], "second_lines": [10, 28], "note": "The same names in another order.",
    }  # fmt: skip


def made_record(random: Random, learner: str, name: str, number: int = 0) -> Record:
    """One learner's record."""
    able = random.gauss(0.9, 1.1)
    gives_up = random.random() < 0.12
    lessons = {}
    for place, lesson in enumerate(LESSONS):
        missing = random.random() < (0.5 if gives_up and place > 2 else 0.04)
        stuck = random.random() < 0.02
        spoiled = random.random() < 0.003
        state = "missing" if missing else "grader-error" if spoiled else "would-not-import" if stuck else "graded"
        lessons[lesson] = made_lesson(random, lesson, state, able, learner)
    scores = [lesson["score"] for lesson in lessons.values() if lesson["score"] is not None]
    states = [lesson["state"] for lesson in lessons.values()]
    mean = round(sum(scores) / len(scores), 1) if scores else None
    return {
        "id": learner, "learner": learner, "name": name, "attempt": 1, "late": number % 17 == 5, "source": learner,
        "digest": f"{number:064x}", "feedback": learner, "score": mean,
        "complete": not {"missing", "grader-error"} & set(states),
        "states": {state: states.count(state) for state in dict.fromkeys(states)}, "problem": "", "notes": [],
        "duration_s": 0.61, "previous": None, "overrides": {}, "lessons": lessons,
    }  # fmt: skip


def made_lesson(random: Random, lesson: str, state: str, able: float, learner: str) -> dict[str, Any]:
    """Make the verdict on one lesson: a mistake makes what depends on it fail."""
    loaded = state in ("graded", "grader-error")
    flawless = random.random() < 1 / (1 + math.exp(0.6 - able))
    checks = [] if state == "missing" else made_checks(random, lesson, able + (3 if flawless else 0), loaded)
    if state == "grader-error":
        checks[-1] |= {"outcome": "grader-error", "earned": 0.0}
    counted = [check for check in checks if check["outcome"] != "grader-error"]
    share = sum(check["earned"] for check in counted) / sum(check["points"] for check in counted) if counted else 0
    bad = [check for check in checks if check["outcome"] not in ("passed", "skipped", "grader-error")]
    mistakes = made_mistakes(random, lesson, bad, loaded, learner) if state != "missing" else []
    weak = [mistake["says"] for mistake in mistakes]
    if bad and not mistakes:
        weak = [f"`{bad[0]['function']}`: Wrong {random.choice(('with one row', 'with a mask', 'on large inputs'))}."]
    passed = {check["skill"] for check in checks} - {check["skill"] for check in checks if check["outcome"] != "passed"}
    return {
        "schema": 1, "lesson": lesson, "state": state, "score": round(1 + 9 * share, 1) if counted else None,
        "passed": bool(counted) and share == 1, "device": "cpu", "seed": 20261, "duration_s": 0.08, "checks": checks,
        "mistakes": mistakes, "strengths": [STRENGTHS[skill] for skill in STRENGTHS if skill in passed],
        "weaknesses": weak, "suggestions": made_suggestions(lesson, mistakes, share),
        "counterexamples": [{"function": bad[0]["function"], "call": f"{bad[0]['function']}(torch.tensor([0.0, 1.0]))",
                             "yours": "torch.tensor([nan, nan])", "expected": "torch.tensor([0.2689, 0.7311])"}]
        if bad and random.random() < 0.5 else [],
        "lines": [],
        "output": "step 1, loss 4.158\nstep 2, loss 4.121\n" if random.random() < 0.1 else "", "notes": [],
        "measured": [], "hints_used": 0, "file": f"{learner}/{lesson}.py",
    }  # fmt: skip


def made_checks(random: Random, lesson: str, able: float, loaded: bool) -> list[dict[str, Any]]:
    """About 24 checks; those after a shape that is wrong are skipped."""
    functions = LESSONS[lesson][1]
    checks: list[dict[str, Any]] = []
    blocked = not loaded
    for skill, number, points, hard, says in CHECKS:
        if skill == "masking" and lesson not in ONLY_MASKED:
            continue
        for place in range(number):
            outcome = made_outcome(random, able - hard - 0.2 * place, blocked)
            checks.append(made_check(lesson, functions[place % len(functions)], skill, place, points, says, outcome))
        blocked |= skill == "shape" and checks[-1]["outcome"] != "passed"
    return checks


def made_outcome(random: Random, ahead: float, blocked: bool) -> str:
    """Draw the outcome of one check for a learner who is so far ahead of it."""
    if blocked:
        return "skipped"
    if random.random() < 1 / (1 + math.exp(-1.7 * ahead)):
        return "passed"
    return random.choice(("failed", "failed", "failed", "raised", "timed-out"))


def made_check(
    lesson: str, function: str, skill: str, place: int, points: float, says: str, outcome: str
) -> dict[str, Any]:
    """One check's result, with a message as long as ours are."""
    name = f"{skill}_{place // 3}[{place % 3}]" if skill == "values" else f"{skill}_{place}"
    said = f"{says}, case {place // 3 + 1}." if skill == "values" else f"{says}, case {place + 1}."
    message = {
        "passed": "",
        "skipped": "Not run before this passes: Gives back the shape that the docstring says, case 1.",
        "raised": f"RuntimeError: The size of tensor a (3) must match the size of tensor b (4)\n  {lesson}.py:14 in "
        f"{function}\n    weights = scores / total\nAsked: {function}(x)",
    }.get(
        outcome,
        f"10 of 24 values differ. First at [0, 1]: got 0.7311, expected 0.6698. Largest error: 0.26.\n"
        f"Asked: {function}(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))",
    )
    return {
        "id": f"{lesson}.{name}", "function": function, "says": said, "skill": skill, "outcome": outcome,
        "points": points, "earned": points if outcome == "passed" else 0.0, "message": message, "output": "",
        "stage": "", "gist": "10 of 24 values differ." if outcome == "failed" else "", "form": "",
    }  # fmt: skip


def made_mistakes(
    random: Random, lesson: str, bad: list[dict[str, Any]], loaded: bool, learner: str
) -> list[dict[str, str]]:
    """Name what went wrong, if it has a name."""
    function = LESSONS[lesson][1][-1]
    if not loaded:
        says = (
            f"Python cannot read your file.\nSyntaxError: expected ':'\n  {learner}/{lesson}.py:3\n    def {function}"
        )
        return [{"id": "syntax-error", "function": "", "says": says, "suggests": "Fix the line shown."}]
    if not bad or random.random() < 0.25:
        return []
    if len(bad) > 14:
        says = f"`{function}` is not written yet."
        return [
            {"id": "stub", "function": function, "says": says, "suggests": f"Write `{function}`, then check again."}
        ]
    if random.random() < 0.15:
        says = f"`{function}` raises an error ({learner}/{lesson}.py:{random.randrange(9, 40)}): IndexError"
        return [{"id": "exception", "function": function, "says": says, "suggests": "Read the line shown."}]
    known = MISTAKES[lesson]
    name, says, suggests = known[min(int(random.expovariate(1.2)), len(known) - 1)]
    return [{"id": name, "function": function, "says": says, "suggests": suggests}]


def made_suggestions(lesson: str, mistakes: list[dict[str, str]], share: float) -> list[dict[str, str]]:
    """At most three things to do."""
    if share == 1:
        return [{"says": "Compare your code with the reference.", "command": f"learn solution {lesson}"}]
    found = [{"says": mistake["suggests"], "command": f"learn check {lesson}"} for mistake in mistakes]
    return [*found, {"says": "Take the next hint.", "command": f"learn hint {lesson}"}]


def hostile_class() -> tuple[dict[str, Any], list[Record]]:
    """Make a class whose every text is an attack: names, ids, messages, outputs, files, and what the run says."""
    random = Random(5)
    records = []
    for number, text in enumerate(HOSTILE):
        record = made_record(random, text, text, number)
        record |= {"feedback": text, "problem": text, "notes": [text], "source": text, "previous": made_before(record)}
        for lesson in record["lessons"].values():
            lesson |= {"output": text, "notes": [text], "weaknesses": [text, *lesson["weaknesses"]], "file": text}
            lesson["counterexamples"] = [{"function": text, "call": text, "yours": text, "expected": text}]
            for check in lesson["checks"]:
                check |= {"message": text, "output": text}
            for mistake in lesson["mistakes"]:
                mistake |= {"says": text, "suggests": text}
        records.append(record)
    pairs = [made_pair(random, records) | {"note": text} for text in HOSTILE]
    missing = [{"id": text, "name": text} for text in HOSTILE]
    head = made_head(missing=missing, similar=pairs, ignored=list(HOSTILE), unlisted=list(HOSTILE))
    return head | {"complete": False, "isolation": list(HOSTILE)}, records
