"""Megatron's convention for weight gradients that are added into a buffer, main_grad."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import torch
from torch import Tensor

from kiln._errors import from_code

FP32 = (torch.float32,)
FP32_OR_BF16 = (torch.float32, torch.bfloat16)


def main_grad_of(weight: Tensor, types: tuple[torch.dtype, ...] = FP32) -> Tensor:
    """weight.main_grad, checked. Raises RequestError."""
    main_grad: Tensor | None = getattr(weight, "main_grad", None)
    if main_grad is None:
        raise from_code(
            "invalid_argument",
            "fuse_wgrad_accumulation=True, but the weight has no main_grad; give it one: "
            "weight.main_grad = torch.zeros_like(weight, dtype=torch.float32)",
        )
    check(main_grad, weight, types)
    return main_grad


def check(main_grad: Tensor, weight: Tensor, types: tuple[torch.dtype, ...] = FP32) -> None:
    if not isinstance(main_grad, Tensor):
        raise from_code(
            "invalid_argument", f"main_grad is a {type(main_grad).__name__}; a torch.Tensor is needed"
        )
    if (
        main_grad.dtype in types
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
        f"{', and requires grad' if main_grad.requires_grad else ''}; a contiguous "
        f"{' or '.join(map(str, types))} tensor of shape {list(weight.shape)} on {weight.device} that does "
        "not require grad is needed",
    )


def refuse_rebound(main_grad: Tensor, before: Tensor) -> None:
    """Refuses a main_grad whose memory is not that of the forward's."""
    if main_grad.data_ptr() == before.data_ptr() and main_grad.dtype is before.dtype:
        return
    raise from_code(
        "invalid_argument",
        "weight.main_grad is not the one of the forward: it was bound to other memory before the backward; "
        "bind it once, and zero it in place",
    )


def refuse_shared(main_grad: Tensor, **others: Tensor) -> None:
    """Refuses a main_grad that shares memory with something else of the call."""
    for name, other in others.items():
        if _overlap(main_grad, other):
            raise from_code(
                "invalid_argument", f"main_grad shares memory with {name}; it needs memory of its own"
            )


def _overlap(left: Tensor, right: Tensor) -> bool:
    (begin, end), (other_begin, other_end) = _extent(left), _extent(right)
    return begin < other_end and other_begin < end


def _extent(tensor: Tensor) -> tuple[int, int]:
    begin: int = tensor.data_ptr()
    if tensor.numel() == 0:
        return begin, begin
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return begin, begin + (last + 1) * tensor.element_size()


def placeholder(weight: Tensor) -> Tensor | None:
    """What autograd gets as the gradient, so that hooks on it run; its values are not read."""
    if not hasattr(weight, "grad_added_to_main_grad"):
        return None
    weight.grad_added_to_main_grad = True
    if getattr(weight, "zero_out_wgrad", False):
        return torch.zeros_like(weight, requires_grad=False)
    return torch.empty_like(weight, requires_grad=False)
