"""What people write in next_token_probs and sample_token in place of the reference's lines, and other right ways."""

import torch
from torch.nn import functional as F  # noqa: F401, N812  wrong lines use it

from grader.api.checks import MistakeSet, is_array


def zeros_for_nan(value):
    """Where nothing is kept, 0/0 and 0 are one: some add a tiny number below."""
    return value.nan_to_num(0.0) if is_array(value) else value


probs = MistakeSet("next_token_probs", globals(), read=zeros_for_nan)
token = MistakeSet("sample_token", globals())
MISTAKE_SETS = [probs, token]

mistake, right = probs.mistake, probs.alternative

LOGITS = torch.tensor([[8.0, 4.0, 2.0, 1.0], [1.0, 2.0, 3.0, 30.0]]).log()
probs.example(LOGITS[:1])
probs.example(LOGITS[:1], temperature=2.0)
probs.example(LOGITS[:1], top_k=2)
probs.example(LOGITS, top_k=2)
probs.example(LOGITS[:1], top_p=0.6)
probs.example(LOGITS, top_p=0.6)
probs.example(LOGITS[1:], temperature=4.0, top_p=0.6)
probs.example(LOGITS[:1], top_k=3, top_p=0.55)
probs.example(LOGITS[:1], top_k=9)


def share(kept):
    """An expression that divides what is kept by its sum."""
    return f"(lambda kept: kept / kept.sum(dim=-1, keepdim=True))({kept})"


# fmt: off
# --- temperature
mistake("gn-temperature-multiplied", "You multiply the logits by the temperature: a high one makes the model surer, "
        "and not freer.", "Divide them by it.", scale="logits * temperature")
mistake("gn-temperature-on-probs", "You divide the probabilities by the temperature: they no longer sum to 1.",
        "Divide the logits, before the softmax.", scale="logits", normalise="torch.softmax(scaled, dim=-1) / "
        "temperature")
mistake("gn-temperature-on-probs", "You divide the probabilities by the temperature: they sum to 1 only where top_k or "
        "top_p mend it.", coding="top_k mends it", scale="logits",
        normalise="torch.softmax(scaled, dim=-1) / (temperature if top_k is None else 1)")
mistake("gn-temperature-ignored", "The temperature changes nothing: it is not used, or it divides probabilities that "
        "are "
        "made to sum to 1 again afterwards.", "Divide the logits by it, before the softmax.", scale="logits")
mistake("gn-temperature-last", "The temperature comes last: which tokens top_p keeps is decided without it.",
        "Divide the logits first, then cut.", scale="logits", give=share("probs ** (1 / temperature)"))
mistake("gn-temperature-bounded", "A low temperature is not taken as it is: you divide by 0.1 at least.",
        "Divide by the temperature, which is above 0.", scale="logits / max(temperature, 0.1)")
mistake("gn-temperature-squared", "You divide by the temperature twice.", "Divide the logits by it once.",
        scale="logits / temperature**2")

# --- softmax
mistake("gn-softmax-batch", "The softmax runs over the batch: the texts compete with each other, and not the tokens.",
        "Use `dim=-1`, the vocabulary.", normalise="torch.softmax(scaled, dim=0)")
LAST = "torch.softmax((logits / temperature).masked_fill(probs == 0, -torch.inf), dim={})"
mistake("gn-softmax-batch", "The last softmax runs over the batch: the texts compete with each other.",
        coding="the last",
        give=LAST.format(0))
mistake("gn-softmax-batch", "Both softmaxes run over the batch: the texts compete with each other.", coding="both",
        normalise="torch.softmax(scaled, dim=0)", give=LAST.format(0))
mistake("gn-overflow", "You take exp of the logits as they are: exp(1000) is inf, all of exp(−1000) is 0, and the "
        "quotient is NaN.", "Use `torch.softmax`, or subtract the largest logit of the row first: it cancels.",
        normalise=share("scaled.exp()"))
mistake("gn-global-max", "You subtract the largest logit of the whole batch: a row far below it underflows to 0/0.",
        "Subtract each row's own: `amax(dim=-1, keepdim=True)`.",
        normalise=share("(scaled - scaled.max()).exp()"))
