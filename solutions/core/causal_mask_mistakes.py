"""What people get wrong in `causal_mask`, executable; and other right ways to write it.

One mistake of the subject is not here: a mask for fewer queries than keys that is aligned at the top left. It needs a
cache of keys, and this function is always square.
"""

import numpy as np
import torch

from grader.api.checks import DEVICE_ERROR_WORDS, LearnerError, MistakeSet

INF = float("inf")
LARGE = 1000.0  # an additive mask blocks with minus infinity or with minus some such number; all are one form
FAILURES = ("AssertionError", "RuntimeError", "NotImplementedError", "AcceleratorError", "OutOfMemoryError")


def make_causal_mask(*, length, allow, orient, mean, write, frame, place):
    """The mask from its steps: for how many tokens, who may attend to whom, which axis is the queries', what True
    means, in what numbers it is written, in how many axes, on which device."""

    def causal_mask(seq_len):
        positions = torch.arange(length(seq_len))
        allowed = orient(allow(positions.unsqueeze(1), positions.unsqueeze(0)))  # queries (T, 1), keys (1, T)
        return place(frame(write(mean(allowed))))

    return causal_mask


def as_it_is(value):
    return value


def up_to_itself(queries, keys):
    return keys <= queries


causal_mask = MistakeSet(
    "causal_mask",
    make_causal_mask,
    length=as_it_is,
    allow=up_to_itself,
    orient=as_it_is,
    mean=as_it_is,
    write=as_it_is,
    frame=as_it_is,
    place=as_it_is,
)

MISTAKE_SETS = [causal_mask]

# --- what the probes see ----------------------------------------------------------------------------------------------


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


def places(subject, part):
    """The entries of the mask for six tokens where `part(how far the key lies behind the query)` holds, as a row."""
    positions = torch.arange(6)
    mask = torch.as_tensor(subject.causal_mask(6))
    return read(mask[part(positions.unsqueeze(1) - positions)])


def kind_of_length(subject):
    """How the mask's size goes with the number of tokens, in words."""
    lengths = (3, 6, 130)
    sizes = [tuple(subject.causal_mask(seq_len).shape[-2:]) for seq_len in lengths]
    if sizes == [(seq_len, seq_len) for seq_len in lengths]:
        return "as asked"
    if len(set(sizes)) == 1:
        return "always the same"
    return "cut off" if sizes[:2] == [(3, 3), (6, 6)] and max(sizes[2]) < 130 else "otherwise"


def device_of(subject):
    """Where the mask lies: "cpu" or "elsewhere". A device that is not there raises, and says which in many ways."""
    try:
        observed = subject.causal_mask.observe(5)
    except LearnerError as error:
        if error.type_name in FAILURES and any(sign in error.text for sign in DEVICE_ERROR_WORDS):
            return "elsewhere"
        raise
    devices = observed.devices or (observed.value.device.type,)
    return "cpu" if tuple(devices) == ("cpu",) else "elsewhere"


# --- probes: equal on all of these is equal ---------------------------------------------------------------------------


@causal_mask.probe("nine tokens", stage="with nine tokens")
def _(subject, rand):
    return read(subject.causal_mask(9))


@causal_mask.probe("the diagonal", stage="on the diagonal")
def _(subject, rand):
    return places(subject, lambda behind: behind == 0)


@causal_mask.probe("below the diagonal", stage="below the diagonal")
def _(subject, rand):
    return places(subject, lambda behind: behind > 0)


@causal_mask.probe("above the diagonal", stage="above the diagonal")
def _(subject, rand):
    return places(subject, lambda behind: behind < 0)


@causal_mask.probe("one token", stage="with one token")
def _(subject, rand):
    return read(subject.causal_mask(1))


@causal_mask.probe("two tokens", stage="with two tokens")
def _(subject, rand):
    return read(subject.causal_mask(2))


@causal_mask.probe("the length", stage="in its size")
def _(subject, rand):
    return kind_of_length(subject)


@causal_mask.probe("the device")
def _(subject, rand):
    return device_of(subject)


# --- examples small enough to retype ----------------------------------------------------------------------------------

for tokens in (1, 2, 3, 4, 5):
    causal_mask.example(tokens)

# --- mistakes: the pattern --------------------------------------------------------------------------------------------

