# right: truncated normal start and register_parameter
import torch


class Embedding(torch.nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        w = torch.empty((vocab_size, d_model), dtype=torch.float32)
        torch.nn.init.trunc_normal_(w, mean=0.0, std=1.0, a=-3.0, b=3.0)
        self.register_parameter("weight", torch.nn.Parameter(w))

    def forward(self, token_ids):
        shape = token_ids.shape
        flat = token_ids.reshape(-1)
        picked = torch.index_select(self.weight, 0, flat)
        return picked.reshape(*shape, self.weight.shape[1])
