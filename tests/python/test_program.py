"""The program `kiln` as a wheel installs it: beside python, with NVIDIA's wheels below the same folder."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROGRAM = os.environ.get("KILN_TEST_PROGRAM", "")
NVRTC = os.environ.get("KILN_TEST_NVRTC", "")  # libnvrtc, wherever it is

pytestmark = pytest.mark.skipif(not PROGRAM, reason="KILN_TEST_PROGRAM names no program")


@pytest.mark.parametrize("packages", ["site-packages", "dist-packages"])
@pytest.mark.parametrize("wheel", ["cu13", "cuda_nvrtc"])
def test_it_takes_nvrtc_from_the_environment_it_is_installed_in(
    tmp_path: Path, packages: str, wheel: str
) -> None:
    program = tmp_path / "bin/kiln"
    program.parent.mkdir()
    shutil.copy(PROGRAM, program)
    folder = tmp_path / "lib/python3.12" / packages / "nvidia" / wheel
    folder.mkdir(parents=True)
    (folder / "lib").symlink_to(Path(NVRTC).parent)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("KILN_")}
    done = subprocess.run(
        [program, "doctor", "--json"],
        env={**variables, "KILN_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    (found,) = (one for one in json.loads(done.stdout)["findings"] if one["subject"] == "NVRTC")
    assert "found by NVIDIA's wheel" in found["detail"]
