"""What people write in `generate` in place of the reference's lines; and other right ways to write it."""

import torch

from grader.api.checks import LearnerError, MistakeSet

# what a log tells depends on what was asked before: a probe below begins with an empty one
generate = MistakeSet("generate", globals(), without=("what_it_is_given", "no_graph", "shape", "other_sizes"))
MISTAKE_SETS = [generate]
mistake, right = generate.mistake, generate.alternative

V, D = 17, 6


@generate.probe("what the model is given", stage="in what the model is given")
def _(subject, rand):
    subject.events()
    model = subject.make_model(
        [["embedding", V, D], ["fading_sum"], ["linear", D, V]],
        {"layers.0.weight": rand(V, D), "layers.2.weight": rand(V, D), "layers.2.bias": rand(V)},
    )
    pick = subject.make_model([["argmax"]])
    try:
        subject.generate(model, rand.integers(0, V, 3, 4), 5, 6, pick)
    except LearnerError as error:
        if error.kind != "raised":
            raise
    return [[shape, recorded] for name, _, shape, recorded in subject.events() if name == "forward"]


# fmt: off
# --- what is read
LAST = "Take the logits of the last position: `logits[:, -1]`."
mistake("gn-first-position", "You take the logits of the first position: they predict the second token, which is there "
        "already.", LAST, last="logits[:, 0]")
mistake("gn-second-last-position", "You take the logits of the position before the last: they predict the last token, "
        "which is there already.", LAST, last="logits[:, -2]")
mistake("gn-all-positions", "You pick a token at every position, and append all of them.", LAST, last="logits",
        append="torch.cat([ids, token], dim=1)")
mistake("gn-all-positions", "You give `pick` the logits of all positions.", LAST, coding="what is appended fails",
        last="logits")
mistake("gn-mean-position", "You take the mean of all positions' logits.", LAST, last="logits.mean(dim=1)")
PROMPT = "You take the logits of the place where the prompt ended: in each pass they predict the first new token."
mistake("gn-first-position", PROMPT, LAST, coding="end of the prompt",
        last="logits[:, min(ids.size(1) - _, max_len) - 1]")
mistake("gn-first-position", PROMPT, LAST, coding="end of the prompt, an error", last="logits[:, ids.size(1) - _ - 1]")

# --- what the model is given
WINDOW = "Give it `ids[:, -max_len:]`, and append to the whole text."
mistake("gn-no-crop", "You give the model the whole text: beyond max_len it has no positions.", WINDOW, window="ids")
mistake("gn-crops-start", "You keep the first max_len tokens: once there are more, the model sees nothing new, and "
        "repeats itself.", WINDOW, window="ids[:, :max_len]")
mistake("gn-crop-short", "You give the model one token less than it could read.", WINDOW,
        window="ids[:, -max(1, max_len - 1):]")
mistake("gn-crop-short", "Where the text is longer than max_len you give the model one token less than it could read.",
        WINDOW, coding="of longer texts", window="ids if ids.size(1) <= max_len else ids[:, -max(1, max_len - 1):]")
mistake("gn-crop-long", "You give the model one token more than max_len.", WINDOW, window="ids[:, -max_len - 1:]")
mistake("gn-last-token-only", "You give the model the last token alone: without a cache it knows nothing of the "
        "others.", WINDOW, window="ids[:, -1:]")
mistake("gn-last-token-only", "After its first step the model is given the newest token alone: without a cache it "
        "knows nothing of the others.", WINDOW, coding="after the first",
        window="ids[:, -1:] if _ else ids[:, -max_len:]")
mistake("gn-text-cropped", "You cut the text itself to max_len: its beginning is missing from what you return.", WINDOW,
        window="window = ids = ids[:, -max_len:]")
mistake("gn-text-cropped", "You cut the prompt to max_len at the start: it is missing from what you return, and the "
        "text "
        "grows too long afterwards.", coding="at the start", take_ids="ids[:, -max_len:]", window="ids")
mistake("gn-not-fed-back", "You give the model the prompt each time: what it has written it never reads.",
        "Give it the text as it is now.", window="ids[:, : ids.size(1) - _][:, -max_len:]")

# --- what is picked
mistake("gn-ignores-pick", "You take the likeliest token, and `pick` is not used.", "Let `pick(last)` choose.",
        pick="last.argmax(dim=-1)")
mistake("gn-picks-from-probs", "You give `pick` probabilities; it takes logits, and does the rest.",
        "Give it the logits as they are.", last="logits[:, -1].softmax(dim=-1)")
mistake("gn-picks-from-probs", "You give `pick` log-probabilities; it takes logits, and does the rest.",
        coding="logarithms",
        last="logits[:, -1].log_softmax(dim=-1)")
for heat in ("0.5", "0.7", "0.8"):
    mistake("gn-scaled-logits", f"The logits are divided by {heat}, a temperature: that is up to `pick`.",
            "Give it the logits as they are.", coding=heat, last=f"logits[:, -1] / {heat}")
