# SPDX-License-Identifier: Apache-2.0
"""Statistics of interleaved samples: medians, bootstrap intervals, A/A noise, verdicts.

Samples of two entries with the same index were taken in the same repetition, moments apart, so ratios are
resampled in pairs: a drift of the clock moves both and cancels.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

RESAMPLES = 1000
CONFIDENCE = 0.95

FASTER = "faster"
SLOWER = "slower"
WITHIN_NOISE = "within noise"


@dataclass(frozen=True)
class Estimate:
    """A median, and the bootstrap interval that holds it with CONFIDENCE."""

    value: float
    low: float
    high: float


def median(samples: Sequence[float]) -> float:
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("the median of no samples")
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


@lru_cache(maxsize=64)
def _resamplings(size: int) -> tuple[tuple[int, ...], ...]:
    """The same draws for every statistic of a size: a report is a pure function of its record."""
    draw = random.Random(size)
    return tuple(tuple(draw.choices(range(size), k=size)) for _ in range(RESAMPLES))


def _percentiles(values: list[float]) -> tuple[float, float]:
    values.sort()
    tail = (1 - CONFIDENCE) / 2
    last = len(values) - 1
    return values[round(tail * last)], values[round((1 - tail) * last)]


def estimate(samples: Sequence[float]) -> Estimate:
    """The median of samples."""
    return _estimate(tuple(samples))


@lru_cache(maxsize=4096)
def _estimate(samples: tuple[float, ...]) -> Estimate:
    if len(samples) == 1:
        return Estimate(samples[0], samples[0], samples[0])
    medians = [median([samples[i] for i in picks]) for picks in _resamplings(len(samples))]
    low, high = _percentiles(medians)
    return Estimate(median(samples), low, high)


def ratio(over: Sequence[float], under: Sequence[float]) -> Estimate:
    """median(over) / median(under), resampled by repetition."""
    return _ratio(tuple(over), tuple(under))


@lru_cache(maxsize=4096)
def _ratio(over: tuple[float, ...], under: tuple[float, ...]) -> Estimate:
    size = min(len(over), len(under))
    if size == 0:
        raise ValueError("a ratio of no samples")
    over, under = over[:size], under[:size]
    value = median(over) / median(under)
    if size == 1:
        return Estimate(value, value, value)
    ratios = [
        median([over[i] for i in picks]) / median([under[i] for i in picks]) for picks in _resamplings(size)
    ]
    low, high = _percentiles(ratios)
    return Estimate(value, low, high)


def noise(first: Sequence[float], again: Sequence[float]) -> float:
    """The least effect that counts: how far two copies of one thing may seem to differ (0.01: 1%).

    It is the far end of the interval of their ratio, so few samples make it large, never small.
    """
    same = ratio(first, again)
    return max(abs(same.low - 1), abs(same.high - 1), abs(1 / same.low - 1), abs(1 / same.high - 1))


def judge(speedup: Estimate, least: float) -> str:
    """What a speed-up (the peer's time over ours) amounts to, given the least effect that counts."""
    if speedup.low > 1 + least:
        return FASTER
    if speedup.high < 1 / (1 + least):
        return SLOWER
    return WITHIN_NOISE
