# SPDX-License-Identifier: Apache-2.0
"""A record as Markdown tables: times, verdicts, figures recorded before, what was not measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import analysis, verdict
from bench import speedups as _speedups
from bench.bars import short
from bench.entry import AGAIN, CEILING, SUBJECT

BASELINES = Path(__file__).resolve().parent / "baselines"
REPRODUCED = 0.10  # deviation up to which a figure recorded before counts as reproduced


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def cases_of(record: Mapping[str, Any], op: str) -> list[Mapping[str, Any]]:
    return [case for case in record["cases"] if case["op"] == op]


def labels(cases: Sequence[Mapping[str, Any]], without: Sequence[str] = ()) -> dict[str, str]:
    """Names and labels of the entries of some cases, ceilings first, then kiln, then peers in their order.

    Entries that took part in no case are left out.
    """
    found: dict[str, tuple[int, str]] = {}
    order = {CEILING: 0, SUBJECT: 1}
    for case in cases:
        for entry in case["entries"]:
            if entry.get("samples_us") and entry["role"] not in without:
                found.setdefault(entry["name"], (order.get(entry["role"], 2), entry["label"]))
    return {name: label for name, (_, label) in sorted(found.items(), key=lambda item: item[1][0])}


def environment(record: Mapping[str, Any]) -> str:
    facts = record["environment"]
    versions = facts.get("versions", {})
    named = [f"{name} {versions[name]}" for name in versions if name != "python"]
    watts = facts.get("limits", {}).get("power_limit_w")
    commit = str(facts.get("commit", "unknown"))[:12]
    parts = [
        facts.get("gpu", "unknown GPU") + (f" ({watts} W)" if watts else ""),
        f"driver {facts.get('driver', 'unknown')}",
        f"CUDA {facts.get('cuda')}",
        f"Python {versions.get('python')}",
        *named,
        f"commit {commit}" + (" with changes" if facts.get("modified") else ""),
        record["started"],
    ]
    return ", ".join(parts) + "."


def ceilings(record: Mapping[str, Any]) -> str:
    found = record.get("ceilings") or {}
    if not found:
        return ""
    return (
        f"Ceilings in the same run: a copy that moves {found['copy_bytes'] >> 20} MiB reached "
        f"{found['copy_gbs']:.0f} GB/s; "
        f"{found['matmul_extent']}³ bf16 matmul {found['matmul_tflops']:.0f} TFLOPS."
    )


def times(record: Mapping[str, Any], op: str) -> str:
    """Medians: µs (GB/s), ms (TFLOPS), or µs of the host."""
    cases = cases_of(record, op)
    names = labels(cases, without=(AGAIN,))
    rows = []
    for case in cases:
        readings = {r.name: r for r in analysis.readings(case, record.get("ceilings", {}))}
        row = [short(case) + (f" ({case['model']})" if case.get("model") else "")]
        for name in names:
            row.append(_cell(readings.get(name), case))
        rows.append(row)
    return table(["shape", *names.values()], rows)


def _cell(reading: analysis.Reading | None, case: Mapping[str, Any]) -> str:
    if reading is None or reading.time_us is None:
        return "–"
    us = reading.time_us.value
    text = f"{us / 1e3:.3g}" if case.get("flops") else f"{us:.0f}" if us >= 1000 else f"{us:.3g}"
    mark = "\\*" if reading.exposed else ""
    return text + mark if reading.rate is None else f"{text}{mark} ({reading.rate:.0f})"


def exposed(record: Mapping[str, Any]) -> str:
    """The footnote of the stars, where there is one."""
    entries = [entry for case in record["cases"] for entry in case["entries"]]
    if not any(entry.get("exposed") for entry in entries):
        return ""
    return (
        "\\* waits for the device inside the call, so that no sleep can hide the host: host time is included."
    )


def verdicts(record: Mapping[str, Any], op: str) -> str:
    """kiln against each peer; and the noise, the least effect that counts."""
    rows = []
    cases = cases_of(record, op)
    compared = {id(case): analysis.comparisons(case) for case in cases}
    peers = {c.peer for found in compared.values() for c in found}
    names = {name: label for name, label in labels(cases).items() if name in peers}
    if not names:
        return ""
    subjects = labels(cases)
    for case in cases:
        found = compared[id(case)]
        for subject in dict.fromkeys(c.subject for c in found):
            by_peer = {c.peer: c for c in found if c.subject == subject}
            cells = [_speedup(by_peer.get(name)) for name in names]
            rows.append([short(case), subjects[subject], f"{100 * found[0].noise:.1f}%", *cells])
    return table(["shape", "kiln", "noise", *(f"against {label}" for label in names.values())], rows)


def speedups(record: Mapping[str, Any]) -> str:
    """kiln's speed-up by op: over the best peer of each case, and over each."""
    compared = {c.peer for case in record["cases"] for c in analysis.comparisons(case)}
    names = {name: label for name, label in labels(record["cases"]).items() if name in compared}
    if not names:
        return ""
    header, rows = _speedups.rows(record, names)
    return (
        "The peer's time over kiln's: geometric mean of the shapes (the least of them, and how many).\n\n"
        + table(header, rows)
    )


