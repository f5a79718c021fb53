# SPDX-License-Identifier: Apache-2.0
"""Statistics of the bench: what may be called faster."""

from __future__ import annotations

import random

import pytest
from bench_records import noisy

from bench import verdict


def test_the_median_of_an_even_number_of_samples_lies_between_the_middle_two():
    assert verdict.median([4.0, 1.0, 3.0, 2.0]) == 2.5
    assert verdict.median([3.0, 1.0, 2.0]) == 2.0


def test_the_median_of_no_samples_is_an_error():
    with pytest.raises(ValueError, match="no samples"):
        verdict.median([])


def test_an_interval_holds_its_median_and_lies_within_the_samples():
    samples = noisy(100.0, seed=1, spread=0.05)
    found = verdict.estimate(samples)
    assert min(samples) <= found.low <= found.value <= found.high <= max(samples)
    assert found.low < found.high


def test_more_samples_give_a_narrower_interval():
    few, many = (verdict.estimate(noisy(100.0, 2, count)) for count in (8, 200))
    assert many.high - many.low < few.high - few.low


def test_intervals_cover_the_true_median_about_nineteen_times_in_twenty():
    draw = random.Random(3)
    covered = 0
    for _ in range(200):
        found = verdict.estimate([draw.gauss(50.0, 2.0) for _ in range(30)])
        covered += found.low <= 50.0 <= found.high
    assert 180 <= covered <= 200


def test_the_same_samples_always_give_the_same_interval():
    samples = noisy(10.0, seed=4)
    verdict._estimate.cache_clear()
    first = verdict.estimate(samples)
    verdict._estimate.cache_clear()
    verdict._resamplings.cache_clear()
    assert verdict.estimate(list(samples)) == first


def test_one_outlier_moves_neither_median_nor_verdict():
    ours, theirs = noisy(100.0, 5), noisy(120.0, 6)
    ours[7] = 10_000.0
    found = verdict.ratio(theirs, ours)
    assert verdict.judge(found, 0.01) == verdict.FASTER
    assert found.value == pytest.approx(1.2, rel=0.01)


def test_a_clock_that_drifts_during_the_run_cancels_in_a_ratio():
    drift = [1.0 + 0.02 * i for i in range(30)]
    ours = [100.0 * d for d in drift]
    theirs = [103.0 * d for d in drift]
    found = verdict.ratio(theirs, ours)
    alone = verdict.estimate(ours)
    assert (alone.high - alone.low) / alone.value > 0.1
    assert found.high - found.low < 1e-9
    assert verdict.judge(found, 0.01) == verdict.FASTER


def test_two_copies_of_one_thing_are_within_noise():
    first, again = noisy(100.0, 7), noisy(100.0, 8)
    least = verdict.noise(first, again)
    assert 0 < least < 0.01
    assert verdict.judge(verdict.ratio(again, first), least) == verdict.WITHIN_NOISE


def test_copies_that_differ_much_make_small_effects_not_count():
    least = verdict.noise(noisy(100.0, 9), noisy(108.0, 10))
    assert least > 0.07
    found = verdict.ratio(noisy(104.0, 11), noisy(100.0, 12))
    assert verdict.judge(found, least) == verdict.WITHIN_NOISE


def test_noise_is_the_same_whichever_copy_comes_first():
    first, again = noisy(100.0, 13), noisy(101.0, 14)
    assert verdict.noise(first, again) == pytest.approx(verdict.noise(again, first), rel=0.05)


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [(130.0, verdict.FASTER), (100.2, verdict.WITHIN_NOISE), (80.0, verdict.SLOWER)],
)
def test_a_verdict_needs_the_whole_interval_beyond_the_noise(theirs, expected):
    assert verdict.judge(verdict.ratio(noisy(theirs, 15), noisy(100.0, 16)), 0.01) == expected


def test_faster_and_slower_are_symmetric():
    fast, slow = noisy(100.0, 17), noisy(103.0, 18)
    assert verdict.judge(verdict.ratio(slow, fast), 0.01) == verdict.FASTER
    assert verdict.judge(verdict.ratio(fast, slow), 0.01) == verdict.SLOWER
