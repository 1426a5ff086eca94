"""The references of the further lessons against the operators that they are to equal: values and gradients.

A case draws the arguments of one comparison and gives two functions of them, ours first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (the name that everybody uses)
from hypothesis import given, settings
from hypothesis import strategies as st
from support.course_files import load

TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10}
WHOLE_MODELS = 10  # times that: each LayerNorm multiplies the rounding errors of those before it
DEEP = {"gpt", "encoder", "pooling_heads", "attention_only"}  # those models
WIDE = (4, 6)  # features of a head there: LayerNorm over two that are nearly equal multiplies errors by 1 / sqrt(eps)

Function = Callable[..., torch.Tensor]
Comparison = tuple[Function, Function, list[torch.Tensor]]  # ours, theirs, what both are given


@dataclass(frozen=True)
class Draw:
    """Sizes from hypothesis, and numbers from a seed of hypothesis's."""

    data: st.DataObject
    generator: torch.Generator
    dtype: torch.dtype

    def size(self, low: int = 1, high: int = 6) -> int:
        """Draw a size."""
        return self.data.draw(st.integers(low, high))

    def shape(self, axes: int) -> list[int]:
        """Draw up to so many sizes."""
        return self.data.draw(st.lists(st.integers(1, 4), max_size=axes))

    def one_of(self, *values: Any) -> Any:
        """Draw one of these."""
        return self.data.draw(st.sampled_from(values))

    def normal(self, *shape: int, scale: float = 1.0) -> torch.Tensor:
        """Draw normal numbers."""
        return torch.randn(shape, generator=self.generator, dtype=self.dtype) * scale

    def integers(self, high: int, *shape: int) -> torch.Tensor:
        """Draw whole numbers from 0 to high - 1."""
        return torch.randint(high, shape, generator=self.generator)


