# SPDX-License-Identifier: Apache-2.0
"""Where a record was made: GPU, driver, versions, clocks, commit. Never a host name or a path."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

from bench.nvml import Nvml

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "torch",
    "triton",
    "kiln-jit",
    "liger-kernel",
    "quack-kernels",
    "transformer-engine",
    "deep-gemm",
    "nvidia-cublas",
    "nvidia-cublas-cu12",
    "nvidia-cuda-nvrtc",
)


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def commit(given: str | None = None) -> dict[str, Any]:
    """What was measured: the commit, and whether files differed from it (results of runs do not count)."""
    if given:
        return {"commit": given, "modified": None}
    head = _git("rev-parse", "HEAD")
    status = _git("status", "--porcelain", "--", ".", ":!bench/results")
    return {"commit": head or "unknown", "modified": None if status is None else bool(status)}


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def nvml_of(torch: Any) -> Nvml:
    """The management handle of torch's current device, whatever CUDA_VISIBLE_DEVICES renumbers."""
    uuid = getattr(torch.cuda.get_device_properties(torch.cuda.current_device()), "uuid", None)
    return Nvml(f"GPU-{uuid}" if uuid else None)


def describe(torch: Any, nvml: Nvml, given_commit: str | None = None) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "gpu": properties.name,
        "compute_capability": f"{properties.major}.{properties.minor}",
        "sms": properties.multi_processor_count,
        "memory_mib": properties.total_memory >> 20,
        "driver": nvml.driver() or "unknown",
        "cuda": torch.version.cuda,
        "limits": nvml.limits(),
        "host": {"system": platform.system(), "machine": platform.machine()},
        "versions": versions(),
        **commit(given_commit),
    }
