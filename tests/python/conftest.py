"""Fixtures: a service of its own, with its own cache, for a test."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kiln._service


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder, and a service that reads the environment anew."""
    folder = tmp_path / "cache"
    for name in list(os.environ):
        if name.startswith("KILN_") and name != "KILN_NVRTC":
            monkeypatch.delenv(name)
    monkeypatch.setenv("KILN_CACHE_DIR", str(folder))
    monkeypatch.setattr(kiln._service, "_service", None)
    yield folder


@pytest.fixture
def python(tmp_path: Path) -> Callable[..., str]:
    """Runs code in a new interpreter and returns what it prints."""

    def run(code: str, **environment: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The emulated GPU that kiln.nn runs on. Needs torch."""
    torch = pytest.importorskip("torch")
    from emulator import install

    torch.manual_seed(0)
    return install(monkeypatch)