mistake("gn-no-softmax", "You return logits: they may be negative, and do not sum to 1.",
        "Take the softmax of what is kept.", give="scaled")
mistake("gn-log-probs", "You return the logarithms of the probabilities.", "Return the probabilities themselves.",
        give="probs.log()")
mistake("gn-argmax", "You return a 1 for the likeliest token and 0 for all others: nothing is left to be drawn.",
        "Return the probabilities.", give="F.one_hot(probs.argmax(dim=-1), probs.size(-1)).to(probs.dtype)")

# --- top-k
TOP_K = "Keep those that are at least the k-th largest of their row."
mistake("gn-topk-plus-one", "top_k keeps k + 1 tokens.", TOP_K, count="min(top_k + 1, scaled.size(-1))")
mistake("gn-topk-minus-one", "top_k keeps k − 1 tokens: the k-th falls away, too.", TOP_K,
        cut="scaled.masked_fill(scaled <= least, -torch.inf)")
mistake("gn-topk-batch-threshold", "All rows get one bound, the least of all that is kept: rows with higher logits "
        "keep "
        "more than k tokens.", "Take the k-th largest of each row: (B, 1).",
        least="scaled.topk(count, dim=-1).values.min()")
mistake("gn-topk-batch-threshold", "All rows get the bound of the first row.", coding="of the first row",
        least="scaled.topk(count, dim=-1).values[0, -1]")
mistake("gn-topk-batch-threshold", "You take the k largest of the whole batch: some rows keep nothing.",
        coding="of the whole batch", least="scaled.flatten().topk(count).values[-1]")
mistake("gn-topk-batch-threshold", "You take the k largest of the whole batch, and the likeliest of each row: most "
        "rows keep fewer than k tokens.", coding="of the whole batch, and one each",
        count="min(top_k, scaled.numel())",
        least="scaled.flatten().topk(count).values[-1].minimum(scaled.amax(dim=-1, keepdim=True))")
mistake("gn-topk-ignored", "`top_k` is not used.", TOP_K, asked_k="False")
mistake("gn-topk-inverted", "top_k removes the likeliest tokens and keeps the others.", TOP_K,
        cut="scaled.masked_fill(scaled > least, -torch.inf)")
mistake("gn-topk-keeps-the-least", "You keep the k smallest logits.", TOP_K,
        least="scaled.topk(count, dim=-1, largest=False).values[:, -1:]",
        cut="scaled.masked_fill(scaled > least, -torch.inf)")
mistake("gn-topk-too-large", "A k larger than the vocabulary ends in an error.", "Take min(k, V).", count="top_k")

# --- what is removed
FILL = "A logit of 0 is as good as any, exp(0) = 1."
mistake("gn-fill-zero", f"You set removed logits to 0. {FILL}", "Set them to −∞, whose exponential is 0.",
        cut="scaled.masked_fill(scaled < least, 0.0)")
mistake("gn-fill-zero", f"For top_p you set removed logits to 0. {FILL}", coding="top_p",
        nucleus="ranked.where(before < top_p, 1.0)", restore="scaled.where(torch.zeros_like(probs).scatter(-1, order, "
        "(before < top_p).to(probs.dtype)) > 0, 0.0)", renormalise="torch.softmax(probs, dim=-1)")
mistake("gn-fill-zero", f"You set removed logits to 0. {FILL}", coding="both",
        cut="scaled.masked_fill(scaled < least, 0.0)", restore="scaled.where(torch.zeros_like(probs).scatter(-1, "
        "order, "
        "(before < top_p).to(probs.dtype)) > 0, 0.0)", renormalise="torch.softmax(probs, dim=-1)")
for low in ("-100.0", "-999.0", "-1000.0", "-1e4"):
    mistake("gn-fill-finite", "You set removed logits to a number that others can lie below: then the removed ones "
            "win.", "Set them to −∞, whose exponential is 0.", coding=low, alone=True,
            cut=f"scaled.masked_fill(scaled < least, {low})")
