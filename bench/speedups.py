# SPDX-License-Identifier: Apache-2.0
"""kiln against the best peer of each case: geometric means by op, and bars. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bench import analysis, bars, verdict
from bench.analysis import Comparison, Reading

PREFIX = "grouped_gemm_"
# Takes padded groups only, so that it is told apart from peers that do the same work.
PADDED = "deepgemm"


def best(case: Mapping[str, Any], without: str = "") -> Comparison | None:
    """The first subject against the fastest peer; nothing where either is missing."""
    subject, peer = analysis.first_subject(case), analysis.best_peer(case, without)
    for found in analysis.comparisons(case):
        if (found.subject, found.peer) == (subject, peer):
            return found
    return None


def _against(case: Mapping[str, Any], peer: str) -> float | None:
    subject = analysis.first_subject(case)
    for found in analysis.comparisons(case):
        if (found.subject, found.peer) == (subject, peer):
            return found.speedup.value
    return None


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{geometric_mean(values):.3f} ({min(values):.3f}, {len(values)})"


def rows(record: Mapping[str, Any], labels: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """A table by op: the best peer with its verdicts, then each peer of `labels`."""
    header = ["op", "best peer", "faster, within noise, slower", *labels.values()]
    if PADDED in labels:
        header.insert(3, f"best but {labels[PADDED]}")
    lines = []
    for op in bars.ops(record):
        cases = [case for case in record["cases"] if case["op"] == op]
        found = [comparison for case in cases if (comparison := best(case))]
        counts = [
            sum(comparison.verdict == kind for comparison in found)
            for kind in (verdict.FASTER, verdict.WITHIN_NOISE, verdict.SLOWER)
        ]
        line = [op.removeprefix(PREFIX), _cell([c.speedup.value for c in found]), ", ".join(map(str, counts))]
        if PADDED in labels:
            line.append(_cell([one.speedup.value for case in cases if (one := best(case, PADDED))]))
        for name in labels:
            line.append(_cell([value for case in cases if (value := _against(case, name)) is not None]))
        lines.append(line)
    return header, lines


def figure(record: Mapping[str, Any]) -> str | None:
    """A group of bars a shape, one an op: the best peer's time over kiln's."""
    by_shape: dict[str, list[Reading]] = {}
    for case in record["cases"]:
        found = best(case)
        if found is None:
            continue
        op = case["op"].removeprefix(PREFIX)
        time_us = verdict.estimate(analysis.samples(case)[found.subject])
        reading = Reading(op, op, "subject", time_us, None, found.speedup, None, False)
        by_shape.setdefault(bars.short(case), []).append(reading)
    if not by_shape:
        return None
    return bars.times_chart(
        "Grouped GEMM: the best peer's time over kiln's",
        f"{record['environment'].get('gpu', '')}, {record['started'][:10]}; longer is faster; times are kiln's",
        list(by_shape.items()),
        "the best peer",
    )
