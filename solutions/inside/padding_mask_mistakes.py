"""What people write in `padding_mask` and `causal_padding_mask` in place of the reference's lines."""

import numpy as np  # noqa: F401  expressions below use it
import torch

from grader.api.checks import MistakeSet

LARGE = 1000.0  # an additive mask blocks with minus infinity or with minus some such number; all are one form
AFTER = ("meaning", "write", "frame", "result")  # what is done to the mask, one after the other


def read(value):
    """What was returned, so that one form is one observation: 0 and 1 of any dtype, what an additive mask allows."""
    if not isinstance(value, torch.Tensor) or value.dtype == torch.bool:
        return value
    value = value.float()
    if ((value == 0) | (value == 1)).all():
        return {"form": "numbers", "allows": value == 1}
    if ((value == 0) | (value < -LARGE)).all():
        return {"form": "additive", "allows": value == 0}
    return value


padding = MistakeSet("padding_mask", globals(), after=AFTER, read=read)
causal = MistakeSet("causal_padding_mask", globals(), after=AFTER, read=read)
MISTAKE_SETS = [padding, causal]

for lengths, places in (([2, 3], 4), ([1, 2], 2), ([2, 2], 2), ([2], 3), ([1, 1], 3), ([1], 1)):
    padding.example(torch.tensor(lengths), places)
    causal.example(torch.tensor(lengths), places)

# fmt: off
# --- which keys are tokens: the same in both
for each, real, places in ((padding, "real", "places"), (causal, "tokens", "columns")):
    mistake = each.mistake
    mistake("pm-off-by-one", "One place too many is taken for a token: key j = lengths[b] is padding already, for "
            "places count from 0.", "Compare with `<`.", **{real: "places <= lengths.unsqueeze(1)"})
    mistake("pm-last-token", "The last token of every text is hidden; of a text of length 1 nothing is left, and its "
            "softmax is 0/0.", "Compare with `< lengths`: lengths[b] places from 0 on are tokens.",
            **{real: "places < lengths.unsqueeze(1) - 1"})
    mistake("pm-last-token", "The last token of every text is hidden.", coding="but of one token",
            **{real: "places < (lengths - 1).clamp(min=1).unsqueeze(1)"})
    mistake("pm-left", "The mask has the padding on the left: it hides the first places and shows the last ones.",
            "The tokens are places 0 to lengths[b] − 1: compare the place itself with the length.",
            **{real: "places >= max_len - lengths.unsqueeze(1)"})
    mistake("pm-first-row-for-all", "Every text gets the mask of the first one.",
            "Compare with `lengths[:, None]`: every row has its own length.",
            **{real: "(places < lengths[0]).expand(len(lengths), -1)"})
    for what, code in (("longest", "lengths.max()"), ("shortest", "lengths.min()")):
        mistake("pm-one-length", f"Every text gets the mask of the {what} one.",
                "Compare with `lengths[:, None]`: every row has its own length.", coding=what,
                **{real: f"(places < {code}).expand(len(lengths), -1)"})
    mistake("pm-max-of-batch", "The mask ends with the longest text of the batch, and not at max_len: it does not fit "
            "scores of max_len keys.", "Let the places run up to max_len.",
            **{places: "torch.arange(int(lengths.max()), device=lengths.device)"})
    mistake("pm-no-column", "The lengths lie along the axis of the places (`arange(S) < lengths`): an error on most "
            "sizes, and where there are as many texts as places each place is compared with another text's length.",
            "Make a column of them: `lengths[:, None]`.",
            **{real: "(places < lengths).expand(len(lengths), -1)"})
    mistake("pm-only-last", "One place of each text is True, the one of its last token.",
            "Let all places before the length be True: `<`, where now it is `==`.",
            **{real: "places == lengths.unsqueeze(1) - 1"})
    mistake("pm-inverted", "Your mask is inverted: it says what is hidden, while here True = may attend.",
            "Turn it around with `~`, so that True = may attend.", meaning="~value")
    mistake("pm-float", "Your mask holds the numbers 0 and 1, not False and True: torch's attention would add these to "
            "the scores, and `~` does not work on them.",
            "Return a bool tensor: a comparison is one; else `.bool()` at the end.", write="value.float()")
    mistake("pm-float", coding="whole numbers", write="value.long()")
    mistake("pm-additive", "This is the additive form: 0 where a query may attend, and minus infinity (or a huge "
            "negative number) where it may not. The mask of this course is Boolean.",
            "Return `mask == 0`, which is True exactly where the additive form allows.",
            write="torch.zeros(value.shape).masked_fill(~value, -torch.inf)")

# --- padding_mask
mistake, right = padding.mistake, padding.alternative
mistake("pm-inverted", coding="comparison", real="places >= lengths.unsqueeze(1)")
HEADS = "the batch then meets the axis of the heads: an error on most sizes, and silently wrong on others."
FOUR = "Put in the axes of heads and queries: `[:, None, None, :]`."
mistake("pm-shape", f"Your mask has the shape (B, S): in scores (B, H, T, S) it lies along queries and keys; {HEADS}",
        FOUR, frame="value[:, 0, 0]")
mistake("pm-shape", f"Your mask has the shape (B, 1, S): {HEADS}", FOUR, coding="(B, 1, S)", frame="value[:, 0]")
mistake("pm-shape", f"Your mask has the shape (1, 1, B, S), or (1, B, 1, S): {HEADS}", FOUR, coding="(1, 1, B, S)",
        frame="value[:, 0, 0][None, None]")
mistake("pm-shape", coding="(1, B, 1, S)", frame="value[:, 0][None]")
mistake("pm-expanded", "Your mask is repeated for each query: (B, 1, S, S). The number of queries is not known here; "
        "in cross-attention it is another one.", "Leave size 1: it broadcasts over any number of queries.",
        frame="value.expand(-1, 1, value.size(-1), -1)")
