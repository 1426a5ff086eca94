# right: runs its own examples and a TestCase at its end, under no main guard
import doctest
import unittest

import torch


def softmax(x, dim=-1):
    """Weights that sum to 1.

    >>> softmax(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """
    x = x - x.max(dim, keepdim=True).values
    return x.exp() / x.exp().sum(dim, keepdim=True)


class TestSoftmax(unittest.TestCase):
    def test_sum(self):
        self.assertAlmostEqual(softmax(torch.randn(5)).sum().item(), 1, places=5)


print(doctest.testmod())
unittest.main(exit=False)
