"""`two_bits`, the reference: a small language model and its training."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  the field's name

RATE = 3e-3
WARM_UP = 50  # steps


class Block(nn.Module):
    """A pre-LN block whose attention is causal."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.wqkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)
        d_ff = 4 * d_model
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Look back, then think, each beside the stream."""
        x = x + self.attend(self.norm1(x))  # step: look
        return x + self.w2(F.gelu(self.w1(self.norm2(x))))  # step: think

    def attend(self, x):
        """Let each token gather from itself and those before it."""
        q, k, v = map(self.split_heads, self.wqkv(x).chunk(3, -1))
        # (B, H, T, d_head)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # step: blend
        return self.wo(heads.transpose(1, 2).flatten(2))  # (B, T, D)

    def split_heads(self, x):
        """Cut the last axis into heads and bring their axis forward."""
        # (B, T, D) -> (B, T, H, d_head) -> (B, H, T, d_head)
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class TwoBits(nn.Module):
    """Embedding, positions, two causal blocks, a norm, the table again."""

    def __init__(self, vocab_size, max_len):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, 32)
        self.pos = nn.Embedding(max_len, 32)
        self.blocks = nn.ModuleList(Block(32, 2) for _ in range(2))  # step: blocks
        self.norm = nn.LayerNorm(32)
        self.head = nn.Linear(32, vocab_size, bias=False)
        self.head.weight = self.tok.weight  # step: tie
        self.start(0.02)  # step: start

    def start(self, std):
        """Begin with small numbers in the tables."""
        for table in (self.tok, self.pos):
            nn.init.normal_(table.weight, std=std)

    def forward(self, ids):
        """Give the logits of the word that follows each place."""
        # (B, T, D)
        x = self.tok(ids) + self.pos.weight[: ids.size(1)]  # step: embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # (B, T, V)  # step: give


def fit(model, data, starts, block_size, report):
    """Take one step of AdamW on the windows of each row."""
    model.train()  # step: enter
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)  # step: optimizer
    for step, row in enumerate(starts, 1):  # step: rows
        rate = RATE * min(1.0, step / WARM_UP)  # step: warm
        optimizer.param_groups[0]["lr"] = rate
        places = row[:, None] + torch.arange(block_size)  # (B, T)  # step: places
        inputs = data[places]  # (B, T)  # step: inputs
        targets = data[places + 1]  # (B, T)  # step: targets
        logits = model(inputs)  # (B, T, V)  # step: forward
        # (B·T, V), (B·T,)
        flat, answers = logits.flatten(0, 1), targets.flatten()
        loss = F.cross_entropy(flat, answers)  # ()  # step: score
        optimizer.zero_grad()  # step: clear
        loss.backward()  # step: pull
        optimizer.step()  # step: move
        report(loss.item())  # step: tell
