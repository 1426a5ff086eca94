# right: numpy habits: tensordot, swapaxes, split, axis names in comments
import torch as np


def split_heads(x, num_heads):
    return np.stack(np.tensor_split(x, num_heads, dim=2), dim=1)


def merge_heads(x):
    return np.concatenate([h.squeeze(1) for h in np.tensor_split(x, x.shape[1], dim=1)], axis=-1)


def softmax(z, axis):
    z = z - np.amax(z, axis, keepdims=True)
    e = np.exp(z)
    return e / np.sum(e, axis, keepdims=True)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = split_heads(np.tensordot(x, w_q, dims=([2], [1])), num_heads)
    k = split_heads(np.tensordot(x, w_k, dims=([2], [1])), num_heads)
    v = split_heads(np.tensordot(x, w_v, dims=([2], [1])), num_heads)
    s = np.matmul(q, np.swapaxes(k, 2, 3)) / q.shape[3] ** 0.5
    if mask is not None:
        s = np.where(mask, s, np.tensor(-np.inf, dtype=s.dtype, device=s.device))
    return np.tensordot(merge_heads(np.matmul(softmax(s, -1), v)), w_o, dims=([2], [1]))
