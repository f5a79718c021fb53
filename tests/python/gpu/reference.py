"""RMSNorm's gradients in double precision, with the error that the kernel's arithmetic may make."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch import Tensor

U32 = 2.0**-24  # unit roundoff of fp32
UNIT = {torch.float32: U32, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}


def gradients(dy: Tensor, x: Tensor, rstd: Tensor, w: Tensor | None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """dx, dw (unrounded) and a bound on the absolute error of each before rounding to its type.

    Every operation rounds once. The row sum adds at most n / lanes + log2(lanes) numbers in a chain,
    which is at most 64 + 10 up to n = 65,536; a column sum's chains are shorter than the rows.
    """
    n = x.shape[-1]
    dy, x = dy.double().reshape(-1, n), x.double().reshape(-1, n)
    rstd = rstd.double().reshape(-1, 1)
    xh = x * rstd
    g = dy if w is None else dy * w.double()
    mean = (g * xh).mean(1, keepdim=True)
    dx = rstd * (g - xh * mean)
    row_error = 80 * U32 * (g * xh).abs().mean(1, keepdim=True)
    dx_error = rstd * (6 * U32 * (g.abs() + (xh * mean).abs()) + xh.abs() * row_error)
    products = dy * xh
    dw_error = (x.shape[0] + 4) * U32 * products.abs().sum(0)
    return dx, products.sum(0), dx_error, dw_error


def check(actual: Tensor, expected: Tensor, error: Tensor) -> None:
    """The typed result is within `error` and one rounding of the double one."""
    allowed = error + UNIT[actual.dtype] * (expected.abs() + error) + 2.0**-133
    if actual.dtype is torch.float16:
        allowed = allowed + 2.0**-25  # subnormal halves
    difference = (actual.double().reshape(expected.shape) - expected).abs()
    worst = (difference - allowed).max().item() if difference.numel() else 0.0
    assert worst <= 0, f"off by {worst:.3g} more than allowed"
