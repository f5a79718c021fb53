"""The module."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from kiln._errors import from_code
from kiln.nn import functional


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm with kiln's backward: same arguments, same state dict, an instance of it.

    Args:
        normalized_shape: size of the last dimension, or sizes of the last dimensions.
        eps: None is torch's default.
        elementwise_affine: whether there is a weight, of ones at first.
        device, dtype: of the weight. Inputs are CUDA tensors of fp32, fp16 or bf16, of its type or another.
        fuse_wgrad_accumulation: the backward adds the weight's gradient into `weight.main_grad`, an fp32
            tensor of the weight's shape, instead of returning it (Megatron's convention, whose attributes
            `functional.rms_norm` describes).

    Raises:
        kiln.RequestError: fuse_wgrad_accumulation without a weight; called: a bad input (`functional.rms_norm`).
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int] | torch.Size,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: torch.dtype | None = None,
        *,
        fuse_wgrad_accumulation: bool = False,
    ) -> None:
        if fuse_wgrad_accumulation and not elementwise_affine:
            raise from_code(
                "invalid_argument",
                "fuse_wgrad_accumulation=True with elementwise_affine=False: there is no weight to accumulate for",
            )
        super().__init__(normalized_shape, eps, elementwise_affine, device, dtype)  # type: ignore[arg-type]
        self.fuse_wgrad_accumulation = fuse_wgrad_accumulation

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(
            x,
            self.normalized_shape,
            self.weight,
            self.eps,
            fuse_wgrad_accumulation=self.fuse_wgrad_accumulation,
        )

    def extra_repr(self) -> str:
        fused = ", fuse_wgrad_accumulation=True" if self.fuse_wgrad_accumulation else ""
        return super().extra_repr() + fused
