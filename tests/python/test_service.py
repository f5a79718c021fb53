"""The service of a process, and of its children."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import kiln
import kiln._service

NORM = "rms_norm_backward:n=96"


def test_threads_share_one_service_and_compile_once(cache: Path) -> None:
    seen: list[object] = []

    def work() -> None:
        kiln.warm(NORM, "sm_90a")
        seen.append(kiln._service.service())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(one is seen[0] for one in seen)
    assert kiln.statistics()["compiles"] == 1


def test_a_forked_child_makes_its_own(cache: Path) -> None:
    kiln.warm(NORM, "sm_90a")
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            (one,) = kiln.warm(NORM, "sm_90a")
            answer = f"{one.origin} {kiln.statistics()['compiles']}"
        except BaseException as error:  # noqa: BLE001
            answer = repr(error)
        os.write(writable, answer.encode())
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    assert answer == "cache 0"


def test_a_child_of_a_process_that_compiles_gets_its_kernels(python: Callable[..., str], cache: Path) -> None:
    code = f"""
import os, threading, kiln
def compile():
    kiln.warm({NORM!r}, "sm_90a")
compiling = threading.Thread(target=compile)
compiling.start()
while kiln.statistics()["compiles"] == 0:
    pass
child = os.fork()
if child == 0:
    origins = [one.origin for one in kiln.warm([{NORM!r}, "rms_norm_backward:n=104"], "sm_90a")]
    os._exit(0 if origins[1] == "compiled" and kiln.statistics()["fallbacks"] == 0 else 1)
print(os.waitpid(child, 0)[1])
compiling.join()
"""
    assert python(code, KILN_CACHE_DIR=str(cache)) == "0\n"


def test_a_child_that_exits_normally_leaves_the_parents_objects_alone(
    python: Callable[..., str], cache: Path
) -> None:
    code = f"""
import os, sys, kiln
kiln.warm({NORM!r}, "sm_90a")
child = os.fork()
if child == 0:
    sys.exit(0)  # finalises the interpreter, which destroys what it can reach
print(os.waitpid(child, 0)[1], kiln.warm({NORM!r}, "sm_90a")[0].origin)
"""
    assert python(code, KILN_CACHE_DIR=str(cache)) == "0 memory\n"


def test_nvrtc_is_found_beside_torch_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "elsewhere"
    (packages / "torch").mkdir(parents=True)
    (packages / "torch/__init__.py").write_text("raise AssertionError('imported')\n")
    folder = packages / "nvidia/cu13/lib"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert folder in kiln._service.nvrtc_folders()


def test_the_cache_folder_is_the_environments(cache: Path) -> None:
    assert kiln._service.service().cache_dir() == str(cache)
