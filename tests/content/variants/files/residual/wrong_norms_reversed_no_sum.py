# wrong: bl-no-residual, rs-reversed
def residual_stream(x, branches, norms, norm_first=True):
    xs = [x]
    for f, n in zip(branches, reversed(norms)):
        h = xs[-1]
        xs.append(h + f(n(h)) if norm_first else n(f(h)))
    return xs
