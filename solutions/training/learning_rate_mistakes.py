"""What people write in `lr_at` in place of the reference's lines; and other right ways to write it."""

import torch

from grader.api.checks import MistakeSet


def read(value):
    """The rate, which may be a float or a tensor, as a number that shows: usual rates differ in their fourth digit."""
    if isinstance(value, torch.Tensor) and value.ndim == 0:
        value = value.item()
    if isinstance(value, complex) or not isinstance(value, float | int):
        return value
    return float(value) * (1 if abs(value) > 0.01 else 1000)


lr = MistakeSet("lr_at", globals(), read=read)
mistake, right = lr.mistake, lr.alternative
MISTAKE_SETS = [lr]

for step in (1, 5, 10, 35, 60, 110, 160):
    lr.example(step, 8.0, 1.0, 10, 110)
lr.example(1, 8.0, 1.0, 0, 100)

# fmt: off
S = "(step - warmup) / (total - warmup)"

# --- the warm-up
mistake("lr-from-zero", "The warm-up counts from 0: the first step has the rate 0, and teaches nothing.",
        "Steps count from 1: max_lr · step / warmup.", rise="max_lr * (step - 1) / warmup")
mistake("lr-from-zero", "The warm-up is one step ahead: max_lr is reached at warmup − 1, and passed.",
        "Steps count from 1: max_lr · step / warmup.", coding="ahead", rise="max_lr * (step + 1) / warmup")
STRICT = {"up": "step < warmup"}  # so the cosine begins at warmup itself: right, and it changes what others give
mistake("lr-from-zero", "The warm-up counts from 0: the first step has the rate 0, and the last one jumps.",
        "Steps count from 1: max_lr · step / warmup.", coding="strictly below", rise="max_lr * (step - 1) / warmup",
        **STRICT)
mistake("lr-from-zero", "The warm-up is one step ahead: max_lr is reached at warmup − 1.", "Steps count from 1: max_lr "
        "· step / warmup.", coding="ahead, and strictly below", rise="max_lr * (step + 1) / warmup", **STRICT)
mistake("lr-from-zero", "The warm-up never comes to max_lr: it divides by warmup + 1.",
        "Divide by warmup.", coding="one more", rise="max_lr * step / (warmup + 1)")
mistake("lr-from-zero", "The warm-up counts from 0: (step + 1) / (warmup + 1) is ahead until it comes to max_lr.",
        "Steps count from 1: max_lr · step / warmup.", coding="both", rise="max_lr * (step + 1) / (warmup + 1)")
mistake("lr-from-min", "The warm-up begins at min_lr and not at 0.", "It is max_lr · step / warmup.",
        rise="min_lr + (max_lr - min_lr) * step / warmup")
mistake("lr-from-min", "The warm-up is never below min_lr.", "It is max_lr · step / warmup, from 0 on.",
        coding="never below", rise="max(min_lr, max_lr * step / warmup)")
mistake("lr-no-rise", "There is no warm-up: the rate is max_lr from the first step on, until the cosine begins.",
        "Let it rise: max_lr · step / warmup.", rise="max_lr")
mistake("lr-integer-division", "step // warmup is a whole number: the rate is 0 until the warm-up ends.",
        "Divide with `/`.", rise="max_lr * (step // warmup)")
mistake("lr-integer-division", "The fall divides into whole numbers: the rate stays at max_lr until the end.",
        "Divide with `/`.", coding="fall", done="(step - warmup) // (total - warmup)")
mistake("lr-division-by-zero", "With warmup = 0 it divides by 0.", "Ask for the warm-up only where step ≤ warmup.",
        up="step / warmup <= 1")
mistake("lr-quadratic-warmup", "The warm-up is bent: it rises with the square of the step.", "Rise in a straight line.",
        rise="max_lr * (step / warmup) ** 2")

# --- the fall
mistake("lr-warmup-in-cosine", "The cosine counts from step 0: when the warm-up ends, a part of it is over already.",
        "Begin it where the warm-up ends: (step − warmup) / (total − warmup).", done="step / total")
mistake("lr-jump", "The cosine is as long as the whole run: it begins at the right place and never comes to its end.",
        "Divide by total − warmup.", done="(step - warmup) / total")
PAST = {"over": "step > total"}  # so the cosine is asked at its end, too: no mistake, and it changes what others give
mistake("lr-jump", coding="and past its end", done="(step - warmup) / total", **PAST)
mistake("lr-jump", "The cosine is as long as the whole run: it ends at warmup + total, and not at total.",
        "`total` counts the warm-up, too: divide by total − warmup.", coding="goes on", done="(step - warmup) / total",
        over="step >= total + warmup")
