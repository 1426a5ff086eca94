"""Batches of text, the reference: windows by their places."""

import torch


def split(data, share=0.9):
    """Cut a row of ids into its beginning and its end."""
    cut = round(share * data.size(0))  # step: cut
    return data[:cut], data[cut:]  # step: parts


def get_batch(data, starts, block_size):
    """Take T ids from each start on, and the T ids one place later."""
    steps = torch.arange(block_size, device=data.device)  # (T,)  # step: steps
    places = starts.unsqueeze(1) + steps  # (B, 1) + (T,) -> (B, T)  # step: places
    inputs = data[places]  # (B, T)  # step: inputs
    targets = data[places + 1]  # (B, T)  # step: targets
    return inputs, targets  # step: give
