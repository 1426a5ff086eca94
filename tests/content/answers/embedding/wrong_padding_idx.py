# wrong: emb-padding-zeroed
import torch.nn as nn


class Embedding(nn.Embedding):
    def __init__(self, vocab_size, d_model):
        super().__init__(vocab_size, d_model, padding_idx=0)
