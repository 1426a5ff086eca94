"""What people write in `GPT` in place of the reference's lines; and other right ways to write it.

Not here, because they always end in an error about shapes that says by itself where to look: a last norm as wide as
the vocabulary, positions that are appended.
"""

import torch
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import (
    MistakeSet,
    PlainClass,
    as_buffers,  # noqa: F401  lines below use it
    draw,
    draw_state,
    is_alike_in_training,
    of_model,
    read_names,
)

SLOPES = 2e-3  # spans the gradients of both forms of GELU
# A few of what the checks ask is enough, and a fifth of the time. What a model holds at the start is random, and
# `test_parameters` reads it; gradients are asked below, where the shared table goes by one name.
gpt = MistakeSet("GPT", globals(), without=(
    "parameters", "names", "no_other_names", "shape", "example", "strong_hidden", "tiny", "future_hidden",
    "longest", "other_sizes", "tied", "gradient", "manners", "training_mode"),
    tolerances={"low_scores": 1e-2})  # fmt: skip
mistake, alone, right = gpt.mistake, gpt.alone, gpt.alternative
MISTAKE_SETS = [gpt]
SIZES = (11, 9, 12, 3, 1, 7)  # V, max_len, D, H, L, d_ff
TABLES = ("tok.weight", "head.weight")
SHAPES = {
    **dict.fromkeys(TABLES, (11, 12)), "pos.weight": (9, 12), "norm.weight": (12,), "norm.bias": (12,),
    **{f"blocks.0.attn.w{letter}.weight": (12, 12) for letter in "qkvo"},
    **{f"blocks.0.norm{n}.{part}": (12,) for n in (1, 2) for part in ("weight", "bias")},
    "blocks.0.ffn.w1.weight": (7, 12), "blocks.0.ffn.w1.bias": (7,),
    "blocks.0.ffn.w2.weight": (12, 7), "blocks.0.ffn.w2.bias": (12,),
}  # fmt: skip
draw_numbers = draw_state(SHAPES, {".w1.": 0.05})  # small inputs of the hidden layer


def numbers(rand):
    state = draw_numbers(rand)
    return state | {"head.weight": state["tok.weight"]}


def by_name(found):
    """The gradients by name, of which the shared table has one; those of two tables in a row."""
    if found is None:
        return None
    found["tables"] = [found.pop(name) for name in TABLES if name in found]
    return {name: found.get(name) for name in ("tables", *(name for name in SHAPES if name not in TABLES))}


def how_many_tables(made):
    """How many tables are left of two that differ."""
    held = made.state()["state"]
    return len({str(held[name]) for name in TABLES if name in held})


IDS = torch.arange(8).view(2, 4)
gpt.ask("in training mode", IDS, by=of_model(*SIZES, by=is_alike_in_training), state=numbers, aside=True)
gpt.ask("on another device", IDS, by=of_model(*SIZES, by="on_fake_device"), see=lambda found: found[1], state=numbers,
        aside=True)  # fmt: skip
gpt.ask("in its gradients", torch.tensor([[1, 4, 1], [7, 0, 9]]), by=of_model(*SIZES, by="gradients"), see=by_name,
        wrt=[], weights=draw(2, 3, 11, scale=0.2), state=numbers, atol=SLOPES)  # fmt: skip
gpt.ask("the names", *SIZES, by=read_names, state=numbers, stage="in the names")
gpt.ask("two tables are loaded", by=of_model(*SIZES, by=how_many_tables), state=draw_numbers, stage="")


# --- what expressions below use ---------------------------------------------------------------------------------------


def saved(module):
    """The same module, with a mask among the names of its state dict."""
    module.register_buffer("mask", torch.ones(3, 3).tril())
    return module


# fmt: off
NAMES = ("the names",)

# --- into the model
ADD = "Add row t to token t: `x + self.pos.weight[:T]`."
mistake("gp-positions-missing", "No positions are added: the model hardly knows in which order the tokens stand.", ADD,
        place="x")
alone("gp-positions-every-layer", "The positions are added again in front of every block.",
        "Add them once, below the first block.", place="x", through="block(x + self.pos.weight[:length], mask)")
alone("emb-padding-zeroed", "Id 0 is taken for padding: its row gets a gradient from the head alone.",
      "Take out `padding_idx`: here id 0 is an id like any other.",
      tok="nn.Embedding(vocab_size, d_model, padding_idx=0)")
alone("lp-from-the-end", "The last T rows of the positions are added: which row a place has depends on max_len.", ADD,
      place="x + self.pos.weight[-length:]")
