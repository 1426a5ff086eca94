"""What people write in `Embedding` in place of the reference's lines; and other right ways to write it."""

from torch import nn
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import MistakeSet, without_names

# what a table holds at the start is random, and `test_is_a_parameter` reads it
embedding = MistakeSet("Embedding", globals(), read=without_names, without=("is_a_parameter", "dtype"))
mistake, right = embedding.mistake, embedding.alternative
MISTAKE_SETS = [embedding]


@embedding.probe("the names")
def _(subject, rand):
    made = subject.Embedding(5, 3, state={"weight": rand(5, 3)})
    if made.missing:
        return "inside" if made.missing[0].endswith(".weight") else "another name"
    return "lost" if made.unexpected else subject.Embedding(5, 3).state()["parameters"]


class Torchs(nn.Embedding):
    """torch's own table, by inheritance."""


# fmt: off
NAMES = ("the names",)
HOT = "F.one_hot(ids, self.weight.size(0))"

# --- the table
mistake("emb-not-a-parameter", "The table is a buffer: it is saved with the model, and no optimizer ever moves it.",
        "Make it a parameter: `self.weight = nn.Parameter(...)`.", table="self.register_buffer('weight', table); pass")
mistake("emb-not-a-parameter", "The table is a plain tensor: it is neither saved with the model nor ever trained.",
        "Make it a parameter: `self.weight = nn.Parameter(...)`.", coding="plain", only=NAMES, table="table")
for coding, made, where, says, suggests in (
    ("inside", "nn.Embedding(vocab_size, d_model)", "self.table.weight",
     "The table lies inside another module, so that its name has a dot in it (`table.weight`).",
     "Make `weight` a parameter of your own module, or derive your class from nn.Embedding."),
    ("", "nn.Parameter(table)", "self.table", "The table is a parameter of another name.", "Call it `weight`."),
):
    named = f"self.table = {made}\nself.__dict__['weight'] = {where}"  # for the lines below, which say `weight`
    mistake("emb-other-name", says, suggests, coding=coding, only=NAMES, table=named)
    mistake("emb-other-name", says, suggests, coding=f"{coding} beside others".strip(), table=named)
mistake("emb-columns", "The table is laid out (D, V), and columns are picked.",
        "Lay it out (V, D): one row for each id, `torch.randn(vocab_size, d_model)`.", alone=True,
        start="torch.randn(d_model, vocab_size)", look="self.weight.T[ids]")
mistake("emb-columns", "The table is laid out (D, V), and columns are picked by a linear map of one-hot vectors.",
        "Lay it out (V, D): one row for each id, `torch.randn(vocab_size, d_model)`.", alone=True, coding="F.linear",
        start="torch.randn(d_model, vocab_size)",
        look="F.linear(F.one_hot(ids, self.weight.size(1)).float(), self.weight)")
mistake("emb-columns", "You pick columns of the table, and not rows.", "Pick rows: `self.weight[ids]`.",
        coding="of (V, D)", look="self.weight.T[ids]")

# --- the rows that are picked
mistake("emb-by-position", "You pick the rows 0 … T − 1, whatever the ids are: that is a table of positions.",
        "Pick by the ids: `self.weight[ids]`.",
        look="self.weight[torch.arange(ids.size(-1))].expand(*ids.shape, -1)")
mistake("emb-off-by-one", "You pick row i − 1 for id i, as if ids began at 1.", "Ids begin at 0: `self.weight[ids]`.",
        look="self.weight[ids - 1]")
mistake("emb-padding-zeroed", "Id 0 is taken for padding: its vector is 0.",
        "Take out `padding_idx` and the like: here id 0 is an id like any other.",
        look="self.weight[ids] * (ids != 0).unsqueeze(-1)")
mistake("emb-padding-zeroed", "Id 0 is taken for padding: its row never gets a gradient.",
        "Take out `padding_idx`: here id 0 is an id like any other.", coding="padding_idx",
        look="F.embedding(ids, self.weight, padding_idx=0)")