def embedding(draw: Draw) -> Comparison:
    """F.embedding, for ids of any shape."""
    vocab_size, d_model = draw.size(), draw.size()
    ids = draw.integers(vocab_size, *draw.shape(3))
    table = load("solutions/text/embedding.py").Embedding(vocab_size, d_model)

    def ours(weight: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(table, {"weight": weight}, (ids,))

    return ours, lambda weight: F.embedding(ids, weight), [draw.normal(vocab_size, d_model)]


def learned_positions(draw: Draw) -> Comparison:
    """x plus the first T rows."""
    batch, tokens, d_model = draw.size(), draw.size(), draw.size()
    table = load("solutions/text/learned_positions.py").LearnedPositionalEmbedding(tokens + draw.size(0), d_model)

    def ours(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(table, {"weight": weight}, (x,))

    def theirs(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return x + F.embedding(torch.arange(tokens).expand(batch, tokens), weight)

    return ours, theirs, [draw.normal(batch, tokens, d_model), draw.normal(*table.weight.shape)]


def residual(draw: Draw) -> Comparison:
    """A chain of torch's encoder-like sums, seen at its end and in all its entries."""
    width, norm_first = draw.size(2), draw.one_of(True, False)
    weights = [draw.normal(width, width, scale=0.5) for _ in range(draw.size(0, 3))]
    branches = [lambda y, w=w: F.linear(y, w) for w in weights]
    norms = [lambda y: F.layer_norm(y, y.shape[-1:])] * len(weights)

    def theirs(x: torch.Tensor) -> torch.Tensor:
        parts = [x]
        for weight in weights:
            if norm_first:
                parts.append(torch.addmm(parts[-1], F.layer_norm(parts[-1], (width,)), weight.T))
            else:
                parts.append(F.layer_norm(torch.addmm(parts[-1], parts[-1], weight.T), (width,)))
        return torch.cat(parts)

    ours = load("solutions/inside/residual.py").residual_stream
    return lambda x: torch.cat(ours(x, branches, norms, norm_first)), theirs, [draw.normal(draw.size(), width)]


def feed_forward(draw: Draw) -> Comparison:
    """Two of torch's linear maps with GELU between."""
    width, hidden = draw.size(), draw.size()
    network = load("solutions/inside/feed_forward.py").FeedForward(width, hidden).to(draw.dtype)
    names = ("w1.weight", "w1.bias", "w2.weight", "w2.bias")

    def ours(x: torch.Tensor, *numbers: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(network, dict(zip(names, numbers, strict=True)), (x,))

    def theirs(x: torch.Tensor, w1: torch.Tensor, b1: torch.Tensor, w2: torch.Tensor, b2: torch.Tensor) -> torch.Tensor:
        return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)

    numbers = [draw.normal(*parameter.shape) for parameter in network.parameters()]
    return ours, theirs, [draw.normal(*draw.shape(3), width), *numbers]


def padding_mask(draw: Draw) -> Comparison:
    """Attention over a batch of padded texts, against attention over each text alone; the rest of the rows is 0."""
    texts, heads, places, width = draw.size(), draw.size(), draw.size(high=8), draw.size()
    lengths, causal = draw.integers(places, texts) + 1, draw.one_of(True, False)
    masks = load("solutions/inside/padding_mask.py")
    mask = (masks.causal_padding_mask if causal else masks.padding_mask)(lengths, places)
    real = (torch.arange(places) < lengths[:, None])[:, None, :, None]  # (B, 1, T, 1)

    def ours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask) * real

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        rows = []
        for text, length in enumerate(lengths.tolist()):
            mine, keys, values = (each[text, :, :length] for each in (q, k, v))
            alone = F.scaled_dot_product_attention(mine, keys, values, is_causal=causal)
            rows.append(F.pad(alone, (0, 0, 0, places - length)))
        return torch.stack(rows)

    return ours, theirs, [draw.normal(texts, heads, places, width) for _ in "qkv"]


def rope(draw: Draw) -> Comparison:
    """Each pair as a complex number, times one of length 1."""
    tokens, pairs, base = draw.size(), draw.size(), draw.one_of(100.0, 10000.0)
    positions = draw.integers(31, tokens)
    angles = torch.outer(positions.double(), torch.logspace(0, -1, pairs + 1, base=base, dtype=torch.float64)[:-1])
    turns = torch.polar(torch.ones_like(angles), angles).to(draw.dtype.to_complex())

    def theirs(x: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (pairs, 2))) * turns).flatten(-2)

    ours = load("solutions/positions/rope.py").apply_rope
    return lambda x: ours(x, positions, base), theirs, [draw.normal(*draw.shape(3), tokens, 2 * pairs)]


def gelu(draw: Draw) -> Comparison:
    """F.gelu in both forms."""
    form = draw.one_of("none", "tanh")
    ours = load("solutions/inside/activations.py").gelu
    x = draw.normal(*draw.shape(3), scale=draw.one_of(0.1, 1.0, 5.0))
    return lambda x: ours(x, approximate=form), lambda x: F.gelu(x, approximate=form), [x]


def swiglu(draw: Draw) -> Comparison:
    """Three of torch's linear maps and F.silu."""
    width, hidden = draw.size(), draw.size()

    def theirs(x: torch.Tensor, w_gate: torch.Tensor, w_up: torch.Tensor, w_down: torch.Tensor) -> torch.Tensor:
        return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)

    weights = [draw.normal(*shape) for shape in ((hidden, width), (hidden, width), (width, hidden))]
    return load("solutions/inside/activations.py").swiglu, theirs, [draw.normal(*draw.shape(3), width), *weights]