alone("lp-from-one", "The rows 1 … T of the positions are added: row 0 is never used.", "Begin at row 0: "
        "`self.pos.weight[:T]`.", place="x + self.pos.weight[torch.arange(1, length + 1) % longest]")
mistake("lp-from-one", "The rows 1 … T of the positions are added: row 0 is never used, and for the longest text there "
        "is no row T.", "Begin at row 0: `self.pos.weight[:T]`.", coding="an error at the end",
        place="x + self.pos(torch.arange(1, length + 1))")
mistake("lp-from-one", "The rows 1 … T of the positions are added: row 0 is never used, and in the longest text the "
        "last row serves twice.", "Begin at row 0: `self.pos.weight[:T]`.", coding="clamped",
        place="x + self.pos(torch.arange(1, length + 1).clamp(max=longest - 1))")
alone("lp-backwards", "The positions are counted from the end: token 0 gets row T − 1.", ADD,
        place="x + self.pos.weight[:length].flip(0)")
alone("lp-by-batch", "The places are counted along the batch: text b gets row b, in all its tokens.", ADD,
        place="x + self.pos.weight[torch.arange(len(ids)) % longest].unsqueeze(1)")
alone("lp-full-table", "The whole table of positions is added: that is an error for every text but the longest.", ADD,
        place="x + self.pos.weight")
mistake("gp-embedding-scaled", "The embeddings are multiplied by √D: the paper of 2017 does that, GPT does not.",
        "Take the rows as they are.", look="self.tok(ids) * self.tok.weight.size(1) ** 0.5")
alone("gp-norm-embeddings", "There is a norm in front of the first block, as in BERT, and none behind the last.",
        "Put the model's own norm behind the last block.", place="self.norm(x + self.pos.weight[:length])", last="x")
alone("lp-buffer", "No gradient reaches the positions, and no optimizer ever moves them: they are a buffer, or cut "
      "off.", "Make `pos` an nn.Embedding, or its weight an nn.Parameter; take out `.data` and `.detach()`.",
      pos="as_buffers(nn.Embedding(max_len, d_model))")

# --- texts that are too long
TOO_LONG = "Begin forward with `if ids.size(1) > max_len: raise ValueError(...)`."
alone("lp-no-check", "A text that is too long ends in a RuntimeError, as torch's about sizes is.", TOO_LONG,
      too_long="False")
alone("lp-no-check", "A text that is too long raises IndexError.", TOO_LONG, coding="index", too_long="False",
        place="x + self.pos.weight[torch.arange(length)]")
mistake("lp-no-check", "A text that is too long raises IndexError.", TOO_LONG, coding="looked up", too_long="False",
        place="x + self.pos(torch.arange(length, device=x.device))")
mistake("lp-no-check", "A text that is too long raises AssertionError: `assert` is no error for a caller.", TOO_LONG,
        coding="assert", too_long="length > longest and (_ for _ in ()).throw(AssertionError())")
mistake("lp-cut-off", "A text that is too long is silently cut off at its beginning.", TOO_LONG, coding="the end kept",
      too_long="False",
      length="ids = ids[:, -self.pos.weight.size(0):]\nlength, longest = ids.size(1), self.pos.weight.size(0)")
alone("lp-clamped", "Tokens that have no place silently get the last row again and again.", TOO_LONG,
        too_long="False", place="x + self.pos.weight[torch.arange(length).clamp(max=longest - 1)]")
mistake("lp-cut-off", "A text that is too long is silently cut off.", TOO_LONG, too_long="False",
        length="ids = ids[:, :self.pos.weight.size(0)]\nlength, longest = ids.size(1), self.pos.weight.size(0)")
alone("lp-longest-refused", "A text of exactly max_len tokens is refused.", "Refuse T > max_len only.",
        too_long="length >= longest")

# --- causality
CAUSAL = "Let query t see the keys 0 … t: `torch.ones(T, T).tril().bool()`, True = may attend."
mistake("gp-not-causal", "No mask reaches attention: every token sees the ones after it, the answers among them.",
        CAUSAL, mask="allowed.bool()")
alone("gp-mask-per-length", "The mask has the size of the longest text, and fits no shorter one.", "Cut it to the "
        "text, `mask[:T, :T]`, or make it of size T in forward.", ones="torch.ones(longest, longest)")
gpt.include("../core/causal_mask", only=())
for id, mask in (("cm-transposed", "triu()"), ("cm-inverted", "triu(1)"), ("cm-no-self", "tril(-1)"),
                 ("cm-one-future", "tril(1)")):
    alone(id, suggests=CAUSAL, mask=f"allowed.{mask}.bool()")
