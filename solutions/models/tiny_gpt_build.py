"""What `learn build tiny_gpt` trains: the learner's TinyGPT, with the pieces of the lessons on training and writing."""

import tiny_gpt
import torch
from adamw import adamw_step
from cross_entropy import cross_entropy
from generate import generate
from gradient_clipping import clip_gradients
from language_batches import get_batch
from learning_rate import lr_at
from sampling import next_token_probs, sample_token
from torch import nn


class TinyGPT(tiny_gpt.TinyGPT):
    """The model of the lesson, with a table that starts small, its training and its writing."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        nn.init.normal_(self.tok.weight, std=0.02)
        self.moments = [(torch.zeros_like(each), torch.zeros_like(each)) for each in self.parameters()]

    def fit(self, data, starts, block_size, first, total, report):
        """Take a step of AdamW on the windows of each row; the first is number `first` of `total`."""
        self.train()
        parameters = list(self.parameters())
        for step, row in enumerate(starts, first):
            inputs, targets = get_batch(data, row, block_size)
            loss = cross_entropy(self(inputs), targets)
            self.zero_grad()
            loss.backward()
            grads, _ = clip_gradients([each.grad for each in parameters], 1.0)
            rate = lr_at(step, 4e-3, 4e-4, 100, total)
            with torch.no_grad():
                for place, (parameter, grad) in enumerate(zip(parameters, grads, strict=True)):
                    m, v = self.moments[place]
                    moved, m, v = adamw_step(parameter, grad, m, v, step, lr=rate, betas=(0.9, 0.99), weight_decay=0.1)
                    parameter.copy_(moved)
                    self.moments[place] = m, v
            report(loss.item())

    def write(self, ids, draws, max_len):
        """Continue a text by one token for each draw."""
        left = iter(draws)

        def pick(logits):
            return sample_token(next_token_probs(logits, temperature=0.7), next(left).expand(len(logits)))

        return generate(self, ids, len(draws), max_len, pick)
