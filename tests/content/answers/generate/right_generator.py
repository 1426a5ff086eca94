# right: a generator inside
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    def tokens(text):
        for _ in range(max_new_tokens):
            with torch.no_grad():
                scores = model(text[:, max(0, text.shape[1] - max_len):])
            token = pick(scores.select(1, scores.shape[1] - 1)).unsqueeze(-1)
            text = torch.cat([text, token], -1)
            yield token

    was = model.training
    model.eval()
    result = torch.cat([ids, *tokens(ids)], dim=-1)
    model.train(was)
    return result