alone("cm-no-self", coding="0 where nothing is seen", suggests=CAUSAL, mask="allowed.tril(-1).bool()",
      weigh="torch.softmax(scores, dim=-1).nan_to_num()")
alone("cm-no-self", "Your diagonal is False but for token 0: no other token may attend to itself.", CAUSAL,
      coding="but the first", mask="mask = allowed.tril(-1).bool()\nmask[0, 0] = True")
alone("gp-first-block-causal", "Only the first block gets the causal mask: through the others the future leaks.",
        "Pass the mask to every block.", through="x = block(x, mask)\nmask = torch.ones_like(mask)")

for low in ("-100.0", "-1000.0"):
    alone("at-fill-too-small", "Hidden scores are set to a number that others can lie below: then what is hidden is "
          "seen.", "Set them to −∞.", coding=low, hide=f"scores.masked_fill(~mask, {low})")

# --- the chain of blocks
OWN = "Make L blocks: `nn.ModuleList(TransformerBlock(...) for _ in range(num_layers))`."
mistake("bl-shared-layers", "One block stands in the list L times: all layers have the same numbers.", OWN,
        stack="[TransformerBlock(*sizes)] * num_layers")
alone("bl-shared-layers", "The first block is used L times; the others are never called.", "Go through all of them: "
        "`for block in self.blocks`.", coding="the first", through="self.blocks[0](x, mask)")
mistake("bl-each-layer-reads-input", "Every block reads what the first one read, so only the last one counts.",
        "Give each block what the one before it gave: `x = block(x, mask)`.",
        place="first = x = x + self.pos.weight[:length]", through="block(first, mask)")
alone("gp-blocks-reversed", "The blocks are called from the last to the first.", "Call block 0 first.",
        chain="reversed(self.blocks)")
alone("bl-plain-list", "The blocks lie in a Python list: the model does not know of their parameters, and no "
        "optimizer would train them.", "Put them into an nn.ModuleList.", only=NAMES, blocks="stack")
alone("bl-other-placement", "The blocks are post-LN: they normalise each sum, and not what enters a branch.",
        "Make the blocks with norm_first=True.", pre_norm1="x", pre_sum1="self.norm1(x + heard)", pre_norm2="h",
        pre_sum2="self.norm2(h + thought)")

# --- out of the model
mistake("gp-no-final-norm", "The last norm is missing: the head reads the stream as the blocks left it.",
        "Normalise once more behind the last block: `self.head(self.norm(x))`.", last="x")
alone("gp-norm-after-head", "The norm stands behind the head, where there are V scores and not D features.",
        "Norm first, then the head.", last="x", logits="self.norm(self.head(x))")
PROBABILITIES = "Return what the head gives: cross-entropy and sampling do the softmax themselves."
mistake("gp-softmax-out", "You return probabilities, and not logits.", PROBABILITIES, logits="self.head(x).softmax(-1)")
alone("gp-softmax-out", "You return logarithms of probabilities, and not logits.", PROBABILITIES, coding="logarithms",
        logits="self.head(x).log_softmax(-1)")
mistake("gp-last-only", "Only the last place is scored: (B, V). Training asks at every place.", "Return (B, T, V).",
        logits="self.head(x[:, -1])")
mistake("gp-last-only", "Only the last place is scored: (B, 1, V). Training asks at every place.", "Return (B, T, V).",
        coding="axis kept", logits="self.head(x[:, -1:])")
alone("gp-vocabulary-axis", "The last two axes are exchanged: (B, V, T).", "Leave the scores on the last axis: (B, T, "
        "V).", logits="self.head(x).transpose(1, 2)")
alone("gp-no-head", "The stream itself is returned, (B, T, D): nothing scores the vocabulary.", "Return "
        "`self.head(x)`.", logits="x")
alone("gp-logits-scaled", "The logits are divided by √D, as T5 does with a tied head.", "Return what the head gives.",
        logits="self.head(x) / x.size(-1) ** 0.5")
alone("gp-head-bias", "The head has a bias; nothing is loaded into it, for the statement has none.", "Make it with "
        "`bias=False`.", only=NAMES, head="nn.Linear(d_model, vocab_size)")
TIE = "Write `self.head.weight = self.tok.weight`: one parameter under two names."
mistake("gp-tying-copied", "The head has a table of its own, which training moves apart from that of the "
        "tokens.", TIE, tie="self.head.weight = nn.Parameter(self.tok.weight.detach().clone())")
alone("gp-tying-copied", "tok.weight and head.weight are two parameters on the same numbers: each has a gradient of "
      "its own, and an optimizer moves the numbers twice.", TIE, coding="shared numbers",
      tie="self.head.weight = nn.Parameter(self.tok.weight)")
