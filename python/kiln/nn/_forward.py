"""RMSNorm forward by torch: the output torch.nn.functional.rms_norm gives, and rstd for the backward."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def _fused_function() -> Any:
    """ATen's op with two results, of torch 2.9 on; the older one of that name has one, for Apple's GPUs.

    The function that torch binds, not torch.ops.aten's: that one costs the host three times as much.
    """
    op = getattr(getattr(torch.ops.aten, "_fused_rms_norm", None), "default", None)
    if op is None or len(op._schema.returns) != 2:
        return None
    return getattr(torch, "_fused_rms_norm", op)


_fused = _fused_function()


# torch 2.6 adds the epsilon of the input's type, later ones that of the type it computes in.
_EPS_OF_INPUT = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 7)


def _default_eps(dtype: torch.dtype) -> float:
    return torch.finfo(dtype if _EPS_OF_INPUT else torch.float32).eps


def forward(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """y, and rstd in fp32 with one element a row. torch too uses its kernel for equal types only."""
    if _fused is not None and (weight is None or weight.dtype is x.dtype):
        return _fused(x, shape, weight, eps)  # type: ignore[no-any-return]
    return composed(x, shape, weight, eps)


def composed(
    x: Tensor, shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """The same out of parts, which torch.compile fuses with what is around them."""
    wide = x if x.dtype is torch.float32 else x.float()
    rows = tuple(range(-len(shape), 0))
    floor = _default_eps(x.dtype) if eps is None else eps
    rstd = torch.rsqrt(wide.pow(2).mean(rows, keepdim=True) + floor)
    y = wide * rstd
    if weight is not None:
        y = y * weight
    # Not `y.to(x.dtype)` alone: where that changes nothing, torch.compile (2.11) takes the output of an
    # autograd.Function for one without a gradient, and its backward gets zeros.
    return (y if y.dtype is x.dtype else y.to(x.dtype)), rstd
