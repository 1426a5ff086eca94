"""What people write in `induction` in place of the reference's lines; and other right ways to write it."""

import torch
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import LearnerError, MistakeSet, as_buffers, is_portable  # noqa: F401  lines below use it

runs = MistakeSet("repeat_runs", globals())
model = MistakeSet("AttentionOnly", globals(), without=("names", "parameters"))
loop = MistakeSet("fit", globals(), checks=())
previous = MistakeSet("previous_token_score", globals())
induction = MistakeSet("induction_score", globals())
report = MistakeSet("head_report", globals(), without=("reading",))
MISTAKE_SETS = [runs, model, loop, previous, induction, report]

TOKENS = torch.tensor([[5, 6, 7, 8, 9], [1, 2, 3, 4, 5]])
MAP = torch.tensor([[0.7, 0.1, 0.1, 0.1], [0.4, 0.3, 0.2, 0.1], [0.1, 0.6, 0.2, 0.1], [0.2, 0.0, 0.5, 0.3]])
runs.example(TOKENS, torch.tensor([2, 3]))
runs.example(TOKENS[:1], torch.tensor([4]))
for each, *given in ((runs, TOKENS, torch.tensor([2, 3])), (previous, MAP), (induction, MAP, 2)):
    each.ask("on another device", *given, by=is_portable, aside=True)
previous.example(MAP)
previous.example(torch.stack((MAP, MAP.flip(0))))
induction.example(MAP, 3)
induction.example(MAP, 2)
induction.example(torch.stack((MAP, MAP.flip(0))), 2)


@model.probe("the names")
def _(subject, rand):
    try:
        made = subject.AttentionOnly(5, 4, 6, 2, 1)
        state, trained = made.state()["state"], made.state()["parameters"]
    except LearnerError as error:
        if error.kind != "raised":
            raise
        return error.type_name
    return [sorted(name.split(".")[0] + name[-5:] for name in names) for names in (state, trained)]


def what_it_trains(*shape, middle=(), **more):
    """What `fit` reports for a small model, and what becomes of that and of the texts."""

    def run(subject, rand):
        layers = [["embedding", 12, 4], *middle, ["linear", 4, 12]]
        names = "layers.0.weight", f"layers.{1 + len(middle)}.weight", f"layers.{1 + len(middle)}.bias"
        state = dict(zip(names, (rand(12, 4), rand(12, 4), rand(12)), strict=True))
        texts, made = rand.integers(0, 12, *shape), subject.make_model(layers, state, heads=(2, 3), **more)
        subject.events()
        try:
            after = subject.fit.observe(made, texts, 0.05, subject.make_report(len(texts))).args[1]
        except LearnerError as error:
            if error.kind != "raised":
                raise
            return error.type_name
        losses = [event[1] for event in subject.events() if event[0] == "report"]
        left = made.state()
        parameters = "another shape"
        if all(part.shape == state[name].shape for name, part in left["state"].items()):
            parameters = [part.tolist() for part in left["state"].values()]
        if all(torch.equal(part, state[name]) for name, part in left["state"].items()):
            parameters = "no gradient" if all(grad is None for grad in left["grads"].values()) else "no step"
        return {"losses": losses, "parameters": parameters, "texts": torch.equal(after, texts)}

    return run


for title, asked in {
    "one batch": what_it_trains(1, 3, 5),
    "batches": what_it_trains(4, 3, 5),
    "a model in eval mode": what_it_trains(2, 3, 5, middle=[["dropout", 1.0]], training=False),
}.items():
    loop.probe(title)(asked)


# fmt: off
# --- texts
mistake, right = runs.mistake, runs.alternative
OWN = "Row b has the period periods[b]: `steps % periods.unsqueeze(1)`."
mistake("in-fixed-period-data", "All rows repeat with the period of the first one: then the place alone tells where "
        "the answer stands, and no head has to look for it.", OWN, sources="(steps % periods[0]).expand_as(tokens)")
mistake("in-fixed-period-data", "All rows repeat with the smallest period.", OWN, coding="the smallest",
        sources="(steps % periods.min()).expand_as(tokens)")
mistake("in-not-repeated", "The tokens are returned as they are: nothing repeats.", "Take token t % period at place t.",
        repeated="tokens.clone()")
mistake("in-period-too-long", "Each row repeats after one token too many.", "ids[b, t] = tokens[b, t % periods[b]].",
        sources="steps % (periods.unsqueeze(1) + 1)")
