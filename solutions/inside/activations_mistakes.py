"""What people write in `gelu` and `swiglu` in place of the reference's lines; and other right ways to write it."""

import torch
from torch.nn import functional as F  # noqa: F401, N812  lines below use it

from grader.api.checks import MistakeSet

FINE = 1e-5  # as the checks allow: the two forms of GELU are at most 4.7e-4 apart
NAMES = ["values[none]", "values[tanh]", "default", "tanh_grid", "any_shape[0]", "any_shape[1]", "any_shape[4]"]
gelu = MistakeSet("gelu", globals(), tolerances={f"gelu_{name}": FINE for name in NAMES})
swiglu = MistakeSet("swiglu", globals())
MISTAKE_SETS = [gelu, swiglu]

X = torch.tensor([-1.0, 0.0, 1.0, 2.0])
gelu.example(X)
gelu.example(X, approximate="tanh")
W = torch.tensor([[1.0, 2.0], [0.0, 1.0], [-1.0, 1.0]])
swiglu.example(X[1:3], W, 2 * W, W.T)
swiglu.example(torch.stack([X[:2], X[2:]]), W, 2 * W, W.T)

# fmt: off
mistake, right = gelu.mistake, gelu.alternative
HALF = "0.5 * (1 + bent)"
TANH = "The tanh form is x · ½(1 + tanh(√(2/π) · (x + 0.044715 x³)))."
EXACT = "The exact form is x · Φ(x) = x · ½(1 + erf(x/√2))."
mistake("ge-tanh-for-exact", "You always give the tanh form, which is up to 5e-4 off: the exact one is asked for where "
        "`approximate` is \"none\".", EXACT, form="True")
mistake("ge-exact-for-tanh", "You always give the exact form: `approximate=\"tanh\"` makes no difference.",
        "Write the tanh form too, and choose by `approximate`.", form="False")
mistake("ge-forms-exchanged", "The two forms are exchanged.", "approximate=\"tanh\" asks for the one with tanh.",
        form='approximate != "tanh"')
for id, name, share in (("ge-sigmoid", "x·σ(1.702x), another approximation of GELU", "torch.sigmoid(1.702 * x)"),
                        ("ge-silu", "x·σ(x), which is SiLU", "torch.sigmoid(x)"),
                        ("ge-relu", "ReLU: all or nothing", "(x > 0).to(x.dtype)")):
    mistake(id, f"You compute {name}.", EXACT, share=share)
    for form, told, right_form in (("none", "exact", EXACT), ("tanh", "tanh", TANH)):
        mistake(id, f"In the {told} form you compute {name}.", right_form, coding=f"{told} form",
                share=f"{share} if approximate == '{form}' else {HALF}")
mistake("ge-leaky-relu", "You compute a leaky ReLU.", EXACT, share="torch.where(x > 0, 1.0, 0.01).to(x.dtype)")
mistake("ge-erf-scale", "The argument of erf is x and not x/√2: the bend is too sharp.", "Divide x by √2.",
        erf="torch.erf(x)")
mistake("ge-erf-scale", "The argument of erf is x/2 and not x/√2: the bend is too wide.", "Divide x by √2.",
        coding="by 2", erf="torch.erf(x / 2)")
mistake("ge-erf-scale", "The argument of erf is √2·x and not x/√2.", "Divide x by √2.", coding="times",
        erf="torch.erf(x * math.sqrt(2))")
mistake("ge-no-half", "The ½ is missing: everything is twice too large.", "Write ½ · (1 + …).", share="1 + bent")
mistake("ge-no-half", "The ½ of the exact form is missing: all is twice too large.", coding="exact form",
        share=f"1 + bent if approximate == 'none' else {HALF}")
mistake("ge-no-half", "The ½ of the tanh form is missing: all is twice too large.", coding="tanh form",
        share=f"1 + bent if approximate == 'tanh' else {HALF}")
mistake("ge-no-one", "The 1 is missing: x · ½ · erf(…) is the same on both sides of 0.", "Write ½ · (1 + …).",
        share="0.5 * bent")
mistake("ge-no-one", "The 1 of the exact form is missing: x · ½ · erf(…) is the same on both sides of 0.",
        coding="exact form", share=f"0.5 * bent if approximate == 'none' else {HALF}")
mistake("ge-no-one", "The 1 of the tanh form is missing: x · ½ · tanh(…) is the same on both sides of 0.",
        coding="tanh form", share=f"0.5 * bent if approximate == 'tanh' else {HALF}")
mistake("ge-phi-not-times-x", "You give Φ(x) and do not multiply it with x.", "Multiply with x.", times="share")
for form, name in (("none", "exact"), ("tanh", "tanh")):
    mistake("ge-phi-not-times-x", f"In the {name} form you do not multiply with x.", "Multiply with x.", coding=name,
            times=f"share if approximate == '{form}' else x * share")
mistake("ge-minus", "You write 1 − erf: what is large is stopped, and what is negative let through.",
        "It is 1 + erf.", share="0.5 * (1 - bent)")
mistake("ge-constant", "The constant of the tanh form is 0.44715 and not 0.044715.", "It is 0.044715.",
        cubic="x + 0.44715 * x**3")
mistake("ge-constant", "The factor of the tanh form is √(2π) and not √(2/π).", "It is √(2/π) = 0.7979.",
        coding="root of 2π", tanh="torch.tanh(math.sqrt(2 * math.pi) * cubic)")
mistake("ge-constant", "The factor of the tanh form is √(π/2) and not √(2/π).", "It is √(2/π) = 0.7979.",
        coding="root of π/2", tanh="torch.tanh(math.sqrt(math.pi / 2) * cubic)")
