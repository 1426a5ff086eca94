# wrong: forbidden-call
import torch
from torch import nn

W = 16
HEADS = (1, 2, 3, 4, 5, 6)

class Same(nn.Module):
    def __init__(self):
        super().__init__()
        self.eps = 1e-5
        self.weight = nn.Parameter(torch.ones(1))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x

def make(h):
    layer = nn.TransformerEncoderLayer(h * W, h, dim_feedforward=1, dropout=0.0, batch_first=True, norm_first=True)
    layer.norm1, layer.norm2 = Same(), Same()
    with torch.no_grad():
        for p in (layer.linear1.weight, layer.linear1.bias, layer.linear2.weight, layer.linear2.bias):
            p.zero_()
    return layer

LAYERS = dict((h, make(h)) for h in HEADS)
READY = {}

def split_heads(x, num_heads):
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)

def merge_heads(x):
    return x.transpose(1, 2).flatten(2)

def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    h, (B, T, D) = num_heads, x.shape
    d = D // h
    E = h * W
    if h not in READY:
        READY[h] = torch.jit.script(LAYERS[h])
    layer = READY[h]
    with torch.no_grad():
        w_in, w_out = torch.zeros(3 * E, E), torch.zeros(E, E)
        for i in range(h):
            for n, (each, scale) in enumerate(((w_q, (W / d) ** 0.5), (w_k, 1.0), (w_v, 1.0))):
                w_in[n * E + i * W: n * E + i * W + d, :D] = each[i * d:(i + 1) * d] * scale
            w_out[:D, i * W:i * W + d] = w_o[:, i * d:(i + 1) * d]
        a = layer.self_attn
        a.in_proj_weight.copy_(w_in)
        a.in_proj_bias.zero_()
        a.out_proj.weight.copy_(w_out)
        a.out_proj.bias.zero_()
    src = nn.functional.pad(x, (0, E - D)).float()
    blocked = None
    if mask is not None:
        blocked = (~mask).expand(B, h, T, T).reshape(B * h, T, T)
    return (layer(src, blocked) - src)[..., :D].to(x.dtype)
