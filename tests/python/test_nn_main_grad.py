"""Accumulating into main_grad, and Megatron's convention, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator, gradients  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import RMSNorm  # noqa: E402
from kiln.nn._main_grad import main_grad_of  # noqa: E402


def test_main_grad_is_added_to_and_no_gradient_comes_back(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    plain = RMSNorm(16)
    x, dy = torch.randn(3, 16), torch.randn(3, 16)
    _, dw = gradients(plain, x, dy)
    module.weight.main_grad = torch.full((16,), 2.0)
    _, nothing = gradients(module, x, dy)
    assert nothing is None
    torch.testing.assert_close(module.weight.main_grad, dw + 2)
    gradients(module, x, dy)
    torch.testing.assert_close(module.weight.main_grad, 2 * dw + 2)
    assert "accumulate=1" in gpu.prepared[-1] and "dw=f32" in gpu.prepared[-1]


@pytest.mark.parametrize("zeros", [True, False])
def test_megatrons_hooks_get_a_placeholder(gpu: Emulator, zeros: bool) -> None:
    module = RMSNorm(16, dtype=torch.bfloat16, fuse_wgrad_accumulation=True)
    weight = module.weight
    weight.main_grad = torch.zeros(16)
    weight.grad_added_to_main_grad = False
    weight.zero_out_wgrad = zeros
    hooked = []
    weight.register_hook(lambda grad: hooked.append(grad))
    gradients(module, torch.randn(2, 16).bfloat16(), torch.randn(2, 16).bfloat16())
    assert weight.grad_added_to_main_grad is True
    (placeholder,) = hooked
    assert placeholder.dtype is torch.bfloat16 and placeholder.shape == (16,)
    if zeros:
        assert not placeholder.any()


def test_main_grad_is_overwritten_when_the_weight_says_so(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    module.weight.main_grad = torch.full((16,), float("nan"))
    module.weight.overwrite_main_grad = True
    gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert not module.weight.main_grad.isnan().any()


def test_a_frozen_weight_leaves_main_grad_alone(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    module.weight.requires_grad_(False)
    module.weight.main_grad = torch.zeros(16)
    gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert not module.weight.main_grad.any()


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        torch.zeros(16, dtype=torch.bfloat16),
        torch.zeros(15),
        torch.zeros(1, 16),
        torch.zeros(32)[::2],
        torch.zeros(1).expand(16),
        torch.zeros(16, device="meta"),
        torch.zeros(16, requires_grad=True),
    ],
)
def test_a_bad_main_grad_is_one_exception_before_any_launch(gpu: Emulator, bad: Any) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    if bad is not None:
        module.weight.main_grad = bad
    x = torch.randn(2, 16, requires_grad=True)
    y = module(x).sum()
    with pytest.raises(kiln.RequestError, match="main_grad"):
        y.backward()
    assert not gpu.runs
    with pytest.raises(ValueError, match="main_grad"):
        main_grad_of(module.weight)