mistake("in-one-copy-more", "Each row repeats one token too early.", "ids[b, t] = tokens[b, t % periods[b]].",
        sources="steps % (periods.unsqueeze(1) - 1).clamp(min=1)")
mistake("in-run-each-token", "Each token is repeated, and not the run: a a a b b b.", "Take the remainder t % period, "
        "not the quotient.", sources="steps // periods.unsqueeze(1)")
mistake("in-last-run", "The end of the row is repeated, and not its beginning.", "ids[b, t] = tokens[b, t % p].",
        sources="tokens.size(1) - periods.unsqueeze(1) + steps % periods.unsqueeze(1)")
mistake("in-mirrored", "The second copy runs backwards.", "Begin again at token 0.",
        sources="torch.where(steps // periods.unsqueeze(1) % 2 == 0, steps % periods.unsqueeze(1), "
                "periods.unsqueeze(1) - 1 - steps % periods.unsqueeze(1))")
mistake("in-no-third-copy", "Behind the second copy the row goes on as it was.", "Take t % p at every place.",
        sources="torch.where(steps < 2 * periods.unsqueeze(1), steps % periods.unsqueeze(1), steps)")
runs.common("in", "in_place", "device")

right("row by row", version="torch.stack([row[torch.arange(len(row), device=row.device) % p] for row, p in "
      "zip(tokens, periods)])")
right("copies, cut off", version="torch.stack([row[:p].repeat(len(row))[:len(row)] for row, p in "
      "zip(tokens, periods.tolist())])")
right("rows and columns as indices", repeated="tokens[torch.arange(len(tokens)).unsqueeze(1), sources]")
right("take_along_dim", repeated="tokens.take_along_dim(sources, 1)")
right("steps less whole copies", sources="steps - steps // periods.unsqueeze(1) * periods.unsqueeze(1)")

# --- the model
mistake, alone, right = model.mistake, model.alone, model.alternative
NAMED = ("the names",)
mistake("gp-positions-missing", "No positions are added: no head can tell which token is the one before.",
        "Add the first T rows of `pos`.", embed="self.tok(ids)")
alone("lp-full-table", "The whole table of positions is added: an error for every text but the longest.",
      "Take the first T rows.", embed="self.tok(ids) + self.pos.weight")
mistake("gp-not-causal", "Nothing hides the future: each token sees the answer that it has to guess.",
        "Hide the keys after the query before the softmax.", hide="scores")
alone("cm-transposed", "The mask hides the past.", "Query t sees the keys 0 … t.",
      later="torch.ones_like(scores, dtype=torch.bool).tril(-1)")
alone("cm-no-self", "No token sees itself: the first one sees nothing, and its softmax is 0/0.",
      "Query t sees the keys 0 … t: `triu(1)` are those after it.", later="torch.ones_like(scores).triu(0).bool()")
alone("cm-one-future", "Each token sees one token too far.", "Query t sees the keys 0 … t: `triu(1)` are those after "
      "it.", later="torch.ones_like(scores, dtype=torch.bool).triu(2)")
mistake("at-no-scale", "The scores are not scaled.", "Divide them by √d_head.", score="q @ k.transpose(-2, -1)")
mistake("at-scale-d-model", "The scores are divided by √D.", "A head's queries are d_head = D/H wide.",
        score="q @ k.transpose(-2, -1) * x.size(-1) ** -0.5")
mistake("at-softmax-queries", "The softmax runs over the queries.", "Over the keys: `dim=-1`.",
        weigh="hidden.softmax(dim=-2).nan_to_num(0.0)")
mistake("in-no-residual", "A layer's output replaces the stream: what stood there is lost.", "x + attention(x).",
        add="layer['wo'](heads)")
mistake("in-layers-read-input", "Every layer reads the embeddings, and none what the one before it wrote: that is one "
        "layer with more heads.", "Give each layer the x that the one before it made.",
        embed="first = x = self.tok(ids) + self.pos.weight[: ids.size(1)]", attend="self.attend(layer, first)")
alone("bl-no-output-projection", "`wo` is not used.", "x + wo(heads).", add="x + heads")
alone("hd-merge-no-transpose", "Heads are merged without bringing tokens to the front: features of other tokens come "
      "in between.", "Transpose (B, H, T, d_head) to (B, T, H, d_head) first.",
      merge="heads.reshape(x.shape), weights")