LEFT = "What is left sums to less than 1: it was set to 0 and not renormalised"
mistake("gn-no-renormalise", f"{LEFT}, after top_p.", "Divide by the sum of what is kept.", renormalise="probs")
mistake("gn-no-renormalise", f"{LEFT}, after top_k.", coding="top_k",
        normalise="torch.softmax(logits / temperature, dim=-1).where(scaled > -torch.inf, 0)")
mistake("gn-no-renormalise", f"{LEFT}, after top_k and after top_p.", coding="both", renormalise="probs",
        normalise="torch.softmax(logits / temperature, dim=-1).where(scaled > -torch.inf, 0)")
mistake("gn-no-renormalise", f"{LEFT}, after top_k.", coding="top_k, unless top_p is given",
        normalise="torch.softmax(logits / temperature, dim=-1).where(scaled > -torch.inf, 0)",
        sort="ranked, order = (probs / probs.sum(dim=-1, keepdim=True)).sort(dim=-1, descending=True)")
mistake("gn-softmax-twice", "After top_p you take the softmax of probabilities: removed tokens come back with exp(0) = "
        "1.",
        "Divide by the sum of what is kept.", renormalise="torch.softmax(probs, dim=-1)")

# --- top-p
TOP_P = "Sort downwards, add up, and keep a token if the likelier ones together are below p."
mistake("gn-topp-drops-crossing", "top_p drops the token with which the sum reaches p: less than p is kept, and "
        "nothing "
        "where one token has more.", TOP_P, before="ranked.cumsum(dim=-1)")
mistake("gn-topp-drops-crossing", "top_p drops the token with which the sum reaches p, unless it is the first.",
        coding="the first is kept", before="ranked.cumsum(dim=-1) * (torch.arange(ranked.size(-1)) > 0)")
mistake("gn-topp-one-more", "top_p keeps a token more than it needs to reach p.", TOP_P,
        before="ranked.cumsum(dim=-1) - ranked - F.pad(ranked, (1, 0))[:, :-1]")
mistake("gn-topp-each", "You compare each single probability with p, and not their sum.", TOP_P,
        nucleus="ranked.where(ranked >= top_p, 0)")
mistake("gn-topp-each", "You keep what has more than 1 − p by itself: p is compared with single probabilities.",
        coding="1 − p", nucleus="ranked.where(ranked > 1 - top_p, 0)")
mistake("gn-topp-each", "You keep what has more than 1 − p by itself, and the likeliest: p is compared with single "
        "probabilities.", coding="1 − p, and the likeliest",
        nucleus="ranked.where((ranked > 1 - top_p) | (ranked == ranked[:, :1]), 0)")
mistake("gn-topp-each", "You keep what has at least p times the largest probability: that is min-p, another method.",
        coding="min-p", nucleus="ranked.where(ranked >= top_p * ranked[:, :1], 0)")
mistake("gn-topp-unsorted", "You add the probabilities up in the order of the vocabulary, not the likeliest first.",
        TOP_P,
        sort="probs, torch.arange(probs.size(-1)).expand_as(probs)")
mistake("gn-topp-unsorted", "You sort upwards: the sum begins with the unlikeliest tokens.", coding="upwards",
        sort="probs.sort(dim=-1)")
mistake("gn-topp-not-unsorted", "You return the probabilities in sorted order: they belong to other tokens.",
        "Bring them back: `scatter(-1, order, kept)`.", restore="nucleus")
mistake("gn-topp-not-unsorted", "You bring the order back by `gather` with the order itself, which sorts once more.",
        "Use `scatter(-1, order, kept)`, or gather with `order.argsort(-1)`.", coding="gather",
        restore="nucleus.gather(-1, order)")
mistake("gn-topp-not-unsorted", "What top_p removes is known in sorted order, and removed from the tokens in their "
        "own: "
        "others lose their probability.", "Bring it back first: `scatter(-1, order, ...)`.", coding="of what is "
        "removed",
        restore="probs.where(before < top_p, 0)")
