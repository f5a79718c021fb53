# SPDX-License-Identifier: Apache-2.0
"""Records with known samples, for the tests of the bench."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


def noisy(middle: float, seed: int, count: int = 20, spread: float = 0.003) -> list[float]:
    draw = random.Random(seed)
    return [round(middle * (1 + draw.uniform(-spread, spread)), 4) for _ in range(count)]


def entry(name: str, role: str, us: float | None, label: str | None = None, **more: Any) -> dict[str, Any]:
    kept: dict[str, Any] = {"name": name, "label": label or name, "role": role, **more}
    if us is not None:
        kept["samples_us"] = noisy(us, seed=len(name) + ord(name[0]))
    return kept


def norm_case(rows: int, n: int, kiln_us: float, peer_us: float) -> dict[str, Any]:
    return {
        "name": f"rms_norm_backward {rows}x{n}",
        "op": "rms_norm_backward",
        "shape": {"rows": rows, "n": n},
        "model": "",
        "floor_bytes": 6 * rows * n,
        "clocks": {"sm_mhz": 1980},
        "entries": [
            entry("kiln", "subject", kiln_us, "kiln, 1 stage"),
            entry("kiln_again", "again", kiln_us, "kiln, 1 stage, again", again_of="kiln"),
            entry("aten", "peer", peer_us, "ATen"),
            entry("liger", "peer", None, "Liger <Triton>", error="liger_kernel cannot be imported"),
            entry("copy", "ceiling", 6 * rows * n / 4.2e6, "device copy"),
        ],
    }


def record_of(cases: list[dict[str, Any]], what: str = "norm") -> dict[str, Any]:
    return {
        "schema": 1,
        "what": what,
        "started": "2026-11-29T12:00:00Z",
        "finished": "2026-11-29T12:03:00Z",
        "options": {},
        "environment": {
            "gpu": "NVIDIA H200",
            "driver": "580.159",
            "cuda": "13.0",
            "versions": {"python": "3.12.3", "torch": "2.11.0"},
            "limits": {"power_limit_w": 700},
            "commit": "0123456789abcdef",
            "modified": False,
        },
        "stopwatch": {},
        "ceilings": {
            "copy_gbs": 4260.0,
            "matmul_tflops": 810.0,
            "copy_bytes": 2 << 30,
            "matmul_extent": 8192,
        },
        "cases": cases,
    }
