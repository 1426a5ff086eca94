"""What people write in place of the reference's lines in cached_attention and generate_cached; other right ways."""

import copy  # noqa: F401  of a mistake below

import torch
import torch.nn.functional as F  # noqa: N812  the field's name for it

from grader.api.checks import LearnerError, MistakeSet


def read(value):
    """The outputs and the cache, which may be a tuple or a list."""
    if isinstance(value, tuple | list) and len(value) == 2 and isinstance(value[1], list):
        return value[0], tuple(value[1])
    return value


# half precision is rounded as each processor does, as that check allows
attention = MistakeSet("cached_attention", globals(), read=read, tolerances={"dtype_and_device": 0.02})
# what a log tells depends on what was asked before: a probe below begins with an empty one
writing = MistakeSet("generate_cached", globals(), without=("reads_once", "text_shape", "other_text_sizes"))
MISTAKE_SETS = [attention, writing]
mistake, right = attention.mistake, attention.alternative

V, D = 17, 6
ONE = torch.tensor([[[[1.0, 0.0]]]])
TWO = torch.tensor([[[[0.0, 0.0], [2.0, 4.0]]]])
attention.example(TWO, TWO, TWO)
attention.example(ONE, ONE, ONE, (TWO, TWO))
attention.example(TWO, TWO, TWO, (ONE, ONE))


@writing.probe("what the model reads", stage="in what the model reads")
def _(subject, rand):
    subject.events()
    state = {"layers.0.weight": rand(V, D), "layers.2.weight": rand(V, D), "layers.2.bias": rand(V)}
    model = subject.make_model([["embedding", V, D], ["fading_sum"], ["linear", D, V]], state, cached=True)
    try:
        subject.generate_cached(model, rand.integers(0, V, 3, 4), 4, subject.make_model([["argmax"]]))
    except LearnerError as error:
        if error.kind != "raised":
            raise
    return [[shape, recorded] for name, _, shape, recorded in subject.events() if name == "forward"]


# fmt: off
mistake("kv-global-max", "Your softmax subtracts the maximum of the whole tensor: a row far below it becomes 0/0, NaN.",
        "Subtract each row's own maximum: `amax(-1, keepdim=True)`.", weigh="""
powers = (scores - scores.max()).exp()
weights = powers / powers.sum(-1, keepdim=True)""")

# --- the mask
CORNER = "Let the last new token see all keys: `ones(T, S).tril(S - T)`."
mistake("kv-mask-top-left", "The triangle stands at the top left: new token i sees the first i + 1 keys of all, the "
        "oldest, "
        "and not itself.", CORNER, mask="visible.tril()")
mistake("kv-mask-top-left", "Your attention is causal from the top left (`is_causal=True`): new tokens see the oldest "
        "keys, "
        "and not themselves.", CORNER, coding="is_causal",
        blend="F.scaled_dot_product_attention(q, k, v, is_causal=True)")
mistake("kv-no-mask-in-chunk", "There is no mask: the tokens of a chunk see those behind them. One token at a time "
        "hides it.",
        CORNER, mask="visible")
mistake("kv-no-mask-in-chunk", "With a cache there is no mask: the tokens of a chunk see those behind them. One token "
        "at a "
        "time hides it.", coding="with a cache", mask="visible.tril() if cache is None else visible")
mistake("kv-cache-hidden", "The mask hides the cache: new tokens see each other alone.", CORNER,
        mask="visible.tril(total - new) & (torch.arange(total) >= total - new)")
mistake("kv-self-hidden", "The mask is one too strict: a token does not see itself.", CORNER,
        mask="visible.tril(total - new - 1)")
mistake("kv-mask-one-more", "The mask is one too weak: every token sees the one behind it.", CORNER,
        mask="visible.tril(total - new + 1)")
mistake("kv-self-hidden", coding="but the first token", mask="visible.tril(total - new - 1) | "
        "(torch.arange(total - new, total).unsqueeze(1) + torch.arange(total) == 0)")
mistake("kv-self-hidden", "With a cache the mask is one too strict: a new token does not see itself.", CORNER,
        coding="with a cache", mask="visible.tril(max(total - new - 1, 0))")
