# SPDX-License-Identifier: Apache-2.0
"""What the samples of a case say: medians with intervals, shares of the ceiling, noise, verdicts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bench import verdict
from bench.entry import AGAIN, CEILING, PEER, SUBJECT
from bench.verdict import Estimate


@dataclass(frozen=True)
class Reading:
    """One entry of a case: what it took, or why it took no part."""

    name: str
    label: str
    role: str
    time_us: Estimate | None
    rate: float | None  # GB/s of the floor, or TFLOPS
    share: Estimate | None  # of the ceiling's rate; 1.0 is the ceiling
    error: str | None
    exposed: bool


@dataclass(frozen=True)
class Comparison:
    subject: str
    peer: str
    speedup: Estimate  # the peer's time over the subject's
    noise: float
    verdict: str


def entries(case: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from case["entries"]


def samples(case: Mapping[str, Any]) -> dict[str, list[float]]:
    return {e["name"]: e["samples_us"] for e in entries(case) if e.get("samples_us")}


def work(case: Mapping[str, Any]) -> tuple[float, str]:
    """Work over microseconds is a rate: the number to divide, and the rate's unit."""
    if case.get("flops"):
        return case["flops"] / 1e6, "TFLOPS"
    if case.get("floor_bytes"):
        return case["floor_bytes"] / 1e3, "GB/s"
    return 0.0, ""


def readings(case: Mapping[str, Any], ceilings: Mapping[str, Any] | None = None) -> list[Reading]:
    amount, _ = work(case)
    taken = samples(case)
    limit = ceiling_us(case, ceilings or {})
    found = []
    for entry in entries(case):
        mine = taken.get(entry["name"])
        time_us = verdict.estimate(mine) if mine else None
        found.append(
            Reading(
                name=entry["name"],
                label=entry["label"],
                role=entry["role"],
                time_us=time_us,
                rate=amount / time_us.value if time_us and amount else None,
                share=_share(limit, time_us) if time_us and limit else None,
                error=entry.get("error"),
                exposed=bool(entry.get("exposed")),
            )
        )
    return found


def ceiling_us(case: Mapping[str, Any], ceilings: Mapping[str, Any]) -> float | None:
    """Time at the ceiling: the copy timed with the case, else the matrix product of the run."""
    for entry in entries(case):
        if entry["role"] == CEILING and entry.get("samples_us"):
            return verdict.median(entry["samples_us"])
    if case.get("flops") and ceilings.get("matmul_tflops"):
        return case["flops"] / 1e6 / ceilings["matmul_tflops"]
    return None


def _share(limit_us: float, time_us: Estimate) -> Estimate:
    return Estimate(limit_us / time_us.value, limit_us / time_us.high, limit_us / time_us.low)


def noise(case: Mapping[str, Any]) -> float | None:
    """The least effect that counts in this case; nothing when no second copy was timed."""
    taken = samples(case)
    pairs = [
        verdict.noise(taken[entry["again_of"]], taken[entry["name"]])
        for entry in entries(case)
        if entry["role"] == AGAIN and entry["name"] in taken and entry.get("again_of") in taken
    ]
    return max(pairs) if pairs else None


def comparisons(case: Mapping[str, Any]) -> list[Comparison]:
    """Every subject against its peers; none without a noise to judge by."""
    least = noise(case)
    if least is None:
        return []
    taken = samples(case)
    timed = [entry for entry in entries(case) if entry["name"] in taken]
    peers = [entry["name"] for entry in timed if entry["role"] == PEER]
    found = []
    for subject in (entry for entry in timed if entry["role"] == SUBJECT):
        for peer in (name for name in peers if name in (subject.get("against") or peers)):
            speedup = verdict.ratio(taken[peer], taken[subject["name"]])
            judged = verdict.judge(speedup, least)
            found.append(Comparison(subject["name"], peer, speedup, least, judged))
    return found


def best_peer(case: Mapping[str, Any], without: str = "") -> str | None:
    """The fastest one. What is made of kiln's own kernels is a peer to be compared with, not one to beat."""
    taken = samples(case)
    names = [e["name"] for e in entries(case) if e["role"] == PEER and e["name"] in taken]
    peers = [name for name in names if not name.startswith("kiln") and name != without]
    return min(peers, key=lambda name: verdict.median(taken[name])) if peers else None


def summary(case: Mapping[str, Any], ceilings: Mapping[str, Any] | None = None) -> str:
    """A case in a few lines, for the terminal."""
    _, unit = work(case)
    versus = {c.peer: c for c in comparisons(case) if c.subject == first_subject(case)}
    lines = [case["name"]]
    for reading in readings(case, ceilings):
        if reading.time_us is None:
            lines.append(f"  {reading.label:<30} – {reading.error}")
            continue
        t = reading.time_us
        line = f"  {reading.label:<30} {t.value:9.2f} µs [{t.low:.2f}, {t.high:.2f}]"
        if reading.rate is not None:
            line += f" {reading.rate:6.0f} {unit}"
        if reading.share is not None and reading.role != CEILING:
            line += f" {100 * reading.share.value:4.0f}% of the ceiling"
        if reading.name in versus:
            found = versus[reading.name]
            line += f"   kiln {found.speedup.value:.3f}x: {found.verdict}"
        if reading.exposed:
            line += "   (holds host time)"
        lines.append(line)
    least = noise(case)
    if least is not None:
        lines.append(f"  noise {100 * least:.2f}%")
    return "\n".join(lines)


def first_subject(case: Mapping[str, Any]) -> str | None:
    taken = samples(case)
    names = [e["name"] for e in entries(case) if e["role"] == SUBJECT and e["name"] in taken]
    return names[0] if names else None