alone("hd-split-view", "The heads are cut by a view that mixes tokens: (B, H, T, d_head) at once.",
      "Split the last axis, then transpose.", split="x.reshape(len(x), self.num_heads, x.size(1), -1)", forward="parts")
alone("in-scores-for-weights", "The scores are returned, and not the weights.", "Keep what the softmax gives.",
      merge="heads.transpose(1, 2).flatten(2), scores")
alone("in-batch-first", "The weights come text by text, and not layer by layer: (B, L, H, T, T).",
      "torch.stack(maps) has the layers in front.", both="logits, torch.stack(maps, dim=1)")
alone("in-last-layer-only", "Only the last layer's weights are returned.", "Keep those of every layer.",
      both="logits, weights.unsqueeze(0)")
alone("in-mean-over-heads", "The weights are the mean over the heads: which head looks where can no longer be seen.",
      "Keep the axis of the heads.", keep="maps.append(weights.mean(dim=1))")
alone("gp-softmax-out", "You return probabilities, and not logits.", "Leave the softmax out.",
      logits="self.out(x).softmax(-1)")
alone("in-weights-first", "You return (weights, logits).", "Return (logits, weights).",
      both="torch.stack(maps), logits")
alone("lp-buffer", "The positions are a buffer: no optimizer ever moves them.", "Make `pos` an nn.Embedding, or its "
      "weight an nn.Parameter.", only=NAMED, pos="as_buffers(nn.Embedding(max_len, d_model))")
alone("gp-ids-changed", "The caller's ids are changed.", "Make a new tensor.",
      embed="ids[:, 0] = 0\nx = self.tok(ids) + self.pos.weight[: ids.size(1)]")
model.common("in", "detached")

right("torch's attention beside its weights", read="F.scaled_dot_product_attention(q, k, v, is_causal=True)")
right("scaled queries", score="(q * q.size(-1) ** -0.5) @ k.transpose(-2, -1)")
right("comparing places", later="torch.arange(x.size(1), device=x.device) > "
      "torch.arange(x.size(1), device=x.device).unsqueeze(1)")
right("large negative scores", hide="scores.masked_fill(later, -1e9)")
right("torch's table for the places", embed="self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))")
right("by einsum", score="torch.einsum('bhid,bhjd->bhij', q, k) / q.size(-1) ** 0.5",
      read="torch.einsum('bhij,bhjd->bhid', weights, v)")

