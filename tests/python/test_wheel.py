"""What `pip install .` makes of the sources, in a fresh virtual environment: `./dev wheel`.

Building takes minutes, so these run only where KILN_TEST_WHEEL is set.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPOSITORY

pytestmark = pytest.mark.skipif(not os.environ.get("KILN_TEST_WHEEL"), reason="KILN_TEST_WHEEL is not set")

NORM = "rms_norm_backward:n=4096"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the package and nothing else."""
    folder = tmp_path_factory.mktemp("wheel") / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [folder / "bin/python", "-m", "pip", "install", "--disable-pip-version-check", str(REPOSITORY)]
    done = subprocess.run(install, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout
    return folder


def run(environment: Path, tmp_path: Path, program: str, *arguments: str) -> str:
    """As a user does: by the name of an installed program, and without the variables of this test."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "KILN_NVRTC" or not name.startswith(("KILN_", "PYTHON"))
    }
    done = subprocess.run(
        [environment / "bin" / program, *arguments],
        env={**kept, "KILN_CACHE_DIR": str(tmp_path / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_is_there_and_has_the_packages_version(environment: Path, tmp_path: Path) -> None:
    stated = re.search(r"project\(kiln VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text())
    assert stated is not None
    assert stated[1] in run(environment, tmp_path, "kiln", "--version")
    code = "import kiln, importlib.metadata; print(kiln.__version__, importlib.metadata.version('kiln-jit'))"
    assert run(environment, tmp_path, "python", "-c", code).split() == [stated[1], stated[1]]


def test_what_the_program_warms_the_package_finds(environment: Path, tmp_path: Path) -> None:
    run(environment, tmp_path, "kiln", "warm", "--signature", NORM, "--arch", "sm_90a")
    code = f"import kiln; print(kiln.warm({NORM!r}, 'sm_90a')[0].origin)"
    assert run(environment, tmp_path, "python", "-c", code) == "cache\n"


def test_a_forked_child_compiles_by_the_worker_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    code = f"""
import os, kiln
kiln.warm({NORM!r}, "sm_90a")
child = os.fork()
if child == 0:
    os._exit(kiln.warm("rms_norm_backward:n=96", "sm_90a")[0].origin != "compiled")
print(os.waitpid(child, 0)[1])
"""
    assert run(environment, tmp_path, "python", "-c", code) == "0\n"


def test_the_package_is_typed_and_brings_no_sources_of_the_tests(environment: Path, tmp_path: Path) -> None:
    code = "import importlib.metadata; print(*importlib.metadata.files('kiln-jit'), sep='\\n')"
    files = run(environment, tmp_path, "python", "-c", code).split()
    for wanted in ("kiln/py.typed", "kiln/_kiln.pyi", "kiln/nn/functional.py", "kiln/libexec/kiln-worker"):
        assert wanted in files
    strays = [name for name in files if not re.match(r"kiln/|kiln_jit-|\.\./.*bin/kiln$", name)]
    assert strays == []
