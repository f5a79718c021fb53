# SPDX-License-Identifier: Apache-2.0
"""The figure of a record: bars against the ceiling, a group a case."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench import analysis
from bench.entry import AGAIN, CEILING
from bench.svg import CHARACTER, Canvas

WIDTH = 880.0
MARGIN = 18.0
BAR, BAR_GAP, GROUP_GAP = 10.0, 1.0, 11.0


def ops(record: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(case["op"] for case in record["cases"]))


def short(case: Mapping[str, Any]) -> str:
    """A case's name without its op."""
    return case["name"].removeprefix(case["op"]).strip()


def shown(case: Mapping[str, Any], ceilings: Mapping[str, Any]) -> list[analysis.Reading]:
    """The readings that a figure shows: neither second copies nor the ceiling itself."""
    return [
        reading
        for reading in analysis.readings(case, ceilings)
        if reading.time_us and reading.role not in (AGAIN, CEILING)
    ]


def _legend(groups: Sequence[tuple[str, list[analysis.Reading]]]) -> list[tuple[str, str]]:
    return list({r.name: (r.name, r.label) for _, readings in groups for r in readings}.values())


def _nice_step(top: float) -> float:
    step = 10 ** math.floor(math.log10(top / 4))
    for factor in (1, 2, 5, 10):
        if top / (step * factor) <= 6:
            return step * factor
    return step * 10


def bars(record: Mapping[str, Any], op: str) -> str:
    """One group of bars a case: the share of the ceiling's speed, or the time where there is no ceiling."""
    groups: list[tuple[str, list[analysis.Reading]]] = []
    for case in record["cases"]:
        readings = shown(case, record.get("ceilings", {})) if case["op"] == op else []
        if readings and record["what"] == "host":
            groups += [(reading.label, [reading]) for reading in readings]
        elif readings:
            groups.append((short(case), readings))
    shares = all(reading.share for _, readings in groups for reading in readings)
    what = "device copy of the same bytes" if record["what"] == "norm" else "8192³ matmul"
    title = f"{op}: share of the speed of a {what}" if shares else f"{op}: µs a call on the host"
    note = f"{record['environment'].get('gpu', '')}, {record['started'][:10]}; longer is faster"
    if not shares:
        note = note.replace("longer is faster", "shorter is faster")
    return _bar_chart(title, note, groups, shares, what)


def times_chart(
    title: str, note: str, groups: Sequence[tuple[str, list[analysis.Reading]]], limit_name: str
) -> str:
    """Bars of readings whose share is a ratio to what `limit_name` names."""
    return _bar_chart(title, note, groups, True, limit_name, lambda ratio: f"{ratio:.1f}×")


def _bar_chart(
    title: str,
    note: str,
    groups: Sequence[tuple[str, list[analysis.Reading]]],
    shares: bool,
    limit_name: str,
    tick_label: Callable[[float], str] = lambda share: f"{100 * share:.0f}%",
) -> str:
    def value(reading: analysis.Reading) -> Any:
        return reading.share if shares else reading.time_us

    left = MARGIN + max((CHARACTER * len(label) for label, _ in groups), default=0) + 10
    right = WIDTH - 110
    top_value = max((value(r).high for _, readings in groups for r in readings), default=1.0)
    top_value = max(top_value, 1.0) * 1.02 if shares else top_value * 1.05
    heights = [len(readings) * (BAR + BAR_GAP) + GROUP_GAP for _, readings in groups]
    canvas = Canvas(WIDTH, 150 + sum(heights), title, _describe(groups, shares))
    canvas.text(MARGIN, 28, title, size=15, bold=True)
    canvas.text(MARGIN, 46, note, kind="muted")
    # A bar that is a group of its own is named there; a legend would say it twice.
    named = all(len(readings) == 1 for _, readings in groups)
    top = 66.0 if named else canvas.legend(MARGIN, 70, _legend(groups), WIDTH - MARGIN) + 16
    bottom = top + sum(heights)

    def across(amount: float) -> float:
        return left + (right - left) * amount / top_value

    step = max(0.2, _nice_step(top_value)) if shares else _nice_step(top_value)
    for tick in range(int(top_value / step) + 1):
        at = across(tick * step)
        canvas.line(at, top - 4, at, bottom, "grid")
        text = tick_label(tick * step) if shares else f"{tick * step:g} µs"
        canvas.text(at, bottom + 16, text, kind="muted", anchor="middle", size=11)
    if shares:
        canvas.line(across(1), top - 10, across(1), bottom, "limit", dash="5 3", width=1.5)
        canvas.text(across(1), top - 14, limit_name, anchor="middle", size=11)
    y = top
    for (label, readings), height in zip(groups, heights):
        canvas.text(left - 10, y + (height - GROUP_GAP) / 2 + 4, label, anchor="end")
        for reading in readings:
            _bar(canvas, across, reading, value(reading), y)
            y += BAR + BAR_GAP
        y += GROUP_GAP
    canvas.height = bottom + 32
    return canvas.render()


def _bar(canvas: Canvas, across: Any, reading: analysis.Reading, amount: Any, y: float) -> None:
    time_us = reading.time_us
    assert time_us is not None
    tip = f"{reading.label}: {time_us.value:.2f} µs [{time_us.low:.2f}, {time_us.high:.2f}]"
    canvas.bar(across(0), y, across(amount.value) - across(0), BAR, reading.name, tip)
    middle = y + BAR / 2
    canvas.line(across(amount.low), middle, across(amount.high), middle, "whisker")
    end = max(across(amount.high), across(amount.value)) + 5
    canvas.text(end, y + BAR - 1.5, _amount(time_us.value), kind="ink rim", size=10)


def _amount(us: float) -> str:
    if us >= 2000:
        return f"{us / 1e3:.3g} ms"
    return f"{us:.0f} µs" if us >= 100 else f"{us:.3g} µs"


def _describe(groups: Sequence[tuple[str, list[analysis.Reading]]], shares: bool) -> str:
    parts = []
    for label, readings in groups:
        each = []
        for reading in readings:
            assert reading.time_us is not None
            share = f" ({100 * reading.share.value:.0f}%)" if shares and reading.share else ""
            each.append(f"{reading.label} {_amount(reading.time_us.value)}{share}")
        parts.append(f"{label}: {', '.join(each)}")
    return "; ".join(parts)
