"""The questions on a token's journey, answered by torch."""

from __future__ import annotations

import ast
from functools import cache

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, WIDTH, CLASSES = 20, 8, 3


# --- the steps in order -----------------------------------------------------------------------------------------------


class Step(nn.Module):
    """A step that is a function: as a module, so that a hook notices when it is taken."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


class Classifier(nn.Module):
    """From a text to the loss. Its block has the parts of torch's own, which says whether it is put together right."""

    def __init__(self, norm_first):
        super().__init__()
        self.norm_first = norm_first
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.0, batch_first=True, norm_first=norm_first)
        self.layer = [layer]  # in a list: what is called is only its parts
        self.norm1, self.norm2, self.attn = layer.norm1, layer.norm2, Step(lambda x: layer.self_attn(x, x, x)[0])
        self.ffn = Step(lambda x: layer.linear2(layer.linear1(x).relu()))
        self.tokenise = Step(lambda text: torch.tensor([[ord(letter) - ord("a") for letter in text]]))
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.positions, self.add1, self.add2 = (Step(torch.add) for _ in range(3))
        self.final, self.classify = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, CLASSES)
        self.pool, self.loss = Step(lambda x: x.mean(dim=1)), Step(functional.cross_entropy)

    def forward(self, text, label):
        x = self.positions(self.embed(self.tokenise(text)), torch.randn(len(text), WIDTH))
        if self.norm_first:
            h = self.add1(x, self.attn(self.norm1(x)))
            out = self.add2(h, self.ffn(self.norm2(h)))
        else:
            h = self.norm1(self.add1(x, self.attn(x)))
            out = self.norm2(self.add2(h, self.ffn(h)))
        assert torch.allclose(out, self.layer[0](x), atol=1e-5)
        return self.loss(self.classify(self.pool(self.final(out) if self.norm_first else out)), label)


@cache
def taken(norm_first):
    """The names of a classifier's steps in the order in which they are first taken."""
    torch.manual_seed(0)
    model, names = Classifier(norm_first), []
    for name, module in model.named_children():
        module.register_forward_hook(lambda *_, name=name: names.append(name))
    model("badcab", torch.tensor([1]))
    return list(dict.fromkeys(names))


def way_in(question):
    values = question.values
    texts = [values["texts"][name] for name in taken(values["norm_first"]) if name in values["texts"]]
    return [[option.text for option in question.options].index(text) for text in texts]


way_out = way_in


# --- what reaches what ------------------------------------------------------------------------------------------------


def mixers(question):
    """An operation mixes if the last token's result has a gradient with respect to another token."""
    values, right = question.values, []
    torch.manual_seed(question.attempt)
    for place, option in enumerate(question.options):
        x = (torch.randn(values["b"], values["n"], values["d"]) / 2).requires_grad_()
        result = eval(option.text, {"torch": torch, "nn": nn, "x": x})
        assert result.shape[:2] == x.shape[:2]
        (result[:, -1] * torch.randn_like(result[:, -1])).sum().backward()
        if x.grad[:, :-1].abs().max() > 1e-6:
            right.append(place)
    return right


class Encoder:
    """One block with random weights, in double precision, with the masks and the kind of norm that are wanted."""

    def __init__(self, mask, norm):
        self.mask, self.norm = mask, norm
        self.embed, self.positions = torch.randn(50, 6).double(), torch.randn(20, 6).double()
        self.w_q, self.w_k, self.w_v, self.w_1, self.w_2 = (torch.randn(6, 6).double() for _ in range(5))
        self.classify = torch.randn(6, 3).double()

    def __call__(self, ids, real):
        x = self.embed[ids] + self.positions[: ids.size(1)]
        y = self.normed(x)
        scores = (y @ self.w_q) @ (y @ self.w_k).transpose(1, 2) / 6**0.5
        kept = torch.arange(ids.size(1)) < real[:, None]
        if self.mask != "none":
            scores = scores.masked_fill(~kept[:, None], -torch.inf)
        x = x + scores.softmax(dim=-1) @ (y @ self.w_v)
        x = x + functional.gelu(self.normed(x) @ self.w_1) @ self.w_2
        counted = kept if self.mask == "both" else torch.ones_like(kept)
        pooled = (x * counted[:, :, None]).sum(dim=1) / counted.sum(dim=1, keepdim=True)
        return pooled @ self.classify

    def normed(self, x):
        if self.norm == "layer":
            return functional.layer_norm(x, x.shape[-1:])
        return functional.batch_norm(x.transpose(1, 2), None, None, training=True).transpose(1, 2)