def _speedup(comparison: analysis.Comparison | None) -> str:
    if comparison is None:
        return "–"
    ratio = comparison.speedup
    return f"{ratio.value:.2f}× [{ratio.low:.2f}, {ratio.high:.2f}] {comparison.verdict}"


def tally(record: Mapping[str, Any]) -> str:
    """How often kiln was faster, within noise, slower, a peer."""
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for case in record["cases"]:
        for found in analysis.comparisons(case):
            count = counts.setdefault((found.subject, found.peer), {})
            count[found.verdict] = count.get(found.verdict, 0) + 1
    names = labels(record["cases"])
    columns = (verdict.FASTER, verdict.WITHIN_NOISE, verdict.SLOWER)
    rows = [
        [names[subject], names[peer], *(str(count.get(column, 0)) for column in columns)]
        for (subject, peer), count in counts.items()
    ]
    return table(["kiln", "against", *columns], rows) if rows else ""


def absent(record: Mapping[str, Any]) -> str:
    """What was not measured, and why; a reason that all cases share is said once."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for case in record["cases"]:
        for entry in case["entries"]:
            if entry.get("error"):
                reasons.setdefault((entry["label"], entry["error"]), []).append(case["name"])
    lines = []
    for (label, reason), cases in reasons.items():
        where = "" if len(cases) == len(record["cases"]) else f" ({', '.join(cases)})"
        lines.append(f"- {label}{where}: {reason}")
    return "\n".join(lines)


def recorded(gpu: str, folder: Path = BASELINES) -> dict[str, Any] | None:
    """Figures recorded before on a GPU of that name."""
    for path in sorted(folder.glob("*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["gpu"] == gpu:
            return data
    return None


def reproduced(record: Mapping[str, Any], before: Mapping[str, Any] | None) -> str:
    """Peers and ceilings beside figures recorded before on this kind of GPU."""
    rows, near = [], 0
    for case in record["cases"] if before else ():
        old = before["cases"].get(case["name"], {}) if before else {}
        for entry in case["entries"]:
            if entry["name"] not in old or not entry.get("samples_us"):
                continue
            now = verdict.median(entry["samples_us"])
            deviation = now / old[entry["name"]] - 1
            near += abs(deviation) <= REPRODUCED
            then = f"{old[entry['name']]:g}"
            rows.append([case["name"], entry["label"], then, f"{now:.4g}", f"{deviation:+.1%}"])
    if not rows or not before:
        return ""
    intro = (
        f"{near} of {len(rows)} figures recorded on {before['measured']} (driver {before['driver']}, "
        f"torch {before['torch']}) come back within {REPRODUCED:.0%}."
    )
    return intro + "\n\n" + table(["case", "", "µs then", "µs now", "change"], rows)
