"""What people write in `split` and `get_batch` in place of the reference's lines; and other right ways.

Not here: windows that are views of the row, which for more than one start nobody writes by chance, and which no answer
could show; rows of different lengths, which no tensor has.
"""

import torch

from grader.api.checks import MistakeSet, draw, is_portable

split = MistakeSet("split", globals(), without=("manners_of_split",))
get_batch = MistakeSet("get_batch", globals(), without=("manners_of_get_batch",))
MISTAKE_SETS = [split, get_batch]

split.example(torch.arange(10), share=0.8)
get_batch.example(torch.arange(10, 20), torch.tensor([0, 6]), 3)


def order_of(parts):
    """Whether each part is one piece of the row 0, 1, 2, ..."""
    whole = sorted(torch.cat(parts).tolist()) == list(range(20))
    pieces = all(bool((part.diff() == 1).all()) for part in parts)
    return "all ids, in pieces" if whole and not pieces else "in one piece" if pieces else "something else"


split.ask("the order", torch.arange(20), 0.5, see=order_of, stage="")
split.ask("the row afterwards", draw(20), 0.5, by="observe", see=lambda seen: seen.args[0], stage="")
ROW = torch.arange(30) * 7 % 31
get_batch.ask("the arguments afterwards", ROW, torch.tensor([4, 0, 11]), 5, by="observe",
              see=lambda seen: seen.args[:2], stage="")  # fmt: skip
get_batch.ask("on another device", ROW, torch.tensor([4, 11]), 5, by=is_portable, aside=True)

# fmt: off
# --- split
END = "Hold out the end of the text: `data[:n], data[n:]`."
MIXED = "perm = torch.randperm(len(data), generator=torch.Generator().manual_seed(1))\n"
ORDER = ("the order",)  # shuffled in whatever way
split.mistake("bat-split-first", "The held-out part is the beginning of the text, and not its end.", END,
              parts="data[data.size(0) - cut:], data[:data.size(0) - cut]")
split.mistake("bat-parts-exchanged", "The two parts are returned in the wrong order: training gets what is held out.",
              "Return the larger part first: `train, held_out`.", result="value[::-1]")
for coding, parts in (("", f"{MIXED}return data[perm[:cut]], data[perm[cut:]]"),
                      ("in order", f"{MIXED}return data[perm[:cut].sort()[0]], data[perm[cut:].sort()[0]]"),
                      ("every second", "data[::2], data[1::2]")):
    split.mistake("bat-shuffled-split", "Ids are held out here and there, or all of them are shuffled: training has "
                  "the neighbours of what is held out.", f"{END} Order is what a language model learns.", coding=coding,
                  only=ORDER, parts=parts)
split.mistake("bat-share-ignored", "The cut is at nine tenths, whatever `share` is.", "Cut at share · N.",
              cut="round(0.9 * data.size(0))")
split.mistake("bat-share-of-held-out", "`share` is taken for the part that is held out; it is the part for training.",
              "Cut at share · N.", cut="round((1 - share) * data.size(0))")
split.mistake("bat-share-of-held-out", coding="int", cut="int((1 - share) * data.size(0))")
split.mistake("bat-split-overlaps", "The last id for training is held out, too.", "Begin the second part where the "
              "first one ends: `data[:n], data[n:]`.", parts="data[:cut], data[cut - 1:]")
split.mistake("bat-split-loses", "One id between the two parts is in neither.", "Begin the second part where the first "
              "one ends: `data[:n], data[n:]`.", parts="data[:cut], data[cut + 1:]")
split.mistake("bat-split-loses", "The last id of each part is lost.", "A slice ends in front of its end: `data[:n]`.",
              coding="at both ends", parts="data[:cut - 1], data[cut:-1]")
split.mistake("bat-split-everything", "The first part is the whole text: what is held out is trained on.", END,
              parts="data, data[cut:]")
split.mistake("bat-split-windows", "The parts get a second axis.", "Leave both in one row, (n,).",
              result="tuple(part[None] for part in value)")