mistake("kv-chunk-hidden", "New tokens see the cache and themselves, and not the new ones before them. One token at a "
        "time hides it.", CORNER,
        mask="visible.tril(total - new) & ~(visible.tril(total - new - 1) & (torch.arange(total) >= total - new))")
mistake("kv-mask-inverted", "The mask is inverted: what may be seen is hidden.", "Hide where it is False: `~visible`.",
        hide="scores.masked_fill(visible, -torch.inf)")

# --- the cache
BEHIND = "Join them along the axis of tokens, old ones first: `torch.cat([cache[0], k], dim=-2)`."
mistake("kv-prepended", "New keys and values are put in front of the old ones: the mask hides others than it should.",
        BEHIND,
        keys="torch.cat([k, cache[0]], dim=-2)", values="torch.cat([v, cache[1]], dim=-2)")
for what, other, changes in (("keys", "values", {"keys": "torch.cat([k, cache[0]], dim=-2)"}),
                             ("values", "keys", {"values": "torch.cat([v, cache[1]], dim=-2)"})):
    mistake("kv-prepended", f"New {what} are put in front of the old ones, and new {other} behind them: a weight meets "
            "the value of another token.", BEHIND, coding=f"{what} alone", **changes)
mistake("kv-not-appended", "The cache that you return has only what was in it before: the new token is forgotten.",
        "Return the joined keys and values.", give="out, (k, v) if cache is None else cache")
mistake("kv-not-appended", "The cache that you return has the new keys and values alone: all before is forgotten.",
        "Return the joined keys and values.", coding="new alone", give="out, (k[:, :, total - new:], v[:, :, total - "
        "new:])")
mistake("kv-values-forgotten", "Only the keys are joined: there are fewer values than weights.",
        "Join the values, too.",
        values="v")
mistake("kv-values-forgotten", "The values in the cache are the keys.", "Return (keys, values).", coding="keys twice",
        give="out, (k, k)")
mistake("kv-values-forgotten", "The old values are taken from the keys of the cache.", "The cache holds (keys, "
        "values): join `cache[1]` and v.", coding="old keys", values="torch.cat([cache[0], v], dim=-2)")
mistake("kv-swapped", "The cache holds the values first.", "Return (keys, values).", give="out, (v, k)")
mistake("kv-cache-ignored", "`cache` is not used: new tokens see each other alone.", BEHIND, known="False")
mistake("kv-wrong-axis", "Keys and values are joined along another axis, that of the heads.", BEHIND,
        keys="torch.cat([cache[0], k], dim=1)", values="torch.cat([cache[1], v], dim=1)")
mistake("kv-scores-cached", "The cache holds no keys but weights.", "Cache keys and values: each new query makes "
        "weights of "
        "its own.", give="out, (weights, v)")
mistake("kv-truncates-silently", "The cache is cut to 1,024 tokens: what is older is forgotten, and nobody is told.",
        "Keep all of it.", give="out, (k[:, :, -1024:], v[:, :, -1024:])")
mistake("kv-in-place-alias", "You change the cache that you are given: whoever continues it a second time continues "
        "something "
        "else.", "Make new tensors with `torch.cat`.", keys="torch.cat([cache[0].mul_(1.0).add_(0.01), k], dim=-2)")
mistake("kv-cache-detached", "The cache is cut off from autograd.", "Cache the keys and values as they are.",
        keys="torch.cat([cache[0], k.detach()], dim=-2)", values="torch.cat([cache[1], v.detach()], dim=-2)")
mistake("kv-cache-detached", coding="in what is returned", give="out, (k.detach(), v.detach())")
mistake("kv-cache-detached", coding="on its way in", suggests="Join its keys and values as they are.",
        keys="torch.cat([cache[0].detach(), k], dim=-2)", values="torch.cat([cache[1].detach(), v], dim=-2)")
mistake("kv-not-a-pair", "Three values are returned: keys and values stand behind the outputs, and not in a pair.",
        "Return two: `out, (k, v)`.", alone=True, give="out, k, v")

