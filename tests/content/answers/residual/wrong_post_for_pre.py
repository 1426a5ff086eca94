# wrong: rs-norm-on-stream
def residual_stream(x, branches, norms, norm_first=True):
    stream = [x]
    for f, norm in zip(branches, norms):
        if norm_first:
            x = norm(x) + f(x)
        else:
            x = norm(x + f(x))
        stream.append(x)
    return stream
