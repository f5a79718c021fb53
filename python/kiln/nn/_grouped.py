"""Grouped products of mixture-of-experts layers: kiln.grouped_mm and kiln.grouped_linear."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from kiln.nn import _grouped_checks, _grouped_launches, _grouped_traced
from kiln.nn._main_grad import FP32_OR_BF16, main_grad_of, placeholder, refuse_rebound, refuse_shared

__all__ = ["grouped_linear", "grouped_mm"]

_PLAIN = (Tensor, torch.nn.Parameter)


def grouped_mm(
    x: Tensor,
    w: Tensor,
    offs: Tensor,
    *,
    out_dtype: torch.dtype = torch.bfloat16,
    check_offsets: bool | None = None,
) -> Tensor:
    """y[r] = x[r] @ w[e].T for the rows r of each group e: expert e owns rows offs[e - 1] to offs[e] - 1.

    Groups may be empty and of any size; nothing is padded. The host never reads `offs`, so a captured CUDA
    graph may be replayed with others. Sums are fp32, rounded once, and the bits of a row depend on that row
    and its expert's weights alone. The gradients of x and w are bf16.

    Args:
        x: CUDA tensor [M, K] of bf16, M up to 2**31 - 1.
        w: [E, N, K] of bf16 on x's device, E from 1 to 1,024, N and K multiples of 8. x and w begin on
            16 bytes, their last stride is 1, and other strides are multiples of 8 elements, as wide as the
            row or wider.
        offs: int32 [E] on x's device: the row behind the last one of each group, or [E + 1] with a leading
            zero. Offsets out of order or past M are clamped: nothing outside the tensors is read or written.
        out_dtype: torch.bfloat16 or torch.float32. A gradient of an fp32 output is rounded to bf16 before
            it is multiplied.
        check_offsets: True: refuse offsets that decrease, are negative or pass M. This waits for the device,
            so it cannot be captured. None: as KILN_CHECK_OFFSETS says.

    Returns:
        [M, N] of out_dtype. Rows at and past offs[-1], and those rows of x's gradient, are never written:
        they hold whatever their memory did. No other row is affected by what they hold.

    Raises:
        kiln.RequestError: a tensor is not as described; raised before anything is launched.
        kiln.ServiceError: kiln cannot run here.
    """
    return _product("grouped_mm", x, w, offs, out_dtype, False, check_offsets)


def grouped_linear(
    x: Tensor,
    w: Tensor,
    offs: Tensor,
    *,
    fuse_wgrad_accumulation: bool = False,
    check_offsets: bool | None = None,
) -> Tensor:
    """`grouped_mm` with a bf16 output, whose backward can add the weights' gradient where it is kept.

    Args:
        x, w, offs, check_offsets: as for `grouped_mm`.
        fuse_wgrad_accumulation: the backward adds into `w.main_grad`, a contiguous fp32 or bf16 tensor of w's
            shape, instead of returning a gradient: the bits of main_grad.add_(dw), with dw in main_grad's
            type, and no memory for dw. Where w has an attribute `grad_added_to_main_grad` it becomes True,
            and w gets a placeholder gradient (zeros if `zero_out_wgrad`, else unset values); with
            `overwrite_main_grad` the gradient is written instead of added.

    Returns:
        [M, N] of bf16; rows at and past offs[-1] as for `grouped_mm`.

    Raises:
        kiln.RequestError: as `grouped_mm`; or main_grad is missing, not as described, shares memory with a
            tensor of the call (forward and backward), or was bound to other memory in between (backward).
        kiln.ServiceError: kiln cannot run here.
    """
    return _product("grouped_linear", x, w, offs, torch.bfloat16, fuse_wgrad_accumulation, check_offsets)


def _product(
    op: str,
    x: Tensor,
    w: Tensor,
    offs: Tensor,
    dtype: torch.dtype,
    fuse: bool,
    check: bool | None,
) -> Tensor:
    _grouped_checks.operands(op, x, w, offs, dtype)
    differentiable = torch.is_grad_enabled() and (x.requires_grad or w.requires_grad)
    fuse = fuse and differentiable and w.requires_grad
    if torch.compiler.is_compiling() or type(x) not in _PLAIN:
        return _grouped_traced.product(op, x, w, offs, dtype, fuse, check)
    _grouped_checks.memory(op, x, w, offs)
    main_grad = None
    if fuse:
        main_grad = main_grad_of(w, FP32_OR_BF16)
        refuse_shared(main_grad, x=x, w=w, offs=offs)
    _grouped_checks.offsets(op, offs, w.shape[0], x.shape[0], check)
    if not differentiable:
        return _grouped_launches.forward(x, w, offs, dtype)
    apply = _Product.apply if _transforms_active() else _apply
    return apply(x, w, offs, dtype, main_grad)  # type: ignore[no-any-return, no-untyped-call]


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w: Tensor, offs: Tensor, dtype: torch.dtype, main_grad: Tensor | None
    ) -> Tensor:
        wants_dx, wants_dw = ctx.needs_input_grad[:2]
        ctx.save_for_backward(x if wants_dw else None, w if wants_dx else None, offs)
        ctx.groups = w.shape[0]
        # The parameter itself, whose attributes a saved tensor's hooks may not bring back.
        ctx.parameter = w if main_grad is not None else None
        ctx.main_grad = main_grad
        return _grouped_launches.forward(x, w, offs, dtype)

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        # Only a graph of gradients needs the guard against differentiating again, which costs time.
        if torch.is_grad_enabled():
            return _guarded_gradients(ctx, dy)
        return _gradients(ctx, dy)


# Function.apply without what it does in Python for torch.func's transforms.
_apply = super(torch.autograd.Function, _Product).apply
_transforms_active = torch._C._are_functorch_transforms_active


def _gradients(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
    x, w, offs = ctx.saved_tensors
    wants_dx, wants_dw = ctx.needs_input_grad[:2]
    parameter, main_grad = ctx.parameter, None
    g = _grouped_launches.operand(dy)
    if parameter is not None:
        main_grad = main_grad_of(parameter, FP32_OR_BF16)
        refuse_rebound(main_grad, ctx.main_grad)
        refuse_shared(main_grad, x=x, w=parameter, offs=offs, grad_output=g)
    dx = _grouped_launches.dgrad(g, w, offs) if wants_dx else None
    dw = None
    if main_grad is not None:
        added = not getattr(parameter, "overwrite_main_grad", False)
        _grouped_launches.wgrad_into(g, x, offs, main_grad, accumulate=added)
        dw = placeholder(parameter)
    elif wants_dw:
        dw = _grouped_launches.wgrad(g, x, offs, ctx.groups)
    return dx, dw, None, None, None


_guarded_gradients = once_differentiable(_gradients)