# --- attention
mistake("at-scale-dk", "The scores are divided by d_head, and not by its root.", "Divide by `q.size(-1) ** 0.5`.",
        scale="scores / q.size(-1)")
mistake("at-scale-multiplied", "The scores are multiplied by √d_head, and not divided.", "Divide by "
        "`q.size(-1) ** 0.5`.", scale="scores * q.size(-1) ** 0.5")
mistake("kv-keys-scaled", "The cache holds keys that are divided by √d_head: each further call divides the old ones "
        "once more.", "Scale the scores, or the queries, and cache the keys as they came.",
        score="k = k / q.size(-1) ** 0.5\nscores = q @ k.transpose(-2, -1)", scale="scores")
mistake("at-no-scale", "The scores are not divided by √d_head.", "Divide them by `q.size(-1) ** 0.5`.", scale="scores")
mistake("at-scale-length", "The scores are divided by the root of the number of keys.", "Divide by √d_head.",
        scale="scores / total ** 0.5")
mistake("at-softmax-axis", "The softmax runs over the queries.", "Use dim=-1, the keys.",
        weigh="torch.softmax(scores, dim=-2)")
mistake("at-fill-zero", "Hidden scores are set to 0, whose exponential is 1.", "Set them to −∞.",
        hide="scores.masked_fill(~visible, 0.0)")
for low in ("-100.0", "-999.0", "-1000.0"):
    mistake("at-fill-too-small", "Hidden scores are set to a number that others can lie below.", "Set them to −∞.",
            coding=low, alone=True, hide=f"scores.masked_fill(~visible, {low})")

# --- just as right
right("places compared", mask="(torch.arange(total, device=q.device) <= "
      "torch.arange(total - new, total, device=q.device).unsqueeze(1))")
right("torch's attention with a mask", blend="F.scaled_dot_product_attention(q, k, v, attn_mask=visible)")
right("a list in place of a pair", give="out, [k, v]")
right("a mask that is added", hide="scores + torch.zeros_like(scores).masked_fill(~visible, -torch.inf)")
right("einsum", score="torch.einsum('bhtd,bhsd->bhts', q, k)", blend="torch.einsum('bhts,bhsd->bhtd', weights, v)")


def query_by_query(q, k, v, cache=None):
    old_keys, old_values = cache if cache is not None else (k[:, :, :0], v[:, :, :0])
    keys, values = torch.cat((old_keys, k), 2), torch.cat((old_values, v), 2)
    outputs = []
    for i in range(q.size(2)):
        seen = old_keys.size(2) + i + 1
        scores = (keys[:, :, :seen] * q[:, :, i : i + 1]).sum(-1) * q.size(-1) ** -0.5
        outputs.append((scores.softmax(-1).unsqueeze(-1) * values[:, :, :seen]).sum(2))
    return torch.stack(outputs, dim=2), (keys, values)


right("query by query", version=query_by_query)

# --- generate_cached
mistake, right = writing.mistake, writing.alternative
READ = "Give the model the new token and the cache that it returned last."
mistake("kv-recomputes", "You give the model the whole text each time, and no cache: it reads all of it again.", READ,
        forward="model(ids, None)")
mistake("kv-recomputes", "You give the whole text to a copy of the model each time: all of it is read again.", READ,
        coding="by a copy", forward="copy.deepcopy(model)(ids, None)")
mistake("kv-position-double-offset", "You give the model the whole text and the cache of it: it reads every token "
        "again, "
        "behind what it has read.", READ, forward="model(ids, cache)")
mistake("kv-positions-reset", "You give the model the new token without the cache: it takes it for the first of a "
        "text.", READ,
        forward="model(unread, None)")
mistake("kv-not-appended", "You keep the prompt's cache: of what was written the model knows the last token alone.",
        "Take the cache that each call returns.",
        forward="(lambda found: (found[0], found[1] if cache is None else cache))(model(unread, cache))")
mistake("kv-one-behind", "You give the model the token before the new one, which it has read already.", READ,
        unread="ids[:, -1:]")
