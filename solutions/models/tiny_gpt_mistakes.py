"""What people write in `TinyGPT` in place of the reference's lines; and other right ways to write it.

Attention, block and model are those of other lessons, and so are most mistakes. Scores know distances alone, so that
places may begin where they like.
"""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import (
    LearnerError,
    MistakeSet,
    as_buffers,  # noqa: F401  lines below use it
    draw,
    draw_state,
    is_alike_in_training,
    of_model,
)

model = MistakeSet("TinyGPT", globals(), without=(
    "parameters", "names", "shape", "long", "future_hidden", "other_sizes", "gradient", "manners", "training_mode",
))  # fmt: skip
mistake, right = model.mistake, model.alternative
MISTAKE_SETS = [model]
SIZES = (11, 12, 3, 1, 7)
SHAPES = {
    "tok.weight": (11, 12), "norm.weight": (12,), "norm.bias": (12,),
    **{f"blocks.0.attn.w{letter}.weight": (12, 12) for letter in "qkvo"},
    **{f"blocks.0.norm{n}.{part}": (12,) for n in (1, 2) for part in ("weight", "bias")},
    "blocks.0.ffn.w1.weight": (7, 12), "blocks.0.ffn.w1.bias": (7,),
    "blocks.0.ffn.w2.weight": (12, 7), "blocks.0.ffn.w2.bias": (12,),
}  # fmt: skip
BIASES = tuple(f"attn.w{letter}.bias" for letter in "qkvo")
# small inputs of the hidden layer
HELD = {"state": draw_state(SHAPES, {".w1.": 0.05})}
IDS = torch.arange(8).view(2, 4)
SEEN = {"weights": draw(2, 3, 11, scale=0.2), "wrt": [], "atol": 2e-3}
model.ask("in its gradients", torch.tensor([[1, 4, 1], [7, 0, 9]]), by=of_model(*SIZES, by="gradients"), **SEEN, **HELD)
model.ask("in training mode", IDS, by=of_model(*SIZES, by=is_alike_in_training), aside=True, **HELD)
model.ask("on another device", IDS, by=of_model(*SIZES, by="on_fake_device"), see=lambda found: found[1], aside=True,
          **HELD)  # fmt: skip


@model.probe("the names")
def _(subject, rand):
    try:
        made = subject.TinyGPT(*SIZES, state=HELD["state"](rand))
    except LearnerError as error:
        if "load_state_dict" in error.text and error.type_name == "AttributeError":
            return "no module"
        raise
    others = {name.split(".", 2)[-1] if name.startswith("blocks.") else name for name in made.missing}
    lost = {name.split(".")[0] for name in made.unexpected}
    if made.missing and made.unexpected:
        return "other names"
    # a layer as wide as the table is a head, whatever it is called; what nanoGPT calls attn.bias is a mask
    heads = {
        name.split(".")[0] for name in others if made.state()["state"].get(name, IDS).shape == SHAPES["tok.weight"]
    }
    others = {"head.weight" if name.split(".")[0] in heads else name for name in others}
    told = any(name == "head.weight" or name.endswith(BIASES) for name in others)
    return [sorted(others) if told else bool(others), sorted(lost)]


@model.probe("over a long text")
def _(subject, rand):
    return subject.TinyGPT(*SIZES, state=HELD["state"](rand)).eval()(rand.integers(0, 11, 1, 40))


@model.probe("whether it takes 80 tokens", aside=True)
def _(subject, rand):
    made = subject.TinyGPT(*SIZES, state=HELD["state"](rand)).eval()
    try:
        return list(made(rand.integers(0, 11, 1, 80)).shape)
    except LearnerError as error:
        if error.kind != "raised":
            raise
        return "an error"