causal_mask.mistake(
    "cm-transposed",
    says="Your mask is transposed: it hides the past and shows the future. Token 0 sees every token, the last token "
    "only itself.",
    suggests="Keep the triangle on and below the diagonal (`tril`): row i is a query, and it may see columns 0 to i.",
    orient=lambda allowed: allowed.T,
)
causal_mask.mistake(
    "cm-inverted",
    says="Your mask is inverted: it says which keys are blocked, while here True = may attend. The last query is left "
    "without a single key.",
    suggests="Turn it around with `~` (or compare the other way), so that True = may attend.",
    mean=lambda allowed: ~allowed,
)
causal_mask.mistake(
    "cm-no-self",
    says="Your diagonal is False: no token may attend to itself. Query 0 then has no key at all, and its softmax is "
    "0/0.",
    suggests="Include the diagonal: `<=` instead of `<`, or `tril` with diagonal 0.",
    allow=lambda queries, keys: keys < queries,
)
causal_mask.mistake(
    "cm-one-future",
    says="Each token sees one token too far: the diagonal above the main one is True. That next token is the very "
    "answer the model must guess, so it leaks.",
    suggests="Stop at the main diagonal: query i sees keys 0 to i, and not i + 1.",
    allow=lambda queries, keys: keys <= queries + 1,
)
causal_mask.mistake(
    "cm-all-true",
    says="Your mask is True everywhere: nothing is blocked, and every token sees its whole future.",
    suggests="Make the entries above the diagonal False.",
    allow=lambda queries, keys: (keys <= queries) | True,
)
causal_mask.mistake(
    "cm-none-true",
    says="Your mask is False everywhere: no token may attend to anything, not even to itself.",
    suggests="Make the entries on and below the diagonal True.",
    allow=lambda queries, keys: (keys <= queries) & False,
)
causal_mask.mistake(
    "cm-self-only",
    says="Your mask is True on the diagonal only: each token sees itself and none of its history.",
    suggests="Make the entries below the diagonal True as well (`<=`, where now it is `==`).",
    allow=lambda queries, keys: keys == queries,
)
for width in (1, 2, 3):
    reach = "the one token" if width == 1 else f"the {width} tokens"
    causal_mask.mistake(
        "cm-band",
        coding=f"itself and {width} before",
        says=f"Each token sees itself and only {reach} just before it: your mask is a band along the diagonal.",
        suggests="Let each token see all earlier ones: the whole triangle below the diagonal.",
        allow=lambda queries, keys, width=width: (keys <= queries) & (keys >= queries - width),
    )
causal_mask.mistake(
    "cm-band",
    coding="one before, without itself",
    says="Each token sees only the one token just before it, and not itself. Query 0 is left without a key.",
    suggests="Let each token see itself and all earlier ones: the diagonal and the whole triangle below it.",
    allow=lambda queries, keys: keys == queries - 1,
)
causal_mask.mistake(
    "cm-only-first",
    says="Each token sees only the first one: column 0 is True, and the rest is False.",
    suggests="Let query i see all keys from 0 to i, not key 0 alone.",
    allow=lambda queries, keys: (keys == 0) & (queries >= 0),
)
causal_mask.mistake(
    "cm-only-first",
    coding="and itself",
    says="Each token sees the first one and itself, and nothing between the two.",
    suggests="Let query i see all keys from 0 to i.",
    allow=lambda queries, keys: (keys == 0) | (keys == queries),
)

# --- mistakes: the form -----------------------------------------------------------------------------------------------