mistake("gn-topp-not-unsorted", "What top_p removes is brought back by `gather` with the order itself, which sorts "
        "once "
        "more.", "Use `scatter(-1, order, ...)`, or gather with `order.argsort(-1)`.", coding="gather what is removed",
        restore="probs.where((before < top_p).gather(-1, order), 0)")
mistake("gn-topp-batch-order", "All rows are cut by the first row's order and sums.", TOP_P,
        sort="probs[:, probs[0].argsort(descending=True)], probs[0].argsort(descending=True).expand_as(probs)",
        before="(ranked.cumsum(dim=-1) - ranked)[:1]")
mistake("gn-topp-batch-order", "All rows are brought back by the first row's order: what is kept goes to other tokens.",
        "Each row has an order of its own.", coding="the way back",
        restore="torch.zeros_like(probs).scatter(-1, order[:1].expand_as(order), nucleus)")
mistake("gn-topp-ignored", "`top_p` is not used.", TOP_P, asked_p="False")
mistake("gn-topp-before-topk", "top_p is taken of the probabilities before top_k: what top_k left is not renormalised "
        "first, and p keeps more of it.", "First top_k, then the softmax of what is left, then top_p.",
        asked_k="(full := scaled) is not None and top_k is not None",
        before="(lambda all: all.cumsum(dim=-1) - all)(torch.softmax(full, dim=-1)"
               ".sort(dim=-1, descending=True).values)")
mistake("gn-topp-inverted", "top_p keeps what comes after the sum has reached p.", TOP_P,
        nucleus="ranked.where(before >= top_p, 0)")

mistake("gn-in-place", "You change the caller's logits (`logits /= temperature`).",
        "Make new ones: `logits / temperature`.",
        scale="logits.div_(temperature)")
mistake("gn-in-place", "You write −∞ into the caller's logits.", "Make new ones: `masked_fill`, without the `_` at its "
        "end.",
        coding="−∞", cut="scaled = logits.masked_fill_(scaled < least, -torch.inf) / temperature")
mistake("gn-in-place", "You write −∞ into the caller's logits where no temperature makes new ones.",
        coding="−∞ at temperature 1", scale="logits / temperature if temperature != 1.0 else logits",
        cut="scaled.masked_fill_(scaled < least, -torch.inf)")
probs.common("gn", "float32", "first_only", "batch_of_one")

# --- just as right
right("the ids that topk gives", cut="torch.full_like(scaled, -torch.inf).scatter(-1, scaled.topk(count).indices, "
      "scaled.topk(count).values)")
right("kthvalue", least="scaled.kthvalue(scaled.size(-1) - count + 1, dim=-1, keepdim=True).values")
right("the smallest that is kept as a bound", restore="probs.where(probs >= nucleus.where(nucleus > 0, 2.0)"
      ".amin(dim=-1, keepdim=True), 0)")
right("gather with the order of the order", restore="nucleus.gather(-1, order.argsort(dim=-1))")
right("−∞ and a second softmax", give=LAST.format(-1))
right("what logsumexp leaves", normalise="(scaled - scaled.logsumexp(dim=-1, keepdim=True)).exp()")
right("a power of what is likeliest", scale="(logits - logits.amax(-1, keepdim=True)).double()",
      give="probs.to(logits.dtype)",
      normalise=share("torch.softmax(scaled, dim=-1) ** (1 / temperature)"))


def row_by_row(logits, temperature=1.0, top_k=None, top_p=None):
    found = torch.zeros_like(logits)
    for place, row in enumerate(logits / temperature):
        ids = sorted(range(len(row)), key=lambda i: -row[i].item())[:top_k]
        kept = row[ids].softmax(dim=0)
        count, total = 0, 0.0
        while count < len(ids) and (top_p is None or total < top_p):
            total += kept[count].item()
            count += 1
        found[place, ids[:count]] = kept[:count] / kept[:count].sum()
    return found


right("row by row", version=row_by_row)

# --- sample_token
mistake, right = token.mistake, token.alternative
token.example(torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([0.6]))
token.example(torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([0.5]))
token.example(torch.tensor([[0.0, 0.25, 0.75]]), torch.tensor([0.0]))
token.example(torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]), torch.tensor([0.1, 0.9]))
token.example(torch.tensor([[0.1, 0.2, 0.4, 0.3]]), torch.tensor([0.35]))