def gradient_clipping(draw: Draw) -> Comparison:
    """torch's clip_grad_norm_, in place on copies; the gradients and the norm in one row."""
    shapes, most = [draw.shape(2) for _ in range(draw.size(high=4))], draw.one_of(0.1, 1.0, 50.0)
    none = draw.size(0, len(shapes))

    def ours(*grads: torch.Tensor) -> torch.Tensor:
        given_ = [*grads[:none], None, *grads[none:]]
        clipped, norm = load("solutions/training/gradient_clipping.py").clip_gradients(given_, most)
        assert clipped.pop(none) is None
        return torch.cat([*(each.flatten() for each in clipped), norm.view(1)]).detach()

    def theirs(*grads: torch.Tensor) -> torch.Tensor:
        parameters = [torch.nn.Parameter(torch.zeros_like(each)) for each in grads]
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.grad = grad.detach().clone()
        norm = torch.nn.utils.clip_grad_norm_(parameters, most)
        return torch.cat([*(each.grad.flatten() for each in parameters), norm.view(1)])

    return ours, theirs, [draw.normal(*shape) for shape in shapes]


def evaluation(draw: Draw) -> Comparison:
    """torch's mean cross-entropy of all tokens in one long row, and the wait of a textbook's loop."""
    vocab_size, shapes = draw.size(2), [(draw.size(), draw.size()) for _ in range(draw.size())]
    batches = [(draw.integers(vocab_size, *shape), draw.integers(vocab_size, *shape)) for shape in shapes]
    for _, targets in batches:
        targets[draw.integers(2, *targets.shape) == 0] = -100
    batches[-1][1][0, 0] = 0  # at least one counts
    losses, patience = draw.integers(5, draw.size(0, 9)).tolist(), draw.size(high=4)
    module = load("solutions/training/evaluation.py")

    def ours(weight: torch.Tensor) -> torch.Tensor:
        model = torch.nn.Embedding.from_pretrained(weight.detach())
        found = module.evaluate(model, iter(batches)), module.should_stop(losses, patience)
        return torch.tensor(found, dtype=draw.dtype)

    def theirs(weight: torch.Tensor) -> torch.Tensor:
        inputs, targets = (torch.cat([batch[place].flatten() for batch in batches]) for place in (0, 1))
        best, waited = 5, 0
        for loss in losses:
            waited = 0 if loss < best else waited + 1
            best = min(best, loss)
        return torch.tensor((F.cross_entropy(weight[inputs], targets).item(), waited >= patience), dtype=draw.dtype)

    return ours, theirs, [draw.normal(vocab_size, vocab_size)]


def learning_rate(draw: Draw) -> Comparison:
    """torch's linear and cosine schedulers, one behind the other."""
    warmup, length, low = draw.size(0), draw.size(), draw.one_of(0.0, 0.1, 1.0)
    lr_at = load("solutions/training/learning_rate.py").lr_at

    def theirs() -> torch.Tensor:
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
        fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, length, eta_min=low)
        rates = []
        for _ in range(length):
            optimizer.step()
            fall.step()
            rates.append(optimizer.param_groups[0]["lr"])
        return torch.tensor([*((step + 1) / warmup for step in range(warmup)), *rates, low])

    steps = range(1, warmup + length + 2)
    return lambda: torch.tensor([lr_at(step, 1.0, low, warmup, warmup + length) for step in steps]), theirs, []


def next_token_probs(draw: Draw) -> Comparison:
    """The definition, row by row, with sets of ids: the k likeliest, and of these the fewest that reach p."""
    batch, tokens = draw.size(), draw.size()
    temperature, k, p = draw.one_of(0.5, 1.0, 3.0), draw.one_of(None, 1, 3, 9), draw.one_of(None, 0.3, 0.7, 0.95)

    def theirs(logits: torch.Tensor) -> torch.Tensor:
        found = []
        for row in logits / temperature:
            kept = row.argsort(descending=True).tolist()[:k]
            shares = dict(zip(kept, row[kept].softmax(0).tolist(), strict=True))
            while p is not None and sum(shares.values()) - min(shares.values()) >= p:
                shares.pop(min(shares, key=shares.get))
            removed = torch.tensor([place not in shares for place in range(tokens)])
            found.append(row.masked_fill(removed, -torch.inf).softmax(0))
        return torch.stack(found)

    ours = load("solutions/models/sampling.py").next_token_probs
    return lambda logits: ours(logits, temperature, k, p), theirs, [draw.normal(batch, tokens, scale=2.0)]


