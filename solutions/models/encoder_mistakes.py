"""What people write in `Encoder` in place of the reference's lines; and other right ways to write it."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import MistakeSet, PlainClass, draw, draw_state, is_alike_in_training, of_model, read_names

SLOPES = 2e-3  # spans the gradients of both forms of GELU
# What places of padding hold is not judged. So checks that have lengths recognise nothing; questions below ask the same
# and see the real places only. Of the others a few are enough.
encoder = MistakeSet("Encoder", globals(), without=(
    "parameters", "names", "no_other_names", "shape", "both_ways", "strong_hidden", "tiny", "example", "padded",
    "padding_unread", "as_alone", "padding_finite", "any_lengths", "longest", "other_sizes", "gradient", "manners",
    "low_scores", "training_mode"))  # fmt: skip
mistake, alone, right = encoder.mistake, encoder.alone, encoder.alternative
MISTAKE_SETS = [encoder]
SIZES, DEEP = (11, 9, 12, 3, 1, 7), (11, 9, 12, 3, 2, 7)  # V, max_len, D, H, L, d_ff
BLOCK = {
    **{f"attn.w{letter}.weight": (12, 12) for letter in "qkvo"},
    **{f"norm{n}.{part}": (12,) for n in (1, 2) for part in ("weight", "bias")},
    "ffn.w1.weight": (7, 12), "ffn.w1.bias": (7,), "ffn.w2.weight": (12, 7), "ffn.w2.bias": (12,),
}  # fmt: skip
TABLES = {"tok.weight": (11, 12), "pos.weight": (9, 12), "norm.weight": (12,), "norm.bias": (12,)}
SHAPES = {**TABLES, **{f"blocks.0.{name}": shape for name, shape in BLOCK.items()}}
# small inputs of the hidden layers
numbers = draw_state(SHAPES, {".w1.": 0.05})
deep_numbers = draw_state({**SHAPES, **{f"blocks.1.{name}": shape for name, shape in BLOCK.items()}}, {".w1.": 0.05})


def low_numbers(rand):
    """Numbers with which a token's score with itself is never above 0, and often near −1000."""
    state = numbers(rand)
    query = state["blocks.0.attn.wq.weight"]
    return state | {"blocks.0.attn.wq.weight": 400.0 * query, "blocks.0.attn.wk.weight": -query}


def real(lengths, tokens):
    return torch.arange(tokens, device=lengths.device) < lengths.unsqueeze(1)


def ask_padded(made, ids, lengths):
    """What stands at the real places, and whether all the rest is finite."""
    found = made(ids, lengths)
    if not isinstance(found, torch.Tensor) or found.shape != (*ids.shape, 12):
        return found
    return {"real": found[real(lengths, ids.size(1))], "finite": bool(found.isfinite().all())}


def ask_gradients(made, ids, lengths, weights):
    found = made.gradients(ids, lengths, wrt=[], weights=weights * real(lengths, 3).unsqueeze(-1))
    return None if found is None else {name: found.get(name) for name in SHAPES}


