"""What people write in `LearnedPositionalEmbedding` in place of the reference's lines; and other right ways."""

import torch
from torch import nn

from grader.api.checks import MistakeSet, without_names

# what a table holds at the start is random, and `test_is_a_parameter` reads it
positions = MistakeSet("LearnedPositionalEmbedding", globals(), read=without_names, without=("is_a_parameter",))
mistake, right = positions.mistake, positions.alternative
MISTAKE_SETS = [positions]


@positions.probe("the names")
def _(subject, rand):
    made = subject.LearnedPositionalEmbedding(5, 3, state={"weight": rand(5, 3)})
    if made.missing:
        return "inside" if made.missing[0].endswith(".weight") else "another name"
    return "lost" if made.unexpected else subject.LearnedPositionalEmbedding(5, 3).state()["parameters"]


class Torchs(nn.Embedding):
    """torch's own table, by inheritance."""

    def forward(self, x):
        if x.shape[1] > self.num_embeddings:
            raise ValueError("too long")
        return x + super().forward(torch.arange(x.shape[1], device=x.device))


# fmt: off
NAMES = ("the names",)

# --- the table
mistake("lp-buffer", "The table is a buffer: it is saved with the model, and no optimizer ever moves it.",
        "Make it a parameter: `self.weight = nn.Parameter(...)`.", table="self.register_buffer('weight', table); pass")
mistake("lp-buffer", "The table is a plain tensor: it is neither saved with the model nor ever trained.",
        "Make it a parameter: `self.weight = nn.Parameter(...)`.", coding="plain", only=NAMES, table="table")
for coding, made, where, says, suggests in (
    ("inside", "nn.Embedding(max_len, d_model)", "self.table.weight",
     "The table lies inside another module, so that its name has a dot in it (`table.weight`).",
     "Make `weight` a parameter of your own module, or derive your class from nn.Embedding."),
    ("", "nn.Parameter(table)", "self.table", "The table is a parameter of another name.", "Call it `weight`."),
):
    named = f"self.table = {made}\nself.__dict__['weight'] = {where}"  # for the lines below, which say `weight`
    mistake("lp-other-name", says, suggests, coding=coding, only=NAMES, table=named)
    mistake("lp-other-name", says, suggests, coding=f"{coding} beside others".strip(), table=named)


# --- which rows
mistake("lp-by-batch", "You count the places along the batch: text b gets row b, in all its tokens.",
        "Token t gets row t: `self.weight[:x.size(1)]`.", length="x.size(0)",
        rows="self.weight[:length].unsqueeze(1)")
mistake("lp-by-batch", coding="the check is right", rows="self.weight[:x.size(0)].unsqueeze(1)")
mistake("lp-by-batch", "You take as many rows as there are texts, and not as there are tokens.", coding="no axis added",
        suggests="Token t gets row t: `self.weight[:x.size(1)]`.", length="x.size(0)")
for row, which in (("0", "first"), ("length - 1", "last"), ("length", "next")):
    mistake("lp-one-position", f"All tokens get the same row, the {which} one: the places cannot be told apart.",
            "Take the rows 0 … T − 1: `self.weight[:x.size(1)]`.", coding=which, rows=f"self.weight[{row}]")
mistake("lp-from-one", "You take the rows 1 … T: row 0 is never used, and a text of max_len tokens finds too few.",
        "Begin at row 0: `self.weight[:x.size(1)]`.", rows="self.weight[1:length + 1]")
mistake("lp-from-one", "You take the rows 1 … T by their numbers.", "Begin at row 0: `torch.arange(x.size(1))`.",
        coding="by number", rows="self.weight[torch.arange(1, length + 1)]")
mistake("lp-from-one", "You take the rows 1 … T, and the last row twice for max_len tokens.", "Begin at row 0.",
        coding="clamped", rows="self.weight[torch.arange(1, length + 1).clamp(max=len(self.weight) - 1)]")
mistake("lp-from-one", "You take the rows 1 … T, and row 0 for the last of max_len tokens.", "Begin at row 0.",
        coding="round", rows="self.weight.roll(-1, 0)[:length]")
mistake("lp-by-batch", coding="round", rows="self.weight[torch.arange(len(x)) % len(self.weight)].unsqueeze(1)")
mistake("lp-mean-row", "All tokens get the mean of the rows: the places cannot be told apart.",
        "Take the rows 0 … T − 1: `self.weight[:x.size(1)]`.", rows="self.weight[:length].mean(0)")