FIRST = "The first id whose sum so far exceeds u: count the sums that are ≤ u."
mistake("gn-u-off-by-one", "Where a sum equals u you stop at its token: with u = 0 a token of probability 0 is chosen.",
        f"{FIRST} (`searchsorted(..., right=True)`.)", passed="sums < u.unsqueeze(-1)")
mistake("gn-argmax", "You choose the likeliest token, whatever u is.", FIRST, ids="probs.argmax(dim=-1)")
mistake("gn-u-from-the-end", "You measure u from the other end: 1 − u.", FIRST, passed="sums < 1 - u.unsqueeze(-1)")
mistake("gn-u-against-probs", "You compare u with single probabilities, and not with their sum so far.", FIRST,
        sums="probs")
mistake("gn-u-against-probs", "You take the first token whose own probability exceeds u.", coding="the first",
        passed="probs <= u.unsqueeze(-1)", ids="passed.long().cumprod(dim=-1).sum(dim=-1)")
mistake("gn-u-nearest", "You choose the token whose sum is nearest to u.", FIRST,
        ids="(sums - u.unsqueeze(-1)).abs().argmin(dim=-1)")
mistake("gn-u-by-rank", "You add up the likeliest first and return the rank: that is the place in another order.",
        "Add up in the order of the vocabulary, unsorted.", sums="probs.sort(dim=-1, "
        "descending=True).values.cumsum(dim=-1)")
mistake("gn-u-by-rank", "You add up the likeliest first: the chances are right, and the token is not the one that the "
        "statement says.", coding="brought back", sums="probs.sort(dim=-1, descending=True).values.cumsum(dim=-1)",
        ids="probs.argsort(dim=-1, descending=True).gather(-1, passed.sum(dim=-1, keepdim=True)).squeeze(-1)")
mistake("gn-u-first-row", "All rows use the first row's u.", "Give each row its own: u.unsqueeze(-1) is (B, 1).",
        passed="sums <= u[0]")
mistake("gn-u-no-axis", "u has no axis for the vocabulary: the comparison fails, or, with as many rows as tokens, "
        "compares each column with its own u.", "u.unsqueeze(-1) is (B, 1).", passed="sums <= u")
mistake("gn-sums-over-batch", "You add up over the batch.", "Use `cumsum(dim=-1)`.", sums="probs.cumsum(dim=0)")
mistake("gn-one-before", "You return the last token whose sum does not exceed u: one before the right one.", FIRST,
        ids="(passed.sum(dim=-1) - 1).clamp(min=0)")
mistake("gn-one-before", "You return the last token whose sum does not exceed u, and −1 where there is none.",
        coding="from −1 on", ids="passed.sum(dim=-1) - 1")
mistake("gn-uniform", "You choose u · V, rounded down: all tokens are equally likely, whatever `probs` says.", FIRST,
        ids="(u * probs.size(-1)).long()")
mistake("gn-gives-probability", "You return the chosen token's probability, and not its id.", "Return the id.",
        alone=True,
        clamp="probs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)")

right("searchsorted", ids="torch.searchsorted(sums, u.unsqueeze(-1), right=True).squeeze(-1)")
right("argmax of what exceeds u", ids="(sums > u.unsqueeze(-1)).long().argmax(dim=-1)")
right("nonzero, the first", ids="torch.stack([(row > limit).nonzero()[0, 0] for row, limit in zip(sums, u)])")
right("from the end", ids="probs.size(-1) - (sums > u.unsqueeze(-1)).sum(dim=-1)")


def one_by_one(probs, u):
    ids = []
    for row, rest in zip(probs.tolist(), u.tolist(), strict=True):
        chosen = 0
        while chosen + 1 < len(row) and rest >= row[chosen]:
            rest -= row[chosen]
            chosen += 1
        ids.append(chosen)
    return torch.tensor(ids, device=probs.device)


right("one by one", version=one_by_one)
# fmt: on
