# wrong: rs-doubled
def residual_stream(x, branches, norms, norm_first=True):
    out = [x]
    for f, n in zip(branches, norms):
        h = out[-1]
        if norm_first:
            y = f(n(h))
            out.append(h + y + y)
        else:
            y = f(h)
            out.append(n(h + y + y))
    return out
