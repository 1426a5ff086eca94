"""What people write when they pool vectors and score classes; and other right ways to write it."""

import torch
from torch import nn  # noqa: F401  lines below use it
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import MistakeSet, without_names

# What a new model holds is random, and the checks of names read it: the names are asked below.
mean = MistakeSet("masked_mean_pool", globals(), without=("mean_padding_unread", "mean_other_sizes", "mean_manners"))
last = MistakeSet("last_token_pool", globals(), without=("last_padding_unread", "last_other_sizes", "last_manners"))
text = MistakeSet("SequenceClassifier", globals(), read=without_names, without=(
    "text_names", "text_padding_unread", "text_other_sizes", "text_shape", "text_example", "text_manners"))  # fmt: skip
token = MistakeSet(
    "TokenClassifier",
    globals(),
    read=without_names,
    without=("token_names", "token_other_sizes", "token_shape", "token_manners"),
)
MISTAKE_SETS = [mean, last, text, token]

VECTORS = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [9.0, 9.0]], [[4.0, 0.0], [8.0, 8.0], [7.0, 9.0]]])
MASK = torch.tensor([[True, True, False], [True, False, False]])
for each in (mean, last):
    each.example(VECTORS, MASK)
    each.example(VECTORS[:, :2], torch.ones(2, 2, dtype=torch.bool))
mean.example(VECTORS[:1], torch.zeros(1, 3, dtype=torch.bool))


def numbers(rand):
    return {"head.weight": rand(3, 2), "head.bias": rand(3)}


def ask_names(make, state):
    made = make(2, 3, state=state)
    return len(made.missing), sorted(made.unexpected)


def ask_largest(make, *given, state):
    return make(2, 3, "max", state=state).eval()(*given)


def is_alike_in_training(make, *given, state):
    made = make(2, 3, state=state)
    return bool((made.train()(*given) == made.eval()(*given)).all())


for each, given in ((text, (VECTORS, MASK)), (token, (VECTORS,))):
    each.ask("the names", by=ask_names, state=numbers, stage="in the names")
    each.ask("in training mode", *given, by=is_alike_in_training, state=numbers, aside=True)
text.ask("in the largest where nothing is padded", VECTORS[:, :2], torch.ones(2, 2).bool(), by=ask_largest,
         state=numbers)  # fmt: skip

# fmt: off
# --- masked_mean_pool
mistake, right = mean.mistake, mean.alternative
mistake("po-plain-mean", "The mean runs over all places, the padding among them.", "Add up the tokens only, and "
        "divide by how many there are.", mean="h.mean(dim=1)")
mistake("po-divides-by-T", "Padding is left out of the sum, and counted all the same: you divide by T.",
        "Divide by the number of tokens of each text: `mask.sum(1, keepdim=True)`.", mean="total / h.size(1)")
mistake("po-no-keepdim", "The count lost its axis, (B,): an error unless B = D, and then each feature is divided by "
        "another text's count.", "Use `sum(dim=1, keepdim=True)`, or `[:, None]`.", count="weights.sum(dim=(1, 2))")
mistake("po-empty-row", "A text without a token is 0/0, NaN.", "Let the count be 1 at least: `.clamp(min=1)`.",
        clamp="count")
mistake("po-empty-row", coding="chosen by the mask", total="torch.where(mask.unsqueeze(-1), h, 0.0).sum(dim=1)",
        clamp="count")
mistake("po-empty-row", "A text without a token is 0/0: its NaN is replaced, and that of the gradient is not.",
        coding="replaced", clamp="count", mean="torch.nan_to_num(total / count)")
mistake("po-mask-as-float-after", "Padding is filled with a huge negative number, as scores are before a softmax, and "
        "that is added up.", "Fill with 0 before a sum: `h * mask.unsqueeze(-1)`.",
        total="h.masked_fill(weights == 0, -1e9).sum(dim=1)")
mistake("po-mask-as-float-after", coding="minus infinity", total="h.masked_fill(weights == 0, -torch.inf).sum(dim=1)")
mistake("po-mask-as-float-after", "What is no token subtracts: h − (1 − mask) is not h where there is padding.",
        coding="one less", total="(h - (1 - weights)).sum(dim=1)")
mistake("po-padding-added", "The count is right, and the sum runs over padding as well.", "Multiply by the mask before "
        "the sum: `h * mask.unsqueeze(-1)`.", total="h.sum(dim=1)")
mistake("po-sum", "The sum is returned: long texts get long vectors.", "Divide by the number of tokens.", mean="total")
mistake("po-mask-inverted", "The mask is turned round: the padding is averaged.", "True is a token.",
        weights="(~mask).unsqueeze(-1).to(h.dtype)")
