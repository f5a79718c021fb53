"""Refusing bad tensors with one sentence, before anything is launched."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import torch
from torch import Tensor

from kiln._errors import from_code
from kiln.nn import _main_grad
from kiln.nn._launches import TYPE_NAMES


def _on_gpu(tensor: Tensor) -> bool:
    return tensor.is_cuda


def _refuse(what: str) -> NoReturn:
    raise from_code("invalid_argument", f"rms_norm: {what}")


def shape_of(normalized_shape: Iterable[int]) -> tuple[int, ...]:
    try:
        return tuple(normalized_shape)
    except TypeError:
        _refuse(f"normalized_shape is {normalized_shape!r}; a sequence of ints is needed")


def forward(input: Tensor, shape: tuple[int, ...], weight: Tensor | None, fuse: bool) -> None:
    if (
        isinstance(input, Tensor)
        and input.layout is torch.strided
        and _on_gpu(input)
        and input.dtype in TYPE_NAMES
        and input.shape[-len(shape) :] == shape
        and shape
    ):
        if weight is None:
            if not fuse:
                return
        elif (
            isinstance(weight, Tensor)
            and weight.shape == shape
            and weight.dtype in TYPE_NAMES
            and weight.device == input.device
            and weight.layout is torch.strided
        ):
            return
    _explain_forward(input, shape, weight)


def _explain_forward(input: Tensor, shape: tuple[int, ...], weight: Tensor | None) -> NoReturn:
    _place_and_type("input", input)
    if not shape or input.shape[-len(shape) :] != shape:
        _refuse(
            f"input has shape {list(input.shape)}, whose last dimensions are not the "
            f"normalized_shape {list(shape)}"
        )
    if weight is None:
        _refuse("fuse_wgrad_accumulation=True without a weight: there is nothing to accumulate")
    _is_tensor("weight", weight)
    if weight.shape != shape:
        _refuse(f"weight has shape {list(weight.shape)}, the normalized_shape is {list(shape)}")
    _place_and_type("weight", weight)
    _refuse(f"weight is on {weight.device}, input on {input.device}")


def _is_tensor(name: str, tensor: object) -> None:
    if not isinstance(tensor, Tensor):
        _refuse(f"{name} is a {type(tensor).__name__}; a torch.Tensor is needed")


def _place_and_type(name: str, tensor: Tensor) -> None:
    _is_tensor(name, tensor)
    if tensor.layout is not torch.strided:
        _refuse(f"{name} has layout {tensor.layout}; a dense tensor is needed")
    if not _on_gpu(tensor):
        _refuse(f"{name} is on {tensor.device}; kiln runs on CUDA devices: move it there")
    if tensor.dtype not in TYPE_NAMES:
        _refuse(f"{name} has type {tensor.dtype}; served are torch.float32, torch.float16 and torch.bfloat16")


def backward(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    residual: Tensor | None,
    main_grad: Tensor | None,
) -> int:
    """The columns of a row. Rows are rstd's elements."""
    if (
        residual is None
        and main_grad is None
        and isinstance(input, Tensor)
        and isinstance(grad_output, Tensor)
        and isinstance(rstd, Tensor)
        and isinstance(weight, Tensor)
    ):
        # The usual call is accepted by the cheapest questions; any other is looked at closely.
        shape, n, index, dtype = input.shape, weight.numel(), input.get_device(), input.dtype
        if (
            weight.dim() == 1
            and n
            and shape[-1:] == (n,)
            and grad_output.shape == shape
            and rstd.numel() * n == input.numel()
            and dtype in TYPE_NAMES
            and grad_output.dtype is dtype
            and rstd.dtype is torch.float32
            and weight.dtype in TYPE_NAMES
            and index == grad_output.get_device() == rstd.get_device() == weight.get_device()
            and _on_gpu(input)
            and input.layout is grad_output.layout is rstd.layout is weight.layout is torch.strided
        ):
            return n
    return _backward_closely(grad_output, input, rstd, weight, residual, main_grad)


def _backward_closely(
    grad_output: Tensor,
    input: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    residual: Tensor | None,
    main_grad: Tensor | None,
) -> int:
    _place_and_type("input", input)
    _is_tensor("rstd", rstd)
    if weight is not None:
        _is_tensor("weight", weight)
    n = _columns(input, rstd, weight)
    if rstd.layout is not torch.strided:
        _refuse(f"rstd has layout {rstd.layout}; a dense tensor is needed")
    if rstd.dtype is not torch.float32 or rstd.device != input.device:
        _refuse(f"rstd is {rstd.dtype} on {rstd.device}; torch.float32 on {input.device} is needed")
    _same("grad_output", grad_output, input)
    if residual is not None:
        _same("residual", residual, input)
    if weight is None:
        if main_grad is not None:
            _refuse("main_grad without a weight: there is nothing to accumulate")
        return n
    _place_and_type("weight", weight)
    if weight.device != input.device:
        _refuse(f"weight is on {weight.device}, input on {input.device}")
    if weight.shape != input.shape[input.dim() - weight.dim() :]:
        _refuse(
            f"weight has shape {list(weight.shape)}, input {list(input.shape)}: the last dimensions differ"
        )
    if main_grad is not None:
        _main_grad.check(main_grad, weight)
    return n


def _columns(input: Tensor, rstd: Tensor, weight: Tensor | None) -> int:
    rows = rstd.numel()
    if weight is not None:
        n = weight.numel()
    elif rows > 0:
        n = input.numel() // rows
    else:
        n = input.shape[-1] if input.dim() else 0
    if n < 1 or rows * n != input.numel():
        _refuse(f"rstd has {rows} elements for {input.numel()} of input in rows of {n}")
    return n


def _same(name: str, tensor: Tensor, input: Tensor) -> None:
    _is_tensor(name, tensor)
    if (
        tensor.shape == input.shape
        and tensor.dtype is input.dtype
        and tensor.device == input.device
        and tensor.layout is torch.strided
    ):
        return
    _refuse(
        f"{name} is {tensor.dtype} of shape {list(tensor.shape)} on {tensor.device}"
        f"{'' if tensor.layout is torch.strided else f' with layout {tensor.layout}'}; it must be like input: "
        f"{input.dtype} of shape {list(input.shape)} on {input.device}"
    )