def what_changes(question):
    """Make each change, and look at the logits of row 0."""
    values = question.values
    torch.manual_seed(question.attempt)
    n, model = values["n"], Encoder(values["mask"], values["norm"])
    ids = torch.stack([torch.randperm(40)[:n] for _ in range(4)])  # in a row no id is there twice
    real = torch.tensor([values["real"], 5, 4, n])
    before = model(ids, real)[0]

    def after(text):
        changed, length = ids.clone(), real
        numbers = [int(word) for word in text.split() if word.isdigit()]
        if text.startswith("another id"):
            place, row = numbers
            changed[row, place] = 45
        elif text.startswith("exchanging"):
            one, other, row = numbers
            changed[row, [one, other]] = ids[row, [other, one]]
        elif text.startswith("three more"):
            changed = torch.cat([ids, torch.full((4, 3), 47)], dim=1)
        else:
            assert text == "taking row 1 out of the batch"
            changed, length = ids[[0, 2, 3]], real[[0, 2, 3]]
        return model(changed, length)[0]

    options = enumerate(question.options)
    return [place for place, option in options if not torch.allclose(after(option.text), before, atol=1e-9)]


# --- the stream -------------------------------------------------------------------------------------------------------


def stream(question):
    """The same block with its branches as linear layers."""
    values = question.values
    attention, network = nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False)
    attention.weight.data.fill_(values["a"])
    network.weight.data.fill_(values["b"])
    x = torch.tensor([float(values["x"])])
    for branch in (attention, network):
        x = x + branch(x)
    return x.item()


class OneBlock(nn.Module):
    """What the lines of the question need. The wanted loss comes from torch's own encoder layer."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
        self.layer = layer
        self.norm1, self.norm2, self.norm = layer.norm1, layer.norm2, nn.LayerNorm(WIDTH)
        self.embed, self.classify = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.positions = nn.Parameter(torch.randn(VOCABULARY, WIDTH))

    def attn(self, y):
        return self.layer.self_attn(y, y, y)[0]

    def ffn(self, y):
        return self.layer.linear2(self.layer.linear1(y).relu())

    def wanted(self, ids, labels):
        x = functional.embedding(ids, self.embed.weight) + self.positions[torch.arange(ids.size(1))]
        log_p = self.classify(self.norm(self.layer(x)).sum(dim=1) / ids.size(1)).log_softmax(dim=-1)
        return -log_p[torch.arange(len(labels)), labels].mean()


def planted_mistake(question):
    """The line that must be replaced for the code to give the loss of torch's own encoder layer."""
    torch.manual_seed(0)
    model, ids, labels = OneBlock(), torch.randint(VOCABULARY, (4, 5)), torch.tensor([0, 2, 1, 1])
    wanted = model.wanted(ids, labels)

    def gives(lines):
        space = {"functional": functional}
        exec("\n".join(lines), space)
        try:
            got = space["loss"](model, ids, labels)
        except (RuntimeError, NameError):  # sizes that do not fit; a name that the replaced line should have made
            return False
        return got is not None and torch.allclose(got, wanted, atol=1e-5)

    lines = question.code.split("\n")
    fixed = f"    {question.details['fix']}"
    cures = [place for place in range(1, len(lines)) if gives([*lines[:place], fixed, *lines[place + 1 :]])]
    assert not gives(lines) and len(cures) == 1, cures
    return cures[0] + 1


# --- one layer at a time ----------------------------------------------------------------------------------------------


def printed(question):
    """Run the code, and read what it prints."""
    lines = []
    exec(question.code, {"torch": torch, "nn": nn, "print": lines.append})
    return str(lines[0])


lookup = layer_norm = printed


def parameters(*modules):
    return sum(each.numel() for module in modules for each in module.parameters())


def table_parameters(question):
    values = question.values
    return parameters(nn.Embedding(values["vocabulary"], values["d"]), nn.Embedding(values["longest"], values["d"]))


def ffn_parameters(question):
    values = question.values
    layer = nn.TransformerEncoderLayer(values["d"], 1, values["d_ff"])
    return parameters(layer.linear1, layer.linear2)


def shapes(question):
    """Run the code, and look."""
    space = {"torch": torch, "nn": nn}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("weights", "hidden", "pooled", "logits")]


def double_softmax(question):
    perfect = torch.tensor(ast.literal_eval(f"[{question.values['zeros']}]"))
    return functional.cross_entropy(perfect, torch.tensor(0)).item()