mistake("po-batch-count", "All texts are divided by one count, that of the whole batch.", "Count each text by itself: "
        "`sum(dim=1, keepdim=True)`.", count="weights.sum()")
mistake("po-first-row-for-all", "Every text gets the mask of the first one.", "Use row b of the mask for text b.",
        weights="mask[:1].unsqueeze(-1).to(h.dtype).expand(len(h), -1, -1)")
mistake("po-count-off", "The count is one too high: something is added to it, so that it is never 0.",
        "Clamp it: `.clamp(min=1)`.", clamp="count + 1")
mistake("po-root", "The sum is divided by the root of the count.", "Divide by the count.", mean="total / count**0.5")
mistake("po-cls", "The first vector is returned, and no mean.", "Average the tokens.", mean="h[:, 0]")
mistake("po-axis", "The sum runs over the texts, and not over the places.", "Sum over axis 1.", mean="h.mean(dim=0)")
mean.common("po", "detached", "in_place")

right("einsum", total="torch.einsum('btd,bt->bd', h, mask.to(h.dtype))")
right("a product of matrices", total="(weights.transpose(1, 2) @ h).squeeze(1)")
right("masked_fill", total="h.masked_fill(~mask.unsqueeze(-1), 0.0).sum(dim=1)")
right("a tiny number below", mean="total / (count + 1e-9)", clamp="weights.sum(dim=1)")
right("text by text", version="torch.stack([row[real].mean(0) if real.any() else row.sum(0) * 0 for row, real in "
        "zip(h, "
      "mask)])")
right("weights that sum to 1", version="(h * (mask / mask.sum(1, keepdim=True).clamp(min=1)).to(h.dtype)[..., None])"
      ".sum(1)")

# --- last_token_pool
mistake, right = last.mistake, last.alternative
mistake("po-last-slot", "The last place is read, whatever it holds: in a padded text that is padding.",
        "Read place n − 1, where n is the number of tokens: `mask.sum(1) - 1`.", pick="h[:, -1]")
mistake("po-cls-for-last", "The first vector is returned, and not the last one.", "Read place n − 1.", pick="h[:, 0]")
mistake("po-off-by-one", "The place behind the last token is read: n tokens stand at the places 0 … n − 1.",
        "Subtract 1 from the count.", last="mask.sum(dim=1).clamp(max=h.size(1) - 1)")
mistake("po-off-by-one", coding="an error where nothing is padded", last="mask.sum(dim=1)")
mistake("po-last-but-one", "The token before the last one is read.", "The last of n tokens stands at n − 1.",
        last="(mask.sum(dim=1) - 2).clamp(min=0)")
mistake("po-last-but-one", coding="never below place 0", last="(mask.sum(dim=1) - 2).clamp(min=0)")
mistake("po-last-of-longest", "Every text is read where the longest one ends.", "Count each text by itself: "
        "`mask.sum(dim=1)`.", last="mask.sum(dim=1).max() - 1")
mistake("po-first-row-for-all", "Every text is read where the first one ends.", "Use row b of the mask for text b.",
        last="mask[0].sum() - 1")
mistake("po-all-pairs", "`h[:, last]` takes every last place from every text: (B, B, D).", "Index both axes: "
        "`h[torch.arange(B), last]`.", pick="h[:, last]")
mistake("po-plain-mean", "A mean is returned, and no single vector.", "Pick one vector: `h[torch.arange(B), last]`.",
        pick="h.mean(dim=1)")
last.common("po", "detached")

right("gather", pick="h.gather(1, last[:, None, None].expand(-1, 1, h.size(2))).squeeze(1)")
right("text by text", pick="torch.stack([row[n] for row, n in zip(h, last.tolist())])")
right("the last True", version="h[torch.arange(len(h), device=h.device), "
      "(mask * torch.arange(h.size(1), device=h.device)).argmax(1)]")
right("one place is 1", version="(h * F.one_hot(mask.sum(1) - 1, h.size(1)).to(h.dtype)[..., None]).sum(1)")
right("the tokens end where the next is none", version="h[mask & ~F.pad(mask, (0, 1))[:, 1:]]")

# --- SequenceClassifier
mistake, right = text.mistake, text.alternative
for known in (mean, last):
    text.include(known, without=("po-sum", "po-detached", "po-in-place", "po-axis", "po-all-pairs",
                                             "po-empty-row (replaced)", "po-plain-mean", "po-no-keepdim",
                                             "po-first-row-for-all"))
