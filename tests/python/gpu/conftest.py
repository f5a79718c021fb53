"""Tests that need torch and a GPU; without them every one is skipped."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
# cuBLAS gives the same bits from run to run only with this, and reads it when it is loaded.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

try:
    import torch
except ImportError:
    torch = None
    collect_ignore_glob = ["test_*.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if torch is not None and torch.cuda.is_available():
        return
    missing = pytest.mark.skip(reason="no GPU that torch can use")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(missing)


@pytest.fixture(autouse=True)
def _seed() -> None:
    if torch is not None:
        torch.manual_seed(0)
