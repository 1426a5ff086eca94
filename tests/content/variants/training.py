"""Lines that people write in `training` in place of the reference's, with the mistake that each makes."""

import random  # noqa: F401

from torch.nn import functional as F  # noqa: F401, N812


def ordered(batches):
    return sorted(batches, key=lambda pair: pair[0].sum().item())


# fmt: off
WRONG = {
    "train_step": [
        ("tr-view", {"answers": "targets.view(-1)"}),
        ("tr-view", {"take_inputs": "inputs.view(-1).view(inputs.shape)"}),
        ("tr-log-of-softmax", {
            "score": "picked(torch.log(flat.exp() / flat.exp().sum(-1, keepdim=True)), answers)"}),
        ("tr-log-of-softmax", {
            "score": "F.nll_loss(torch.softmax(flat, -1).log(), answers)"}),
        ("tr-log-of-softmax", {
            "score": "picked(flat - flat.exp().sum(-1, keepdim=True).log(), answers)"}),
        ("tr-clipped", {"pull": "loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)"}),
        ("tr-clipped", {"pull": "loss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)"}),
        ("tr-clipped", {"pull": "loss.backward()\ntorch.nn.utils.clip_grad_value_(model.parameters(), 1.0)"}),
        ("tr-label-smoothing", {
            "score": "F.cross_entropy(flat, answers, label_smoothing=0.1)"}),
        ("tr-label-smoothing", {
            "score": "F.cross_entropy(flat, answers, label_smoothing=0.3)"}),
        ("tr-ignore-index", {
            "score": "F.cross_entropy(flat, answers, ignore_index=0)"}),
        ("tr-ignore-index", {
            "score": "F.cross_entropy(flat, answers, ignore_index=1)"}),
        ("tr-ignore-index", {"flatten": "logits[targets != 0]", "answers": "targets[targets != 0]"}),
        ("tr-l2-in-loss", {
            "score": "F.cross_entropy(flat, answers) + 1e-4 * sum(p.pow(2).sum() for p in model.parameters())"}),
        ("tr-l2-in-loss", {
            "score": "F.cross_entropy(flat, answers) + 0.005 * sum(p.norm() ** 2 for p in model.parameters())"}),
        ("tr-softmax-axis", {"score": "-logits.log_softmax(dim=1).gather(2, targets[..., None]).mean()"}),
        ("tr-softmax-axis", {"score": "F.nll_loss(torch.log_softmax(flat, dim=0), answers)"}),
    ],
    "train": [
        ("tr-several-steps", {"append": "for _ in range(3):\n    loss = train_step(model, optimizer, inputs, targets)\n"
                                        "losses.append(loss)"}),
        ("tr-view", {"answers": "targets.view(-1)"}),
        ("tr-shuffled", {"batches": "random.sample(list(batches), len(list(batches)))"}),
        ("tr-shuffled", {"batches": "ordered(batches)"}),
        ("tr-shuffled", {"batches": "list(batches)[::-1]"}),
        ("tr-several-epochs", {"batches": "list(batches) * 2"}),
        ("tr-several-epochs", {"batches": "[pair for _ in range(10) for pair in batches]"}),
        ("tr-early-stop", {
            "append": "losses.append(train_step(model, optimizer, inputs, targets))\n"
            "if losses[-1] < 0.01:\n    break"}),
        ("tr-early-stop", {
            "append": "losses.append(train_step(model, optimizer, inputs, targets))\n"
                                     "if len(losses) > 2 and losses[-1] >= min(losses[:-1]):\n    break"}),
        ("tr-accumulated", {"clear": "pass", "move": "pass",
                            "append": "losses.append(train_step(model, optimizer, inputs, targets))\n"
            "if len(losses) % 2 == 0:\n"
                                      "    optimizer.step()\n    optimizer.zero_grad()"}),
        ("tr-accumulated", {"clear": "pass", "move": "pass", "pull": "(loss / 4).backward()",
                            "append": "losses.append(train_step(model, optimizer, inputs, targets))\n"
            "if len(losses) % 4 == 0:\n"
                                      "    optimizer.step()\n    optimizer.zero_grad()"}),
        ("tr-step-after-loop", {"clear": "pass", "move": "pass", "finish": "optimizer.step()\nreturn losses"}),
        ("tr-step-after-loop", {"clear": "pass", "move": "pass", "begin": "model.train()\noptimizer.zero_grad()",
                                "finish": "optimizer.step()\noptimizer.zero_grad()\nreturn losses"}),
    ],
}
# fmt: on
