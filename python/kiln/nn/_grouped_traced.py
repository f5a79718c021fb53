"""The same for torch.compile, export and tensor subclasses: ops of the library `kiln`, with fake kernels
and their mutated arguments declared."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from kiln.nn import _grouped_checks, _grouped_launches
from kiln.nn._main_grad import FP32_OR_BF16, main_grad_of, refuse_shared

_NO_PLACEHOLDER, _EMPTY, _ZEROS = 0, 1, 2


# Schemas are written out: torch 2.6 does not infer them from annotations that are strings.
@torch.library.custom_op(
    "kiln::grouped_mm",
    mutates_args=(),
    schema="(Tensor x, Tensor w, Tensor offs, ScalarType out_dtype, bool? check_offsets) -> Tensor",
)
def forward_op(
    x: Tensor, w: Tensor, offs: Tensor, out_dtype: torch.dtype, check_offsets: bool | None
) -> Tensor:
    _grouped_checks.operands("grouped_mm", x, w, offs, out_dtype)
    _grouped_checks.memory("grouped_mm", x, w, offs)
    _grouped_checks.offsets("grouped_mm", offs, w.shape[0], x.shape[0], check_offsets)
    return _grouped_launches.forward(x, w, offs, out_dtype)


@forward_op.register_fake
def _(x: Tensor, w: Tensor, offs: Tensor, out_dtype: torch.dtype, check_offsets: bool | None) -> Tensor:
    return x.new_empty((x.shape[0], w.shape[1]), dtype=out_dtype)


@torch.library.custom_op(
    "kiln::grouped_mm_dgrad",
    mutates_args=(),
    schema="(Tensor g, Tensor w, Tensor offs) -> Tensor",
)
def dgrad_op(g: Tensor, w: Tensor, offs: Tensor) -> Tensor:
    _grouped_checks.gradient("grouped_mm_dgrad", g, g.shape[0], w.shape[1])
    return _grouped_launches.dgrad(g, w, offs)


@dgrad_op.register_fake
def _(g: Tensor, w: Tensor, offs: Tensor) -> Tensor:
    return g.new_empty((g.shape[0], w.shape[2]), dtype=torch.bfloat16)


@torch.library.custom_op(
    "kiln::grouped_mm_wgrad",
    mutates_args=(),
    schema="(Tensor g, Tensor x, Tensor offs, SymInt groups) -> Tensor",
)
def wgrad_op(g: Tensor, x: Tensor, offs: Tensor, groups: int) -> Tensor:
    _grouped_checks.gradient("grouped_mm_wgrad", g, x.shape[0], g.shape[1])
    return _grouped_launches.wgrad(g, x, offs, groups)


@wgrad_op.register_fake
def _(g: Tensor, x: Tensor, offs: Tensor, groups: int) -> Tensor:
    return x.new_empty((groups, g.shape[1], x.shape[1]), dtype=torch.bfloat16)


@torch.library.custom_op(
    "kiln::grouped_mm_wgrad_main_grad",
    mutates_args=("main_grad",),
    schema="(Tensor g, Tensor x, Tensor offs, Tensor(a!) main_grad, bool overwrite) -> ()",
)
def main_grad_op(g: Tensor, x: Tensor, offs: Tensor, main_grad: Tensor, overwrite: bool) -> None:
    _grouped_checks.gradient("grouped_mm_wgrad_main_grad", g, x.shape[0], main_grad.shape[1])
    refuse_shared(main_grad, grad_output=g, x=x, offs=offs)
    _grouped_launches.wgrad_into(g, x, offs, main_grad, accumulate=not overwrite)


@main_grad_op.register_fake
def _(g: Tensor, x: Tensor, offs: Tensor, main_grad: Tensor, overwrite: bool) -> None:
    return None


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w: Tensor, offs: Tensor, dtype: torch.dtype, check: bool | None
    ) -> Tensor:
        ctx.save_for_backward(x, w, offs)
        return forward_op(x, w, offs, dtype, check)  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, w, offs = ctx.saved_tensors
        dx = dgrad_op(dy, w, offs) if ctx.needs_input_grad[0] else None
        dw = wgrad_op(dy, x, offs, w.shape[0]) if ctx.needs_input_grad[1] else None
        return dx, dw, None, None, None


class _ProductIntoMainGrad(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        w: Tensor,
        offs: Tensor,
        main_grad: Tensor,
        check: bool | None,
        overwrite: bool,
        placeholder: int,
    ) -> Tensor:
        ctx.save_for_backward(x, w, offs, main_grad)
        ctx.overwrite = overwrite
        ctx.placeholder = placeholder
        return forward_op(x, w, offs, torch.bfloat16, check)  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
        x, w, offs, main_grad = ctx.saved_tensors
        dx = dgrad_op(dy, w, offs) if ctx.needs_input_grad[0] else None
        main_grad_op(dy, x, offs, main_grad, ctx.overwrite)
        dw = None
        if ctx.placeholder == _ZEROS:
            dw = torch.zeros_like(w)
        elif ctx.placeholder == _EMPTY:
            dw = torch.empty_like(w)
        return dx, dw, None, None, None, None, None


def product(
    op: str,
    x: Tensor,
    w: Tensor,
    offs: Tensor,
    dtype: torch.dtype,
    fuse: bool,
    check: bool | None,
) -> Tensor:
    if not fuse:
        return _Product.apply(x, w, offs, dtype, check)  # type: ignore[no-untyped-call, no-any-return]
    main_grad = main_grad_of(w, FP32_OR_BF16)
    kind = _NO_PLACEHOLDER
    if hasattr(w, "grad_added_to_main_grad"):
        # Set here, because a compiled backward runs no Python: true once that backward has run.
        w.grad_added_to_main_grad = True
        kind = _ZEROS if getattr(w, "zero_out_wgrad", False) else _EMPTY
    overwrite = bool(getattr(w, "overwrite_main_grad", False))
    return _ProductIntoMainGrad.apply(  # type: ignore[no-untyped-call, no-any-return]
        x, w, offs, main_grad, check, overwrite, kind
    )
