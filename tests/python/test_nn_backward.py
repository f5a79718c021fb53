"""RMSNorm backward on an emulated GPU: the gradients, and what autograd makes of them."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator, gradients, reference  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import RMSNorm, functional  # noqa: E402


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", [(5, 24), (2, 3, 24), (24,), (0, 24)])
def test_gradients_are_those_of_torchs_module(
    gpu: Emulator, dtype: str, affine: bool, shape: tuple[int, ...]
) -> None:
    kind = getattr(torch, dtype)
    mine = RMSNorm(24, eps=1e-5, elementwise_affine=affine, dtype=kind)
    theirs = torch.nn.RMSNorm(24, eps=1e-5, elementwise_affine=affine, dtype=kind)
    if affine:
        torch.nn.init.normal_(mine.weight)
        theirs.load_state_dict(mine.state_dict())
    x, dy = torch.randn(shape, dtype=kind), torch.randn(shape, dtype=kind)
    tolerance = {"float32": 1e-5, "bfloat16": 5e-2}[dtype]
    torch.testing.assert_close(mine(x), theirs(x), atol=tolerance, rtol=tolerance)
    for left, right in zip(gradients(mine, x, dy), gradients(theirs, x, dy)):
        torch.testing.assert_close(left, right, atol=tolerance, rtol=tolerance)
    assert len(gpu.runs) == 1


@pytest.mark.parametrize("shape", [(0, 24), (3, 0), (0, 0), (0, 3, 24)])
def test_nothing_has_the_gradients_of_nothing(gpu: Emulator, shape: tuple[int, ...]) -> None:
    mine, theirs = RMSNorm(shape[-1]), torch.nn.RMSNorm(shape[-1])
    x, dy = torch.ones(shape), torch.ones(shape)
    for left, right in zip(gradients(mine, x, dy), gradients(theirs, x, dy)):
        assert left.shape == right.shape
        assert not left.any()


def test_rows_of_several_dimensions_are_normalised_together(gpu: Emulator) -> None:
    mine, theirs = RMSNorm((3, 8)), torch.nn.RMSNorm((3, 8))
    x, dy = torch.randn(4, 3, 8), torch.randn(4, 3, 8)
    for left, right in zip(gradients(mine, x, dy), gradients(theirs, x, dy)):
        torch.testing.assert_close(left, right)
    assert gpu.prepared == [kiln._kiln.canonical("rms_norm_backward:n=24,x=f32")]


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t[:, :16],  # rows further apart than they are long
        lambda t: t[::2, :16],
        lambda t: t.t()[:16].t() if t.shape[1] >= 16 else t,
        lambda t: t[:1, :16].expand(6, 16),  # one row, again and again
        lambda t: t[:, 0:32:2],  # columns apart
        lambda t: t[:6, :1].expand(6, 16),
    ],
)
def test_strided_inputs_and_gradients_are_served(gpu: Emulator, view: Any) -> None:
    x, dy = view(torch.randn(6, 40)), view(torch.randn(6, 40))
    weight = torch.randn(16)
    rstd = torch.rand(x.shape[0]) + 0.5
    dx, dw = functional.rms_norm_backward(dy, x, rstd, weight)
    expected = reference(dy, x, rstd, weight)
    torch.testing.assert_close(dx.double(), expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(dw.double(), expected[1], atol=1e-5, rtol=1e-5)
    assert dx.is_contiguous()


@pytest.mark.parametrize("n", [1, 16])
def test_the_imaginary_part_of_a_conjugate_has_its_sign(gpu: Emulator, n: int) -> None:
    x, dy = (torch.randn(5, n, dtype=torch.complex64).conj().imag for _ in range(2))
    assert x.is_neg()
    rstd, weight = torch.rand(5) + 0.5, torch.randn(n)
    gradients = functional.rms_norm_backward(dy, x, rstd, weight)
    for left, right in zip(gradients, reference(dy, x, rstd, weight)):
        torch.testing.assert_close(left.double(), right, atol=1e-5, rtol=1e-5)


def test_the_gradient_of_a_sum_is_expanded_and_served(gpu: Emulator) -> None:
    module = RMSNorm(16)
    x = torch.randn(3, 16, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.shape == (3, 16)


def test_a_frozen_weight_gets_no_gradient_and_a_frozen_input_neither(gpu: Emulator) -> None:
    module = RMSNorm(16)
    module.weight.requires_grad_(False)
    dx, dw = gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert dx is not None and dw is None
    module.weight.requires_grad_(True)
    module(torch.randn(2, 16)).sum().backward()
    assert module.weight.grad is not None


def test_a_residual_gradient_is_added(gpu: Emulator) -> None:
    x, dy, residual = torch.randn(3, 3, 16).unbind(1)
    rstd, weight = torch.ones(3), torch.ones(16)
    with_it, _ = functional.rms_norm_backward(dy, x, rstd, weight, residual=residual)
    without, _ = functional.rms_norm_backward(dy, x, rstd, weight)
    torch.testing.assert_close(with_it, without + residual)


def test_differentiating_twice_is_refused_and_once_in_a_graph_is_not(gpu: Emulator) -> None:
    module = RMSNorm(16)
    x = torch.randn(2, 16, requires_grad=True)
    (dx,) = torch.autograd.grad(module(x).pow(2).sum(), x, create_graph=True)
    assert dx.shape == x.shape
    with pytest.raises(RuntimeError, match="once_differentiable"):
        dx.sum().backward()


def test_checkpointing_recomputes_and_hooks_on_saved_tensors_work(gpu: Emulator) -> None:
    from torch.utils.checkpoint import checkpoint

    module = RMSNorm(16)
    x, dy = torch.randn(2, 16), torch.randn(2, 16)
    expected = gradients(module, x, dy)
    again = x.clone().requires_grad_()
    module.zero_grad()
    checkpoint(module, again, use_reentrant=False).backward(dy)
    assert torch.equal(again.grad, expected[0])
    with torch.autograd.graph.save_on_cpu():
        for left, right in zip(gradients(module, x, dy), expected):
            assert torch.equal(left, right)
