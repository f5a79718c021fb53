"""A mixture-of-experts layer: router, permute, grouped SwiGLU MLP, unpermute; nothing waits for the device.

The experts are kiln's grouped products, or a plain loop over experts to compare with.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

import kiln


@dataclass(frozen=True)
class Sizes:
    width: int = 512
    hidden: int = 1024  # of one expert
    experts: int = 16
    chosen: int = 2  # experts a token
    tokens: int = 4096


class Permute(torch.autograd.Function):
    """Rows in another order. Backward is the inverse order, so neither direction needs atomics."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(inverse)
        return rows[order]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (inverse,) = ctx.saved_tensors
        return grad[inverse], None, None


def grouped_experts(x: Tensor, w: Tensor, offs: Tensor) -> Tensor:
    """One launch forward and two backward; the weights' gradient is added into w.main_grad in place."""
    return kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True)


class AddToMainGrad(torch.autograd.Function):
    """What a framework without the fused backward does: a gradient of the weights, then an add."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, parameter: Tensor) -> Tensor:
        ctx.parameter = parameter
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None]:
        ctx.parameter.main_grad.add_(grad)
        return None, None


def looped_experts(x: Tensor, w: Tensor, offs: Tensor) -> Tensor:
    """An expert at a time, with sizes on the host. Rows of w are bf16 or, for a finer result, fp32."""
    weight: Tensor = AddToMainGrad.apply(w, w)  # type: ignore[no-untyped-call]
    ends = offs.tolist()
    begins = [0, *ends[:-1]]
    parts = [x[begin:end] @ weight[e].t() for e, (begin, end) in enumerate(zip(begins, ends))]
    return torch.cat(parts)


class MoE(nn.Module):
    def __init__(self, sizes: Sizes, experts: Any, device: Any, dtype: torch.dtype) -> None:
        super().__init__()
        self.sizes, self.experts = sizes, experts
        width, hidden, count = sizes.width, sizes.hidden, sizes.experts
        self.router = nn.Parameter(torch.randn(count, width, device=device) * width**-0.5)
        up = torch.randn(count, 2 * hidden, width, device=device) * width**-0.5
        down = torch.randn(count, width, hidden, device=device) * hidden**-0.5
        # Rounded to bf16 whatever the type, so that models of different types start alike.
        self.up = nn.Parameter(up.bfloat16().to(dtype))
        self.down = nn.Parameter(down.bfloat16().to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        """x [tokens, width] of the weights' type; the same shape out."""
        chosen = self.sizes.chosen
        scores = x.float() @ self.router.t()
        top, expert = scores.topk(chosen, dim=-1)
        share = top.softmax(-1)
        # Rows in order of their experts; a stable sort, so that their order never changes.
        expert_of_row = expert.flatten()
        order = torch.argsort(expert_of_row, stable=True)
        inverse = torch.argsort(order)
        one_hot = torch.nn.functional.one_hot(expert_of_row, self.sizes.experts)
        offs = one_hot.sum(0).cumsum(0).to(torch.int32)

        rows = x.unsqueeze(1).expand(-1, chosen, -1).reshape(-1, x.shape[-1])
        rows = Permute.apply(rows, order, inverse)  # type: ignore[no-untyped-call]
        gate, up = self.experts(rows, self.up, offs).chunk(2, dim=-1)
        hidden = nn.functional.silu(gate) * up
        rows = self.experts(hidden, self.down, offs)
        rows = Permute.apply(rows, inverse, order)  # type: ignore[no-untyped-call]
        return (rows.view(x.shape[0], chosen, -1) * share.unsqueeze(-1).to(rows.dtype)).sum(1)
