# SPDX-License-Identifier: Apache-2.0
"""The figure of a sweep: time against the number of rows, a panel a width."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bench import analysis
from bench.bars import MARGIN, WIDTH
from bench.entry import AGAIN
from bench.svg import Canvas

LEAST_POINTS = 4  # a curve of fewer says nothing
PANEL_HEIGHT = 320.0


def sweeps(record: Mapping[str, Any], op: str) -> dict[int, list[Mapping[str, Any]]]:
    """Cases by width, where enough of them differ only in rows; each list in the order of rows."""
    found: dict[int, dict[int, Mapping[str, Any]]] = {}
    for case in record["cases"]:
        shape = case.get("shape", {})
        if case["op"] == op and set(shape) == {"rows", "n"}:
            found.setdefault(shape["n"], {})[shape["rows"]] = case
    return {
        n: [cases[rows] for rows in sorted(cases)]
        for n, cases in sorted(found.items())
        if len(cases) >= LEAST_POINTS
    }


def curves(record: Mapping[str, Any], op: str) -> str | None:
    """Time against M on logarithmic axes, a panel a width; nothing when the record is no sweep."""
    panels = sweeps(record, op)
    if not panels:
        return None
    title = f"{op}: time against rows"
    gpu = record["environment"].get("gpu", "")
    note = f"{gpu}, {record['started'][:10]}; lower is faster; both axes logarithmic"
    across = 1 if len(panels) == 1 else 2
    down = math.ceil(len(panels) / across)
    canvas = Canvas(WIDTH, 0, title, f"{title}, for n of {', '.join(map(str, panels))}")
    canvas.text(MARGIN, 28, title, size=15, bold=True)
    canvas.text(MARGIN, 46, note, kind="muted")
    names: dict[str, str] = {}
    for cases in panels.values():
        for case in cases:
            names.update({r.name: r.label for r in _curve_readings(case)})
    top = canvas.legend(MARGIN, 70, list(names.items()), WIDTH - MARGIN) + 8
    wide = (WIDTH - 2 * MARGIN) / across
    for index, (n, cases) in enumerate(panels.items()):
        x, y = MARGIN + wide * (index % across), top + PANEL_HEIGHT * (index // across)
        _panel(canvas, x, y, wide, f"n = {n}", cases, list(names))
    canvas.height = top + down * PANEL_HEIGHT + 8
    return canvas.render()


def _curve_readings(case: Mapping[str, Any]) -> list[analysis.Reading]:
    return [r for r in analysis.readings(case) if r.time_us and r.role != AGAIN]


def _panel(
    canvas: Canvas,
    x: float,
    y: float,
    wide: float,
    label: str,
    cases: list[Mapping[str, Any]],
    names: list[str],
) -> None:
    left, right, top, bottom = x + 52, x + wide - 14, y + 26, y + PANEL_HEIGHT - 44
    series: dict[str, list[tuple[int, analysis.Reading]]] = {name: [] for name in names}
    for case in cases:
        for reading in _curve_readings(case):
            series[reading.name].append((case["shape"]["rows"], reading))
    times = [r.time_us.value for points in series.values() for _, r in points if r.time_us]
    rows = [case["shape"]["rows"] for case in cases]
    low, high = math.floor(math.log2(min(times))), math.ceil(math.log2(max(times)))
    first, last = math.log2(rows[0]), math.log2(rows[-1])

    def at(count: float, us: float) -> tuple[float, float]:
        return (
            left + (right - left) * (math.log2(count) - first) / (last - first),
            bottom - (bottom - top) * (math.log2(us) - low) / max(high - low, 1),
        )

    canvas.text(left, y + 14, label, bold=True)
    for power in range(low, high + 1):
        height = at(rows[0], 2.0**power)[1]
        canvas.line(left, height, right, height, "grid")
        canvas.text(left - 6, height + 4, f"{2.0**power:g} µs", kind="muted", anchor="end", size=11)
    for count in rows:
        across = at(count, times[0])[0]
        canvas.line(across, bottom, across, bottom + 4, "frame")
        canvas.text(across, bottom + 18, _rows(count), kind="muted", anchor="middle", size=11)
    canvas.text((left + right) / 2, bottom + 36, "rows (M)", kind="muted", anchor="middle", size=11)
    for name, points in series.items():
        placed = [at(count, r.time_us.value) for count, r in points if r.time_us]
        if not placed:
            continue
        canvas.curve(placed, name, dash="5 3" if name == "copy" else "")
        for (across, height), (count, reading) in zip(placed, points):
            assert reading.time_us is not None
            canvas.dot(across, height, name, f"{reading.label}, {count} rows: {reading.time_us.value:.2f} µs")


def _rows(count: int) -> str:
    return f"{count // 1024}k" if count % 1024 == 0 else str(count)