mistake("lp-backwards", "The rows are taken from the last to the first: token 0 gets row T − 1.",
        "Take them in their order.", rows="self.weight[:length].flip(0)")
mistake("lp-from-the-end", "You take the last T rows of the table: which row a place has depends on how long the table "
        "is.", "Take the first T: `self.weight[:x.size(1)]`.", rows="self.weight[-length:]")
mistake("lp-full-table", "You add the whole table: that is an error for every text but the longest.",
        "Take the rows 0 … T − 1: `self.weight[:x.size(1)]`.", rows="self.weight")
mistake("lp-by-token", "You look rows up by what the tokens hold, as if x were ids: this module gets vectors.",
        "Take the rows by place: `self.weight[:x.size(1)]`.", rows="self.weight[x[..., 0].long() % len(self.weight)]")

# --- the longest text
mistake("lp-clamped", "A text that is too long silently gets the last row again and again.",
        "Raise ValueError where T is larger than max_len.", too_long="False",
        rows="self.weight[torch.arange(length).clamp(max=len(self.weight) - 1)]")
mistake("lp-clamped", "A text that is too long silently begins again at row 0.", "Raise ValueError where T is larger "
        "than "
        "max_len.", coding="around", too_long="False", rows="self.weight[torch.arange(length) % len(self.weight)]")
mistake("lp-clamped", "A text that is too long is let through: tokens behind the last row silently get none.",
        "Raise ValueError where T is larger than max_len.", coding="nothing", too_long="False",
        rows="nn.functional.pad(self.weight[:length], (0, 0, 0, max(0, length - len(self.weight))))")
mistake("lp-cut-off", "A text that is too long is silently cut off.", "Raise ValueError where T is larger than "
        "max_len.", too_long="False", length="x = x[:, :len(self.weight)]\nlength = x.size(1)")
mistake("lp-no-check", "Nothing refuses a text that is too long: at best it ends in torch's RuntimeError about sizes.",
        "Compare first: `if x.size(1) > self.weight.size(0): raise ValueError(...)`.", too_long="False")
mistake("lp-no-check", "A text that is too long raises IndexError.", "Raise ValueError.", coding="index",
        too_long="False", rows="self.weight[torch.arange(length)]")
mistake("lp-no-check", "A text that is too long raises AssertionError: `assert` is no error for a caller.",
        "Write `if ...: raise ValueError(...)`.", coding="assert",
        too_long="length > self.weight.size(0) and (_ for _ in ()).throw(AssertionError())")
mistake("lp-longest-refused", "A text of exactly max_len tokens is refused.", "Refuse T > max_len only.",
        too_long="length >= self.weight.size(0)")

# --- what is done with them
mistake("lp-first-text-only", "Only the first text of a batch gets its positions.", "Add the rows to all: `x + rows`.",
        add="torch.cat([x[:1] + rows, x[1:]])")
mistake("lp-replaces", "You return the rows without x: every text becomes the same.", "Add them: `x + rows`.",
        add="rows.expand_as(x) + 0")
mistake("lp-multiplied", "x is multiplied with the rows.", "Add them: `x + rows`.", add="x * rows")
mistake("lp-appended", "The rows are appended to the features: the width becomes 2D.", "Add them: `x + rows`.",
        add="torch.cat([x, rows.expand_as(x)], dim=-1)")
mistake("lp-scaled", "x is multiplied by √D before the rows are added: that is another model's choice.",
        "Add the rows to x as it is.", add="x * x.size(-1) ** 0.5 + rows")
mistake("lp-subtracted", "The rows are taken off, and not added.", "Add them: `x + rows`.", add="x - rows")
mistake("lp-detached", "The rows are cut off from autograd: the table never learns.", "Take out `.detach()` and "
        "`.data`.",
        rows="self.weight.data[:length]")
mistake("lp-detached", "The result is cut off from autograd.", "Take out `.detach()` and `torch.no_grad()`.",
        coding="result", result="value.detach()")
mistake("lp-in-place", "You change the caller's tensor (`x += ...`).", "Make a new one: `x + rows`.",
        add="x.add_(rows)")

# --- just as right
right("arange", rows="self.weight[torch.arange(length, device=x.device)]")
right("F.embedding", rows="nn.functional.embedding(torch.arange(length, device=x.device), self.weight)")
right("unsqueeze", add="x + rows.unsqueeze(0)")
right("torch's class", version=Torchs)
right("narrow and expand", rows="self.weight.narrow(0, 0, length)", add="torch.add(rows.expand_as(x), x)")
right("split", rows="self.weight.split([length, len(self.weight) - length])[0]")
# fmt: on
