"""Lines that people write in `positional_encoding` in place of the reference's, with the mistake that each makes."""

import torch


def only_first_row(table):
    return torch.cat((torch.zeros_like(table[:1]), table[1:]))


# fmt: off
WRONG = {
    "sinusoidal_positional_encoding": [
        ("pe-fixed-size", {"number": "torch.arange(5000.0)[:seq_len]"}),
        ("pe-fixed-size", {"number": "torch.arange(512.0)[:seq_len]"}),
        ("pe-fixed-size", {"number": "torch.arange(min(seq_len, 1024), dtype=torch.float32)"}),
        ("pe-row-zero", {"hold": "only_first_row(value)"}),
        ("pe-scaled", {"lay": "value * value.size(-1) ** 0.5"}),
        ("pe-scaled", {"frame": "value * math.sqrt(value.shape[1])"}),
        ("pe-row-parity", {"waves": "torch.where((torch.arange(seq_len) % 2 == 0)[:, None, None], "
                                    "torch.stack((angles, angles), -1).sin(), torch.stack((angles, angles), "
                                    "-1).cos())"}),
        ("pe-exponent-by-length", {"exponents": "even / seq_len"}),
        ("pe-divided-outside", {"turn": "positions.unsqueeze(1).expand(-1, d_model // 2)",
                                "waves": "torch.stack((angles.sin() * rates, angles.cos() * rates), dim=-1)"}),
    ],
}
# fmt: on