# --- the loop
mistake, right = loop.mistake, loop.alternative
NEXT = "The logits at place t say what comes at t + 1: `logits[:, :-1]` go with `ids[:, 1:]`."
ORDER = "Clear, backward, step: in this order, once for each batch."
EACH = "Take one step on each batch, in order."
for id, says, suggests, changes in (
    ("tr-target-is-input", "The logits are compared with the tokens that were just read: the model learns to repeat "
     "them, and no head has to look back.", NEXT, {"shift": "logits.flatten(0, 1), ids.flatten()"}),
    ("tr-double-shift", "The targets are two places ahead.", NEXT,
     {"shift": "logits[:, :-2].flatten(0, 1), ids[:, 2:].flatten()"}),
    ("tr-target-previous", "The shift goes the wrong way: the targets are the tokens before.", NEXT,
     {"shift": "logits[:, 1:].flatten(0, 1), ids[:, :-1].flatten()"}),
    ("tr-roll-within-row", "The last place of each text is asked for the text's first token.",
     "Leave out the last place: it has no next token.", {"shift": "logits.flatten(0, 1), ids.roll(-1, 1).flatten()"}),
    ("tr-last-token-only", "Only the last token of each text is in the loss.", "Take the mean over all places.",
     {"shift": "logits[:, -2], ids[:, -1]"}),
    ("tr-bad-reshape", "`reshape` to (B, V, T − 1) does not swap axes: each number lands in another place.",
     "Flatten both alike, or `transpose(1, 2)`.",
     {"loss": "F.cross_entropy(logits[:, :-1].reshape(len(ids), -1, ids.size(1) - 1), ids[:, 1:])"}),
    ("tr-softmax-before-ce", "cross_entropy gets probabilities: the softmax is taken twice.", "Give it the logits.",
     {"loss": "F.cross_entropy(flat.softmax(-1), right)"}),
    ("tr-reduction-sum", "The loss is a sum, and grows with the batch.", "Take the mean.",
     {"loss": "F.cross_entropy(flat, right, reduction='sum')"}),
    ("tr-no-zero-grad", "Gradients pile up: nobody clears those of earlier steps.", ORDER, {"clear": "pass"}),
    ("tr-zero-before-step", "The gradient is cleared between backward and step: nothing is left to step along.", ORDER,
     {"clear": "pass", "pull": "loss.backward(); optimizer.zero_grad()"}),
    ("tr-no-step", "No parameter moves.", "Call `optimizer.step()` after `backward`.", {"move": "pass"}),
    ("tr-step-twice", "Each gradient is used for two steps.", ORDER, {"move": "optimizer.step(); optimizer.step()"}),
    ("tr-ascent", "The step goes uphill.", "Call `backward` on the loss itself.", {"pull": "(-loss).backward()"}),
    ("tr-optimizer-recreated", "Each step has an optimizer of its own: AdamW forgets its means.",
     "Make it once, before the loop.", {"move": "torch.optim.AdamW(model.parameters(), lr=rate).step()"}),
    ("in-rate-ignored", "The rate is torch's own, 0.001, whatever `rate` is.", "`lr=rate`.",
     {"optimizer": "torch.optim.AdamW(model.parameters())"}),
    ("in-plain-sgd", "The steps are those of SGD.", "`torch.optim.AdamW(model.parameters(), lr=rate)`.",
     {"optimizer": "torch.optim.SGD(model.parameters(), lr=rate)"}),
    ("tr-eval-mode", "The model is trained in eval mode: dropout is off.", "Call `model.train()` first.",
     {"enter": "model.eval()"}),
    ("tr-first-batch-only", "Only the first batch is used.", EACH, {"batches": "texts[:1]"}),
    ("in-same-batch", "Every step is taken on the first batch: those texts are learned by heart.", EACH,
     {"batches": "[texts[0]] * len(texts)"}),
    ("tr-shuffled", "The batches are taken from the last to the first.", EACH, {"batches": "texts.flip(0)"}),
    ("tr-loss-after-step", "The loss that you report is measured after the step.", "Report the one before it.",
     {"tell": "report(F.cross_entropy(model(ids)[0][:, :-1].flatten(0, 1), right).item())"}),
    ("in-texts-changed", "The caller's texts are changed.", "Make a new tensor.",
     {"tell": "report(loss.item()); ids.zero_()"}),
):
    mistake(id, says, suggests, alone=True, **changes)

for coding, kept in (("all but the last", ":-1"), ("all but the first", "1:")):
    mistake("tr-target-is-input", coding=coding, alone=True,
            shift=f"logits[:, {kept}].flatten(0, 1), ids[:, {kept}].flatten()")

right("the classes second", loss="F.cross_entropy(logits[:, :-1].transpose(1, 2), ids[:, 1:])")
right("by hand", loss="-flat.log_softmax(-1).gather(-1, right[:, None]).mean()")
right("by numbers", batches="[texts[i] for i in range(len(texts))]")
right("cleared behind the step", clear="optimizer.zero_grad()", tell="optimizer.zero_grad(); report(loss.detach())")

# --- the score of the previous token
mistake, right = previous.mistake, previous.alternative
COLUMN = "Rows are queries: it is weights[..., i, i − 1]."
mistake("in-rows-as-columns", "You read what key i gets from the query before it: the map is transposed.", COLUMN,
        before="weights.diagonal(1, -2, -1)")
mistake("in-same-token", "You measure how much each token looks at itself.", COLUMN,
        before="weights.diagonal(0, -2, -1)[..., 1:]")
mistake("in-same-token", "You measure how much each token looks at itself, the first one too.", COLUMN,
        coding="all", before="weights.diagonal(0, -2, -1)")
mistake("in-off-by-one", "You measure the weight on the token two before.", COLUMN,
        before="F.pad(weights, (2, 0)).diagonal(0, -2, -1)[..., 1:]")
mistake("in-first-copy-included", "The sum is divided by T, but only T − 1 queries have a token before them.",
        "Take the mean over i = 1 … T − 1.", previous_mean="before.sum(dim=-1) / weights.size(-1)")
mistake("in-max-for-mean", "You give the largest weight, and not the mean.", "One sure query makes no head of that "
        "kind: take the mean.", previous_mean="before.amax(dim=-1)")
mistake("in-max-for-mean", "You give the median, and not the mean.", "Take the mean.", coding="median",
        previous_mean="before.quantile(0.5, dim=-1)")
mistake("in-sum-for-mean", "You give the sum of the weights, which grows with the text.", "Take the mean.",
        previous_mean="before.sum(dim=-1)")
