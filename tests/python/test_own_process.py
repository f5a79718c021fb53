"""A test that ruins its process fails alone."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import os
import pytest

@pytest.mark.own_process
@pytest.mark.parametrize("code", [0, 3, 139])
def test_ruins_it(code):
    os.environ["RUINED"] = "1"
    if code:
        os._exit(code)

@pytest.mark.own_process
def test_fails():
    assert "this" == "that"

def test_is_untouched():
    assert "RUINED" not in os.environ
"""


def test_only_what_fails_in_a_process_of_its_own_fails(tmp_path: Path) -> None:
    (tmp_path / "test_inner.py").write_text(TESTS)
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "own_process"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "3 failed, 2 passed" in done.stdout, done.stdout
    assert "exit code 139" in done.stdout
    assert "'this' == 'that'" in done.stdout