mistake("gn-one-for-all", "All texts get the token of the first one.", "Append to each text its own: (B, 1).",
        pick="pick(last)[:1].expand(len(last))")

# --- what is appended, and how often
mistake("gn-prepended", "You put new tokens in front of the text.", "Put them behind: `torch.cat([ids, token], "
        "dim=1)`.",
        append="torch.cat([token.unsqueeze(1), ids], dim=1)")
mistake("gn-prompt-dropped", "You return the new tokens alone.", "Return the text with them.",
        give="ids[:, ids.size(1) - max_new_tokens:]")
MANY = "Go round max_new_tokens times."
mistake("gn-one-too-many", "You write one token too many.", MANY, repeat="range(max_new_tokens + 1)")
mistake("gn-one-too-few", "You write one token too few.", MANY, repeat="range(max_new_tokens - 1)")
mistake("gn-counts-the-prompt", "You write until the text has max_new_tokens: the prompt is counted, too.", MANY,
        repeat="range(max_new_tokens - ids.size(1))")
mistake("gn-up-to-max-len", "You stop when the text has max_len tokens.", "max_len is what the model can read at once, "
        "and no bound of the text.", repeat="range(min(max_new_tokens, max_len - ids.size(1)))")
mistake("gn-stops-after-one", "You return after the first token: `return` stands inside the loop.",
        "Move it out of the loop.", repeat="range(min(max_new_tokens, 1))")
for who, texts in (("all", "every text has"), ("any", "a text has")):
    for token in ("0", "1", "2", "last.size(-1) - 1"):
        mistake("gn-ends-early", f"You stop as soon as {texts} got a certain token, as if that ended a text.",
                "Go round max_new_tokens times: here no token is special.", coding=f"{who}, {token}", alone=True,
                append="ids = torch.cat([ids, token.unsqueeze(1)], dim=1)\n"
                       f"if (token == {token}).{who}():\n    break")
mistake("gn-last-fed-again", "After the last token the model runs once more, and nobody reads what it says.", MANY,
        leave="with torch.no_grad():\n    model(ids[:, -max_len:])\nmodel.train(was_training)")
mistake("gn-last-fed-again", "The model runs once more than it must: you write one token too many, and cut it off.",
        MANY, coding="and cut off", repeat="range(max_new_tokens + 1)", give="ids[:, :-1]")
mistake("gn-runs-twice", "The model runs twice for each token.", "Run it once, and keep its logits.",
        forward="(model(window), model(window))[1]")
mistake("gn-text-by-text", "The model runs on one text at a time: B times as often as it needs to.",
        "Give it all texts together.", forward="torch.cat([model(row) for row in window.split(1)])")

# --- mode and graph
mistake("gn-train-mode", "The model runs in the mode in which it came: in train mode its dropout is on.",
        "Call `model.eval()` first.", enter="None")
mistake("gn-train-mode", "You put the model into train mode: its dropout is on.", coding="train", enter="model.train()")
mistake("gn-mode-left-eval", "You leave the model in eval mode: if it is trained on, its dropout stays off.",
        "Keep `model.training` at the start, and `model.train(was_training)` at the end.", leave="None")
mistake("gn-mode-always-train", "You leave the model in train mode, in whichever it came.",
        "Keep `model.training` at the start, and `model.train(was_training)` at the end.", leave="model.train()")
mistake("gn-grad-kept", "Autograd records every run: the graph of the whole text stays in memory.",
        "Put the loop under `torch.no_grad()`.", forward="torch.enable_grad()(lambda: model(window))()")
mistake("gn-in-place", "You write into the caller's texts.", "Make new ones.", coding="the last token",
        append="text = torch.cat([ids, token.unsqueeze(1)], dim=1)\nids[:, -1] = token\nids = text")

# --- just as right
right("sizes of the window said", window="ids if ids.size(1) <= max_len else ids[:, ids.size(1) - max_len:]")
right("tokens in a list", append="ids = torch.stack([*ids.unbind(dim=1), token], dim=1)")
right("an axis by None", last="logits[:, -1, :]", append="torch.hstack((ids, token[:, None]))")


@torch.inference_mode()
def preallocated(model, ids, max_new_tokens, max_len, pick):
    batch, start = ids.shape
    text = ids.new_zeros(batch, start + max_new_tokens)
    text[:, :start] = ids
    mode = model.training
    model.train(False)
    for end in range(start, start + max_new_tokens):
        text[:, end] = pick(model(text[:, max(0, end - max_len): end])[:, -1])
    model.train(mode)
    return text


def recursive(model, ids, max_new_tokens, max_len, pick):
    if max_new_tokens == 0:
        return ids.clone()
    mode = model.training
    try:
        model.eval()
        with torch.no_grad():
            token = pick(model(ids[:, -max_len:])[:, -1])
        return recursive(model, torch.column_stack([ids, token]), max_new_tokens - 1, max_len, pick)
    finally:
        model.train(mode)


right("a tensor for all of it", version=preallocated)
right("recursion", version=recursive)
# fmt: on
