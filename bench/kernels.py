# SPDX-License-Identifier: Apache-2.0
"""Which kernels a call launches and how long each runs, from CUPTI through torch's profiler."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

REPEATS = 5
NAME_CHARACTERS = 80


def of(torch: Any, call: Callable[[], Any]) -> list[dict[str, Any]]:
    """Kernels of one call with their mean time (L2 not evicted); empty where CUPTI cannot be had."""
    try:
        from torch.profiler import ProfilerActivity, profile

        call()
        torch.cuda.synchronize()
        with profile(activities=[ProfilerActivity.CUDA]) as profiled:
            for _ in range(REPEATS):
                call()
            torch.cuda.synchronize()
        events = [event for event in profiled.key_averages() if event.device_time_total > 0]
    except Exception:  # noqa: BLE001  (a profiler that is refused only costs this list)
        return []
    return [
        {
            "kernel": event.key[:NAME_CHARACTERS],
            "launches": event.count / REPEATS,
            "us": round(event.device_time_total / REPEATS, 2),
        }
        for event in events
    ]
