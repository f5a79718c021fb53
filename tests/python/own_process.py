"""Tests that break what is around them: each with the mark own_process runs in a process of its own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys

import pytest

_ALONE = "KILN_TEST_ALONE"  # set in such a process
_TIMEOUT_S = 300


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "own_process: runs in a process of its own. A capture that breaks leaves torch's allocator and its "
        "current stream capturing, and every later test of its process would fail with it",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if os.environ.get(_ALONE) or pyfuncitem.get_closest_marker("own_process") is None:
        return None
    test = f"{pyfuncitem.path}::{pyfuncitem.nodeid.partition('::')[2]}"
    done = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "own_process", test],
        env={**os.environ, _ALONE: "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0 or "1 passed" not in done.stdout:
        pytest.fail(f"in a process of its own (exit code {done.returncode}):\n{done.stdout}", pytrace=False)
    return True
