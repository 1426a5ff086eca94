"""What people write in `adamw_step` in place of the reference's lines; and other right ways to write it."""

import torch

from grader.api.checks import MistakeSet

adamw_step = MistakeSet("adamw_step", globals())
mistake, right = adamw_step.mistake, adamw_step.alternative
MISTAKE_SETS = [adamw_step]

W, G, ZERO = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 4.0]), torch.zeros(2)
M, V = torch.tensor([0.2, -1.0]), torch.tensor([0.25, 9.0])
adamw_step.example(W, G, ZERO, ZERO, 1, lr=0.1)
adamw_step.example(W, G, M, V, 3, lr=0.1)
adamw_step.example(10 * W, G, M, V, 3, lr=0.01, weight_decay=2.0)
adamw_step.example(W, G, M, V, 3, lr=0.1, eps=1.0)
adamw_step.example(W, G, M, V, 3, lr=0.1, betas=(0.5, 0.8))

# fmt: off
# --- the means
mistake("aw-betas-exchanged", "The betas have changed places: the mean forgets slowly and the mean square quickly.",
        "The first beta belongs to m, the second to v.", betas="betas[::-1]")
mistake("aw-fixed-betas", "You use 0.9 and 0.999 whatever `betas` is.", "Unpack them: `beta1, beta2 = betas`.",
        betas="0.9, 0.999")
mistake("aw-no-square", "v is a mean of the gradient, and not of its square: its root is NaN where that is negative.",
        "Square the gradient: `grad * grad`.", second="beta2 * v + (1 - beta2) * grad")
mistake("aw-abs-mean", "v is a mean of the gradient's absolute value, whose root is then taken once too often.",
        "Square the gradient: `grad * grad`.", second="beta2 * v + (1 - beta2) * grad.abs()")
mistake("aw-moments-of-param", "The means are those of the parameter, and not of its gradient.",
        "Average `grad` and its square.", first="beta1 * m + (1 - beta1) * param",
        second="beta2 * v + (1 - beta2) * param.square()")
mistake("aw-shares-swapped", "The shares in the mean have changed places: 1 − β of the old mean and β of the gradient.",
        "Keep β of the old mean, and add 1 − β of the new.", first="(1 - beta1) * m + beta1 * grad",
        second="(1 - beta2) * v + beta2 * grad.square()")
mistake("aw-shares-swapped", "The shares in m have changed places: 1 − β1 of the old mean and β1 of the gradient.",
        "Keep β1 of the old mean, and add 1 − β1 of the new.", coding="m alone", first="(1 - beta1) * m + beta1 * grad")
mistake("aw-shares-swapped", "The shares in v have changed places: 1 − β2 of the old mean and β2 of the square.",
        "Keep β2 of the old mean, and add 1 − β2 of the new.", coding="v alone",
        second="(1 - beta2) * v + beta2 * grad.square()")
mistake("aw-not-weighed", "The new gradient is added whole, without its share 1 − β: the mean becomes a sum, about ten "
        "times too large.", "Multiply the gradient by 1 − β1.", first="beta1 * m + grad")
mistake("aw-square-of-mean", "v is the mean of m², not of the gradient's square: noise that cancels in m is missed.",
        "Square the gradient itself.", second="beta2 * v + (1 - beta2) * m.square()")
mistake("aw-not-kept", "The means begin anew in each step: the old m and v are not used.",
        "Add them: β · m + (1 − β) · grad.", first="(1 - beta1) * grad", second="(1 - beta2) * grad.square()")

# --- the corrections
mistake("aw-no-bias-correction", "The means are not corrected: at first both are far too small, v far more than m, and "
        "the first step is three times too large.", "Divide m by 1 − β1ᵗ and v by 1 − β2ᵗ.",
        correct1="m", correct2="v")