causal_mask.mistake(
    "cm-float",
    says="Your mask holds the numbers 0 and 1, not False and True. `~` and `masked_fill` want a bool tensor, and "
    "torch's attention would add these numbers to the scores.",
    suggests="Return a bool tensor: `dtype=torch.bool` at the start, or `.bool()` at the end.",
    write=lambda mask: mask.float(),
)
causal_mask.mistake(
    "cm-additive",
    says="This is the additive form: 0 where a query may attend, and minus infinity (or a huge negative number) where "
    "it may not. That form is added to the scores; the mask of this course is Boolean.",
    suggests="Return `mask == 0`, which is True exactly where the additive form allows.",
    write=lambda mask: torch.zeros(mask.shape).masked_fill(~mask, -INF),
)
causal_mask.mistake(
    "cm-nan-product",
    says="You multiply zeros and ones by minus infinity. 0 · ∞ has no value, so the places that should be 0 are NaN.",
    suggests="Return the Boolean triangle itself; where an additive mask is wanted, use `masked_fill`, not a product.",
    write=lambda mask: (~mask).float() * -INF,
)
for axes, shape in ((1, "(1, T, T)"), (2, "(1, 1, T, T)")):
    causal_mask.mistake(
        "cm-extra-dims",
        coding=shape,
        says=f"Your mask has shape {shape}: there are extra axes of size 1 in front of (T, T).",
        suggests="Return (T, T); broadcasting adds the axes for batch and heads by itself.",
        frame=lambda mask, axes=axes: mask.reshape((1,) * axes + tuple(mask.shape)),
    )

# --- mistakes: size and device ----------------------------------------------------------------------------------------

causal_mask.mistake(
    "cm-fixed-size",
    says="Your mask has the same size whatever `seq_len` is.",
    suggests="Build it from `seq_len`: shape (seq_len, seq_len).",
    only=("the length",),
    length=lambda seq_len: 5,
)
causal_mask.mistake(
    "cm-fixed-size",
    coding="up to a largest length",
    says="Your mask is cut from a table of fixed size: for a longer sequence it comes out too small.",
    suggests="Build it from `seq_len` at every call, so that there is no longest length.",
    only=("the length",),
    length=lambda seq_len: min(seq_len, 64),
)


def to_cuda(mask):
    if torch.cuda.is_available():
        # The judge need not start CUDA for this (a second, and memory): to `device_of` an error says the same.
        raise AssertionError("Torch not compiled with CUDA enabled")
    return mask.cuda()


# A mask made on the CPU for scores on a GPU is the same mistake seen from the other side: no scores come in here.
causal_mask.mistake(
    "cm-device",
    says='You put the mask on a device by name (`.cuda()`, `device="cuda"`, `"mps"`). The function then fails on every '
    "machine that has no such device, and where it does not fail, on tensors that lie elsewhere.",
    suggests="Name no device: take out `.cuda()`, `.to(...)` and `device=`.",
    only=("the device",),
    place=to_cuda,
)

# --- alternatives: just as right --------------------------------------------------------------------------------------


def by_loops(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


def by_rows(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        mask[i, : i + 1] = True
    return mask


def by_indices(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    rows, columns = torch.tril_indices(seq_len, seq_len)
    mask[rows, columns] = True
    return mask


RIGHT = {
    "tril of ones": lambda n: torch.ones(n, n).tril().bool(),
    "tril of bools": lambda n: torch.tril(torch.ones(n, n, dtype=torch.bool)),
    "tril compared with 1": lambda n: torch.tril(torch.ones((n, n))) == 1,
    "triu and logical_not": lambda n: torch.logical_not(torch.triu(torch.ones(n, n), diagonal=1)),
    "triu and ~": lambda n: ~torch.ones(n, n, dtype=torch.bool).triu(1),
    "triu transposed": lambda n: torch.ones(n, n, dtype=torch.bool).triu().T,
    "queries >= keys": lambda n: torch.arange(n)[:, None] >= torch.arange(n)[None, :],
    "the additive form compared with 0": lambda n: torch.full((n, n), -INF).triu(diagonal=1) == 0,
    "torch's own additive mask": lambda n: torch.nn.Transformer.generate_square_subsequent_mask(n) == 0,
    "running sums of the identity": lambda n: torch.eye(n).cumsum(dim=0).bool(),
    "nested lists": lambda n: torch.tensor([[j <= i for j in range(n)] for i in range(n)]),
    "numpy": lambda n: torch.from_numpy(np.tril(np.ones((n, n), dtype=bool))),
    "uint8, then compared": lambda n: torch.from_numpy(np.triu(np.ones((n, n)), k=1).astype("uint8")) == 0,
    "the CPU by name": lambda n: torch.ones(n, n, dtype=torch.bool, device="cpu").tril(),
    "nested loops": by_loops,
    "row by row": by_rows,
    "tril_indices": by_indices,
}
for name, version in RIGHT.items():
    causal_mask.alternative(name, version=version)