split.mistake("bat-float", "The ids are floats.", "Leave them whole: an embedding takes int64.",
              result="tuple(part.float() for part in value)")
split.mistake("bat-in-place", "The caller's row is changed: it is sorted or shuffled in place.", "Only slice it.",
              alone=True, take_data="data.copy_(data.flip(0))")

# --- get_batch
BY_ONE = "The targets are the windows one place later: `data[s + 1 : s + T + 1]`."
batch = get_batch.mistake
batch("bat-target-is-input", "The targets are the inputs themselves: a model that copies would have a loss of 0.",
      BY_ONE, targets="data[places]")
batch("bat-target-two-ahead", "The targets lie two places ahead.", BY_ONE,
      targets="data[(places + 2).clamp(max=len(data) - 1)]")
batch("bat-target-two-ahead", "The targets lie two places ahead, and the last one outside of the text.", BY_ONE,
      coding="past the end", targets="data[places + 2]")
batch("bat-target-two-ahead", "The targets lie two places ahead, and the last window is cut off.", BY_ONE,
      coding="slices", targets="torch.stack([data[s + 2 : s + 2 + block_size] for s in starts])")
batch("bat-next-alone", "The targets are the one id behind each window: every place of it has a next id.", BY_ONE,
      targets="data[starts + block_size].unsqueeze(1)")
for coding, targets in (("", "data[(places + block_size).clamp(max=len(data) - 1)]"),
                        ("past the end", "data[places + block_size]"),
                        ("around", "data[(places + block_size) % len(data)]"),
                        ("moved", "data[(starts + block_size).clamp(max=len(data) - block_size)[:, None] + steps]")):
    batch("bat-target-next-window", "The targets are the window behind this one, T places later.", BY_ONE,
          coding=coding, targets=targets)
batch("bat-target-previous", "The targets are the ids *before* the inputs.", BY_ONE, targets="data[places - 1]")
batch("bat-targets-exchanged", "Inputs and targets are exchanged: the model is to guess what came before.",
      "Return `inputs, targets`.", give="targets, inputs")
batch("bat-rolled", "The last target is the first id of the same window: the row was rolled.",
      f"{BY_ONE} `roll` puts the first one at the end.", targets="inputs.roll(-1, 1)")
batch("bat-rolled", "The last target of a window is its last input again.", BY_ONE, coding="repeated",
      targets="torch.cat([inputs[:, 1:], inputs[:, -1:]], dim=1)")
batch("bat-rolled", "The last target of a window is 0, and not the id that comes next.", BY_ONE, coding="zero",
      targets="torch.cat([inputs[:, 1:], 0 * inputs[:, -1:]], dim=1)")
batch("bat-next-token-only", "There is one target for a window, and not one for each of its ids.", f"{BY_ONE} A window "
      "of T ids asks T questions.", targets="data[places[:, -1] + 1]")
batch("bat-same-window", "Every row is the window of the first start.", "Use all starts: `starts[:, None] + "
      "torch.arange(T)`.", places="starts[0] + steps + 0 * starts.unsqueeze(1)")
batch("bat-range", "The last legal start, N − T − 1, is refused.", "Its last target is data[N − 1]: refuse larger ones "
      "only.", places="starts.unsqueeze(1) + steps if starts.max() < len(data) - block_size - 1 else 1 / 0")
batch("bat-range", "The last start is moved: it is cut off at N − T − 2.", "Its last target is data[N − 1]: starts up "
      "to N − T − 1 are legal.", coding="cut off",
      places="starts.clamp(max=max(0, len(data) - block_size - 2)).unsqueeze(1) + steps")
batch("bat-starts-in-blocks", "The starts are taken for numbers of blocks: window b begins at T times its start.",
      "A start is a place in the row.", places="(starts.unsqueeze(1) * block_size + steps) % (len(data) - 1)")