def rope_on_model(x, positions):
    """The features of all heads in one row, turned as if they were of one."""
    even = torch.arange(0, x.size(-1), 2, device=x.device)
    angles = positions[:, None] * 10000.0 ** (-even / x.size(-1))
    left, right_ = x[..., 0::2], x[..., 1::2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack((left * cos - right_ * sin, left * sin + right_ * cos), -1).flatten(-2)


def own_head(tok):
    """A head of its own, which begins the same each time."""
    head = nn.Linear(tok.size(1), tok.size(0), bias=False)
    nn.init.zeros_(head.weight)
    return head


# fmt: off
# --- rotary positions, and where they belong
TURN = "Turn queries and keys, head by head, in front of the scores, and nothing else."
mistake("tg-no-positions", "Nothing is turned: the order of the tokens is known from the mask alone.", TURN,
        turn_q="q", turn_k="k")
mistake("tg-values-turned", "The values are turned too, and what a token gathers depends on where it stands.",
        TURN, turn_k="k = apply_rope(k, places)\nv = apply_rope(v, places)")
mistake("tg-queries-only", "Only the queries are turned: scores depend on the places, and not on the distance.", TURN,
        alone=True, turn_k="k")
mistake("tg-keys-only", "Only the keys are turned: scores depend on the places, and not on the distance.", TURN,
        alone=True, turn_q="q")
mistake("tg-before-heads", "Queries and keys are turned before they are cut into heads: each head gets other rates.",
        "Cut into heads first: the rates are base^(−2i/d_head).", turn_q="q", turn_k="k",
        project="q, k, v = self.wq(x), self.wk(x), self.wv(x)\n"
                "q, k = (rope_on_model(part, torch.arange(x.size(1), device=x.device)) for part in (q, k))")
mistake("tg-input-turned", "The stream is turned in front of the projections, and so are the values.", TURN,
        turn_q="q", turn_k="k", project="x = rope_on_model(x, torch.arange(x.size(1), device=x.device))\n"
        "q, k, v = self.wq(x), self.wk(x), self.wv(x)")
model.include("../positions/rope", alone=True, only=(
    "ro-half-split", "ro-direction", "ro-exponent-doubled", "ro-exponent-halved", "ro-rate-inverted", "ro-one-angle",
    "ro-no-sine", "ro-added", "ro-reversed"))
mistake("ro-other-base", "The base is 1000, and not 10000: the slower a pair, the further it is off.", "Take base = "
        "10000.",
        alone=True, rates="1000.0**-exponents")

# --- the model and its block, as in their own lessons
model.include("gpt", only=("gp-not-causal", "gp-no-final-norm"))
model.include("gpt", alone=True, only=(
    "cm-transposed", "cm-no-self", "cm-one-future", "gp-first-block-causal",
    "bl-shared-layers (the first)", "gp-blocks-reversed", "bl-plain-list", "gp-norm-after-head",
    "gp-softmax-out", "gp-last-only", "gp-no-head", "gp-logits-scaled", "gp-embedding-scaled", "emb-detached (head)",
    "emb-padding-zeroed",
    "gp-buffer-saved", "gp-device", "bl-other-placement"))
HERE = {"With norm_first=True: ": "In the block, "}
PRE = " (pre-LN only)"
mistake("tg-short-table", "A table in it, of the mask or of angles, ends before a text of 80 tokens does: an error. "
        "The statement sets no longest text.", "Make it in forward, as long as the text that is there.", alone=True,
        only=("whether it takes 80 tokens",), ones="torch.ones(64, 64, device=ids.device)",
        mask="allowed.tril().bool()[:length, :length]")
model.include("../core/block", words=HERE, only=("at-no-scale",))
model.include("../core/block", words=HERE, alone=True, only=("at-scale-d-model",))
model.include("../core/block", words=HERE, alone=True, only=(
    f"bl-no-residual-attn{PRE}", f"bl-no-residual-ffn{PRE}", f"bl-no-attention{PRE}", f"bl-parallel{PRE}",
    "bl-wrong-activation (ReLU)", "bl-no-activation", "hd-split-view", "hd-split-no-transpose",
    "bl-missing-norm (norm1 pre-LN only)", "bl-missing-norm (norm2 pre-LN only)", "bl-attention-bias"))
mistake("tg-head-untied", "The output has a table of its own; the statement has one table.",
        "Multiply with the table of the tokens: `norm(x) @ self.tok.weight.T`.", alone=True, only=("the names",),
        norm="self.norm = nn.LayerNorm(d_model)\nself.head = own_head(self.tok.weight)")
mistake("tg-table-kept", "The table is a buffer: it is saved with the model, and no optimizer ever moves it.",
        "Make it an nn.Embedding.", alone=True, tok="as_buffers(nn.Embedding(vocab_size, d_model))")
mistake("bl-dropout", "There is dropout: in training mode two calls differ. The exercise asks for none.",
        "Take the dropout out, or set its probability to 0.", alone=True, only=("in training mode",),
        look="F.dropout(self.tok(ids), 0.1, self.training)")

# --- just as right
right("torch's attention, causal by itself", blend="F.scaled_dot_product_attention(q, k, v, is_causal=True)")
right("places that begin at 1", places="torch.arange(1, x.size(1) + 1, device=x.device)")
right("complex numbers", give="torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * "
      "torch.polar(torch.ones_like(angles), angles)).flatten(-2)")
right("the table by torch", rows="F.linear(x, self.tok.weight)")
right("the tanh form of GELU", bend="F.gelu(hidden, approximate='tanh')")
right("comparing places", ones="torch.arange(length, device=ids.device)", mask="allowed[:, None] >= allowed")
# fmt: on
