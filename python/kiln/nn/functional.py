"""Drop-in replacements for functions of torch.nn.functional, and the backward on its own."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from kiln.nn import _checks, _traced
from kiln.nn._forward import forward as _forward
from kiln.nn._launches import (
    ADDED,
    OVERWRITTEN,
    RETURNED,
    TYPE_NAMES,
    contiguous_like,
    launched,
    reads_tensors,
    run,
)
from kiln.nn._main_grad import main_grad_of, placeholder

__all__ = ["rms_norm", "rms_norm_backward"]

_PLAIN = (Tensor, torch.nn.Parameter)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
    *,
    fuse_wgrad_accumulation: bool = False,
) -> Tensor:
    """torch.nn.functional.rms_norm with kiln's backward: input * rsqrt(mean(input^2) + eps) * weight.

    Args:
        input: CUDA tensor [*, *normalized_shape] of fp32, fp16 or bf16, of any strides.
        normalized_shape: sizes of the last dimensions, which are normalised together.
        weight: tensor of shape normalized_shape on input's device, of any of the three types.
        eps: None is torch's default: from torch 2.7 on torch.finfo(torch.float32).eps.
        fuse_wgrad_accumulation: the backward adds into `weight.main_grad`, a contiguous fp32 tensor of the
            weight's shape, instead of returning a gradient. Where the weight has an attribute
            `grad_added_to_main_grad` it becomes True, and the weight gets a placeholder gradient (zeros if
            `zero_out_wgrad`, else unset values); with `overwrite_main_grad` the sum is written instead of
            added.

    Returns:
        A tensor of input's shape and type. Its gradient is not differentiable again.

    Raises:
        kiln.RequestError: a tensor is not as described; raised before anything is launched. What is wrong
            with main_grad is found by the backward, or by the forward under torch.compile.
        kiln.ServiceError: kiln cannot run here; raised by the backward.
    """
    shape = normalized_shape if type(normalized_shape) is tuple else _checks.shape_of(normalized_shape)
    _checks.forward(input, shape, weight, fuse_wgrad_accumulation)
    if torch.compiler.is_compiling() or type(input) not in _PLAIN:
        return _traced.rms_norm(input, shape, weight, eps, fuse_wgrad_accumulation)
    differentiable = input.requires_grad or (weight is not None and weight.requires_grad)
    if not (differentiable and torch.is_grad_enabled()):
        return torch.nn.functional.rms_norm(input, shape, weight, eps)
    apply = _RMSNorm.apply if _transforms_active() else _apply
    return apply(input, weight, shape, eps, fuse_wgrad_accumulation)  # type: ignore[no-any-return, no-untyped-call]


def rms_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None = None,
    *,
    residual: Tensor | None = None,
    main_grad: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """The gradients of input and weight, with xh = input * rstd and g = grad_output * weight:

        dx = rstd * (g - xh * mean(g * xh)) [+ residual]        dw = sum over rows of grad_output * xh

    Args:
        grad_output: CUDA tensor of input's shape and type, of any strides.
        input: CUDA tensor of fp32, fp16 or bf16, of any strides. Its rows are as many as rstd's elements.
        rstd: fp32, rsqrt(mean(row^2) + eps) of each row, of any shape with as many elements as rows.
        weight: of the shape of input's last dimensions, of any of the three types. None: no scaling.
        residual: a gradient of input's shape and type, added to dx before it is rounded.
        main_grad: contiguous fp32 tensor of weight's shape. dw is added into it, and not returned.

    Returns:
        dx, contiguous and of input's shape and type; and dw of weight's shape and type, or None. Neither is
        differentiable.

    Raises:
        kiln.RequestError: a tensor is not as described; raised before anything is launched.
        kiln.ServiceError: kiln cannot run here.
    """
    compiling = torch.compiler.is_compiling()
    plain = type(input) in _PLAIN
    dx = dw = None
    usual = plain and type(weight) in _PLAIN and residual is None and main_grad is None and not compiling
    if usual and reads_tensors and input.dtype in TYPE_NAMES:
        # Checked and launched in one step once a call like it was seen.
        dx, dw = torch.empty_like(input), torch.empty_like(weight)
        if launched(grad_output, input, rstd, weight, dx, dw, RETURNED):
            return dx, dw
    n = _checks.backward(grad_output, input, rstd, weight, residual, main_grad)
    if compiling or not plain:
        return _traced.rms_norm_backward(grad_output, input, rstd, weight, residual, main_grad, n)
    if not rstd.is_contiguous():
        rstd = rstd.contiguous()
    if weight is not None and not weight.is_contiguous():
        weight = weight.contiguous()
    if dx is None or not dx.is_contiguous():
        dx = contiguous_like(input)
    if main_grad is not None:
        run(grad_output, input, rstd, weight, dx, main_grad, n, ADDED, residual)
        return dx, None
    if weight is not None and (dw is None or not dw.is_contiguous()):
        dw = torch.empty_like(weight)
    run(grad_output, input, rstd, weight, dx, dw, n, RETURNED, residual)
    return dx, dw


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor | None,
        shape: tuple[int, ...],
        eps: float | None,
        fuse: bool,
    ) -> Tensor:
        y, rstd = _forward(input, shape, weight, eps)
        ctx.save_for_backward(input, rstd, weight)
        ctx.n = shape[0] if len(shape) == 1 else torch.Size(shape).numel()
        # The parameter itself, whose attributes a saved tensor's hooks may not bring back.
        ctx.parameter = weight if fuse and weight is not None and weight.requires_grad else None
        return y

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        # Only a graph of gradients needs the guard against differentiating again, which costs time.
        if torch.is_grad_enabled():
            return _guarded_gradients(ctx, dy)
        return _gradients(ctx, dy)


# Function.apply without what it does in Python for torch.func's transforms: a third of what apply costs.
_apply = super(torch.autograd.Function, _RMSNorm).apply
_transforms_active = torch._C._are_functorch_transforms_active


def _gradients(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
    x, rstd, weight = ctx.saved_tensors
    n = ctx.n
    dx = torch.empty_like(x) if x.is_contiguous() else contiguous_like(x)
    parameter = ctx.parameter
    if parameter is not None:
        main_grad = main_grad_of(parameter)
        becomes = OVERWRITTEN if getattr(parameter, "overwrite_main_grad", False) else ADDED
        if not launched(dy, x, rstd, weight, dx, main_grad, becomes):
            run(dy, x, rstd, _dense(weight), dx, main_grad, n, becomes)
        return dx, placeholder(parameter), None, None, None
    if weight is None:
        run(dy, x, rstd, None, dx, None, n, RETURNED)
        return dx, None, None, None, None
    weight = _dense(weight)
    # A frozen weight's gradient is computed too: it comes with the pass.
    dw = torch.empty_like(weight)
    if not launched(dy, x, rstd, weight, dx, dw, RETURNED):
        run(dy, x, rstd, weight, dx, dw, n, RETURNED)
    return dx, dw, None, None, None


_guarded_gradients = once_differentiable(_gradients)


def _dense(weight: Tensor) -> Tensor:
    return weight if weight.is_contiguous() else weight.contiguous()
