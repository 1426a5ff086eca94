"""The residual stream, the reference: every branch reads, then adds."""


def residual_stream(x, branches, norms, norm_first=True):
    """Give the stream before the first and after each branch."""
    # every tensor here is (B, T, D)
    stream = [x]  # step: start
    for branch, norm in zip(branches, norms, strict=True):  # step: loop
        here = stream[-1]  # step: here
        if norm_first:  # step: order
            read = norm(here)  # step: pre_norm
            out = here + branch(read)  # step: pre_sum
        else:
            total = here + branch(here)  # step: post_sum
            out = norm(total)  # step: post_norm
        stream.append(out)  # step: keep
    return stream  # step: give