mistake("in-mean-over-heads", "You give one number for all heads: a mean over what has to be told apart.",
        "Take the mean over the queries alone.", alone=True, previous_mean="before.mean()")
mistake("in-mean-over-heads", "The heads are averaged.", "Take the mean over the queries alone.", alone=True,
        coding="the last axis in front", previous_mean="before.mean(dim=-1) if before.ndim == 1 else "
        "before.mean(dim=-1).mean(dim=-1)")
mistake("in-row-share", "You count how often the token before gets the largest weight.",
        "Take the mean of the weights.",
        before="(weights.argmax(-1)[..., 1:] == torch.arange(weights.size(-1) - 1)).to(weights.dtype)")
previous.common("in", "float32", "in_place", "device")

right("indices", before="weights[..., torch.arange(1, weights.size(-1)), torch.arange(weights.size(-1) - 1)]")
right("cut, then the diagonal", before="weights[..., 1:, :-1].diagonal(dim1=-2, dim2=-1)")
right("an average", previous_mean="before.sum(dim=-1) / (weights.size(-1) - 1)")
right("a mask", previous_mean="(weights * torch.ones_like(weights).tril(-1).triu(-1)).sum((-2, -1)) / "
      "(weights.size(-1) - 1)")

# --- the induction score
mistake, right = induction.mistake, induction.alternative
AFTER = "Query i is counted with key i − period + 1, the token after the first copy."
mistake("in-same-token", "You measure the weight on the first copy itself, key i − period: what follows it is the "
        "answer.", AFTER, after="weights.diagonal(-period, -2, -1)")
mistake("in-off-by-one", "You measure one token too far, key i − period + 2.", AFTER,
        after="F.pad(weights, (0, 2)).diagonal(2 - period, -2, -1)[..., max(2, period) - max(0, period - 2):]")
mistake("in-off-by-one", "You measure the token before the first copy, key i − period − 1.", AFTER, coding="before",
        after="weights.diagonal(-1 - period, -2, -1)")
mistake("in-rows-as-columns", "You read what the first copy gives to the second: the map is transposed.",
        "Rows are queries: weights[..., i, i − period + 1].", after="weights.diagonal(period - 1, -2, -1)[..., 1:]")
mistake("in-first-copy-included", "Query period − 1 is counted: the last of the first copy, which has seen nothing "
        "twice.", "Begin at i = period.", after="weights.diagonal(1 - period, -2, -1)")
mistake("in-first-copy-included", "The sum is divided by T: queries of the first copy are counted as 0.",
        "Take the mean over i = period … T − 1.", coding="as zeros",
        induction_mean="after.sum(dim=-1) / weights.size(-1)")
mistake("in-period-fixed", "You take half of the text for the period, whatever `period` says.",
        "Use the argument.", take_period="max(2, weights.size(-1) // 2)")
mistake("in-second-copy-only", "Queries of a third copy are not counted.", "Count all from `period` to T − 1.",
        after="weights.diagonal(1 - period, -2, -1)[..., 1 : period + 1]")
mistake("in-max-for-mean", "You give the largest weight, and not the mean.", "Take the mean.",
        induction_mean="after.amax(dim=-1)")
mistake("in-max-for-mean", "You give the median, and not the mean.", "Take the mean.", coding="median",
        induction_mean="after.quantile(0.5, dim=-1)")
mistake("in-sum-for-mean", "You give the sum of the weights, which grows with the text.", "Take the mean.",
        induction_mean="after.sum(dim=-1)")
mistake("in-mean-over-heads", "You give one number for all heads: a mean over what has to be told apart.",
        "Take the mean over the queries alone.", alone=True, induction_mean="after.mean()")
mistake("in-mean-over-heads", "The heads are averaged.", "Take the mean over the queries alone.", alone=True,
        coding="the last axis in front", induction_mean="after.mean(dim=-1) if after.ndim == 1 else "
        "after.mean(dim=-1).mean(dim=-1)")
mistake("in-previous-for-induction", "You measure the token just before, whatever the period is.", AFTER,
        after="weights.diagonal(-1, -2, -1)[..., period - 1:]")
mistake("in-near-the-end", "The weights of both neighbours of the first copy are added.", AFTER, alone=True,
        after="weights.diagonal(1 - period, -2, -1)[..., 1:] + weights.diagonal(-period, -2, -1)")
induction.common("in", "float32", "in_place", "device")