mistake("pm-query-axis", "The mask lies along the queries, (B, 1, S, 1): padded queries lose all keys, and padded keys "
        "are read by everybody.", "Put it on the last axis, the keys: `[:, None, None, :]`.",
        give="real[:, None, :, None]")
mistake("pm-both-axes", "Padded queries are hidden as well as padded keys: such a row has no key left, and its softmax "
        "is 0/0 = NaN.", "Hide keys only: what a padded query says nobody reads.",
        give="real[:, None, None, :] & real[:, None, :, None]")
mistake("pm-causal-here", "The future is hidden as well: that is the other function. An encoder reads both ways.",
        "Hide padding alone.", give="real[:, None, None, :] & (places <= places.unsqueeze(1))")

right("places as a row of their own", real="torch.arange(max_len, device=lengths.device)[None] < lengths[:, None]")
right("reshaped", give="real.view(len(lengths), 1, 1, max_len)")
right("the lengths reshaped", version="torch.arange(max_len, device=lengths.device) < lengths.view(-1, 1, 1, 1)")
right("unsqueezed twice", give="real.unsqueeze(1).unsqueeze(2)")
right("not padding", real="~(places >= lengths.unsqueeze(1))")
right("lists", version="torch.tensor([[[[j < n for j in range(max_len)]]] for n in lengths.tolist()])")
right("running sums",
      real="torch.ones(len(lengths), max_len, device=lengths.device).cumsum(dim=1) <= lengths.unsqueeze(1)")
right("rows of a triangle", version="torch.ones(max_len, max_len).tril().bool()[lengths - 1][:, None, None]")
right("text by text", version="torch.stack([torch.arange(max_len) < n for n in lengths.tolist()])[:, None, None, :]")

# --- causal_padding_mask
mistake, right = causal.mistake, causal.alternative
EMPTY = "such a row has no key left, and its softmax is 0/0 = NaN."
mistake("pm-inverted", "The padding is inverted: only padding may be seen.", "Let keys be True where a token is.",
        coding="padding", keys="~real[:, None, None, :]")
mistake("pm-replaces-causal", "Only the padding is hidden, and every query sees its future.",
        "Combine the two: `causal & keys`.", both="keys.expand(-1, 1, len(places), -1)")
mistake("pm-replaces-causal", "Only the padding is hidden, and every query sees its future.",
        "Combine the two: `causal & keys`.", coding="(B, 1, 1, T)", both="keys")
mistake("pm-causal-only", "Only the future is hidden: padded queries read padding.",
        "Combine the two: `causal & keys`.", both="causal.expand(len(lengths), 1, -1, -1)")
mistake("pm-or", "The two are combined by `|`: a key is seen if it is past *or* a token, so a future token is seen.",
        "Both must allow it: `&`.", both="causal | keys")
mistake("pm-xor", "The two are combined by `^`: what both allow is hidden.", "Both must allow it: `&`.",
        both="causal ^ keys")
mistake("pm-both-axes", f"Padded queries are hidden, with or without the padded keys: {EMPTY}",
        "Hide keys only: what a padded query says nobody reads.",
        keys="real[:, None, None, :] & real[:, None, :, None]")
mistake("pm-padding-sees", "Padded queries are let see themselves: padding is read.",
        "Leave it at `causal & keys`: key 0 is a token of every text, so no row is empty.",
        both="causal & keys | torch.eye(len(places), dtype=torch.bool)")
mistake("pm-padding-sees", "Padded queries are let see everything: padding is read.",
        coding="all", both="causal & keys | ~real[:, None, :, None]")
mistake("cm-transposed", "The causal part is transposed: it hides the past and shows the future.",
        "Keep the triangle on and below the diagonal (`tril`).", causal="places >= places.unsqueeze(1)")
mistake("cm-no-self", "The diagonal is False: no token may attend to itself, and query 0 has no key at all.",
        "Include the diagonal: `<=`.", causal="places < places.unsqueeze(1)")
mistake("cm-one-future", "Each token sees one token too far: the very one that it must guess.",
        "Stop at the main diagonal: query i sees keys 0 to i.", causal="places <= places.unsqueeze(1) + 1")
mistake("cm-inverted", "The causal part is inverted: the past is hidden.", "True = may attend: keys up to the query.",
        causal="places > places.unsqueeze(1)")
mistake("pm-shape", "Your mask has the shape (B, T, T): in scores (B, H, T, T) the batch then meets the axis of the "
        "heads.", "Keep an axis of size 1 for the heads: (B, 1, T, T).", frame="value[:, 0]")
mistake("pm-shape", "Your mask has the shape (1, B, T, T): the batch then meets the axis of the heads.",
        "The batch comes first, then the axis of the heads: (B, 1, T, T).", coding="(1, B, T, T)",
        frame="value.transpose(0, 1)")

right("tril of ones", causal="torch.ones(max_len, max_len, dtype=torch.bool, device=lengths.device).tril()")
right("the smaller of two limits", both="places < torch.minimum(places[:, None] + 1, lengths[:, None, None, None])")
right("logical_and", both="torch.logical_and(causal, keys)")
right("a product of bools", both="causal * keys")
right("expanded first", keys="real[:, None, None, :].expand(-1, 1, max_len, -1)")
right("columns struck out", both="causal.expand(len(lengths), 1, -1, -1).masked_fill(~keys, False)")
right("torch.where", both="torch.where(keys, causal, False)")
right("lists", version="torch.tensor([[[[j <= i and j < n for j in range(max_len)] for i in range(max_len)]] "
      "for n in lengths.tolist()])")
right("tril of the padding mask", both="keys.expand(-1, 1, max_len, -1).tril()")
# fmt: on