def sample_token(draw: Draw) -> Comparison:
    """torch.searchsorted from the right in the sums, u among them or not."""
    batch, tokens = draw.size(), draw.size()
    parts = (draw.integers(4, batch, tokens) + (torch.arange(tokens) == 0)).to(draw.dtype)
    probs = parts / parts.sum(dim=-1, keepdim=True)
    u = draw.integers(64, batch).to(draw.dtype) / 64

    def theirs(probs: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
        return torch.searchsorted(probs.cumsum(dim=-1), u.unsqueeze(-1), right=True).squeeze(-1).clamp(max=tokens - 1)

    return load("solutions/models/sampling.py").sample_token, theirs, [probs, u]


def gpt(draw: Draw) -> Comparison:
    """torch's tables, its own layers of an encoder with a causal mask, its norm, and a product with the table."""
    heads, layers, hidden, vocab_size, tokens = (draw.size(high=3) for _ in range(5))
    width, ids = heads * draw.size(*WIDE), draw.integers(vocab_size, draw.size(), tokens)
    sizes = (vocab_size, tokens + draw.size(0), width, heads, layers, hidden)
    model = load("solutions/models/gpt.py").GPT(*sizes).to(draw.dtype)
    names = [name for name, _ in model.named_parameters()]

    def ours(*numbers: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, dict(zip(names, numbers, strict=True)), (ids,))

    def theirs(*numbers: torch.Tensor) -> torch.Tensor:
        given_, none = dict(zip(names, numbers, strict=True)), torch.zeros(3 * width, dtype=draw.dtype)
        x = F.embedding(ids, given_["tok.weight"]) + given_["pos.weight"][:tokens]
        for layer in range(layers):
            own = {name.split(".", 2)[2]: each for name, each in given_.items() if name.startswith(f"blocks.{layer}.")}
            y = F.layer_norm(x, (width,), own["norm1.weight"], own["norm1.bias"]).transpose(0, 1)
            inputs = torch.cat([own[f"attn.w{letter}.weight"] for letter in "qkv"])
            future = torch.ones(tokens, tokens).triu(1).bool()
            heard, _ = F.multi_head_attention_forward(
                y,
                y,
                y,
                width,
                heads,
                inputs,
                none,
                None,
                None,
                False,
                0.0,
                own["attn.wo.weight"],
                None,
                attn_mask=future,
            )
            x = x + heard.transpose(0, 1)
            y = F.layer_norm(x, (width,), own["norm2.weight"], own["norm2.bias"])
            hidden_ = F.gelu(F.linear(y, own["ffn.w1.weight"], own["ffn.w1.bias"]))
            x = x + F.linear(hidden_, own["ffn.w2.weight"], own["ffn.w2.bias"])
        return F.linear(F.layer_norm(x, (width,), given_["norm.weight"], given_["norm.bias"]), given_["tok.weight"])

    return ours, theirs, [draw.normal(*parameter.shape, scale=0.5) for parameter in model.parameters()]


def encoder(draw: Draw) -> Comparison:
    """torch's own encoder with the same numbers and `src_key_padding_mask`; the rows of padding are 0."""
    heads, layers, hidden, vocab_size, tokens = (draw.size(high=3) for _ in range(5))
    width, texts = heads * draw.size(*WIDE), draw.size()
    ids, lengths = draw.integers(vocab_size, texts, tokens), draw.integers(tokens, texts) + 1
    sizes = (vocab_size, tokens + draw.size(0), width, heads, layers, hidden)
    model = load("solutions/models/encoder.py").Encoder(*sizes).to(draw.dtype)
    layer = torch.nn.TransformerEncoderLayer(width, heads, hidden, 0.0, "gelu", batch_first=True, norm_first=True)
    norm = torch.nn.LayerNorm(width)
    # left in training mode: in evaluation it may take a faster way, which gives 0 for padding
    other = torch.nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False).to(draw.dtype)
    names, real = [name for name, _ in model.named_parameters()], torch.arange(tokens) < lengths[:, None]
    given_lengths = draw.one_of(lengths, None) if bool(real.all()) else lengths

    def ours(*numbers: torch.Tensor) -> torch.Tensor:
        args = (ids,) if given_lengths is None else (ids, given_lengths)
        return torch.func.functional_call(model, dict(zip(names, numbers, strict=True)), args) * real.unsqueeze(-1)

    def theirs(*numbers: torch.Tensor) -> torch.Tensor:
        held = dict(zip(names, numbers, strict=True))
        x = F.embedding(ids, held.pop("tok.weight")) + held.pop("pos.weight")[:tokens]
        mapped = {name: held.pop(name) for name in ("norm.weight", "norm.bias")}
        for i in range(layers):
            inputs = [held.pop(f"blocks.{i}.attn.w{letter}.weight") for letter in "qkv"]
            mapped[f"layers.{i}.self_attn.in_proj_weight"] = torch.cat(inputs)
            mapped[f"layers.{i}.self_attn.in_proj_bias"] = torch.zeros(3 * width, dtype=draw.dtype)
            mapped[f"layers.{i}.self_attn.out_proj.bias"] = torch.zeros(width, dtype=draw.dtype)
        for name, each in held.items():
            there = name.replace("blocks", "layers").replace("attn.wo", "self_attn.out_proj")
            mapped[there.replace("ffn.w", "linear")] = each
        found = torch.func.functional_call(other, mapped, (x,), {"src_key_padding_mask": ~real}, strict=True)
        return found * real.unsqueeze(-1)

    return ours, theirs, [draw.normal(*parameter.shape) for parameter in model.parameters()]


