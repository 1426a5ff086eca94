# right: Python lists
import math

import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    rows = []
    for row in logits.tolist():
        scaled = [x / temperature for x in row]
        order = sorted(range(len(scaled)), key=scaled.__getitem__, reverse=True)
        if top_k is not None:
            order = order[:top_k]
        high = scaled[order[0]]
        weight = {i: math.exp(scaled[i] - high) for i in order}
        if top_p is not None:
            total, so_far, nucleus = sum(weight.values()), 0.0, []
            for i in order:
                nucleus.append(i)
                so_far += weight[i] / total
                if so_far >= top_p:
                    break
            order = nucleus
        total = sum(weight[i] for i in order)
        rows.append([weight[i] / total if i in order else 0.0 for i in range(len(row))])
    return torch.tensor(rows, dtype=logits.dtype, device=logits.device)


def sample_token(probs, u):
    out = []
    for p, x in zip(probs, u):
        total = 0.0
        for token, share in enumerate(p):
            total = total + share
            if total > x:
                break
        out.append(token)
    return torch.tensor(out, dtype=torch.long, device=probs.device)
