# wrong: rs-final-norm
def residual_stream(x, branches, norms, norm_first=True):
    out = [x]
    for f, n in zip(branches, norms):
        out.append(out[-1] + f(n(out[-1])) if norm_first else n(out[-1] + f(out[-1])))
    if norm_first and norms:
        out[-1] = norms[-1](out[-1])
    return out
