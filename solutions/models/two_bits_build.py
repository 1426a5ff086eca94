"""What `learn build two_bits` trains and lets write: a small GPT of the learner's own lessons."""

import torch
from generate import generate
from gpt import GPT
from language_batches import get_batch
from sampling import next_token_probs, sample_token
from torch import nn
from training import train_step

RATE = 3e-3
WARM_UP = 50  # steps
HEADS = 2


class TwoBits(GPT):
    """The GPT of the lesson, in the size of the run, with tables that start small."""

    def __init__(self, vocab_size, max_len):
        super().__init__(vocab_size, max_len, 32, HEADS, 2, 128)
        for table in (self.tok, self.pos):
            nn.init.normal_(table.weight, std=0.02)

    def write(self, ids, draws, max_len):
        """Continue each text by a token for each row of draws, (new tokens, B), at half the temperature."""
        left = iter(draws)

        def pick(logits):
            return sample_token(next_token_probs(logits, temperature=0.5), next(left))

        return generate(self, ids, len(draws), max_len, pick)

    def maps(self, ids):
        """Where each head of each layer looks, (L, B, H, T, T): by the names that a block's parameters have."""
        seen, found = [], []
        hooks = [block.norm1.register_forward_hook(lambda _norm, _args, out: seen.append(out)) for block in self.blocks]
        self(ids)
        for hook in hooks:
            hook.remove()
        mask = torch.ones(ids.size(1), ids.size(1)).tril().bool()
        for block, x in zip(self.blocks, seen, strict=True):
            q, k = (part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in (block.attn.wq, block.attn.wk))
            scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # (B, H, T, T)
            found.append(scores.masked_fill(~mask, float("-inf")).softmax(-1))
        return torch.stack(found)


def fit(model, data, starts, block_size, report):
    """Take a step on the windows of each row, with the learner's own `train_step`."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    for step, row in enumerate(starts, 1):
        optimizer.param_groups[0]["lr"] = RATE * min(1.0, step / WARM_UP)
        report(train_step(model, optimizer, *get_batch(data, row, block_size)))
