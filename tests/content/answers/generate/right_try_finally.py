# right: careful, with a list of columns
import torch


def generate(model, ids, max_new_tokens, max_len, pick):
    columns = [ids[:, t] for t in range(ids.shape[1])]
    mode = model.training
    model.eval()
    try:
        with torch.inference_mode():
            while len(columns) < ids.shape[1] + max_new_tokens:
                window = torch.stack(columns[-max_len:], dim=1)
                columns.append(pick(model(window)[:, -1]))
    finally:
        model.train(mode)
    return torch.stack(columns, dim=1)