for coding, number in (("int", "int(each)"), ("item", "each.item()")):
    mistake("emb-batch-loop-shared", "Your loop takes each entry of `ids` for one number: it works for one axis only.",
            "Index with the whole tensor, `self.weight[ids]`: that works for ids of any shape.", coding=coding,
            look=f"torch.stack([self.weight[{number}] for each in ids])")
mistake("emb-batch-loop-shared", "Your loop runs over the first axis, so there must be one: a single id has none.",
        "Index with the whole tensor, `self.weight[ids]`: that works for ids of any shape.", coding="rows",
        look="torch.stack([self.weight[each] for each in ids])")
mistake("emb-first-row-for-all", "All texts of a batch get the vectors of the first one.",
        "Index with all ids: `self.weight[ids]`.",
        look="self.weight[ids[0]].expand(*ids.shape, -1) if ids.dim() > 1 else self.weight[ids]")
mistake("emb-flattened", "The shape of the ids is lost: texts of a batch are put one behind the other.",
        "Index with `ids` as they are: (B, T) gives (B, T, D).", result="value.reshape(-1, value.size(-1))")
mistake("emb-squeezed", "Axes of size 1 are lost, those of the ids or of D.", "Leave out the squeeze: (B, T) gives "
        "(B, T, D) for one text as well.", result="value.squeeze()")
mistake("emb-bag", "The vectors of a text are averaged: one is left for all its tokens (as nn.EmbeddingBag does).",
        "Give a vector for each id.", result="value.mean(dim=-2)")
mistake("emb-axes-exchanged", "The last two axes are exchanged: (…, D, T).", "Leave D last: (…, T, D).",
        result="value.transpose(-2, -1)")

# --- what is done to them
mistake("emb-sqrt-d", "The vectors are multiplied by √D: the paper of 2017 does that, but it is no part of the table.",
        "Give the rows as they are.", result="value * value.size(-1) ** 0.5")
mistake("emb-sqrt-d", "The vectors are divided by √D.", coding="divided", result="value / value.size(-1) ** 0.5")
mistake("emb-normalised", "The vectors are scaled to length 1.", "Give the rows as they are.",
        result="F.normalize(value, dim=-1)")
mistake("emb-normalised", "Vectors that are longer than 1 are shortened to it.", "Take out `max_norm`.",
        coding="max_norm", result="value / value.norm(dim=-1, keepdim=True).clamp(min=1.0)")
mistake("emb-detached", "No gradient reaches the table: its rows are taken from `weight.data` or under no_grad, or it "
        "was made with `requires_grad=False`.", "Take them from the parameter itself, `self.weight[ids]`, and make it "
        "with `nn.Parameter(table)`.", look="self.weight.data[ids]")
mistake("emb-detached", coding="frozen", table="nn.Parameter(table, requires_grad=False)")
mistake("emb-gradient-averaged", "The gradient of an id is averaged over its places.", "Take out `scale_grad_by_freq`: "
        "gradients add up.", look="F.embedding(ids, self.weight, scale_grad_by_freq=True)")
mistake("emb-one-hot-int", "The one-hot vectors are whole numbers, and torch multiplies no whole numbers with floats.",
        "Make them floats: `F.one_hot(ids, V).float() @ self.weight`.", look=f"{HOT} @ self.weight")
mistake("emb-one-hot-int", "The table is made whole to suit the one-hot vectors: its digits are cut off, and no "
        "gradient comes through.", "Make the one-hot vectors floats: `F.one_hot(ids, V).float() @ self.weight`.",
        coding="whole table", look=f"({HOT}.unsqueeze(-1) * self.weight.long()).sum(-2).float()")

# --- just as right
right("F.embedding", look="F.embedding(ids, self.weight)")
right("one-hot vectors", look=f"{HOT}.to(self.weight.dtype) @ self.weight")
right("index_select", look="self.weight.index_select(0, ids.reshape(-1)).view(*ids.shape, -1)")
right("gather", look="self.weight.gather(0, ids.reshape(-1, 1).expand(-1, self.weight.size(1))).view(*ids.shape, -1)")
right("take", look="torch.stack([column[ids] for column in self.weight.unbind(1)], dim=-1)")
right("zeros at the start", start="torch.zeros(vocab_size, d_model)")
right("torch's class", version=Torchs)
# fmt: on
