"""The causal mask in a picture: who may look at whom."""

from grader.api.pictures import first_difference, grids, picture


@picture
def who_sees_whom(submission, reference, rand):
    """Which key (across) each query (down) may look at: 1 is True"""
    asks = {f"causal_mask({length})": lambda subject, n=length: subject.causal_mask(n) for length in (5, 1, 4)}
    return grids(first_difference(submission, reference, asks), across=("query", "key"))
