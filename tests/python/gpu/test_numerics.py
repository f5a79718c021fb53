"""Gradients against double precision."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import reference
import torch

from kiln.nn import RMSNorm, functional
from kiln.nn._forward import forward

TYPES = ["float32", "float16", "bfloat16"]


@pytest.mark.parametrize("rows", [1, 13, 517])
@pytest.mark.parametrize("n", [1, 7, 128, 253, 2049, 2880, 4096, 7168, 8192, 16384, 40000])
@pytest.mark.parametrize("dtype", TYPES)
def test_gradients_are_within_the_analysed_error(dtype: str, n: int, rows: int) -> None:
    kind = getattr(torch, dtype)
    x, dy = torch.randn(2, rows, n, device="cuda").to(kind)
    w = torch.randn(n, device="cuda").to(kind).requires_grad_()
    x.requires_grad_()
    dx, dw = torch.autograd.grad(functional.rms_norm(x, (n,), w, 1e-5), (x, w), dy)
    with torch.no_grad():
        _, rstd = forward(x, (n,), w, 1e-5)  # the bits that the forward saved
    expected_dx, expected_dw, dx_error, dw_error = reference.gradients(dy, x.detach(), rstd, w.detach())
    reference.check(dx, expected_dx, dx_error)
    reference.check(dw, expected_dw, dw_error)


@pytest.mark.parametrize("weight", ["float32", "float16", None])
def test_other_weights(weight: str | None) -> None:
    n, rows = 1000, 64
    x, dy = torch.randn(2, rows, n, device="cuda", dtype=torch.bfloat16)
    rstd = torch.rsqrt(x.float().pow(2).mean(-1) + 1e-5)
    w = None if weight is None else torch.randn(n, device="cuda", dtype=getattr(torch, weight))
    dx, dw = functional.rms_norm_backward(dy, x, rstd, w)
    expected_dx, expected_dw, dx_error, dw_error = reference.gradients(dy, x, rstd, w)
    reference.check(dx, expected_dx, dx_error)
    if w is None:
        assert dw is None
    else:
        assert dw.dtype is w.dtype
        reference.check(dw, expected_dw, dw_error)


def test_directional_derivatives_are_those_of_finite_differences() -> None:
    """torch.autograd.gradcheck in spirit: the analytic gradient against differences in float64."""
    n, rows, step = 192, 24, 1e-5
    x = torch.randn(rows, n, device="cuda", requires_grad=True)
    w = torch.randn(n, device="cuda", requires_grad=True)
    dy = torch.randn(rows, n, device="cuda")
    dx, dw = torch.autograd.grad(functional.rms_norm(x, (n,), w, 1e-5), (x, w), dy)

    def loss(at_x: torch.Tensor, at_w: torch.Tensor) -> torch.Tensor:
        y = torch.nn.functional.rms_norm(at_x, (n,), at_w, 1e-5)
        return (y * dy.double()).sum()

    for _ in range(20):
        v, u = torch.randn_like(x).double(), torch.randn_like(w).double()
        ahead = loss(x.double() + step * v, w.double() + step * u)
        behind = loss(x.double() - step * v, w.double() - step * u)
        numeric = ((ahead - behind) / (2 * step)).item()
        analytic = ((dx.double() * v).sum() + (dw.double() * u).sum()).item()
        scale = (dx.double().norm() * v.norm() + dw.double().norm() * u.norm()).item()
        assert abs(numeric - analytic) <= 1e-6 * scale


@pytest.mark.parametrize("dtype", TYPES)
def test_the_output_is_torchs_to_the_bit(dtype: str) -> None:
    kind = getattr(torch, dtype)
    x = torch.randn(4, 96, 2880, device="cuda", dtype=kind)
    mine = RMSNorm(2880, device="cuda", dtype=kind)
    theirs = torch.nn.RMSNorm(2880, device="cuda", dtype=kind)
    torch.nn.init.normal_(mine.weight)
    theirs.load_state_dict(mine.state_dict())
    assert torch.equal(mine(x), theirs(x))
    with torch.no_grad():
        assert torch.equal(mine(x), theirs(x))


def test_strided_rows_are_read_in_place_and_odd_ones_copied() -> None:
    n = 512
    wide = torch.randn(2, 64, 3 * n, device="cuda")
    for take in (slice(n, 2 * n), slice(1, n + 1)):
        x, dy = wide[0, :, take], wide[1, :, take]
        rstd = torch.rsqrt(x.pow(2).mean(-1) + 1e-5)
        w = torch.ones(n, device="cuda")
        strided = functional.rms_norm_backward(dy, x, rstd, w)
        packed = functional.rms_norm_backward(dy.contiguous(), x.contiguous(), rstd, w)
        for left, right in zip(strided, packed):
            assert torch.equal(left, right)
    x = torch.randn(n, 64, device="cuda").t()
    rstd = torch.rsqrt(x.pow(2).mean(-1) + 1e-5)
    transposed = functional.rms_norm_backward(x, x, rstd, w)
    packed = functional.rms_norm_backward(x.contiguous(), x.contiguous(), rstd, w)
    assert torch.equal(transposed[0], packed[0])


def test_no_rows_give_a_zero_weight_gradient() -> None:
    module = RMSNorm(64, device="cuda")
    x = torch.randn(0, 64, device="cuda", requires_grad=True)
    module(x).sum().backward()
    assert x.grad.shape == (0, 64)
    assert not module.weight.grad.any()


def test_twenty_runs_have_the_same_bits() -> None:
    x, dy = torch.randn(2, 4097, 2880, device="cuda", dtype=torch.bfloat16)
    rstd = torch.rsqrt(x.float().pow(2).mean(-1) + 1e-5)
    w = torch.randn(2880, device="cuda", dtype=torch.bfloat16)
    first = functional.rms_norm_backward(dy, x, rstd, w)
    for _ in range(20):
        for left, right in zip(functional.rms_norm_backward(dy, x, rstd, w), first):
            assert torch.equal(left, right)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_main_grad_gets_the_weight_gradient_added(dtype: str) -> None:
    kind = getattr(torch, dtype)
    n = 1024
    x, dy = torch.randn(2, 300, n, device="cuda", dtype=kind)
    start = torch.randn(n, device="cuda")
    module = RMSNorm(n, device="cuda", dtype=kind, fuse_wgrad_accumulation=True)
    module.weight.main_grad = start.clone()
    for _ in range(2):
        module(x).backward(dy)
    assert module.weight.grad is None
    with torch.no_grad():
        _, rstd = forward(x, (n,), module.weight, None)
    _, dw, _, error = reference.gradients(dy, x, rstd, module.weight.detach())
    allowed = 2 * error + 4 * reference.U32 * (start.abs() + 2 * dw.abs())
    assert ((module.weight.main_grad.double() - start - 2 * dw).abs() <= allowed).all()


def test_a_residual_gradient_is_added_before_rounding() -> None:
    x, dy, residual = torch.randn(3, 65, 768, device="cuda", dtype=torch.bfloat16)
    rstd = torch.rsqrt(x.float().pow(2).mean(-1) + 1e-5)
    w = torch.randn(768, device="cuda", dtype=torch.bfloat16)
    dx, _ = functional.rms_norm_backward(dy, x, rstd, w, residual=residual)
    expected, _, error, _ = reference.gradients(dy, x, rstd, w)
    expected = expected + residual.double()
    reference.check(dx, expected, error + reference.U32 * expected.abs())
