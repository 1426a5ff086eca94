"""Lines that people write in `induction` in place of the reference's, with the mistake that each makes."""

# fmt: off
WRONG = {
    "repeat_runs": [("in-device", {"steps": "torch.tensor(range(len(tokens[0])))"})],
    "AttentionOnly": [("in-no-residual", {"add": "0 * x + layer['wo'](heads)"})],
    "fit": [
        ("tr-target-is-input", {"shift": "logits[:, 1:].reshape(-1, logits.size(-1)), ids[:, 1:].reshape(-1)"}),
        ("tr-no-zero-grad", {"clear": "optimizer.zero_grad"}),
        ("tr-reduction-sum", {"loss": "-flat.log_softmax(-1).gather(-1, right[:, None]).sum()"}),
    ],
    "induction_score": [
        ("in-same-token", {"after": "weights[..., period:, :-period].diagonal(dim1=-2, dim2=-1)"}),
        ("in-rows-as-columns", {"after": "weights[..., 1:, period:].diagonal(dim1=-2, dim2=-1)"}),
    ],
    "head_report": [
        ("in-period-by-token", {"until": "row[period].item() != row[0].item()"}),
        ("in-head-first", {"second_head": "(induction.argmax().item() % heads, induction.argmax().item() // heads)",
                           "first_head": "(previous.argmax().item() % heads, previous.argmax().item() // heads)"}),
    ],
}
# fmt: on
