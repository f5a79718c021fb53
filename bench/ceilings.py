# SPDX-License-Identifier: Apache-2.0
"""What this GPU reaches at best, measured in the same run as all else: a copy, a large matrix product."""

from __future__ import annotations

from typing import Any

from bench import verdict
from bench.entry import CEILING, Entry
from bench.timing import Settings, Stopwatch, interleave

MATMUL_EXTENT = 8192
COPY_BYTES = 1 << 30  # read once and written once


def copy_entry(torch: Any, moved_bytes: int) -> Entry:
    """A device copy that moves as many bytes, half read and half written."""
    source = torch.randint(0, 256, (moved_bytes // 2,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return Entry("copy", "device copy", CEILING, lambda: target.copy_(source), detail={"bytes": moved_bytes})


def matmul_entry(torch: Any, extent: int = MATMUL_EXTENT) -> Entry:
    """A square bf16 product on random data: at the power limit zeros would run faster."""
    left = torch.randn(extent, extent, dtype=torch.bfloat16, device="cuda")
    right = torch.randn(extent, extent, dtype=torch.bfloat16, device="cuda")
    out = torch.empty(extent, extent, dtype=torch.bfloat16, device="cuda")
    return Entry(
        "matmul",
        f"{extent}³ matmul",
        CEILING,
        lambda: torch.mm(left, right, out=out),
        detail={"flops": 2 * extent**3},
    )


def measure(torch: Any, stopwatch: Stopwatch, settings: Settings) -> dict[str, Any]:
    """The ceilings of the run, for its record."""
    entries = [copy_entry(torch, 2 * COPY_BYTES), matmul_entry(torch)]
    calls = {entry.name: entry.call for entry in entries if entry.call}
    samples = interleave(calls, stopwatch, settings).samples_us
    copy_us, matmul_us = verdict.median(samples["copy"]), verdict.median(samples["matmul"])
    return {
        "copy_gbs": round(2 * COPY_BYTES / copy_us / 1e3, 1),
        "matmul_tflops": round(2 * MATMUL_EXTENT**3 / matmul_us / 1e6, 1),
        "copy_bytes": 2 * COPY_BYTES,
        "matmul_extent": MATMUL_EXTENT,
        "samples_us": samples,
    }
