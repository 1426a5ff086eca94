# wrong: wrong-format
def causal_mask(seq_len):
    return [[j <= i for j in range(seq_len)] for i in range(seq_len)]
