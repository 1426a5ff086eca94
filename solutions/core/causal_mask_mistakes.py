"""What people write in `causal_mask` in place of the reference's lines; and other right ways to write it."""

import numpy as np  # noqa: F401  expressions below use it
import torch

from grader.api.checks import DEVICE_ERROR_WORDS, LearnerError, MistakeSet

LARGE = 1000.0  # an additive mask blocks with minus infinity or with minus some such number; all are one form
FAILURES = ("AssertionError", "RuntimeError", "NotImplementedError", "AcceleratorError", "OutOfMemoryError")


def read(value):
    """What was returned, so that one form is one observation: a bool mask as it is; 0 and 1 of any dtype in float32;
    the additive form, whatever it blocks with, as what it allows; other numbers under that name."""
    if not isinstance(value, torch.Tensor):
        return value
    value = value.cpu()
    if value.dtype == torch.bool:
        return value
    value = value.float()
    if ((value == 0) | (value == 1)).all():
        return value
    if ((value == 0) | (value < -LARGE)).all():
        return {"form": "additive", "allows": value == 0}
    return {"form": "other numbers", "values": value}


AFTER = ("orient", "meaning", "write", "frame", "place")  # what is done to the mask, one after the other
causal_mask = MistakeSet("causal_mask", globals(), checks=(), after=AFTER)
mistake, right = causal_mask.mistake, causal_mask.alternative
MISTAKE_SETS = [causal_mask]

for tokens in (1, 2, 3, 4, 5):
    causal_mask.example(tokens)


def kind_of_length(causal):
    """How the mask's size goes with the number of tokens, in words."""
    lengths = (3, 6, 601)
    sizes = [tuple(causal(seq_len).shape[-2:]) for seq_len in lengths]
    if sizes == [(seq_len, seq_len) for seq_len in lengths]:
        return "as asked"
    if len(set(sizes)) == 1:
        return "always the same"
    return "cut off" if sizes[:2] == [(3, 3), (6, 6)] and max(sizes[2]) < 601 else "otherwise"


def device_of(causal):
    """Where the mask lies: "cpu" or "elsewhere". A device that is not there raises, and says which in many ways."""
    try:
        observed = causal.observe(5)
    except LearnerError as error:
        if error.type_name in FAILURES and any(sign in error.text for sign in DEVICE_ERROR_WORDS):
            return "elsewhere"
        raise
    devices = observed.devices or (observed.value.device.type,)
    return "cpu" if tuple(devices) == ("cpu",) else "elsewhere"


# --- probes: equal on all of these is equal
BEHIND = torch.arange(6).unsqueeze(1) - torch.arange(6)  # how far the key lies behind the query
for stage, part in (("on", BEHIND == 0), ("below", BEHIND > 0), ("above", BEHIND < 0)):
    causal_mask.ask(f"{stage} the diagonal", 6, see=lambda mask, part=part: read(torch.as_tensor(mask)[part]))
for words, tokens in (("nine tokens", 9), ("one token", 1), ("two tokens", 2)):
    causal_mask.ask(f"with {words}", tokens, see=read)
causal_mask.ask("in its size", by=kind_of_length)
causal_mask.ask("the device", by=device_of, stage="")

# fmt: off
# --- the pattern
mistake("cm-transposed", "Your mask is transposed: it hides the past and shows the future.", "Keep the triangle on and "
        "below the diagonal (`tril`): row i may see columns 0 to i.", orient="value.T")
mistake("cm-inverted", "Your mask is inverted: it says which keys are blocked, while here True = may attend.",
        "Turn it around with `~` (or compare the other way), so that True = may attend.", meaning="~value")
mistake("cm-no-self", "Your diagonal is False: no token may attend to itself. Query 0 then has no key, and its softmax "
        "is 0/0.", "Use `<=` instead of `<`, or `tril` with diagonal 0.", allow="keys < queries")
mistake("cm-row-empty", "Row 0 of your mask is empty: the first token may attend to nothing; its softmax is 0/0.",
        "Begin with row 0, where key 0 alone is True.", allow="(keys <= queries) & (queries > 0)")
mistake("cm-row-empty", "The last row of your mask is empty: the last token may attend to nothing; its softmax is 0/0.",
        "Go through all rows: `range(seq_len)`.", coding="last", allow="(keys <= queries) & (queries < seq_len - 1)")
mistake("cm-one-future", "Each token sees one too far: the diagonal above the main one is True. That is the answer to "
        "be guessed.", "Stop at the main diagonal: query i sees keys 0 to i.", allow="keys <= queries + 1")
mistake("cm-all-true", "Your mask is True everywhere: nothing is blocked, and every token sees its whole future.",
        "Make the entries above the diagonal False.", allow="(keys <= queries) | True")
mistake("cm-none-true", "Your mask is False everywhere: no token may attend to anything, not even to itself.",
        "Make the entries on and below the diagonal True.", allow="(keys <= queries) & False")
mistake("cm-self-only", "Your mask is True on the diagonal only: each token sees itself and none of its history.",
        "Make the entries below the diagonal True as well (`<=`, where now it is `==`).", allow="keys == queries")