mistake("kv-prompt-again", "You give the model the prompt each time, with the cache.", READ,
        forward="model(ids[:, : ids.size(1) - _], cache)")
mistake("kv-prompt-unread", "The model never reads the prompt but for its last token.",
        "First give it the whole prompt.",
        forward="model(unread[:, -1:], cache)")
mistake("gn-first-position", "You take the logits of the first position.",
        "Take those of the last one: `logits[:, -1]`.",
        last="logits[:, 0]")
mistake("gn-ignores-pick", "You take the likeliest token, and `pick` is not used.", "Let `pick(last)` choose.",
        pick="last.argmax(dim=-1).unsqueeze(1)")
mistake("gn-picks-from-probs", "You give `pick` probabilities; it takes logits, and does the rest.",
        "Give it the logits as they are.", last="logits[:, -1].softmax(dim=-1)")
mistake("gn-prepended", "You put new tokens in front of the text.", "Put them behind: `torch.cat([ids, token], "
        "dim=1)`.",
        append="torch.cat([token, ids], dim=1)")
mistake("gn-prompt-dropped", "You return the new tokens alone.", "Return the text with them.",
        text="ids[:, ids.size(1) - max_new_tokens:]")
MANY = "Go round max_new_tokens times."
mistake("gn-one-too-many", "You write one token too many.", MANY, repeat="range(max_new_tokens + 1)")
mistake("gn-one-too-few", "You write one token too few.", MANY, repeat="range(max_new_tokens - 1)")
for who, texts in (("all", "every text has"), ("any", "a text has")):
    for number in ("0", "1", "2", "last.size(-1) - 1"):
        mistake("gn-ends-early", f"You stop as soon as {texts} got a certain token, as if that ended a text.",
                "Go round max_new_tokens times: here no token is special.", coding=f"{who}, {number}", alone=True,
                append="ids = torch.cat([ids, token], dim=1)\n"
                       f"if (token == {number}).{who}():\n    break")
mistake("gn-last-fed-again", "The model reads the last new token, too, and nobody reads what it says.", MANY,
        leave="with torch.no_grad():\n    model(unread, cache)\nmodel.train(was_training)")
mistake("gn-train-mode", "The model runs in the mode in which it came: in train mode its dropout is on.",
        "Call `model.eval()` first.", enter="None")
mistake("gn-mode-left-eval", "You leave the model in eval mode: if it is trained on, its dropout stays off.",
        "Keep `model.training` at the start, and `model.train(was_training)` at the end.", remember="False")
mistake("gn-mode-always-train", "You leave the model in train mode, in whichever it came.",
        "Keep `model.training` at the start, and `model.train(was_training)` at the end.", leave="model.train()")
mistake("gn-grad-kept", "Autograd records every run: the graph of the whole text stays in memory.",
        "Put the loop under `torch.no_grad()`.", forward="torch.enable_grad()(lambda: model(unread, cache))()")

right("the last column of the text", forward="model(ids if cache is None else ids[:, -1:], cache)")
right("no cache at first", forward="model(ids) if cache is None else model(unread, cache)")


def prompt_first(model, ids, max_new_tokens, pick):
    if not max_new_tokens:
        return ids
    mode = model.training
    model.eval()
    with torch.inference_mode():
        logits, cache = model(ids)
        new = [pick(logits[:, -1])]
        while len(new) < max_new_tokens:
            logits, cache = model(new[-1][:, None], cache)
            new.append(pick(logits[:, 0]))
    model.train(mode)
    return torch.column_stack([ids, *new])


@torch.no_grad()
def in_a_tensor(model, ids, max_new_tokens, pick):
    length, cache, begin = ids.size(1), None, 0
    text = F.pad(ids, (0, max_new_tokens))
    mode, _ = model.training, model.train(False)
    for end in range(length, length + max_new_tokens):
        logits, cache = model(text[:, begin:end], cache=cache)
        text[:, end] = pick(logits[:, -1, :])
        begin = end
    model.train(mode)
    return text


right("the prompt first", version=prompt_first)
right("a tensor for all of it", version=in_a_tensor)
# fmt: on
