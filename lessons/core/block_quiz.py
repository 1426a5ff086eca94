"""Numbers and code for the questions on writing a transformer block."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]
Pair = tuple[float, float]


# --- what a module knows of its parts ---------------------------------------------------------------------------------

NET = """\
class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.{inner} = nn.Linear(5, 5)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.{up} = nn.Linear(5, 9{bias})
        self.{layers} = {made}
        self.{gain} = {tensor}
        self.{outer} = Small()"""

LAYERS = (  # how the layers are kept, whether .0.weight is there, whether .1.weight is there, the misconception
    ("[nn.Linear(5, 5), nn.Linear(5, 5)]", False, False, "block-plain-list"),
    ('{"first": nn.Linear(5, 5)}', False, False, "block-plain-list"),
    ("nn.ModuleList([nn.Linear(5, 5), nn.Linear(5, 5)])", True, True, "block-plain-list"),
    ("nn.Sequential(nn.Linear(5, 5), nn.GELU())", True, False, "block-sequential-numbers"),
    ("nn.Sequential(nn.GELU(), nn.Linear(5, 5))", False, True, "block-sequential-numbers"),
)
TENSORS = (
    ("torch.ones(5)", False),
    ("torch.ones(5, requires_grad=True)", False),
    ("nn.Parameter(torch.ones(5))", True),
    ("nn.Parameter(torch.ones(5))", True),
)


def names(random: Random) -> Values:
    """Which names a state_dict has: those of registered modules and parameters, with dots between them."""
    up, layers = random.choice(["up", "w1", "first"]), random.choice(["layers", "parts", "steps"])
    gain, outer = random.choice(["gain", "scale", "gamma"]), random.choice(["out", "head", "last"])
    inner, bias = random.choice(["w", "proj", "linear"]), random.random() < 0.5
    made, zeroth, first, tag = random.choice(LAYERS)
    tensor, registered = random.choice(TENSORS)
    place, there = random.choice([("0", zeroth), ("1", first)])
    dotted = random.choice([(f"{outer}.{inner}.weight", True), (f"{outer}.weight", False), (f"{inner}.weight", False),
                            (f"Small.{inner}.weight", False), (f"{outer}.{inner}.bias", True)])  # fmt: skip
    options = [
        {"text": f"{up}.bias", "right": bias, "tag": "block-bias-default"},
        {"text": f"{layers}.{place}.weight", "right": there, "tag": tag},
        {"text": gain, "right": registered, "tag": "block-plain-tensor"},
        {"text": dotted[0], "right": dotted[1], "tag": "block-dotted-names"},
        {"text": f"{layers}.weight", "right": False, "tag": "block-dotted-names"},
    ]
    code = NET
    for name, text in {"inner": inner, "up": up, "bias": "" if bias else ", bias=False", "layers": layers,
                       "made": made, "gain": gain, "tensor": tensor, "outer": outer}.items():  # fmt: skip
        code = code.replace(f"{{{name}}}", text)
    return {"code": code, "options": options, "up": up, "layers": layers, "gain": gain, "outer": outer, "inner": inner,
            "place": place, "made": made, "tensor": tensor,
            "has_bias": "with a bias, as by default" if bias else "without a bias"}  # fmt: skip


def registered(random: Random) -> Values:
    """How many numbers an optimiser would get: those of registered modules, each module once."""
    D, n = random.choice([3, 4, 5, 6, 7, 10]), random.choice([2, 3, 4, 5])  # noqa: N806 - the lesson's letters
    each, norm = D * D + D, 2 * D
    many, once, none = n * each + norm, each + norm, norm
    layers, answer, why = random.choice([
        (f"nn.ModuleList([layer] * {n})", once, f"The list has {n} entries, all of them the same layer. parameters() "
         "gives each parameter once."),
        (f"nn.ModuleList(layer for _ in range({n}))", once, f"The layer was made once, before the loop. All {n} "
         "entries are this one layer, and parameters() gives each parameter once."),
        (f"nn.ModuleList(nn.Linear({D}, {D}) for _ in range({n}))", many, f"nn.Linear is called {n} times, so there "
         "are as many layers with numbers of their own. The one in line 4 is not kept."),
        (f"[nn.Linear({D}, {D}) for _ in range({n})]", none, "A plain list is not looked into, so its layers are "
         "invisible: no optimiser gets them, and no file keeps them."),
        (f"[layer] * {n}", none, "A plain list is not looked into, so the layer in it is invisible."),
        (f"nn.ModuleList(deepcopy(layer) for _ in range({n}))", many, f"Each of the {n} copies has parameters of "
         "its own. The layer in line 4 is not kept."),
        (f"nn.Sequential(*[layer] * {n})", once, f"The same layer stands in {n} places, and parameters() gives each "
         "parameter once."),
    ])  # fmt: skip
    tags = {many: "block-shared-counted-apart", once: "block-separate-taken-for-one", none: "block-plain-list"}
    wrong = {tags[count]: str(count) for count in tags if count != answer}
    without_bias = answer - (answer - norm) // each * D
    if without_bias != answer:
        wrong["biases-forgotten"] = str(without_bias)
    code = ["class Stack(nn.Module):", "    def __init__(self):", "        super().__init__()",
            f"        layer = nn.Linear({D}, {D})", f"        self.layers = {layers}",
            f"        self.norm = nn.LayerNorm({D})", "",
            "print(sum(p.numel() for p in Stack().parameters()))"]  # fmt: skip
    return {"D": D, "n": n, "each": each, "norm": norm, "answer": str(answer), "why": why, "wrong": wrong,
            "code": "\n".join(code)}  # fmt: skip


# --- shapes and statistics --------------------------------------------------------------------------------------------


def weight_shapes(random: Random) -> Values:
    """The shapes of parameters and of what the layers give."""
    B, T, D, F = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 8, 9))  # noqa: N806 - the lesson's letters
    asked = {
        "up.weight": ((F, D), [("block-weight-layout", (D, F))]),
        "down.weight": ((D, F), [("block-weight-layout", (F, D))]),
        "up.bias": ((F,), [("count-bias-per-input", (D,)), ("block-vector-as-matrix", (1, F))]),
        "down.bias": ((D,), [("count-bias-per-input", (F,)), ("block-vector-as-matrix", (1, D))]),
        "norm.weight": ((D,), [("block-norm-as-matrix", (D, D)), ("block-norm-per-token", (T, D)),
                               ("block-vector-as-matrix", (1, D))]),
        "hidden": ((B, T, F), [("branch-keeps-width", (B, T, D))]),
        "y": ((B, T, D), [("second-map-forgotten", (B, T, F))]),
    }  # fmt: skip
    matrix, vector = random.choice(["up.weight", "down.weight"]), random.choice(["up.bias", "down.bias"])
    blanks = [matrix, vector, "norm.weight", random.choice(["hidden", "y"])]
    wrong = [{"tag": tag, "blank": place, "shape": list(shape)}
             for place, blank in enumerate(blanks, 1) for tag, shape in asked[blank][1]]  # fmt: skip
    code = (
        f"B, T, D, d_ff = {B}, {T}, {D}, {F}\nx = torch.randn(B, T, D)\nnorm = nn.LayerNorm(D)\n"
        "up, down = nn.Linear(D, d_ff), nn.Linear(d_ff, D)\nhidden = nn.functional.gelu(up(norm(x)))\ny = down(hidden)"
    )
    return {"B": B, "T": T, "D": D, "F": F, "blanks": blanks, "answer": [asked[blank][0] for blank in blanks],
            "wrong": wrong, "code": code, "asked": ", ".join(blanks)}  # fmt: skip


def statistics(random: Random) -> Values:
    """How many means a norm takes of a (B, T, D) tensor."""
    while True:
        B, T, D = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7, 8, 10, 12))  # noqa: N806 - the lesson's letters
        if len({B, T, D, B * T, B * D, T * D}) == 6:
            break
    kind = random.choice(["token", "token", "text", "feature"])
    call, answer, why = {
        "token": (f"nn.LayerNorm({D})(x)", B * T,
                  f"LayerNorm({D}) takes the last axis: one mean over the {D} features of each token, and there are "
                  f"{B} · {T} = {B * T} tokens."),
        "text": (f"nn.LayerNorm(({T}, {D}))(x)", B,
                 f"Both last axes are named, so each mean runs over the {T} · {D} numbers of a whole text, and there "
                 f"are {B} texts. A block does not want that: a token would learn about those behind it."),
        "feature": (f"nn.BatchNorm1d({D})(x.transpose(1, 2))", D,
                    f"BatchNorm takes one mean for each of the {D} features (axis 1, hence the transpose), over all "
                    f"{B} · {T} tokens of the batch. A block does not want that: texts would depend on each other."),
    }[kind]  # fmt: skip
    ideas = {
        "token": {"layer-norm-over-batch": D, "block-norm-of-a-text": B, "norm-over-tokens": B * D},
        "text": {"block-norm-shape-ignored": B * T, "layer-norm-over-batch": D, "block-norm-same-in-all": T * D},
        "feature": {"block-batch-norm-by-token": B * T, "norm-over-tokens": B * D},
    }[kind]
    return {"B": B, "T": T, "D": D, "call": call, "answer": answer, "why": why, "wrong": ideas}


# --- two features by hand ---------------------------------------------------------------------------------------------


def _norm(y: Pair) -> Pair:
    """LayerNorm of two different features, which says which one is larger (eps aside)."""
    return (1.0, -1.0) if y[0] > y[1] else (-1.0, 1.0)


def _plus(one: Pair, other: Pair, factor: float = 1.0) -> Pair:
    return one[0] + factor * other[0], one[1] + factor * other[1]


FORMS = {  # the two lines, and what they are
    "pre": ("h = x + {a} * norm(x)", "out = h + {b} * norm(h)"),
    "post": ("h = norm(x + {a} * x)", "out = norm(h + {b} * h)"),
    "from-norm": ("h = norm(x) + {a} * norm(x)", "out = h + {b} * norm(h)"),
    "parallel": ("h = x + {a} * norm(x)", "out = h + {b} * norm(x)"),
    "from-input": ("h = x + {a} * norm(x)", "out = x + {b} * norm(h)"),
}
FORM_TAGS = {
    "pre": "block-reads-the-block", "post": "norm-place-exchanged", "from-norm": "block-adds-normed-copy",
    "parallel": "parallel-branches", "from-input": "residual-adds-embedding",
}  # fmt: skip


def by_hand(random: Random) -> Values:
    """A block of two features, its branches replaced by factors, in the right form or in another one."""
    while True:
        x = tuple(map(float, random.sample(range(-3, 8), 2)))
        a, b = random.choice([-4, -3, -2, 2, 3]), random.choice([-3, -2, 2, 3, 4])
        results = {form: _through(form, x, a, b) for form in FORMS}
        form = random.choice(["pre", "pre", "pre", "parallel", "from-input", "from-norm", "post"])
        steps, out = results[form]
        if 0 not in out and min(abs(one - other) for one, other in (x, steps)) >= 1:
            break
    lines = [line.replace("{a}", str(a)).replace("{b}", str(b)).replace("+ -", "- ") for line in FORMS[form]]
    code = ["norm = nn.LayerNorm(2)", f"x = torch.tensor({list(x)})", *lines,
            "print([round(v, 1) for v in out.tolist()])"]  # fmt: skip
    answer, wrong = str(list(out)), {}
    for other, (_, result) in results.items():
        shown = str(list(result))
        if shown != answer and shown not in wrong.values() and (form == "pre" or other == "pre"):
            wrong[FORM_TAGS[other]] = shown
    return {"x": str(list(x)), "a": a, "b": b, "h": str(list(steps)), "normed_x": str(list(_norm(x))),
            "normed_h": str(list(_norm(steps))), "code": "\n".join(code), "answer": answer, "wrong": wrong,
            "what": _what(form)}  # fmt: skip


def _through(form: str, x: Pair, a: float, b: float) -> tuple[Pair, Pair]:
    """h and out."""
    if form == "post":
        h = _norm(_plus(x, x, a))
        return h, _norm(_plus(h, h, b))
    h = _plus(_norm(x) if form == "from-norm" else x, _norm(x), a)
    read = _norm(x) if form == "parallel" else _norm(h)
    return h, _plus(x if form == "from-input" else h, read, b)


def _what(form: str) -> str:
    return {
        "pre": "This is the form of a pre-LN block: each sum takes what reached it, and each norm is on the branch.",
        "post": "This is the form of a post-LN block: the norm takes the whole sum, so the result is normed again.",
        "from-norm": "The first sum takes the normed copy, so the size of x is lost. A pre-LN block adds to x itself.",
        "parallel": "Both branches read x, so the second one does not know what the first one wrote. In the block of "
                    "the lesson it reads norm(h).",
        "from-input": "The second sum takes x again, so what the first branch wrote is lost. A block adds to h.",
    }[form]  # fmt: skip


# --- mistakes ---------------------------------------------------------------------------------------------------------

UP, DOWN = 0.8413447, -0.1586553  # gelu(1) and gelu(-1)
MISTAKES = {
    "The first residual is missing.": "block-sees-first-residual",
    "The second residual is missing.": "block-sees-second-residual",
    "Both sums add to the normed copy.": "block-sees-normed-copy",
    "The second sum takes x, not h.": "block-sees-x-again",
    "The network reads x, not h.": "block-sees-parallel",
    "The norms are those of post-LN.": "block-sees-post-norm",
    "The network has relu, not gelu.": "block-sees-relu",
}


def which_mistake(random: Random) -> Values:
    """A pre-LN block of one token and two features gives a wrong output: which mistake makes it?"""
    while True:
        x = tuple(map(float, random.sample(range(9), 2)))
        c = random.choice([-4.0, -3.0, -2.0, 2.0, 3.0])
        right, results = _block(x, c), {each: _block(x, c, each) for each in MISTAKES}
        outputs = {"": right, **results}
        telling = [each for each in results
                   if all(_apart(results[each], outputs[other]) for other in outputs if other != each)]  # fmt: skip
        h = _plus(x, _norm(x), c)
        if len(telling) >= 4 and h[0] != h[1] and 0 not in (1 + c, *_plus(x, x, c)):
            break
    made_by = random.choice(telling)
    wrong = [{"tag": MISTAKES[each], "text": each} for each in telling if each != made_by]
    return {"x": _shown(x), "c": c, "right": made_by, "wrong": wrong, "wanted": _shown(right),
            "got": _shown(results[made_by]), "normed": _shown(_norm(x)), "attended": _shown(_plus((0, 0), _norm(x), c)),
            "h": _shown(h), "normed_h": _shown(_norm(h)), "network": _shown(_gelu(_norm(h))),
            "why": _why(made_by, x, c)}  # fmt: skip


def _block(x: Pair, c: float, mistake: str = "") -> Pair:
    """The block's output with attn(y) = c·y and ffn = gelu, with a mistake or without."""
    kind = MISTAKES.get(mistake, "").removeprefix("block-sees-")
    if kind == "post-norm":
        h = _norm(_plus(x, x, c))
        return _norm(_plus(h, _gelu(h)))
    start = {"first-residual": (0.0, 0.0), "normed-copy": _norm(x)}.get(kind, x)
    h = _plus(start, _norm(x), c)
    read = _norm(x) if kind == "parallel" else _norm(h)
    said = (max(read[0], 0.0), max(read[1], 0.0)) if kind == "relu" else _gelu(read)
    return _plus({"second-residual": (0.0, 0.0), "normed-copy": _norm(h), "x-again": x}.get(kind, h), said)


