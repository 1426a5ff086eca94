"""Figures that the prose gives in passing: logarithms, near misses of the GELU, shares."""

import math
from pathlib import Path

import torch
from torch.nn import functional

LESSONS = Path(__file__).resolve().parents[2] / "lessons"


def logarithms():
    """score_scaling.md: ln 64 = 4.16 is the largest entropy
    training.md: ln 5 is 1.609.
    gpt.md: V = 27 and D = 64, so that ln V = 3.3
    two_bits.md: 2 · ln 2 = 1.3863 nats a word.
    sort_numbers.md: that costs ln 8 = 2.079 nats
    cross_entropy.md: From 1.0 to 0.5 costs 0.69; from 0.01 to 0.001 costs 2.30
    cross_entropy.md: The loss is 1.44 times somebody else's.
    tiny_gpt.md: **4.42.**
    """
    ln = math.log
    found = (
        f"{ln(64):.2f} {ln(5):.3f} {ln(27):.1f} {2 * ln(2):.4f} {ln(8):.3f} {ln(2):.2f} {ln(10):.2f} {1 / ln(2):.2f}"
    )
    assert f"{ln(83):.2f}" == "4.42" and found == "4.16 1.609 3.3 1.3863 2.079 0.69 2.30 1.44", found
    return found


def gelu_and_its_near_misses():
    """block.md: gelu(−1) = −0.1587 and gelu(1) = 0.8413.
    activations.md: gelu(1) is 0.92 or 0.76, not 0.84.
    activations.md: gelu(1) is 0.8412, not 0.8413.
    activations.md: gelu(1) is 0.7311.
    activations.md: At most 0.0005.
    feed_forward.md: No output lies below −0.17.
    """
    x = torch.linspace(-10, 10, 200_001, dtype=torch.float64)
    one = torch.ones((), dtype=torch.float64)
    exact, tanh = functional.gelu(x), functional.gelu(x, approximate="tanh")
    told = [functional.gelu(-one), functional.gelu(one), functional.gelu(one, approximate="tanh"), functional.silu(one)]
    assert [f"{each:.4f}" for each in told] == ["-0.1587", "0.8413", "0.8412", "0.7311"], told
    assert [f"{(1 + torch.erf(each * one)) / 2:.2f}" for each in (1, 0.5)] == ["0.92", "0.76"]
    far = (exact - tanh).abs().max()
    assert 0.0004 < far < 0.0005 and -0.17 < exact.min() < -0.1695, (far, exact.min())
    return f"lowest {exact.min():.4f}; tanh form apart by {far:.5f}"


def equal_weights_let_an_eighth_through():
    """score_scaling.md: 64 equal weights: 0.12"""
    p = torch.full((64,), 1 / 64)
    norm = (p.diag() - torch.outer(p, p)).norm()
    assert f"{norm:.2f}" == "0.12", norm
    return f"norm of the Jacobian {norm:.3f}"


def roots_of_widths_and_of_epsilon():
    """layer_norm.md: √1e-5 = 0.0032
    residual.md: √D = 5.7
    encoder.md: √(2 · 16) = 5.7
    """
    assert f"{1e-5**0.5:.4f} {32**0.5:.1f}" == "0.0032 5.7"
    return f"{1e-5**0.5:.5f}, {32**0.5:.3f}"


def ratios_and_their_powers():
    """softmax.md: 0.7054 / 0.2595 is 2.718
    sampling.md: twice as likely as "a" at T = 1, four times at T = ½, and 1.4 times at T = 2
    sampling.md: the other 9,900 share 3%, so that each of these has a chance of three in a million
    """
    assert f"{0.7054 / 0.2595:.3f}" == "2.718" == f"{math.e:.3f}"
    ratios = [(torch.tensor([math.log(2), 0.0]) / t).softmax(0) for t in (1, 0.5, 2)]
    found = [f"{p[0] / p[1]:.1f}" for p in ratios]
    assert found == ["2.0", "4.0", "1.4"] and round(0.03 / 9900 * 1e6) == 3, found
    return f"at T = 1, ½ and 2 {', '.join(found)} times"


def a_softmax_before_the_loss_charges_the_certain():
    """training.md: As good as certain, and right, and still charged 0.905"""
    certain = functional.one_hot(torch.tensor([2]), 5).float()
    loss = functional.cross_entropy(certain, torch.tensor([2]))
    assert f"{loss:.3f}" == "0.905", loss
    return f"{loss:.4f}"


def smoothed_targets_have_a_best_probability():
    """cross_entropy.md: The best p is 1 − ε + ε/V = 0.933 and no higher"""
    logits = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = functional.cross_entropy(logits, torch.tensor([0]), label_smoothing=0.1)
        loss.backward()
        return loss

    optimizer.step(closure)
    best = logits.detach().softmax(-1)[0, 0]
    assert f"{best:.3f}" == "0.933", best
    return f"{best:.4f}"


def sorted_lists_have_a_floor_without_positions():
    """sort_numbers.md: equal numbers make it a little less, 1.798 on average.
    sort_numbers.md: it takes the commonest number of the list, and 26% of its places are right
    """
    counts = functional.one_hot(torch.randint(16, (200_000, 8)), 16).sum(1).float() / 8
    floor, commonest = torch.special.entr(counts).sum(-1).mean(), counts.amax(-1).mean()
    assert abs(floor - 1.798) < 0.002 and f"{commonest:.0%}" == "26%", (floor, commonest)
    return f"{floor:.4f} nats, {commonest:.1%}"


def counts_of_texts_and_tables():
    """language_batches.md: Every id is asked about 512 times.
    language_batches.md: Chance is 1 in 26, about 4%
    gpt.md: The table is worth more than five blocks; a second one would make the model 31% larger.
    """
    table, block, together, untied = 50_257 * 768, 7_084_800, 124_402_944, 163_000_320
    assert 500 * 32 * 32 / 1000 == 512 and f"{1 / 26:.0%}" == "4%"
    assert table > 5 * block and together + table == untied and f"{table / together:.0%}" == "31%"
    return f"{table / block:.1f} blocks, {table / together:.1%}"


def deviations_of_means_and_of_places():
    """two_bits.quiz.toml: the standard error of the mean is 0.7/√20000 = 0.005: this is fifteen of them below
    sort_numbers.md: 0.99⁸ = 92% of the lists are
    evaluation.md: Two models that are 0.02 apart are not told apart by 500 tokens.
    """
    error, sorted_lists, short = 0.7 / 20_000**0.5, 0.99**8, 0.7 / 500**0.5
    assert f"{error:.3f} {sorted_lists:.0%}" == "0.005 92%" and short > 0.02, (error, sorted_lists, short)
    return f"{error:.4f}, {sorted_lists:.1%}; of 500 tokens {short:.3f}"


def tables_of_the_course_s_own_text():
    """tiny_gpt.md: single characters | 83 |
    tiny_gpt.md: bigrams | 1,432 |
    tiny_gpt.md: trigrams | 7,020 |
    tiny_gpt.md: 4-grams | 18,609 |
    tiny_gpt.md: 5-grams | 35,329 |
    tiny_gpt.md: each character of the text comes about fourteen times
    """
    text = (LESSONS / "models/tiny_gpt.txt").read_text("utf-8")
    read = text[: len(text) * 9 // 10]
    counts = [len({read[i : i + n] for i in range(len(read) - n + 1)}) for n in range(1, 6)]
    assert counts == [83, 1432, 7020, 18_609, 35_329], counts
    times = 2000 * 16 * 64 / len(read)
    assert 13.5 < times < 14.5, times
    return f"{counts}; {times:.1f} times"