mistake("aw-correction-once", "Only m is corrected.", "Divide v by 1 − β2ᵗ, too.", correct2="v")
mistake("aw-correction-once", "Only v is corrected.", "Divide m by 1 − β1ᵗ, too.", coding="only v", correct1="m")
mistake("aw-t-from-zero", "Your correction is that of step t + 1: it counts from 0.", "Steps count from 1: βᵗ.",
        correct1="m / (1 - beta1 ** (t + 1))", correct2="v / (1 - beta2 ** (t + 1))")
mistake("aw-t-from-zero", "Your correction is that of step t − 1: at the first step it divides by 0.",
        "Steps count from 1: βᵗ.", coding="one too few",
        correct1="m / (1 - torch.tensor(beta1) ** (t - 1))", correct2="v / (1 - torch.tensor(beta2) ** (t - 1))")
mistake("aw-correction-without-power", "You divide by 1 − β, whatever the step is: that is the correction of the first "
        "one.", "Divide by 1 − βᵗ.", correct1="m / (1 - beta1)", correct2="v / (1 - beta2)")
OF_M, OF_V = {"correct1": "m / (1 - beta1 * t)"}, {"correct2": "v / (1 - beta2 * t)"}
for coding, whose, changes in (("", "", OF_M | OF_V), ("m alone", " of m", OF_M), ("v alone", " of v", OF_V)):
    mistake("aw-correction-times-t", f"In the correction{whose} β is multiplied by t (`beta * t`) and not taken to "
            "the power t (`beta**t`): from the second step on it is far off, and soon negative.", "Divide by 1 − βᵗ.",
            coding=coding, **changes)
mistake("aw-one-beta", "Both corrections use β1.", "v has its own: 1 − β2ᵗ.", correct2="v / (1 - beta1**t)")
mistake("aw-one-beta", "The corrections have each other's beta: m is divided by 1 − β2ᵗ, v by 1 − β1ᵗ.",
        "m̂ = m / (1 − β1ᵗ), v̂ = v / (1 − β2ᵗ).", coding="exchanged", correct1="m / (1 - beta2**t)",
        correct2="v / (1 - beta1**t)")
mistake("aw-corrected-kept", "You return the corrected means: the next step corrects them again.",
        "Return m and v as they are before the corrections.", give="moved, m_hat, v_hat")

# --- the step
mistake("aw-eps-inside", "eps stands inside the root.", "Add it to the root: √v̂ + eps.",
        size="torch.sqrt(v_hat + eps)")
mistake("aw-eps-before-correction", "eps is added before the correction of v: early on it is far larger than asked.",
        "Correct v, take the root, then add eps.", size="(torch.sqrt(v) + eps) / (1 - beta2**t) ** 0.5")
mistake("aw-eps-as-bound", "The denominator is the larger of the root and eps, and not their sum.",
        "Add eps to the root: √v̂ + eps.", size="torch.sqrt(v_hat).clamp(min=eps)")
mistake("aw-no-eps", "eps is not used: a number whose gradient was always 0 becomes 0/0.", "Add it to the root.",
        size="torch.sqrt(v_hat)")
mistake("aw-no-root", "You divide by v̂ and not by its root: large gradients make small steps.",
        "Take the root: √v̂ + eps.", size="v_hat + eps")
mistake("aw-old-mean", "The step is made of the mean that came in: it knows nothing of this gradient.",
        "Correct the new m.", first="before, m = m, beta1 * m + (1 - beta1) * grad", correct1="before / (1 - beta1**t)")
mistake("aw-other-v", "v never falls: that is AMSGrad.", "Let it forget: β2 · v + (1 − β2) · grad².",
        second="torch.maximum(v, beta2 * v + (1 - beta2) * grad.square())")
mistake("aw-other-v", "v is a mean of (grad − m)²: that is AdaBelief.", "Square the gradient itself.", coding="around "
        "m",
        second="beta2 * v + (1 - beta2) * (grad - m).square()")
mistake("aw-sign", "The step goes uphill: it is added.", "Subtract lr · m̂ / (√v̂ + eps).",
        move="decayed + lr * m_hat / size")