TEXTS = torch.tensor([[1, 4, 1, 0, 8, 3], [7, 0, 9, 2, 5, 6], [2, 2, 0, 5, 1, 9], [10, 3, 6, 7, 4, 8]])
LENGTHS = torch.tensor([3, 5, 1, 2])
EACH = (torch.arange(11).unsqueeze(1) + torch.tensor([0, 1, 5])) % 11
SQUARE = torch.tensor([[1, 4, 2], [7, 0, 9], [2, 2, 5]])
padded = of_model(*SIZES, by=ask_padded)
encoder.ask("for padded texts", TEXTS, LENGTHS, by=padded, state=numbers)
encoder.ask("for padded texts and two layers", TEXTS, LENGTHS, by=of_model(*DEEP, by=ask_padded), state=deep_numbers)
encoder.ask("where scores are near −1000", EACH, torch.arange(11) % 3 // 2 + 1, by=padded, state=low_numbers, atol=1e-2)
encoder.ask("with as many texts as heads and places", SQUARE, torch.tensor([2, 3, 1]), by=padded, state=numbers)
encoder.ask("in its gradients", SQUARE[:2], torch.tensor([3, 2]), by=of_model(*SIZES, by=ask_gradients),
            weights=draw(2, 3, 12, scale=0.2), state=numbers, atol=SLOPES)  # fmt: skip
encoder.ask("in training mode", TEXTS[:2], by=of_model(*SIZES, by=is_alike_in_training), state=numbers, aside=True)
encoder.ask("on another device", TEXTS, LENGTHS, by=of_model(*SIZES, by="on_fake_device"), see=lambda found: found[1],
            state=numbers, aside=True)  # fmt: skip
encoder.ask("the names", *SIZES, by=read_names, state=numbers, stage="in the names")


# --- what expressions below use ---------------------------------------------------------------------------------------


def shares(ids, lengths):
    """1 at the places of tokens, 0 at those of padding: (B, T, 1)."""
    return 1.0 if lengths is None else real(lengths, ids.size(1)).unsqueeze(-1)


class MaskedSequence(nn.Sequential):
    """Blocks in a row that pass the mask on."""

    def forward(self, x, mask):
        for block in self:
            x = block(x, mask)
        return x


# fmt: off
# --- as in a GPT
encoder.include("gpt", only=("bl-shared-layers", "bl-each-layer-reads-input", "gp-blocks-reversed", "bl-plain-list",
                             "bl-dropout", "emb-detached", "lp-full-table", "lp-buffer", "lp-from-the-end",
                             "at-fill-too-small"), words={
    "GPT does": "this model does", "GPT": "Encoder"})

# --- into the model
ADD = "Add row t to token t: `x + self.pos.weight[:T]`."
mistake("en-no-positions", "No positions are added: to this model a text is a bag of tokens in any order.", ADD,
        place="x")
mistake("en-positions-by-batch", "The places are counted along the batch: text b gets row b, in all its tokens.", ADD,
        place="x + self.pos.weight[torch.arange(len(ids)) % len(self.pos.weight)].unsqueeze(1)")
alone("lp-from-one", place="x + self.pos.weight.roll(-1, 0)[:length]")
alone("gp-positions-every-layer", place="x", through="block(x + self.pos.weight[:length], mask)")
mistake("gp-embedding-scaled", look="self.tok(ids) * self.tok.weight.size(1) ** 0.5")
alone("gp-norm-embeddings", place="self.norm(x + self.pos.weight[:length])", last="x")

alone("emb-padding-zeroed", "Id 0 is taken for padding: its row never gets a gradient.", "Take out `padding_idx`: no "
        "id is "
      "special, the lengths alone say what is padding.", tok="nn.Embedding(vocab_size, d_model, padding_idx=0)")

# --- who sees whom
mistake("en-causal", "The future is hidden: that is a GPT. Here every token sees its whole text.",
        "Pass the padding mask alone.", free="torch.ones(length, length).tril().bool()",
        mask="padding_mask(lengths, length) & torch.ones(length, length).tril().bool()")
alone("en-causal", "Without lengths the future is hidden: no lengths means no padding, and every token sees all "
      "others.", "Let no lengths mean no mask.", coding="without lengths",
      free="torch.ones(length, length).tril().bool()")
mistake("en-causal", "Where there are lengths the future is hidden as well: here every token sees its whole text.",
      "Pass the padding mask alone.", coding="with lengths",
      mask="padding_mask(lengths, length) & torch.ones(length, length).tril().bool()")
HIDE = "Pass `padding_mask(lengths, T)` on to every block, and in there to attention."
mistake("en-padding-ignored", "No padding is hidden: every token reads that of its text.", HIDE,
        mask="None")
mistake("en-padding-zeroed", "The vectors of the padding are set to 0, and not hidden: their keys still get a share of "
        "the weights.", HIDE, mask="None",
        place="(x + self.pos.weight[:length]) * shares(ids, lengths)")
alone("en-padding-zeroed", coding="behind each block", mask="None", through="block(x, mask) * shares(ids, lengths)")
alone("en-first-block-masked", "Only the first block gets the mask: through the others padding is read.",
      "Pass the mask to every block.", through="x = block(x, mask)\nmask = None")
mistake("en-mask-from-ids", "Token 0 is taken for padding: here it is a token like all others, and the lengths "
        "alone say what is padding.", "Make the mask of the lengths: `padding_mask(lengths, T)`.",
        given="True", mask="(ids != 0)[:, None, None, :]")
alone("en-mask-from-ids", coding="with lengths", mask="(ids != 0)[:, None, None, :]")
alone("en-mask-from-ids", coding="a large negative number", given="True", mask="(ids != 0)[:, None, None, :]",
      hide="scores.masked_fill(~mask, -1e9)")
alone("en-lengths-required", "Without lengths there is an error: `lengths=None` means that nothing is padding.",
      "Make the mask `if lengths is not None`, and else none.", given="True")
alone("en-lengths-required", coding="with an axis", given="True",
      mask="(torch.arange(length, device=ids.device) < lengths[:, None])[:, None, None]")
SHAPE = "in scores (B, H, T, S) the batch then meets another axis: an error on most sizes, silently wrong on others."
for shape, give in (("(B, S)", "real"), ("(B, 1, S)", "real[:, None]")):
    alone("pm-shape", f"The mask has the shape {shape}: {SHAPE}", "Put in the axes of heads and queries: "
          "`[:, None, None, :]`.", coding=shape, give=give)
alone("pm-float", "The mask holds the numbers 0 and 1, not False and True: `~` does not work on them.",
      "Pass a bool tensor: a comparison is one.", give="real[:, None, None, :].float()")
HIDDEN = {"give": "real[:, None, :, None]", "hide": "scores.masked_fill(~mask, -1e9)"}
encoder.include("../inside/padding_mask", only=("pm-off-by-one",))
encoder.include("../inside/padding_mask", alone=True, without=("pm-inverted", "pm-causal-here", "pm-off-by-one"))
alone("pm-query-axis", coding="a large negative number", **HIDDEN)
mistake("pm-inverted", "The mask is inverted: padding is seen, and the tokens are hidden.",
        "Turn it around: True = may attend.", give="~real[:, None, None, :]")
mistake("pm-inverted", coding="a large negative number", give="~real[:, None, None, :]", hide=HIDDEN["hide"])

# --- the chain of blocks
mistake("en-norm-per-block", "The model's norm stands behind every block: it belongs behind the last one only.",
        "Call `self.norm` once, after the loop.", through="self.norm(block(x, mask))", last="x")
alone("en-norm-per-block", coding="and at the end", through="self.norm(block(x, mask))")
alone("en-last-block-twice", "The last block is called twice.", "Go through `self.blocks` once.",
      chain="[*self.blocks, self.blocks[-1]]")
alone("en-block-missing", "The last block is never called.", "Go through all of `self.blocks`.",
      chain="list(self.blocks)[:-1]")
alone("en-block-missing", "The first block is never called.", coding="the first", chain="list(self.blocks)[1:]")
mistake("en-post-ln", "The blocks are post-LN: they normalise each sum, and not what enters a branch.",
        "Make the blocks with norm_first=True.", pre_norm1="x", pre_sum1="self.norm1(x + heard)", pre_norm2="h",
        pre_sum2="self.norm2(h + thought)")

# --- out of the model
mistake("en-no-final-norm", "The last norm is missing: you return the stream as the blocks left it.",
        "Normalise once more behind the last block: `self.norm(x)`.", last="x")
alone("en-cropped", "The result ends with the longest text: (B, max(lengths), D), where T places came in.",
      "Return a vector for every place, padding too: nobody reads it.",
      last="self.norm(x)[:, :None if lengths is None else int(lengths.max())]")
POOLED = "The texts are pooled, (B, D): one vector is left of each, where every token has its own."
OF_TOKENS = "(self.norm(x) * shares(ids, lengths)).sum(1) / (length if lengths is None else lengths[:, None])"
for coding, last in (("mean", "self.norm(x).mean(1)"), ("first", "self.norm(x)[:, 0]"), ("mean of tokens", OF_TOKENS)):
    mistake("en-pooled", POOLED, "Return (B, T, D).", coding=coding, last=last)
alone("en-logits", "You score the vocabulary, (B, T, V): the encoder ends with vectors.", "Return `self.norm(x)`.",
      last="self.norm(x) @ self.tok.weight.T")

# --- names, and what happens at run time
alone("gp-other-names", only=("the names",), norm="self.ln = nn.LayerNorm(d_model)", last="self.ln(x)")
alone("gp-buffer-saved", "The state dict has a name too many: a buffer, a mask say, or a layer that is not asked for.",
      "Register a buffer with `persistent=False`, or make it in forward.", only=("the names",),
      norm="self.norm, self.dense = nn.LayerNorm(d_model), nn.Linear(d_model, d_model, bias=False)")
alone("bl-no-module", version=PlainClass, only=("the names",))
for coding, changes in (("", {"places": "torch.arange(max_len)"}),
                        ("positions", {"place": "x + self.pos(torch.arange(length))"})):
    alone("gp-device", coding=coding, only=("on another device",), **changes)
encoder.common("en", "detached")

# --- the block, as in its own lesson
HERE, PRE = {"With norm_first=True: ": "In the block, "}, " (pre-LN only)"
encoder.include("../core/block", words=HERE, only=("at-no-scale", "bl-wrong-activation (ReLU)"))
encoder.include("../core/block", words=HERE, alone=True, only=(
    f"bl-no-residual-attn{PRE}", f"bl-no-residual-ffn{PRE}", "hd-split-view", "at-mask-after-softmax",
    "at-mask-as-zero-score", "at-mask-added-bool", "at-global-max",
    f"bl-no-attention{PRE}", f"bl-parallel{PRE}", "bl-no-activation", "bl-residual-from-norm (Both sums take)",
    "bl-residual-from-norm (The first sum takes)", "bl-residual-from-norm (The second sum takes)",
    "bl-missing-norm (norm1 pre-LN only)", "bl-missing-norm (norm2 pre-LN only)", "bl-attention-bias",
    "at-scale-d-model", "at-softmax-queries", "hd-merge-no-transpose", "bl-no-output-projection (never made)",
    "bl-wrong-activation (SiLU (Swish))",
    "bl-wrong-activation (QuickGELU, x · sigmoid(1.702 x))"))

# --- just as right
right("torch's attention", blend="F.scaled_dot_product_attention(q, k, v, attn_mask=mask)")
right("an additive mask", hide="scores + torch.zeros_like(scores).masked_fill(~mask, -1e9)")
right("torch's table for the places", place="x + self.pos(torch.arange(length, device=ids.device))")
right("places of padding set to 0", last="self.norm(x) * shares(ids, lengths)")
right("blocks in a sequence that carries the mask", blocks="MaskedSequence(*stack)",
      chain="[self.blocks]")
right("full lengths where none are given", free="padding_mask(torch.full_like(ids[:, 0], length), length)")
right("padding finds its queries filled by torch's attention, which gives 0",
      give="real[:, None, None, :] & real[:, None, :, None]",
      blend="F.scaled_dot_product_attention(q, k, v, attn_mask=mask)", hide="scores", weigh="scores")
right("the tanh form of GELU", bend="F.gelu(hidden, approximate='tanh')")
# fmt: on
