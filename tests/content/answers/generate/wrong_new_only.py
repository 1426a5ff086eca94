# wrong: gn-prompt-dropped
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    training = model.training
    model.eval()
    new = []
    text = ids
    with torch.no_grad():
        for _ in range(max_new_tokens):
            new.append(pick(model(text[:, -max_len:])[:, -1]))
            text = torch.cat([text, new[-1].unsqueeze(1)], dim=1)
    model.train(training)
    return torch.stack(new, dim=1) if new else ids[:, :0]