mistake("aw-old-mean", "The step is made of the mean of one step ahead, with the gradient once more: that is NAdam.",
        "Correct the new m.", coding="ahead", correct1="(beta1 * m + (1 - beta1) * grad) / (1 - beta1**t)")
mistake("aw-no-momentum", "You step along the gradient itself, divided by √v̂: that is RMSProp.",
        "Step along the corrected mean m̂.", move="decayed - lr * grad / size")
mistake("aw-no-division", "You step along m̂ and do not divide by √v̂: that is momentum, and not Adam.",
        "Divide m̂ by √v̂ + eps.", move="decayed - lr * m_hat")
mistake("aw-fixed-rate", "Your rate is 1e-3, whatever `lr` is.", "Use `lr`.",
        decay="param - 1e-3 * weight_decay * param", move="decayed - 1e-3 * m_hat / size")

# --- the decay
mistake("aw-coupled", "The decay is added to the gradient: it passes through both means, and each number is divided by "
        "its own √v̂. That is Adam with L2, which AdamW was written to replace.",
        "Leave the gradient alone; subtract lr · λ · param from the parameter.",
        take_grad="grad + weight_decay * param",
        decay="param")
mistake("aw-coupled", "The decay is added to m̂: it is divided by each number's √v̂.", coding="in the "
        "step", decay="param",
        move="param - lr * (m_hat + weight_decay * param) / size")
mistake("aw-decay-without-lr", "The decay is not multiplied by lr: at a rate of 1e-3 it is 1,000 times too strong.",
        "Subtract lr · λ · param.", decay="param - weight_decay * param")
mistake("aw-no-decay", "`weight_decay` is not used: this is plain Adam.", "Subtract lr · λ · param.", decay="param")
mistake("aw-decay-matrices", "Only matrices decay: vectors and single numbers do not.", "Let every shape decay: who "
        "calls it says by `weight_decay` what decays.",
        decay="param - lr * weight_decay * param if param.ndim > 1 else param")
mistake("aw-decay-sign", "The decay makes the parameter grow.", "Subtract lr · λ · param.",
        decay="param + lr * weight_decay * param")

# --- form
mistake("aw-order", "You return m, v and the parameter, in this order.", "Return (param, m, v).", alone=True,
        give="m, v, moved")
adamw_step.common("aw", "float32")
mistake("aw-in-place", "You change the caller's parameter (`param -= ...`, `param.mul_(...)`).",
        "Return a new one: `param = param - ...`.", decay="param.mul_(1 - lr * weight_decay)")
mistake("aw-in-place", "You change the caller's means (`m.mul_(...)`, `v *= ...`).",
        "Return new ones: `m = beta1 * m + ...`.", coding="means", first="m.mul_(beta1).add_((1 - beta1) * grad)",
        second="v.mul_(beta2).add_((1 - beta2) * grad.square())")
mistake("aw-in-place", "You change the caller's parameter and means (`param -= ...`, `m.mul_(...)`).",
        "Return new ones: `m = beta1 * m + ...`.", coding="all", alone=True,
        decay="param.mul_(1 - lr * weight_decay)", first="m.mul_(beta1).add_((1 - beta1) * grad)",
        second="v.mul_(beta2).add_((1 - beta2) * grad.square())", move="decayed.sub_(lr * m_hat / size)")

# --- just as right
right("lerp", first="torch.lerp(grad, m, beta1)", second="v.lerp(grad * grad, 1 - beta2)")
right("a factor for the decay", decay="param * (1 - lr * weight_decay)")
right("the decay after the step", decay="param", move="(param - lr * m_hat / size) - lr * weight_decay * param")
right("the decay of what was moved", decay="param - lr * m_hat / size",
      move="decayed - lr * weight_decay * decayed")
right("as torch folds it", size="torch.sqrt(v) / (1 - beta2**t) ** 0.5 + eps")
right("addcdiv", move="torch.addcdiv(decayed, m_hat, size, value=-lr)")
right("one step size", size="torch.sqrt(v) + eps * (1 - beta2**t) ** 0.5",
      move="decayed - lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t) * m / size")
# fmt: on
