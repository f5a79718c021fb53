"""The service of this process: made at the first call that needs it. In a forked child it starts afresh."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import sys
import threading
from pathlib import Path

from kiln import _kiln

_lock = threading.Lock()
_service: _kiln.Service | None = None


def service() -> _kiln.Service:
    """Policy comes from the environment, which is read once. Raises RequestError for a bad value."""
    global _service
    made = _service
    if made is None:
        with _lock:
            if _service is None:
                _service = _kiln.Service([str(folder) for folder in nvrtc_folders()])
            made = _service
    return made


def nvrtc_folders() -> list[Path]:
    """Where NVIDIA's wheels put NVRTC: beside torch and in every environment on the path."""
    roots = []
    for name in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"):
        try:
            roots.append(Path(str(importlib.metadata.distribution(name).locate_file(""))))
        except importlib.metadata.PackageNotFoundError:
            continue
    try:
        torch = importlib.util.find_spec("torch")  # finds, imports nothing
    except (ImportError, ValueError):
        torch = None
    if torch is not None and torch.origin:
        roots.append(Path(torch.origin).parent.parent)
    roots += [Path(entry) for entry in sys.path if entry.endswith("-packages")]
    folders: list[Path] = []
    for root in roots:
        for place in ("cu13/lib", "cuda_nvrtc/lib"):
            folder = root / "nvidia" / place
            if folder not in folders and folder.is_dir():
                folders.append(folder)
    return folders


def _unlock() -> None:
    """In a forked child, where another thread of the parent may have held the lock. The service itself
    knows that it was forked: it uses nothing of the parent's, and compiles in a process of its own."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)
