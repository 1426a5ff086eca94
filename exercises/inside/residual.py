"""The residual stream: each branch reads what is there, and adds to it.

The lesson:          learn read residual
Your work, checked:  learn check residual
"""

import torch


def residual_stream(x, branches, norms, norm_first=True):
    """Give the stream before the first and after each branch.

    With f_1 ... f_n the branches and N_1 ... N_n the norms:

        norm_first=True  (pre-LN):   x_i = x_{i−1} + f_i(N_i(x_{i−1}))
        norm_first=False (post-LN):  x_i = N_i(x_{i−1} + f_i(x_{i−1}))

    where x_0 is x.

    Arguments
        x: tensor of shape (B, T, D).
        branches: a list of n callables, also none. Each takes a tensor of
           the shape of x and gives one: attention and networks in turn,
           say. A branch may not change what it is given, nor may you.
        norms: a list of n callables, one for each branch.
        norm_first: which of the two placements.

    Returns
        a list of the n + 1 tensors x_0, x_1, ..., x_n, in this order: a
        list, no tuple and no tensor. Each branch and each norm is called
        once. x_0 may be x itself or a copy. x is not changed; gradients
        flow through every entry, back to x.

    Allowed: everything.

    >>> def double(y):
    ...     return 2 * y
    >>> def centre(y):
    ...     return y - y.mean(dim=-1, keepdim=True)
    >>> x = torch.tensor([1.0, 3.0])
    >>> residual_stream(x, [double, double], [centre, centre])
    [tensor([1., 3.]), tensor([-1.,  5.]), tensor([-7., 11.])]
    >>> residual_stream(x, [double, double], [centre, centre], False)
    [tensor([1., 3.]), tensor([-3.,  3.]), tensor([-9.,  9.])]
    """
    raise NotImplementedError("residual_stream: not written yet")
