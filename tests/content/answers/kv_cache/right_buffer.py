# right: a buffer of the new size, filled twice
import torch


def extend(old, new):
    done = 0 if old is None else old.shape[2]
    out = new.new_empty(*new.shape[:2], done + new.shape[2], new.shape[3])
    if old is not None:
        out[:, :, :done] = old
    out[:, :, done:] = new
    return out


def cached_attention(q, k, v, cache=None):
    k = extend(None if cache is None else cache[0], k)
    v = extend(None if cache is None else cache[1], v)
    lag = k.shape[2] - q.shape[2]
    rows = []
    for i in range(q.shape[2]):
        upto = lag + i + 1
        s = torch.einsum("bhd,bhsd->bhs", q[:, :, i], k[:, :, :upto]) * q.shape[3] ** -0.5
        rows.append(torch.einsum("bhs,bhsd->bhd", s.softmax(-1), v[:, :, :upto]))
    return torch.stack(rows, 2), (k, v)


def generate_cached(model, ids, max_new_tokens, pick):
    B, T = ids.shape
    out = torch.cat([ids, ids.new_zeros(B, max_new_tokens)], dim=1)
    training = model.training
    model.eval()
    cache, read = None, 0
    with torch.no_grad():
        while read < T + max_new_tokens - 1 and max_new_tokens:
            upto = max(T, read + 1)
            logits, cache = model(out[:, read:upto], cache)
            out[:, upto] = pick(logits[:, -1])
            read = upto
    model.train(training)
    return out
