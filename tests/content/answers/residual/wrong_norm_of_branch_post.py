# wrong: bl-norm-on-branch-output
def residual_stream(x, branches, norms, norm_first=True):
    out = [x]
    for f, norm in zip(branches, norms):
        x = x + f(norm(x)) if norm_first else x + norm(f(x))
        out.append(x)
    return out
