"""The same for torch.compile, export and tensor subclasses: the forward in parts, the backward as ops
of the library `kiln`, with fake kernels and their mutated arguments declared."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from kiln.nn._forward import composed
from kiln.nn._launches import ADDED, OVERWRITTEN, RETURNED, contiguous_like, run
from kiln.nn._main_grad import main_grad_of

_NO_PLACEHOLDER, _EMPTY, _ZEROS = 0, 1, 2


def _gradients_like(input: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Memory for dx, and for dw in the weight's type; without a weight an empty tensor."""
    return contiguous_like(input), input.new_empty(0) if weight is None else contiguous_like(weight)


# Schemas are written out: torch 2.6 does not infer them from annotations that are strings.
@torch.library.custom_op(
    "kiln::rms_norm_backward",
    mutates_args=(),
    schema="(Tensor grad_output, Tensor input, Tensor rstd, Tensor? weight, Tensor? residual, SymInt n)"
    " -> (Tensor, Tensor)",
)
def backward_op(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    residual: Tensor | None,
    n: int,
) -> tuple[Tensor, Tensor]:
    """dx, and dw in the weight's type; without a weight an empty tensor."""
    dx, dw = _gradients_like(input, weight)
    dense = None if weight is None else weight.contiguous()
    written = None if weight is None else dw
    run(grad_output, input, rstd.contiguous(), dense, dx, written, n, RETURNED, residual)
    return dx, dw


@backward_op.register_fake
def _(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    residual: Tensor | None,
    n: int,
) -> tuple[Tensor, Tensor]:
    return _gradients_like(input, weight)


@torch.library.custom_op(
    "kiln::rms_norm_backward_main_grad",
    mutates_args=("main_grad",),
    schema="(Tensor grad_output, Tensor input, Tensor rstd, Tensor weight, Tensor(a!) main_grad, "
    "Tensor? residual, SymInt n, bool overwrite) -> Tensor",
)
def main_grad_op(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor,
    main_grad: Tensor,
    residual: Tensor | None,
    n: int,
    overwrite: bool,
) -> Tensor:
    """dx; dw is added into main_grad, or written there."""
    dx = contiguous_like(input)
    becomes = OVERWRITTEN if overwrite else ADDED
    run(
        grad_output,
        input,
        rstd.contiguous(),
        weight.contiguous(),
        dx,
        main_grad,
        n,
        becomes,
        residual,
    )
    return dx


@main_grad_op.register_fake
def _(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor,
    main_grad: Tensor,
    residual: Tensor | None,
    n: int,
    overwrite: bool,
) -> Tensor:
    return contiguous_like(input)


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        shape: tuple[int, ...],
        eps: float | None,
    ) -> Tensor:
        y, rstd = composed(input, shape, weight, eps)
        ctx.save_for_backward(input, rstd, weight)
        ctx.n = _product(shape)
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        input, rstd, weight = ctx.saved_tensors
        dx, dw = backward_op(dy, input, rstd, weight, None, ctx.n)
        return dx, None if weight is None else dw, None, None


class _RMSNormIntoMainGrad(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        main_grad: Tensor,
        shape: tuple[int, ...],
        eps: float | None,
        overwrite: bool,
        placeholder: int,
    ) -> Tensor:
        y, rstd = composed(input, shape, weight, eps)
        ctx.save_for_backward(input, rstd, weight, main_grad)
        ctx.n = _product(shape)
        ctx.overwrite = overwrite
        ctx.placeholder = placeholder
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        input, rstd, weight, main_grad = ctx.saved_tensors
        dx = main_grad_op(dy, input, rstd, weight, main_grad, None, ctx.n, ctx.overwrite)
        dw = None
        if ctx.placeholder == _ZEROS:
            dw = torch.zeros_like(weight)
        elif ctx.placeholder == _EMPTY:
            dw = torch.empty_like(weight)
        return dx, dw, None, None, None, None, None


def rms_norm(
    input: Tensor,
    shape: tuple[int, ...],
    weight: Tensor | None,
    eps: float | None,
    fuse: bool,
) -> Tensor:
    if not (fuse and weight is not None and weight.requires_grad and torch.is_grad_enabled()):
        return _RMSNorm.apply(input, weight, shape, eps)  # type: ignore[no-untyped-call, no-any-return]
    main_grad = main_grad_of(weight)
    kind = _NO_PLACEHOLDER
    if hasattr(weight, "grad_added_to_main_grad"):
        # Set here, because a compiled backward runs no Python: true once that backward has run.
        weight.grad_added_to_main_grad = True
        kind = _ZEROS if getattr(weight, "zero_out_wgrad", False) else _EMPTY
    overwrite = bool(getattr(weight, "overwrite_main_grad", False))
    return _RMSNormIntoMainGrad.apply(  # type: ignore[no-untyped-call, no-any-return]
        input, weight, main_grad, shape, eps, overwrite, kind
    )


def rms_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    residual: Tensor | None,
    main_grad: Tensor | None,
    n: int,
) -> tuple[Tensor, Tensor | None]:
    if main_grad is not None and weight is not None:
        dx = main_grad_op(grad_output, input, rstd, weight, main_grad, residual, n, False)
        return dx, None
    dx, dw = backward_op(grad_output, input, rstd, weight, residual, n)
    return dx, None if weight is None else dw


def _product(shape: Sequence[int]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n
