"""Megatron's convention for weight gradients that are added into an fp32 buffer."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch import Tensor

from kiln._errors import from_code


def main_grad_of(weight: Tensor) -> Tensor:
    """weight.main_grad, checked. Raises RequestError."""
    main_grad: Tensor | None = getattr(weight, "main_grad", None)
    if main_grad is None:
        raise from_code(
            "invalid_argument",
            "fuse_wgrad_accumulation=True, but the weight has no main_grad; give it one: "
            "weight.main_grad = torch.zeros_like(weight, dtype=torch.float32)",
        )
    check(main_grad, weight)
    return main_grad


def check(main_grad: Tensor, weight: Tensor) -> None:
    if not isinstance(main_grad, Tensor):
        raise from_code(
            "invalid_argument", f"main_grad is a {type(main_grad).__name__}; a torch.Tensor is needed"
        )
    if (
        main_grad.dtype is torch.float32
        and main_grad.shape == weight.shape
        and main_grad.is_contiguous()
        and main_grad.device == weight.device
        and not main_grad.requires_grad
    ):
        return
    raise from_code(
        "invalid_argument",
        f"main_grad is {main_grad.dtype} of shape {list(main_grad.shape)} with strides "
        f"{list(main_grad.stride())} on {main_grad.device}"
        f"{', and requires grad' if main_grad.requires_grad else ''}; a contiguous torch.float32 tensor of "
        f"shape {list(weight.shape)} on {weight.device} that does not require grad is needed",
    )


def placeholder(weight: Tensor) -> Tensor | None:
    """What autograd gets as the gradient, so that hooks on it run; its values are not read."""
    if not hasattr(weight, "grad_added_to_main_grad"):
        return None
    weight.grad_added_to_main_grad = True
    if getattr(weight, "zero_out_wgrad", False):
        return torch.zeros_like(weight, requires_grad=False)
    return torch.empty_like(weight, requires_grad=False)