mistake("ge-constant", "The factor of the tanh form is 2/π, without its root.", "It is √(2/π) = 0.7979.",
        coding="no root", tanh="torch.tanh(2 / math.pi * cubic)")
mistake("ge-constant", "In the tanh form √(2/π) multiplies x alone, and not the cubic term.",
        "Put brackets: √(2/π) · (x + 0.044715 x³).", coding="bracket",
        tanh="torch.tanh(math.sqrt(2 / math.pi) * x + 0.044715 * x**3)")
mistake("ge-constant", "The factor √(2/π) of the tanh form is missing.", "It is √(2/π) = 0.7979.", coding="no factor",
        tanh="torch.tanh(cubic)")
mistake("ge-constant", "In the tanh form x is squared, where it is to be cubed.", "Write 0.044715 · x³.",
        coding="square", cubic="x + 0.044715 * x**2")
mistake("ge-constant", "In the tanh form the cubic term is missing.", "Write x + 0.044715 · x³.",
        coding="no cube", cubic="x")
gelu.common("ge", "detached", "float32")
mistake("ge-in-place", "You change the caller's tensor (`x *= ...`, `x.mul_(...)`).", "Make a new one: `x * ...`.",
        times="x.mul_(share)")

right("ndtr", erf="2 * torch.special.ndtr(x) - 1")
right("erfc", share="0.5 * torch.erfc(-x / 2**0.5) if approximate == 'none' else 0.5 * (1 + bent)")
right("the normal distribution", erf="2 * torch.distributions.Normal(0.0, 1.0).cdf(x) - 1")
right("a sigmoid of twice the argument", tanh="2 * torch.sigmoid(2 * math.sqrt(2 / math.pi) * cubic) - 1")
right("factored out", cubic="x * (1 + 0.044715 * x * x)", times="x / 2 * (1 + bent)")

# --- swiglu
mistake, right = swiglu.mistake, swiglu.alternative
mistake("sg-gate-on-up", "The activation is on the other factor: x W_up is bent, and x W_gate is not.",
        "Bend what w_gate gives: silu(x W_gateᵀ) ∘ x W_upᵀ.", gate="x @ w_up.T", up="x @ w_gate.T")
mistake("sg-no-activation", "Neither factor is bent.", "Put SiLU on x W_gateᵀ.", open="gate")
mistake("sg-both-bent", "Both factors are bent.", "Put SiLU on x W_gateᵀ alone.",
        up="F.silu(x @ w_up.T)")
mistake("sg-added", "The two are added.", "Multiply them entry by entry.", hidden="opened + up")
mistake("sg-gelu-gate", "The gate is GELU: that is GEGLU.", "Use SiLU: z · σ(z).", open="F.gelu(gate)")
mistake("sg-sigmoid-gate", "The gate is the sigmoid itself: that is GLU.", "Use SiLU: z · σ(z).",
        open="torch.sigmoid(gate)")
mistake("sg-squared-gate", "The gate is z · silu(z) = z² · σ(z): SiLU has the factor z already.", "Use SiLU: z · σ(z).",
        open="gate * F.silu(gate)")
mistake("sg-relu-gate", "The gate is ReLU: that is ReGLU.", "Use SiLU: z · σ(z).", open="gate.relu()")
for name, gate in (("Mish, z · tanh(softplus(z))", "gate * F.softplus(gate).tanh()"), ("tanh", "gate.tanh()"),
                   ("z · σ(1.702z)", "gate * torch.sigmoid(1.702 * gate)"), ("softplus", "F.softplus(gate)")):
    mistake("sg-other-gate", f"The gate is {name}.", "Use SiLU: z · σ(z).", coding=name, open=gate)
mistake("sg-no-gate", "w_up is not used: this is a network without a gate.", "Multiply with x W_upᵀ.", hidden="opened")
mistake("sg-no-up", "w_gate is used for both factors.", "The second is x W_upᵀ.", up="gate")
mistake("sg-not-down", "The result stays d_ff wide: w_down is not used.", "Multiply with W_downᵀ at the end.",
        down="hidden")
mistake("sg-weights-transposed", "The weights are taken to be (in, out): they are laid out (out, in).",
        "Multiply with `w.T`, or use `F.linear`.", gate="x @ w_gate", up="x @ w_up", down="hidden @ w_down")
mistake("sg-bent-behind", "The product is bent, and not the gate.", "Bend the gate before you multiply.",
        open="gate", hidden="F.silu(gate * up)")
mistake("sg-bent-behind", "The result is bent once more, behind w_down.", "Return what w_down gives.", coding="at the "
        "end",
        down="F.silu(hidden @ w_down.T)")
mistake("sg-softmaxed", "The gate is a softmax over the features.", "Use SiLU: z · σ(z).", open="gate.softmax(-1)")
mistake("sg-narrowed-apart", "Each factor goes through w_down by itself, and the two results are multiplied.",
        "Multiply them while they are d_ff wide; w_down comes last.", down="(opened @ w_down.T) * (up @ w_down.T)")
swiglu.common("sg", "detached", "float32")
mistake("sg-in-place", "You change the caller's tensor.", "Make a new one.", down="x.copy_(hidden @ w_down.T)")

right("F.silu", open="F.silu(gate)")
right("F.linear", gate="F.linear(x, w_gate)", up="F.linear(x, w_up)", down="F.linear(hidden, w_down)")
right("one product for both", gate="(x @ torch.cat([w_gate, w_up]).T)[..., :w_gate.size(0)]")
right("a fraction", open="gate / (1 + torch.exp(-gate))")
right("einsum", down="torch.einsum('...f,df->...d', hidden, w_down)", gate="torch.einsum('...d,fd->...f', x, w_gate)")
# fmt: on