mistake("lr-full-period", "It is a whole cosine: down to min_lr at the middle, and up again.",
        "Take half a period: cos(π · s).", share="0.5 * (1 + math.cos(2 * math.pi * done))")
mistake("lr-full-period", coding="and past its end", share="0.5 * (1 + math.cos(2 * math.pi * done))", **PAST)
mistake("lr-quarter", "It is a quarter of a cosine: steep at the end.", "Take half a period: ½ (1 + cos(π · s)).",
        share="math.cos(0.5 * math.pi * done)")
mistake("lr-linear", "The fall is a straight line.", "It is half a cosine: ½ (1 + cos(π · s)).", share="1 - done")
mistake("lr-no-half", "The ½ is missing: the fall begins at nearly twice max_lr.", "Write ½ (1 + cos(π · s)).",
        share="1 + math.cos(math.pi * done)")
mistake("lr-sine", "It rises in place of falling, as 1 − cos does, or rates that are exchanged.", "Write ½ (1 + cos(π "
        "· s)).",
        share="0.5 * (1 - math.cos(math.pi * done))")
mistake("lr-sine", coding="and past its end", share="0.5 * (1 - math.cos(math.pi * done))", **PAST)
mistake("lr-sine", "The fall is half a sine: it begins at the middle of the two rates, and rises at first.",
        "Take the cosine: cos(π · s).", coding="sin", share="0.5 * (1 + math.sin(math.pi * done))")
mistake("lr-sine", "The fall is half a sine: it begins at the middle of the two rates, and rises at first.",
        "Take the cosine: cos(π · s).", coding="sin, and past its end", share="0.5 * (1 + math.sin(math.pi * "
        "done))", **PAST)
mistake("lr-exponential", "The fall is exponential: each step takes the same share.", "It is half a cosine: ½ (1 + "
        "cos(π · "
        "s)).", fall="max_lr * (max(min_lr, 1e-12) / max_lr) ** done")
mistake("lr-degrees", "π is missing: the cosine of s is never below 0.54.", "Take cos(π · s).",
        share="0.5 * (1 + math.cos(done))")

# --- the floor
mistake("lr-no-floor", "It falls to 0: `min_lr` is not used.", "Scale between the two: min_lr + share · (max_lr − "
        "min_lr).",
        fall="share * max_lr", rest="0.0")
mistake("lr-no-floor", "It falls towards 0, and jumps to min_lr at the end.", "Scale between the two: min_lr + share · "
        "(max_lr − min_lr).", coding="jumps", fall="share * max_lr")
mistake("lr-no-floor", coding="jumps past its end", fall="share * max_lr", **PAST)
mistake("lr-floor-as-max", "It falls towards 0 and is cut off at min_lr: `max(min_lr, …)`.",
        "Scale between the two: min_lr + share · (max_lr − min_lr).", fall="max(min_lr, share * max_lr)")
mistake("lr-floor-added", "min_lr is added on top: the fall begins at max_lr + min_lr.",
        "Scale between the two: min_lr + share · (max_lr − min_lr).", fall="min_lr + share * max_lr")
mistake("lr-floor-as-share", "min_lr is taken for a share of max_lr: the floor is max_lr · min_lr.",
        "min_lr is a rate itself: min_lr + share · (max_lr − min_lr).",
        fall="max_lr * (min_lr + share * (1 - min_lr))", rest="max_lr * min_lr")
mistake("lr-floor-as-share", "The fall goes towards max_lr · min_lr, as if min_lr were a share, and jumps to min_lr at "
        "the end.", coding="jumps", fall="max_lr * (min_lr + share * (1 - min_lr))")
mistake("lr-rises-after-total", "Behind the end the cosine goes on: the rate rises again.", "From total on it is "
        "min_lr.",
        over="False")
mistake("lr-zero-after-total", "Behind the end the rate is 0.", "From total on it is min_lr.", rest="0.0")
mistake("lr-zero-after-total", coding="one step later", over="step > total", rest="0.0")
mistake("lr-stays-at-max", "Behind the end the rate is max_lr.", "From total on it is min_lr.", rest="max_lr")

# --- just as right
right("torch", share="0.5 * (1 + torch.cos(torch.tensor(math.pi * done, dtype=torch.float64)))")
right("a clamp", over="False", done=f"min(1.0, {S})")
right("the cosine squared", share="math.cos(0.5 * math.pi * done) ** 2")
right("a mean and a swing", fall="(max_lr + min_lr) / 2 + (max_lr - min_lr) / 2 * (2 * share - 1)")
right("strictly below", up="step < warmup")
right("a share of max_lr", rise="step * (max_lr / warmup)")
# fmt: on
