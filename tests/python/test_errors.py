"""Exceptions: their classes, codes and messages."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import kiln
from kiln import _kiln


def has_device() -> bool:
    try:
        _kiln.device_arch(0)
    except kiln.Error:
        return False
    return True


@pytest.mark.parametrize(
    ("signature", "code", "part"),
    [
        ("rms_norm_backwards:n=4096", "unknown_op", "rms_norm_backward"),
        ("rms_norm_backward:n=0", "invalid_signature", "n"),
        ("rms_norm_backward:n=4096,y=1", "invalid_signature", '"y"'),
        (None, "invalid_signature", "NoneType"),
    ],
)
def test_a_bad_signature_is_a_value_error(cache: Path, signature: str, code: str, part: str) -> None:
    with pytest.raises(ValueError, match=part) as caught:
        kiln.explain(signature, "sm_90a")
    assert isinstance(caught.value, kiln.RequestError)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"{code}: ")


def test_a_bad_architecture_is_a_value_error(cache: Path) -> None:
    with pytest.raises(kiln.RequestError) as caught:
        kiln.explain("rms_norm_backward:n=4096", "sm_91")
    assert caught.value.code == "unknown_arch"
    assert "sm_90a" in caught.value.detail


def test_a_malformed_variable_is_named(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_DISABLE_JIT", "perhaps")
    with pytest.raises(ValueError, match="KILN_DISABLE_JIT") as caught:
        kiln.explain("rms_norm_backward:n=4096", "sm_90a")
    assert isinstance(caught.value, kiln.Error)
    assert caught.value.code == "invalid_policy"


@pytest.mark.skipif(has_device(), reason="this machine has what the others lack")
@pytest.mark.parametrize("device", [0, "cuda:0", None])
def test_preparing_without_a_gpu_says_what_is_missing(cache: Path, device: object) -> None:
    with pytest.raises(RuntimeError) as caught:
        kiln.prepare("rms_norm_backward:n=4096", device)
    assert isinstance(caught.value, kiln.ServiceError)
    assert caught.value.code in ("driver_missing", "device_missing", "driver_error")
    assert "driver" in caught.value.detail


def test_something_that_is_no_device_is_refused_before_the_driver_is_asked(cache: Path) -> None:
    with pytest.raises(kiln.RequestError, match="'cpu' is no CUDA device"):
        kiln.prepare("rms_norm_backward:n=4096", "cpu")


def test_every_exception_is_an_error_of_kiln_and_survives_pickling() -> None:
    for kind in (kiln.RequestError, kiln.ServiceError, kiln.WarmError):
        assert issubclass(kind, kiln.Error)
        again = pickle.loads(pickle.dumps(kind("io_error", "the disk is full")))
        assert type(again) is kind
        assert (again.code, str(again)) == ("io_error", "io_error: the disk is full")
