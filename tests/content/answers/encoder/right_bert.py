# right: in the manner of BERT's code: an additive mask of the smallest number, position_ids in a buffer
import torch
from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.num_attention_heads = num_attention_heads
        self.attention_head_size = hidden_size // num_attention_heads
        self.wq = nn.Linear(hidden_size, hidden_size, bias=False)
        self.wk = nn.Linear(hidden_size, hidden_size, bias=False)
        self.wv = nn.Linear(hidden_size, hidden_size, bias=False)
        self.wo = nn.Linear(hidden_size, hidden_size, bias=False)

    def transpose_for_scores(self, x):
        x = x.view(x.size()[:-1] + (self.num_attention_heads, self.attention_head_size))
        return x.permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        query_layer, key_layer, value_layer = (
            self.transpose_for_scores(layer(hidden_states)) for layer in (self.wq, self.wk, self.wv)
        )
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / self.attention_head_size**0.5 + attention_mask
        context_layer = torch.matmul(F.softmax(attention_scores, dim=-1), value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        return self.wo(context_layer.view(hidden_states.size()))


class FFN(nn.Module):
    def __init__(self, hidden_size, intermediate_size):
        super().__init__()
        self.w1 = nn.Linear(hidden_size, intermediate_size)
        self.w2 = nn.Linear(intermediate_size, hidden_size)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x), approximate="tanh"))


class Layer(nn.Module):
    def __init__(self, hidden_size, heads, intermediate_size):
        super().__init__()
        self.attn, self.ffn = Attn(hidden_size, heads), FFN(hidden_size, intermediate_size)
        self.norm1, self.norm2 = nn.LayerNorm(hidden_size), nn.LayerNorm(hidden_size)

    def forward(self, x, attention_mask):
        x = x + self.attn(self.norm1(x), attention_mask)
        return x + self.ffn(self.norm2(x))


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.register_buffer("position_ids", torch.arange(max_len).expand((1, -1)), persistent=False)
        self.blocks = nn.ModuleList([Layer(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        seq_length = ids.size(1)
        position_ids = self.position_ids[:, :seq_length]
        attention_mask = torch.ones_like(ids) if lengths is None else (position_ids < lengths.unsqueeze(-1)).long()
        extended = attention_mask[:, None, None, :].to(dtype=self.tok.weight.dtype)
        extended = (1.0 - extended) * torch.finfo(self.tok.weight.dtype).min
        hidden_states = self.tok(ids) + self.pos(position_ids)
        for layer_module in self.blocks:
            hidden_states = layer_module(hidden_states, extended)
        return self.norm(hidden_states)