def pooling_heads(draw: Draw) -> Comparison:
    """Each text alone, cut to its length: torch's mean, its last row, its first and its largest, and F.linear."""
    texts, tokens, width, classes = draw.size(), draw.size(), draw.size(), draw.size()
    pool, lengths = draw.one_of("mean", "cls", "last", "max", "tokens"), (draw.integers(tokens, texts) + 1).tolist()
    mask, lesson = torch.arange(tokens) < torch.tensor(lengths)[:, None], load("solutions/models/pooling_heads.py")
    one_a_text = pool != "tokens"
    model = lesson.SequenceClassifier(width, classes, pool) if one_a_text else lesson.TokenClassifier(width, classes)
    of_text = {"mean": lambda h: h.mean(0), "cls": lambda h: h[0], "last": lambda h: h[-1], "max": lambda h: h.amax(0)}

    def ours(h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        held = {"head.weight": weight, "head.bias": bias}
        return torch.func.functional_call(model, held, (h, mask) if one_a_text else (h,))

    def theirs(h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if not one_a_text:
            return torch.einsum("btd,cd->btc", h, weight) + bias
        rows = [of_text[pool](h[text, :length]) for text, length in enumerate(lengths)]
        return F.linear(torch.stack(rows), weight, bias)

    return ours, theirs, [draw.normal(texts, tokens, width), draw.normal(classes, width), draw.normal(classes)]


def generate(draw: Draw) -> Comparison:
    """The definition: every token behind the prompt is what is picked after the tokens in front of it."""
    batch, length, new, most = draw.size(), draw.size(), draw.size(0), draw.size()
    ids, table = draw.integers(9, batch, length), draw.normal(40, 9)

    def model(window: torch.Tensor) -> torch.Tensor:
        assert window.shape[1] <= most and not torch.is_grad_enabled()
        return table[(window.cumsum(dim=1) * 7) % 40]

    module = torch.nn.Module().train(draw.one_of(True, False))
    module.forward, before = model, module.training

    def ours() -> torch.Tensor:
        found = load("solutions/models/generate.py").generate(module, ids, new, most, lambda x: x.argmax(dim=-1))
        assert module.training is before
        return found

    def theirs() -> torch.Tensor:
        text = ids.tolist()
        for row in text:
            for _ in range(new):
                row.append(int(table[sum(row[-most:]) * 7 % 40].argmax()))
        return torch.tensor(text)

    return ours, theirs, []


def language_batches(draw: Draw) -> Comparison:
    """torch's narrow, and the windows that unfold cuts; all whole numbers, so that there is no gradient."""
    block_size, many = draw.size(), draw.size()
    data = draw.integers(50, block_size + many)
    starts = draw.integers(many, draw.size())
    lesson = load("solutions/text/language_batches.py")

    def ours() -> torch.Tensor:
        train, held_out = lesson.split(data, many / len(data))
        return torch.cat([train, held_out, *(each.flatten() for each in lesson.get_batch(data, starts, block_size))])

    def theirs() -> torch.Tensor:
        windows = data.unfold(0, block_size + 1, 1).index_select(0, starts)
        train, held_out = data.narrow(0, 0, many), data.narrow(0, many, block_size)
        return torch.cat([train, held_out, windows[:, :-1].flatten(), windows[:, 1:].flatten()])

    return ours, theirs, []


def cached_attention(draw: Draw) -> Comparison:
    """torch's causal attention of the whole text, which is read in chunks of any lengths."""
    batch, heads, width = draw.size(high=3), draw.size(high=3), draw.size()
    chunks = [draw.size(high=3) for _ in range(draw.size(high=4))]

    def ours(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        outputs, cache = [], None
        for part in zip(*(each.split(chunks, dim=-2) for each in (q, k, v)), strict=True):
            out, cache = load("solutions/models/kv_cache.py").cached_attention(*part, cache)
            outputs.append(out)
        return torch.cat([torch.cat(outputs, dim=-2), *cache])

    def theirs(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.cat([F.scaled_dot_product_attention(q, k, v, is_causal=True), k, v])

    return ours, theirs, [draw.normal(batch, heads, sum(chunks), width) for _ in range(3)]


def generate_cached(draw: Draw) -> Comparison:
    """`generate` with the same model without a cache, which is fed each token once."""
    batch, length, new = draw.size(), draw.size(), draw.size(0)
    ids, table, fed = draw.integers(9, batch, length), draw.normal(40, 9), []

    class Model(torch.nn.Module):
        def forward(self, tokens: torch.Tensor, cache: torch.Tensor | None = None) -> Any:
            fed.append(tokens.shape[1])
            sums = tokens.cumsum(dim=1) + (0 if cache is None else cache)
            return table[sums * 7 % 40], sums[:, -1:]

    def pick(logits: torch.Tensor) -> torch.Tensor:
        return logits.argmax(dim=-1)

    def ours() -> torch.Tensor:
        found = load("solutions/models/kv_cache.py").generate_cached(Model(), ids, new, pick)
        assert fed == [length, *[1] * (new - 1)][:new]
        return found

    def theirs() -> torch.Tensor:
        plain = torch.nn.Module()
        plain.forward = lambda tokens: table[tokens.cumsum(dim=1) * 7 % 40]
        return load("solutions/models/generate.py").generate(plain, ids, new, 99, pick)

    return ours, theirs, []


def attention_backward(draw: Draw) -> Comparison:
    """autograd's gradients of F.scaled_dot_product_attention, in one row."""
    queries, keys, d_k, d_v = (draw.size() for _ in range(4))
    q, k, v, d_out = (draw.normal(*s) for s in ((queries, d_k), (keys, d_k), (keys, d_v), (queries, d_v)))

    def ours(*given_: torch.Tensor) -> torch.Tensor:
        found = load("solutions/analysis/attention_gradient.py").attention_backward(*given_)
        return torch.cat([each.flatten() for each in found]).detach()

    def theirs(*given_: torch.Tensor) -> torch.Tensor:
        q, k, v = (each.detach().clone().requires_grad_() for each in given_[:3])
        grads = torch.autograd.grad(F.scaled_dot_product_attention(q, k, v), (q, k, v), given_[3].detach())
        return torch.cat([each.flatten() for each in grads])

    return ours, theirs, [q, k, v, d_out]


def attention_only(draw: Draw) -> Comparison:
    """F.scaled_dot_product_attention, layer by layer, beside torch's linear maps."""
    heads, d_head, tokens, layers, vocab = (draw.size() for _ in range(5))
    sizes = vocab, tokens, heads * d_head, heads, layers
    model = load("solutions/analysis/induction.py").AttentionOnly(*sizes).to(draw.dtype)
    state = {name: draw.normal(*each.shape, scale=each.size(1) ** -0.5) for name, each in model.state_dict().items()}
    ids = draw.integers(vocab, draw.size(), tokens)

    def ours(*weights: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, dict(zip(state, weights, strict=True)), (ids,))[0]

    def theirs(*weights: torch.Tensor) -> torch.Tensor:
        part = dict(zip(state, weights, strict=True))
        x = F.embedding(ids, part["tok.weight"]) + part["pos.weight"]
        for n in range(layers):
            q, k, v, wo = (part[f"layers.{n}.w{letter}.weight"] for letter in "qkvo")
            q, k, v = (F.linear(x, w).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (q, k, v))
            x = x + F.linear(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2), wo)
        return F.linear(x, part["out.weight"])

    return ours, theirs, list(state.values())


def induction_score(draw: Draw) -> Comparison:
    """A loop over the pairs of query and key that the statement names."""
    period, front = draw.size(2), draw.shape(2)
    tokens = period + draw.size()
    weights = draw.normal(*front, tokens, tokens).softmax(-1)

    def theirs(weights: torch.Tensor) -> torch.Tensor:
        return torch.stack([weights[..., i, i - period + 1] for i in range(period, tokens)]).mean(0)

    lesson = load("solutions/analysis/induction.py")
    return lambda weights: lesson.induction_score(weights, period), theirs, [weights]


CASES: dict[str, Callable[[Draw], Comparison]] = {
    "embedding": embedding,
    "learned_positions": learned_positions,
    "residual": residual,
    "padding_mask": padding_mask,
    "rope": rope,
    "learning_rate": learning_rate,
    "evaluation": evaluation,
    "gradient_clipping": gradient_clipping,
    "attention_backward": attention_backward,
    "attention_only": attention_only,
    "induction_score": induction_score,
    "gelu": gelu,
    "swiglu": swiglu,
    "feed_forward": feed_forward,
    "next_token_probs": next_token_probs,
    "sample_token": sample_token,
    "gpt": gpt,
    "encoder": encoder,
    "pooling_heads": pooling_heads,
    "generate": generate,
    "language_batches": language_batches,
    "cached_attention": cached_attention,
    "generate_cached": generate_cached,
}


def values_and_gradients(function: Function, given: list[torch.Tensor]) -> list[torch.Tensor | None]:
    """Give a function's value and the gradients of a weighted sum of it."""
    leaves = [each.clone().requires_grad_(each.is_floating_point()) for each in given]
    y = function(*leaves)
    if y.requires_grad:
        (y * torch.linspace(-1, 2, y.numel(), dtype=y.dtype).view_as(y)).sum().backward()
    return [y.detach(), *(leaf.grad for leaf in leaves)]


@pytest.mark.parametrize("name", CASES)
@settings(deadline=None, max_examples=25)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(list(TOLERANCE)))
def test_every_reference_equals_its_operator(name: str, data: st.DataObject, seed: int, dtype: torch.dtype) -> None:
    """The reference's values and gradients are the operator's, for sizes of all kinds; no argument is changed."""
    ours, theirs, given_ = CASES[name](Draw(data, torch.Generator().manual_seed(seed), dtype))
    before = [each.clone() for each in given_]

    mine, other = values_and_gradients(ours, given_), values_and_gradients(theirs, given_)

    tolerance = TOLERANCE[dtype] * (WHOLE_MODELS if name in DEEP else 1)
    torch.testing.assert_close(mine, other, atol=tolerance, rtol=max(tolerance, 1e-4))
    assert all(torch.equal(a, b) for a, b in zip(before, given_, strict=True))
