"""Tests that need torch and a GPU; without them every one is skipped."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from own_process import pytest_configure, pytest_pyfunc_call

__all__ = ["pytest_configure", "pytest_pyfunc_call"]  # hooks

sys.path.insert(0, str(Path(__file__).parent))
# cuBLAS gives the same bits from run to run only with this, and reads it when it is loaded.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

try:
    import torch
except ImportError:
    torch = None
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.failed and torch is not None and torch.cuda.is_initialized():
        try:
            torch.cuda.synchronize()
            torch.zeros(1, device="cuda").item()
        except RuntimeError as error:
            # Nothing that follows could succeed, or say anything true.
            item.session.shouldfail = f"{item.nodeid} left CUDA unusable: {error}"
    return report


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
