"""The module of a layer of experts."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from kiln._errors import from_code
from kiln.nn import _grouped_checks
from kiln.nn._grouped import grouped_linear


class GroupedLinear(torch.nn.Module):
    """One linear layer without bias for each expert, applied to the expert's rows: `kiln.grouped_linear`.

    Args:
        num_experts: 1 to 1,024.
        in_features, out_features: multiples of 8.
        device: of the weight.
        dtype: of the weight; bf16 is what runs.
        fuse_wgrad_accumulation: the backward adds the weight's gradient into `weight.main_grad`, fp32 or bf16
            of the weight's shape, instead of returning it (Megatron's convention, whose attributes
            `kiln.grouped_linear` describes).

    Attributes:
        weight: [num_experts, out_features, in_features], each expert's initialised as torch.nn.Linear's.

    Raises:
        kiln.RequestError: a size that is not served; called: a bad input (`kiln.grouped_linear`).
    """

    def __init__(
        self,
        num_experts: int,
        in_features: int,
        out_features: int,
        *,
        device: Any = None,
        dtype: torch.dtype = torch.bfloat16,
        fuse_wgrad_accumulation: bool = False,
    ) -> None:
        super().__init__()
        if not 1 <= num_experts <= _grouped_checks.MOST_GROUPS:
            raise from_code(
                "invalid_argument",
                f"GroupedLinear: num_experts is {num_experts}; 1 to {_grouped_checks.MOST_GROUPS} are served",
            )
        _grouped_checks.width("GroupedLinear", "in_features", in_features)
        _grouped_checks.width("GroupedLinear", "out_features", out_features)
        self.num_experts = num_experts
        self.in_features = in_features
        self.out_features = out_features
        self.fuse_wgrad_accumulation = fuse_wgrad_accumulation
        self.weight = torch.nn.Parameter(
            torch.empty(num_experts, out_features, in_features, device=device, dtype=dtype)
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.in_features)
        torch.nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor, offs: Tensor) -> Tensor:
        """x [M, in_features], rows in order of their experts; offs int32, the end row of each expert."""
        return grouped_linear(x, self.weight, offs, fuse_wgrad_accumulation=self.fuse_wgrad_accumulation)

    def extra_repr(self) -> str:
        fused = ", fuse_wgrad_accumulation=True" if self.fuse_wgrad_accumulation else ""
        return (
            f"num_experts={self.num_experts}, in_features={self.in_features}, "
            f"out_features={self.out_features}{fused}"
        )
