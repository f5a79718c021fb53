"""Asking whether a signature is served: always an answer."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import kiln

FOLDER = os.environ.get("KILN_TEST_LIBCUDA", "")

Python = Callable[..., str]


def test_a_fused_kernel_needs_no_reason(cache: Path) -> None:
    assert kiln.supports("rms_norm_backward:n=4096", "sm_90a") == (True, "")


def test_composed_kernels_serve_with_the_reason(cache: Path) -> None:
    supported, reason = kiln.supports("rms_norm_backward:n=65536", "sm_90a")
    assert supported
    assert "composed" in reason
    assert "unsupported_size" in reason


@pytest.mark.parametrize(
    ("signature", "arch", "part"),
    [
        ("rms_norm_backwards:n=4096", "sm_90a", "did you mean"),
        ("rms_norm_backward:m=4096", "sm_90a", 'no key "m"'),
        ("rms_norm_backward:n=0", "sm_90a", "0"),
        ("rms_norm_backward:n=-1", "sm_90a", "-1"),
        ("rms_norm_backward:n=9223372036854775808", "sm_90a", "9223372036854775808"),
        ("rms_norm_backward:n=1,n=2", "sm_90a", "n"),
        ("rms_norm_backward:n=4096", "sm_42", "sm_42"),
        ("", "sm_90a", "invalid_signature"),
        ("\0", "sm_90a", ""),
        ("rms_norm_backward:n=\ud800", "sm_90a", ""),
        (None, "sm_90a", "NoneType"),
        (17, "sm_90a", "int"),
        ([], "sm_90a", "list"),
        ({}, "sm_90a", "op"),
        ({"op": object()}, "sm_90a", ""),
        ({"op": "rms_norm_backward", "n": float("nan")}, "sm_90a", ""),
        ("rms_norm_backward:n=4096", object(), "no CUDA device"),
        ("rms_norm_backward:n=4096", 1.5, "no CUDA device"),
        ("rms_norm_backward:n=4096", True, "no CUDA device"),
        ("rms_norm_backward:n=4096", "cuda:x", "no CUDA device"),
        ("rms_norm_backward:n=4096", "cpu", ""),
        ("rms_norm_backward:n=4096", -1, ""),
        ("rms_norm_backward:n=4096", 10**30, ""),
    ],
)
def test_anything_else_is_refused_with_a_reason(
    cache: Path, signature: object, arch: object, part: str
) -> None:
    supported, reason = kiln.supports(signature, arch)  # type: ignore[arg-type]
    assert supported is False
    assert reason
    assert part in reason


def test_a_malformed_environment_is_a_reason_too(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_MAX_STAGES", "many")
    supported, reason = kiln.supports("rms_norm_backward:n=4096", "sm_90a")
    assert supported is False
    assert "KILN_MAX_STAGES" in reason


def test_for_an_architecture_no_driver_is_opened(cache: Path, python: Python) -> None:
    code = """
import kiln
print(kiln.supports("rms_norm_backward:n=4096", "sm_90a").supported)
print("libcuda.so" in open("/proc/self/maps").read())
"""
    assert python(code).split() == ["True", "False"]


@pytest.mark.skipif(not FOLDER, reason="KILN_TEST_LIBCUDA names no folder with the stand-in for libcuda")
@pytest.mark.parametrize("arch", ["", ', "cuda"', ', "cuda:1"', ", 1"])
def test_for_a_device_no_context_is_made(cache: Path, python: Python, arch: str) -> None:
    code = f"""
import ctypes, kiln
norm = "rms_norm_backward:n=4096"
assert kiln.supports(norm{arch}) == (True, "")
assert kiln.explain(norm{arch})["arch"] == "sm_90a"
driver = ctypes.CDLL("libcuda.so.1")
assert driver.fake_contexts() == driver.fake_allocations() == 0
kiln.prepare(norm, 1)
assert driver.fake_contexts() == 1
"""
    python(code, LD_LIBRARY_PATH=FOLDER, KILN_CACHE_DIR=str(cache), KILN_DISABLE_JIT="1", KILN_LOG="off")