for width, reach in ((1, "the one token"), (2, "the 2 tokens"), (3, "the 3 tokens")):
    mistake("cm-band", f"Each token sees itself and only {reach} just before it: your mask is a band along the "
            "diagonal.", "Let each token see all earlier ones: the whole triangle below the diagonal.",
            coding=f"itself and {width} before", allow=f"(keys <= queries) & (keys >= queries - {width})")
mistake("cm-band", "Each token sees only the one just before it, and not itself. Query 0 has no key.", "Let each token "
        "see itself and all earlier ones.", coding="one before, without itself", allow="keys == queries - 1")
mistake("cm-only-first", "Each token sees only the first one: column 0 is True, and the rest is False.",
        "Let query i see all keys from 0 to i, not key 0 alone.", allow="(keys == 0) & (queries >= 0)")
mistake("cm-only-first", "Each token sees the first one and itself, and nothing between the two.",
        "Let query i see all keys from 0 to i.", coding="and itself", allow="(keys == 0) | (keys == queries)")

# --- the form
mistake("cm-float", "Your mask holds the numbers 0 and 1, not False and True. `~` and `masked_fill` want a bool "
        "tensor, and torch's attention would add these numbers to the scores.", "Return a bool tensor: "
        "`dtype=torch.bool` at the start, or `.bool()` at the end.", write="value.float()")
mistake("cm-additive", "This is the additive form: 0 where a query may attend, and minus infinity (or a huge negative "
        "number) where it may not. The mask of this course is Boolean.", "Return `mask == 0`.",
        write="torch.zeros(value.shape).masked_fill(~value, -torch.inf)")
mistake("cm-nan-product", "You multiply zeros and ones by minus infinity. 0 · ∞ has no value, so the places that "
        "should be 0 are NaN.", "Return the Boolean triangle itself; where an additive mask is wanted, use "
        "`masked_fill`, not a product.", write="(~value).float() * -torch.inf")
for frame, shape in (("value[None]", "(1, T, T)"), ("value[None, None]", "(1, 1, T, T)")):
    mistake("cm-extra-dims", f"Your mask has shape {shape}: there are extra axes of size 1 in front of (T, T).",
            "Return (T, T); broadcasting adds the axes for batch and heads by itself.", coding=shape, frame=frame)

# --- size and device
mistake("cm-fixed-size", "Your mask has the same size whatever `seq_len` is.", "Build it from `seq_len`: shape "
        "(seq_len, seq_len).", only=("in its size",), length="torch.arange(5)")
mistake("cm-fixed-size", "Your mask is cut from a table of fixed size: for a longer sequence it comes out too small.",
        "Build it from `seq_len` at every call, so that there is no longest length.", coding="up to a largest length",
        only=("in its size",), length="torch.arange(min(seq_len, 64))")
# the judge need not start CUDA for this (a second, and memory): to the probe an error says the same
mistake("cm-device", 'You put the mask on a device by name (`.cuda()`, `device="cuda"`, `"mps"`). The function then '
        "fails on every machine that has no such device, and where it does not fail, on tensors that lie elsewhere.",
        "Name no device: take out `.cuda()`, `.to(...)` and `device=`.", only=("the device",),
        place="(_ for _ in ()).throw(AssertionError('Torch not compiled with CUDA enabled'))")

# --- just as right
for name, code in {
    "tril of ones": "torch.ones(seq_len, seq_len).tril().bool()",
    "tril of bools": "torch.tril(torch.ones(seq_len, seq_len, dtype=torch.bool))",
    "tril compared with 1": "torch.tril(torch.ones((seq_len, seq_len))) == 1",
    "triu and logical_not": "torch.logical_not(torch.triu(torch.ones(seq_len, seq_len), diagonal=1))",
    "triu and ~": "~torch.ones(seq_len, seq_len, dtype=torch.bool).triu(1)",
    "triu transposed": "torch.ones(seq_len, seq_len, dtype=torch.bool).triu().T",
    "queries >= keys": "torch.arange(seq_len)[:, None] >= torch.arange(seq_len)[None, :]",
    "the additive form compared with 0": "torch.full((seq_len, seq_len), -torch.inf).triu(diagonal=1) == 0",
    "torch's own additive mask": "torch.nn.Transformer.generate_square_subsequent_mask(seq_len) == 0",
    "running sums of the identity": "torch.eye(seq_len).cumsum(dim=0).bool()",
    "nested lists": "torch.tensor([[j <= i for j in range(seq_len)] for i in range(seq_len)])",
    "numpy": "torch.from_numpy(np.tril(np.ones((seq_len, seq_len), dtype=bool)))",
    "uint8, then compared": "torch.from_numpy(np.triu(np.ones((seq_len, seq_len)), k=1).astype('uint8')) == 0",
    "the CPU by name": "torch.ones(seq_len, seq_len, dtype=torch.bool, device='cpu').tril()",
    "row by row": "torch.stack([torch.arange(seq_len) <= i for i in range(seq_len)])",
    "an index": "torch.eye(seq_len).index_put_(tuple(torch.tril_indices(seq_len, seq_len)), torch.tensor(1.0)) > 0",
}.items():
    right(name, version=code)
# fmt: on
