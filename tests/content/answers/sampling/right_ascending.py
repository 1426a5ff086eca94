# right: sorted upwards, as in Hugging Face's TopPLogitsWarper
import torch


def next_token_probs(logits, temperature=1.0, top_k=None, top_p=None):
    scores = logits / temperature
    if top_k is not None:
        k = min(top_k, scores.shape[-1])
        scores = torch.where(scores < torch.topk(scores, k)[0][..., -1, None], torch.full_like(scores, -torch.inf), scores)
    if top_p is not None:
        ordered, indices = torch.sort(scores, descending=False)
        tail = ordered.softmax(dim=-1).cumsum(dim=-1)
        remove = tail <= 1 - top_p
        remove[..., -1:] = False
        scores = scores.masked_fill(remove.scatter(1, indices, remove), -torch.inf)
    return scores.softmax(dim=-1)


def sample_token(probs, u):
    exceeds = probs.cumsum(-1) > u.reshape(-1, 1)
    return exceeds.int().argmax(dim=-1)