for coding, places in (("around", "starts.mul(block_size).remainder(len(data) - block_size).unsqueeze(1) + steps"),
                       ("past the end", "starts.unsqueeze(1) * block_size + steps"),
                       ("moved", "starts.mul(block_size).clamp(max=len(data) - block_size - 1)[:, None] + steps")):
    batch("bat-starts-in-blocks", coding=coding, places=places)
batch("bat-starts-in-blocks", coding="each around", places="starts.unsqueeze(1) * block_size + steps",
      inputs="data[places % len(data)]", targets="data[(places + 1) % len(data)]")
batch("bat-starts-ignored", "The windows lie one behind the other from place 0 on, whatever the starts are.",
      "Begin window b at starts[b].",
      places="(torch.arange(len(starts)).unsqueeze(1) * block_size + steps) % (len(data) - 1)")
batch("bat-starts-sorted", "The windows are put into the order of their places.", "Row b belongs to starts[b].",
      take_starts="starts.sort()[0]")
batch("bat-window-too-long", "The windows have T + 1 ids.", "Cut T: `data[s : s + T]`.",
      steps="torch.arange(block_size + 1)", inputs="data[places.clamp(max=len(data) - 1)]",
      targets="data[(places + 1).clamp(max=len(data) - 1)]")
batch("bat-window-too-long", "The inputs have T + 1 ids: the last of them is the last target.", coding="inputs",
      inputs="data[torch.cat([places, places[:, -1:] + 1], dim=1)]")
batch("bat-window-too-short", "The windows have T − 1 ids: T ids were cut, and inputs and targets made of them.",
      "Cut T + 1 ids, and make `window[:-1]` and `window[1:]` of them.", inputs="data[places][:, :-1]",
      targets="data[places][:, 1:]")
batch("bat-window-too-short", "The targets have T − 1 ids: the last input has no target.", BY_ONE, coding="targets",
      targets="data[places + 1][:, :-1]")
batch("bat-transposed", "The windows stand in columns: (T, B).", "Row b is window b: (B, T).",
      result="tuple(part.t() for part in value)")
batch("bat-flattened", "The windows are put one behind the other.", "Keep an axis for each: (B, T).",
      result="tuple(part.flatten() for part in value)")
batch("bat-float", "The ids are floats.", "Leave them whole: an embedding takes int64.",
      result="tuple(part.float() for part in value)")
batch("bat-in-place", "The caller's starts are changed: `starts += 1`.", "Make new ones: `starts + 1`.",
      targets="data[starts.add_(1).unsqueeze(1) + steps]")
batch("bat-device", "The places are counted on the CPU, wherever the row is.", "Make them with `device=data.device`.",
      only=("on another device",), steps="torch.arange(block_size)")

# --- just as right
split.alternative("narrow", parts="data.narrow(0, 0, cut), data.narrow(0, cut, data.size(0) - cut)")
split.alternative("torch.split", parts="tuple(data.split([cut, data.size(0) - cut]))")
split.alternative("int", cut="int(share * len(data))")
split.alternative("from the end", cut="len(data) - round((1 - share) * len(data))")
split.alternative("copies", parts="data[:cut].clone(), data[cut:].clone()")
right = get_batch.alternative
right("a stack of slices", inputs="torch.stack([data[s : s + block_size] for s in starts])",
      targets="torch.stack([data[s + 1 : s + block_size + 1] for s in starts])")
right("unfold", inputs="data.unfold(0, block_size, 1)[starts]", targets="data.unfold(0, block_size, 1)[starts + 1]")
right("a window of T + 1, cut in two", inputs="data.unfold(0, block_size + 1, 1)[starts]", targets="inputs[:, 1:]",
      give="inputs[:, :-1], targets")
right("gather", inputs="data.expand(len(starts), -1).gather(1, places)",
      targets="data.expand(len(starts), -1).gather(1, places + 1)")
right("take", inputs="torch.take(data, places)", targets="data.take(places + 1)")
# fmt: on