def _gelu(y: Pair) -> Pair:
    """gelu of 1 and -1, the only entries that two normed features have."""
    return (UP, DOWN) if y[0] > 0 else (DOWN, UP)


def _apart(one: Pair, other: Pair) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) > 0.05


def _shown(pair: Pair) -> str:
    return "[" + ", ".join(f"{round(each, 2) + 0.0:.4g}" for each in pair) + "]"


def _why(mistake: str, x: Pair, c: float) -> str:
    alone = _plus((0.0, 0.0), _norm(x), c)
    return {
        "The first residual is missing.": f"Without x in the first sum h is only {_shown(alone)}; the size of x is "
        "gone.",
        "The second residual is missing.": "The output is what the network said, and nothing else: gelu of 1 and −1.",
        "Both sums add to the normed copy.": "Each sum began with 1 and −1, the normed features, in place of what "
        "reached it.",
        "The second sum takes x, not h.": f"The network's answer was added to x = {_shown(x)}, so what attention "
        f"wrote, {_shown(alone)}, is lost.",
        "The network reads x, not h.": "Attention has turned round which feature is the larger one. The network's "
        "answer still fits the old order: it read the norm of x.",
        "The norms are those of post-LN.": "1 and −1: the last thing that happened was a norm. In pre-LN nothing is "
        "normed after the last sum.",
        "The network has relu, not gelu.": "The network added exactly 1 and 0, which is relu of 1 and −1. gelu gives "
        "0.84 and −0.16.",
    }[mistake]