alone("gp-tying-missing", "The state dict has no head.weight.", "Make `head` an nn.Linear without bias, and tie it: "
        "`self.head.weight = self.tok.weight`.", only=NAMES, head="nn.Identity()", tie="",
        logits="x @ self.tok.weight.T")
alone("gp-tying-transposed", "The logits are products with the columns of the table: that fits only where V = D.",
        "Multiply with its rows: `x @ E.T`, which is what `nn.Linear` does.", logits="x @ self.tok.weight")
alone("emb-detached", "The head reads the table without a gradient (`.data`, `.detach()`).", TIE, coding="head",
        logits="x @ self.tok.weight.detach().T")
alone("emb-detached", "No gradient reaches the table through the ids: its rows are taken from `.data`.",
        "Call `self.tok(ids)`.", look="self.tok.weight.data[ids]")

# --- names, and what happens at run time
alone("gp-buffer-saved", "The state dict has a name too many: a buffer, a mask say, or a layer that is not asked for.",
      "Register a buffer with `persistent=False`, or make it in forward.", only=NAMES,
      norm="saved(nn.LayerNorm(d_model))")
alone("gp-other-names", "The names in the state dict are not those of the statement, so the checks' numbers never get "
        "in.", "`print(model.state_dict().keys())` shows yours.", only=NAMES, tok="self.wte = nn.Embedding(vocab_size, "
        "d_model)", pos="self.wpe = nn.Embedding(max_len, d_model)", tie="self.head.weight = self.wte.weight",
        length="length, longest = ids.size(1), 99", look="self.wte(ids)", place="x + self.wpe.weight[:length]")
alone("bl-no-module", "`GPT` is not an nn.Module, so it has no state dict and no parameters.",
        "Write `class GPT(nn.Module)`, and begin `__init__` with `super().__init__()`.", only=NAMES,
      version=PlainClass)
alone("bl-dropout", "There is dropout: in training mode two calls differ. The exercise asks for none.",
        "Take the dropout out, or set its probability to 0.", only=("in training mode",),
        place="F.dropout(x + self.pos.weight[:length], 0.1, self.training)")
for coding, changes in (("", {"ones": "torch.ones(length, length)"}),
                        ("places", {"place": "x + self.pos(torch.arange(length))"})):
    alone("gp-device", "The mask, or the numbers of the places, are made on the CPU, wherever the ids are: on any "
          "other device that is an error.", "Make them with `device=ids.device`.", coding=coding,
          only=("on another device",), **changes)
gpt.common("gp", "detached")

# --- the block, as in its own lesson
HERE = {"With norm_first=True: ": "In the block, "}
PRE = " (pre-LN only)"
gpt.include("../core/block", words=HERE, only=(
    f"bl-no-residual-attn{PRE}", f"bl-no-residual-ffn{PRE}", "bl-wrong-activation (ReLU)", "at-no-scale",
    "hd-split-view"))
gpt.include("../core/block", words=HERE, alone=True, only=(
    f"bl-no-attention{PRE}", f"bl-parallel{PRE}", "bl-no-activation", "bl-residual-from-norm (Both sums take)",
    "bl-residual-from-norm (The first sum takes)", "bl-residual-from-norm (The second sum takes)",
    "bl-missing-norm (norm1 pre-LN only)", "bl-missing-norm (norm2 pre-LN only)", "bl-attention-bias",
    "at-scale-d-model", "at-softmax-queries", "at-global-max", "hd-merge-no-transpose", "hd-split-no-transpose",
    "bl-no-output-projection (never made)", "bl-wrong-activation (SiLU (Swish))",
    "bl-wrong-activation (QuickGELU, x · sigmoid(1.702 x))"))

# --- just as right
right("torch's attention, causal by itself", blend="F.scaled_dot_product_attention(q, k, v, is_causal=True)")
right("a mask that is kept, cut to the text", norm="self.norm = nn.LayerNorm(d_model)\n"
      "self.register_buffer('kept', torch.ones(max_len, max_len).tril(), persistent=False)",
      ones="self.kept[:length, :length]", mask="allowed == 1")
right("torch's table for the places", place="x + self.pos(torch.arange(length, device=ids.device))")
right("the head by hand", logits="F.linear(x, self.tok.weight)")
right("the table takes the head's", tie="self.tok.weight = self.head.weight")
right("the tanh form of GELU", bend="F.gelu(hidden, approximate='tanh')")
right("comparing places", ones="torch.arange(length, device=ids.device)", mask="allowed[:, None] >= allowed")
# fmt: on
