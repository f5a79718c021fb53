"""Bad tensors: one clear exception before any launch."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import RMSNorm, functional  # noqa: E402


def test_a_cpu_tensor_is_refused(python: Any) -> None:
    with pytest.raises(kiln.RequestError, match="input is on cpu"):
        RMSNorm(8)(torch.randn(2, 8))
    with pytest.raises(kiln.RequestError, match="input is on cpu"), torch.no_grad():
        RMSNorm(8)(torch.randn(2, 8))
    x = torch.randn(2, 8)
    with pytest.raises(kiln.RequestError, match="input is on cpu"):
        functional.rms_norm_backward(x, x, torch.ones(2))


@pytest.mark.parametrize(
    ("x", "shape", "weight", "part"),
    [
        (torch.randn(2, 8, dtype=torch.float64), (8,), None, "torch.float64"),
        (torch.ones(2, 8, dtype=torch.int32), (8,), None, "torch.int32"),
        (torch.randn(2, 8, dtype=torch.complex64), (8,), None, "torch.complex64"),
        (torch.randn(2, 8), (9,), None, "last dimensions"),
        (torch.randn(2, 8), (), None, "normalized_shape []"),
        (torch.randn(8), (2, 8), None, "last dimensions"),
        (torch.randn(2, 8), (8,), torch.ones(9), "weight has shape [9]"),
        (torch.randn(2, 8), (8,), torch.ones(1, 8), "weight has shape [1, 8]"),
        (torch.randn(2, 8), (8,), torch.ones(8, dtype=torch.float64), "weight has type"),
        (torch.randn(2, 8), (8,), torch.ones(8, device="meta"), "weight is on meta"),
        (torch.randn(2, 8).to_sparse(), (8,), None, "layout"),
        (torch.randn(2, 8), (8,), torch.ones(8).to_sparse(), "weight has layout"),
        (torch.randn(2, 8), (8,), [1.0] * 8, "weight is a list"),
        (torch.randn(2, 8), (8,), "text", "weight is a str"),
        (torch.randn(2, 8), 8, None, "a sequence of ints"),
        (torch.randn(2, 8), None, None, "a sequence of ints"),
        ("text", (8,), None, "input is a str"),
        (None, (8,), None, "input is a NoneType"),
    ],
)
def test_the_forward_refuses(gpu: Emulator, x: Any, shape: tuple[int, ...], weight: Any, part: str) -> None:
    with pytest.raises(kiln.RequestError) as caught:
        functional.rms_norm(x, shape, weight)
    assert part in str(caught.value)
    assert caught.value.code == "invalid_argument"


@pytest.mark.parametrize(
    ("x", "shape", "weight", "part"),
    [
        ((2, 8), (9,), torch.ones(9), "last dimensions"),
        ((2, 8), (), torch.ones(8), "normalized_shape []"),
        ((8,), (2, 8), torch.ones(2, 8), "last dimensions"),
        ((2, 8), (8,), torch.ones(9), "weight has shape [9]"),
        ((2, 8), (8,), torch.ones(1, 8), "weight has shape [1, 8]"),
        ((2, 8), (8,), torch.ones(8, device="meta"), "weight is on meta"),
        ((2, 8), (8,), torch.ones(8).to_sparse(), "weight has layout"),
        ((2, 8), 8, torch.ones(8), "a sequence of ints"),
        ((2, 8), None, torch.ones(8), "a sequence of ints"),
    ],
)
def test_the_forward_that_saves_for_a_backward_refuses_alike(
    gpu: Emulator, x: tuple[int, ...], shape: Any, weight: Any, part: str
) -> None:
    with pytest.raises(kiln.RequestError) as caught:
        functional.rms_norm(torch.randn(x, requires_grad=True), shape, weight, 1e-5)
    assert part in str(caught.value)


def test_what_is_no_fault_of_the_tensors_is_raised_as_it_is(gpu: Emulator) -> None:
    with pytest.raises(TypeError, match="eps"):
        functional.rms_norm(torch.randn(2, 8, requires_grad=True), (8,), torch.ones(8), "small")


def test_accumulating_without_a_weight_is_refused(gpu: Emulator) -> None:
    with pytest.raises(kiln.RequestError, match="nothing to accumulate"):
        functional.rms_norm(torch.randn(2, 8), (8,), fuse_wgrad_accumulation=True)


GOOD = {
    "grad_output": torch.randn(3, 8),
    "input": torch.randn(3, 8),
    "rstd": torch.ones(3),
    "weight": torch.ones(8),
    "residual": None,
    "main_grad": None,
}


@pytest.mark.parametrize(
    ("name", "bad", "part"),
    [
        ("grad_output", torch.randn(3, 9), "grad_output is"),
        ("grad_output", torch.randn(2, 8), "grad_output is"),
        ("grad_output", torch.randn(3, 8).bfloat16(), "torch.bfloat16"),
        ("input", torch.randn(3, 8).double(), "torch.float64"),
        ("rstd", torch.ones(3).bfloat16(), "rstd is torch.bfloat16"),
        ("rstd", torch.ones(4), "rstd has 4 elements"),
        ("weight", torch.ones(4), "rows of 4"),
        ("weight", torch.ones(8).double(), "weight has type"),
        ("weight", torch.ones(2, 4), "weight has shape [2, 4]"),
        ("residual", torch.randn(3, 8).half(), "residual is"),
        ("residual", torch.randn(8), "residual is"),
        ("main_grad", torch.zeros(8).bfloat16(), "main_grad is torch.bfloat16"),
        ("main_grad", torch.zeros(9), "main_grad is"),
        ("grad_output", torch.randn(3, 8).to_sparse(), "layout torch.sparse_coo"),
        ("rstd", torch.ones(3).to_sparse(), "rstd has layout"),
        ("weight", torch.ones(8).to_sparse(), "weight has layout"),
        ("residual", torch.randn(3, 8).to_sparse(), "layout torch.sparse_coo"),
        *((name, "text", f"{name} is a str") for name in ("grad_output", "input", "rstd", "weight")),
        *((name, 1.0, f"{name} is a float") for name in ("grad_output", "rstd", "residual", "main_grad")),
        *((name, None, f"{name} is a NoneType") for name in ("grad_output", "input", "rstd")),
    ],
)
def test_the_backward_refuses(gpu: Emulator, name: str, bad: Any, part: str) -> None:
    with pytest.raises(kiln.RequestError) as caught:
        functional.rms_norm_backward(**{**GOOD, name: bad})
    assert part in str(caught.value)
    assert not gpu.runs


@pytest.mark.parametrize("name", ["grad_output", "rstd", "weight"])
def test_the_backward_refuses_other_devices(gpu: Emulator, name: str) -> None:
    # Every device but CUDA's has one number here, so the quick look cannot tell them apart.
    from kiln.nn import _checks

    with pytest.raises(kiln.RequestError, match=f"{name} is .*on meta"):
        _checks._backward_closely(**{**GOOD, name: GOOD[name].to("meta")})


def test_main_grad_without_a_weight_is_refused(gpu: Emulator) -> None:
    with pytest.raises(kiln.RequestError, match="main_grad without a weight"):
        functional.rms_norm_backward(**{**GOOD, "weight": None, "main_grad": torch.zeros(8)})


def test_a_module_without_a_weight_has_nothing_to_accumulate() -> None:
    with pytest.raises(kiln.RequestError, match="no weight to accumulate"):
        RMSNorm(8, elementwise_affine=False, fuse_wgrad_accumulation=True)


def test_views_whose_memory_holds_other_numbers_are_told_apart() -> None:
    from kiln import _tensors

    conjugate = torch.randn(3, 8, dtype=torch.complex64).conj()
    for view in (conjugate, conjugate.imag):
        with pytest.raises(kiln.RequestError, match="x is a negated or conjugate view"):
            _tensors.describe("x", view)


def test_an_output_that_requires_grad_cannot_be_bound() -> None:
    from kiln import _tensors

    output = torch.zeros(8, requires_grad=True)
    with pytest.raises(kiln.RequestError, match="dw requires grad"):
        _tensors.describe("dw", output, written=True)
    assert _tensors.describe("w", output)[0] == "w"


def test_tensors_of_the_host_and_of_other_devices_are_told_apart() -> None:
    from kiln import _tensors

    assert _tensors.describe("x", torch.zeros(2, 8)) == ("x", 0, [2, 8], [8, 1], "f32", -1)
    with pytest.raises(kiln.RequestError, match="x is on meta"):
        _tensors.describe("x", torch.zeros(8, device="meta"))
    with pytest.raises(kiln.RequestError, match="layout"):
        _tensors.describe("x", torch.zeros(2, 8).to_sparse())