STACK = """\
class Stack(nn.Module):
    def __init__(self, D, count):
        super().__init__()
        self.blocks = nn.ModuleList(Block(D) for _ in range(count))
        self.norm = nn.LayerNorm(D)

    def forward(self, x, mask=None):
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (4, "self.blocks = [Block(D) for _ in range(count)]", 8, "the loss falls a little, and a saved file holds two "
     "tensors only", "A plain list is not registered, so the optimiser gets the norm's two parameters and nothing of "
     "the blocks. nn.ModuleList makes them known."),
    (4, "self.blocks = nn.ModuleList([Block(D)] * count)", 8, "with count = 12 there are as many parameters as with "
                                                              "count = 1",
     "The list holds the same block count times. Block(D) must be called once for each of them."),
    (4, "self.blocks = nn.ModuleList(Block(D) for _ in range(D))", 8, "with D = 64 and count = 6 there are 64 blocks",
     "D is the width. The number of blocks is count."),
    (5, "self.norm = nn.LayerNorm(count)", 10, "it runs only if there are as many blocks as features",
     "The norm takes the features of one token, and these are D."),
    (8, "for block in self.blocks[:-1]:", 4, "the last block never gets a gradient",
     "The slice leaves the last block out of the forward pass."),
    (8, "for block in reversed(self.blocks):", 9, "weights of a model that works elsewhere give nonsense here",
     "The blocks are run from the last to the first. The names say nothing about the order of the calls; the code "
     "does."),
    (9, "y = block(x, mask)", 10, "the output is the same whatever the blocks' weights are",
     "The result of the block is never used: x stays what it was. Each block must read what the one before gave."),
    (9, "x = block(x)", 7, "the training loss goes towards 0, and generated text is poor",
     "The mask is not passed on, so every token sees the ones that it should predict."),
    (9, "x = x + block(x, mask)", 8, "with all weights of the branches at 0 the token doubles in each block, before "
     "the last norm", "The residuals are inside the block, one around each branch. Here x is added once more."),
    (9, "x = self.norm(block(x, mask))", 10, "the residual stream has variance 1 after each block",
     "The norm belongs behind the last block. Here it stands on the road after each of them."),
    (9, "x = block(x, mask).detach()", 10, "of all parameters only those of the norm get a gradient",
     "detach cuts the graph behind each block, so nothing before it hears the loss."),
    (10, "return x", 5, "the logits grow with the number of blocks; norm.weight never gets a gradient",
     "The stream of a pre-LN model grows from block to block, and it must be normed once, behind the last one. The "
     "norm was made and never called."),
    (10, "return self.norm(block(x, mask))", 8, "with count = 6 blocks are called seven times",
     "Behind the loop, block is still the last block, and here it runs once more. Only the norm is left to do."),
)  # fmt: skip


def stack(random: Random) -> Values:
    """A stack of blocks with one line spoilt, and what is seen of it. All such lines are spoilt equally often."""
    place = random.choice(sorted({each[0] for each in SPOILT}))
    line, spoilt, blamed, symptom, why = random.choice([each for each in SPOILT if each[0] == place])
    lines = STACK.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"block-blames-the-symptom": blamed}}  # fmt: skip