right("indices", after="weights[..., torch.arange(period, weights.size(-1)), torch.arange(1, weights.size(-1) - period "
      "+ 1)]")
right("cut, then the diagonal", after="weights[..., period:, 1:].diagonal(dim1=-2, dim2=-1)")
right("an average", induction_mean="after.sum(dim=-1) / (weights.size(-1) - period)")
right("query by query", version="torch.stack([weights[..., i, i - period + 1] for i in "
      "range(period, weights.size(-1))]).mean(dim=0)")

# --- the report
mistake, right = report.mistake, report.alternative
SEARCH = "Try 2, 3, … until row[p:] equals row[:-p]."
mistake("in-period-fixed", "All texts are measured with the period of the first one.", "Find each row's own period.",
        measure="period = 2\nwhile not torch.equal(ids[0, period:], ids[0, :-period]): period += 1\n"
                "rows.append(induction_score(weights[:, number], period))")
mistake("in-period-fixed", "The period is taken for half of the text.", SEARCH, coding="half",
        begin="max(2, row.size(0) // 2)", until="False")
mistake("in-period-by-token", "The period is where the first token comes again: it may stand twice in a run.", SEARCH,
        until="row[period] != row[0]")
mistake("in-period-by-token", "The period is where the last token stood the time before: it may stand twice in a run.",
        coding="the last one", begin="period = len(row) - 1 - (row[:-2] == row[-1]).nonzero()[-1].item()",
        until="False")
mistake("in-period-too-long", "The period that you find is larger by one.", SEARCH,
        measure="rows.append(induction_score(weights[:, number], period + 1))")
mistake("in-max-for-mean", "You keep the best of all texts, and not the mean over them.", "Average over the batch.",
        induction="torch.stack(rows).amax(dim=0)",
        previous="previous_token_score(weights).amax(dim=1)")
mistake("in-mean-over-heads", "The heads are averaged, and the tables tell layers apart alone.",
        "Average over the batch: axis 1 of (L, B, H).", alone=True,
        previous="previous_token_score(weights).mean(dim=2)", induction="torch.stack(rows).mean(dim=2).T",
        heads="induction.size(1)")
mistake("in-first-text-only", "Only the first text counts.", "Average over the batch.",
        previous="previous_token_score(weights)[:, 0]", induction="rows[0]")
mistake("in-scores-exchanged", "The two tables have changed places.", "\"previous\" holds the previous-token scores.",
        found="{'previous': induction, 'induction': previous}")
mistake("in-heads-exchanged", "The two heads have changed places.", "\"previous_head\" is the largest of \"previous\".",
        report="found | {'previous_head': after, 'induction_head': before}")
mistake("in-head-first", "A head is given as (head, layer).", "Give (layer, head).",
        first_head="divmod(previous.argmax().item(), heads)[::-1]",
        second_head="divmod(induction.argmax().item(), heads)[::-1]")
mistake("in-heads-from-one", "Layers and heads are counted from 1.", "Count from 0.",
        first_head="tuple(n + 1 for n in divmod(previous.argmax().item(), heads))",
        second_head="tuple(n + 1 for n in divmod(induction.argmax().item(), heads))")
mistake("in-place-for-head", "The place in the flattened table is divided by the number of layers.",
        "divmod(place, H) gives layer and head.", heads="induction.size(0)")
mistake("in-last-layer-head", "The best head is looked for in the last layer alone.", "Look through all layers.",
        first_head="(len(previous) - 1, previous[-1].argmax().item())",
        second_head="(len(induction) - 1, induction[-1].argmax().item())")
mistake("in-ids-changed", "The caller's ids are changed.", "Make a new tensor.", alone=True,
        rows="enumerate(ids.add_(1))")
mistake("in-worst-head", "You name the head with the smallest score.", "Name the one with the largest.",
        first_head="divmod(previous.argmin().item(), heads)", second_head="divmod(induction.argmin().item(), heads)")

right("unravel_index", first_head="tuple(n.item() for n in torch.unravel_index(previous.argmax(), previous.shape))")
right("the period by a list", begin="next(p for p in range(2, len(row)) if row[p:].tolist() == row[:-p].tolist())",
      until="False")
right("text by text", previous="torch.stack([previous_token_score(each) for each in weights.unbind(1)]).mean(dim=0)")
right("a running sum", induction="sum(rows) / len(rows)")
right("a nested loop", second_head="max((induction[i, j].item(), (i, j)) for i in range(len(induction)) for j in "
      "range(heads))[1]")
# fmt: on