text.include(mean, only=("po-plain-mean", "po-sum"))
text.include(mean, alone=True, only=("po-no-keepdim", "po-first-row-for-all"))
mistake("po-max-of-padding", "The maximum runs over the padding as well.", "Fill padding with −∞ first: "
        "`h.masked_fill(~mask.unsqueeze(-1), -inf)`.", hide="h")
mistake("po-max-of-padding", "Padding is made 0 before the maximum: where all tokens are negative, 0 wins.",
        coding="zeros", hide="h.masked_fill(padding, 0.0)")
for low in ("-100.0", "-999.0", "-1000.0", "-9999.0", "-1e4"):
    mistake("po-max-of-padding", "Padding is filled with a number that is not low enough: where all tokens are lower, "
            "it wins.", "Fill padding with −∞: `float(\"-inf\")`.", coding=low, alone=True,
            hide=f"h.masked_fill(padding, {low})")
mistake("po-max-inverted", "The tokens are hidden, and the maximum is that of the padding.", "Fill where the mask is "
        "False.",
        padding="mask.unsqueeze(-1)")
mistake("po-last-slot", "With \"last\" the last place is read, whatever it holds: in a padded text that is padding.",
        "Call `last_token_pool(h, mask)`.", coding="in the class", by_last="h[:, -1]", alone=True)
mistake("po-cls-for-last", "With \"last\" the first vector is taken.", "Call `last_token_pool(h, mask)`.",
        coding="in the class", by_last="h[:, 0]", alone=True)
mistake("po-last-for-cls", "With \"cls\" the last token is taken.", "\"cls\" is the first place: `h[:, 0]`.",
        by_cls="last_token_pool(h, mask)")
mistake("po-last-for-cls", "With \"cls\" the last place is read, whatever it holds.", coding="the last place",
        by_cls="h[:, -1]")
mistake("po-max-of-sizes", "The maximum is that of the absolute values: signs are lost.", "Take the largest value "
        "itself.",
        by_max="h.abs().masked_fill(padding, 0.0).max(dim=1).values")
for pool, changes in (("mean", {"is_mean": "True"}), ("cls", {"is_mean": "False", "is_cls": "True"}),
                      ("last", {"is_mean": "False", "is_cls": "False", "is_last": "True"})):
    mistake("po-pool-ignored", f"`pool` is ignored: it is always \"{pool}\".", "Ask `self.pool` in forward.",
            coding=pool, **changes)
mistake("po-average-probs", "The tokens are scored one by one, and their probabilities averaged.", "Pool the vectors "
        "first; then score once, without a softmax.", logits="masked_mean_pool(self.head(h).softmax(-1), mask) if "
        "self.pool == 'mean' else self.head(pooled)")
mistake("po-average-probs", "The tokens are scored first and their scores averaged: a text without a token gets 0, and "
        "not the bias.", "Pool the vectors first, then score once.", coding="logits",
        logits="masked_mean_pool(self.head(h), mask) if self.pool == 'mean' else self.head(pooled)")
mistake("po-average-probs", "The tokens are scored first, and of each class the largest score is taken.", "Pool the "
        "vectors first, then score once.", coding="largest "
        "scores", logits="self.head(h).masked_fill(~mask.unsqueeze(-1), "
        "-torch.inf).amax(1) if self.pool == 'max' else self.head(pooled)")
LOGITS = "Return what the head gives: cross-entropy does the softmax itself."
mistake("po-softmax-in-head", "You return probabilities, and not "
        "logits.", LOGITS, logits="self.head(pooled).softmax(-1)")
mistake("po-softmax-in-head", "You return logarithms of probabilities, and not logits.", LOGITS, coding="logarithms",
        logits="self.head(pooled).log_softmax(-1)")
mistake("po-softmax-in-head", "You return sigmoids, and not logits.", LOGITS, coding="sigmoid",
        logits="self.head(pooled).sigmoid()")
mistake("po-tanh", "There is a tanh in front of the head, as in BERT's pooler.", "Score the pooled vector as it is.",
        logits="self.head(pooled.tanh())")
mistake("po-tanh", "With \"cls\" there is a tanh in front of the head, as in BERT's pooler.", coding="cls",
        by_cls="h[:, 0].tanh()")
mistake("po-best-class", "The number of the best class is returned, and not the scores.", "Return the logits, (B, C).",
        logits="self.head(pooled).argmax(-1)")
mistake("po-no-head", "The pooled vector is returned, (B, D): nothing scores the classes.", "Return "
        "`self.head(pooled)`.",
        logits="pooled")
mistake("po-no-bias", "The head has no bias.", "Leave out `bias=False`.",
        head="nn.Linear(d_model, num_classes, bias=False)")
mistake("po-other-names", "The names in the state dict are not head.weight and head.bias, so the checks' numbers "
        "never get in.", "Call the nn.Linear `self.head`.",
        head="self.fc = nn.Linear(d_model, num_classes)\nself.__dict__['head'] = self.fc")
mistake("po-dropout", "There is dropout in front of the head: in training mode two calls differ.",
        "Take the dropout out: the exercise asks for none.", only=("in training mode",),
        logits="self.head(F.dropout(pooled, 0.5, self.training))")
text.common("po", "detached")

right("the head before the mean: both are linear", logits="(masked_mean_pool(h @ self.head.weight.T, mask) * "
      "mask.any(1, keepdim=True) + self.head.bias) if self.pool == 'mean' else self.head(pooled)")
right("a very negative fill", hide="h.masked_fill(padding, torch.finfo(h.dtype).min)")
right("torch.where", hide="torch.where(padding, -torch.inf, h)")
right("amax", by_max="tokens.amax(dim=1)")
right("the first by a slice", by_cls="h.select(1, 0)")
right("F.linear", logits="F.linear(pooled, self.head.weight, self.head.bias)")

# --- TokenClassifier
mistake, right = token.mistake, token.alternative
mistake("tl-first-token-for-all", "Every token gets the scores of the first one.", "Score `h` itself: nn.Linear works "
        "on its last axis.", token_logits="self.head(h[:, :1]).expand(-1, h.size(1), -1)")
mistake("tl-pooled", "The text is pooled, (B, C): every token has a label of its own.", "Score `h` itself.",
        token_logits="self.head(h.mean(1))")
mistake("tl-flattened-classes", "Places and classes are one axis, (B, T · C).", "Leave it at (B, T, C).",
        token_logits="self.head(h).flatten(1)")
mistake("tl-flattened-classes", "Texts and places are one axis, (B · T, C).", "Leave it at (B, T, C): the loss may "
        "flatten.",
        coding="texts", token_logits="self.head(h).flatten(0, 1)")
mistake("tl-classes-second", "The classes stand on axis 1, (B, C, T): cross-entropy likes that, the statement does "
        "not.",
        "Return (B, T, C); the loss may turn it.", token_logits="self.head(h).transpose(1, 2)")
mistake("tl-reshaped", "The classes are brought to the end by a reshape, which mixes tokens and classes.",
        "Return `self.head(h)`.", token_logits="self.head(h).transpose(1, 2).reshape(h.size(0), h.size(1), -1)")
mistake("tl-one-class-squeezed", "With one class the last axis is lost: (B, T).", "Leave out the squeeze: (B, T, C).",
        token_logits="self.head(h).squeeze(-1)")
mistake("po-softmax-in-head", "You return probabilities, and not "
        "logits.", LOGITS, token_logits="self.head(h).softmax(-1)")
mistake("po-softmax-in-head", "You return logarithms of probabilities, and not logits.", LOGITS, coding="logarithms",
        token_logits="self.head(h).log_softmax(-1)")
mistake("po-tanh", "There is a tanh behind the head.", LOGITS, token_logits="torch.tanh(self.head(h))")
mistake("po-tanh", "There is a tanh in front of the head.", "Score `h` as it is.", coding="in front",
        token_logits="self.head(torch.tanh(h))")
mistake("po-best-class", "The number of the best class is returned, and not the scores.", "Return the logits, (B, T, "
        "C).",
        token_logits="self.head(h).argmax(-1)")
mistake("tl-running-mean", "A token's scores hear of the tokens before it: each place is scored by itself.",
        "Score `h` itself.", token_logits="self.head(h.cumsum(1))")
mistake("po-no-bias", "The head has no bias.", "Leave out `bias=False`.",
        token_head="nn.Linear(d_model, num_classes, bias=False)")
mistake("po-other-names", "The names in the state dict are not head.weight and head.bias, so the checks' numbers "
        "never get in.", "Call the nn.Linear `self.head`.",
        token_head="self.fc = nn.Linear(d_model, num_classes)\nself.__dict__['head'] = self.fc")
mistake("po-dropout", "There is dropout in front of the head: in training mode two calls differ.",
        "Take the dropout out: the exercise asks for none.", only=("in training mode",),
        token_logits="self.head(F.dropout(h, 0.5, self.training))")
token.common("po", "detached")

right("F.linear", token_logits="F.linear(h, self.head.weight, self.head.bias)")
right("flat and back", token_logits="self.head(h.flatten(0, 1)).unflatten(0, h.shape[:2])")
right("einsum", token_logits="torch.einsum('btd,cd->btc', h, self.head.weight) + self.head.bias")
right("place by place", token_logits="torch.stack([self.head(h[:, t]) for t in range(h.size(1))], dim=1)")
# fmt: on
