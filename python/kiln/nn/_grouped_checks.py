"""Refusing bad tensors of a grouped GEMM with one sentence, before anything is launched."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import NoReturn

import torch
from torch import Tensor

from kiln._errors import from_code
from kiln._service import service
from kiln.nn import _launches

MOST_GROUPS = 1024
MOST_ROWS = 2**31 - 1
MOST_WIDTH = 2**20
OUT_TYPES = (torch.bfloat16, torch.float32)


def _on_gpu(tensor: Tensor) -> bool:
    return tensor.is_cuda


def _refuse(op: str, what: str) -> NoReturn:
    raise from_code("invalid_argument", f"{op}: {what}")


def width(op: str, name: str, value: int) -> None:
    if not 8 <= value <= MOST_WIDTH:
        _refuse(op, f"{name} is {value}; 8 to {MOST_WIDTH} are served")
    if value % 8 != 0:
        _refuse(
            op,
            f"{name} is {value}, which is not a multiple of 8: rows of bf16 are read in whole units of 16 "
            f"bytes; pad to {(value + 7) // 8 * 8}",
        )


def operands(op: str, x: Tensor, w: Tensor, offs: Tensor, dtype: torch.dtype = torch.bfloat16) -> None:
    """What can be told without addresses, which tensors that are only traced do not have."""
    _dense_on_gpu(op, "x", x, torch.bfloat16, 2, "[M, K]")
    _dense_on_gpu(op, "w", w, torch.bfloat16, 3, "[E, N, K]")
    _dense_on_gpu(op, "offs", offs, torch.int32, 1, "[E] or [E + 1]")
    for name, tensor in (("w", w), ("offs", offs)):
        if tensor.device != x.device:
            _refuse(op, f"{name} is on {tensor.device}, x on {x.device}")
    groups, n, k = w.shape
    if x.shape[1] != k:
        _refuse(op, f"x has shape {list(x.shape)}, w {list(w.shape)}: the last dimensions differ")
    width(op, "N, the second dimension of w,", n)
    width(op, "K, the last dimension,", k)
    if not 1 <= groups <= MOST_GROUPS:
        _refuse(op, f"w has {groups} groups; 1 to {MOST_GROUPS} are served")
    if x.shape[0] > MOST_ROWS:
        _refuse(op, f"x has {x.shape[0]} rows; up to {MOST_ROWS} are served")
    if offs.shape[0] != groups and offs.shape[0] != groups + 1:
        _refuse(
            op,
            f"offs has {offs.shape[0]} elements; {groups} groups need {groups} end rows, or {groups + 1} "
            "with a leading zero",
        )
    if dtype not in OUT_TYPES:
        _refuse(op, f"out_dtype is {dtype}; torch.bfloat16 and torch.float32 are served")


def _dense_on_gpu(op: str, name: str, tensor: object, dtype: torch.dtype, rank: int, shape: str) -> None:
    if not isinstance(tensor, Tensor):
        _refuse(op, f"{name} is a {type(tensor).__name__}; a torch.Tensor is needed")
    if tensor.layout is not torch.strided:
        _refuse(op, f"{name} has layout {tensor.layout}; a dense tensor is needed")
    if not _on_gpu(tensor):
        _refuse(op, f"{name} is on {tensor.device}; kiln runs on CUDA devices: move it there")
    if tensor.dtype is not dtype:
        _refuse(op, f"{name} has type {tensor.dtype}; {dtype} is needed")
    if tensor.dim() != rank:
        _refuse(op, f"{name} has shape {list(tensor.shape)}; {shape} is needed")


def memory(op: str, x: Tensor, w: Tensor, offs: Tensor) -> None:
    """Where the operands lie, and how their rows do."""
    for name, tensor in (("x", x), ("w", w)):
        if tensor.numel() == 0:
            continue
        if tensor.data_ptr() % 16 != 0:
            _refuse(
                op,
                f"{name} begins {tensor.data_ptr() % 16} bytes past a multiple of 16; it must begin on one: "
                f"{name}.clone()",
            )
        _strides(op, name, tensor)
    if offs.stride(0) != 1 and offs.shape[0] > 1:
        _refuse(op, f"offs has stride {offs.stride(0)}; it must be contiguous")


def _strides(op: str, name: str, tensor: Tensor) -> None:
    shape, strides = tensor.shape, tensor.stride()
    if strides[-1] != 1:
        _refuse(op, f"{name} has strides {list(strides)}; the last one must be 1: {name}.contiguous()")
    span = shape[-1]
    for dimension in range(tensor.dim() - 2, -1, -1):
        if shape[dimension] == 1:
            continue
        stride = strides[dimension]
        if stride < span:
            _refuse(
                op,
                f"{name} has strides {list(strides)}, and {stride} is less than the {span} elements it must "
                f"pass: rows would overlap: {name}.contiguous()",
            )
        if stride % 8 != 0:
            _refuse(
                op,
                f"{name} has strides {list(strides)}, and {stride} is not a multiple of 8 elements (16 "
                f"bytes): {name}.contiguous()",
            )
        span += (shape[dimension] - 1) * stride


def gradient(op: str, g: Tensor, rows: int, n: int) -> None:
    """A gradient of the output that comes from a caller of the ops, not from autograd."""
    if g.shape != (rows, n) or g.dtype not in OUT_TYPES:
        _refuse(op, f"the gradient is {g.dtype} of shape {list(g.shape)}; [{rows}, {n}] is needed")


def offsets(op: str, offs: Tensor, groups: int, rows: int, check: bool | None) -> None:
    """With check, or by KILN_CHECK_OFFSETS: refuses offsets out of order or past the rows, naming the first
    bad group. Found on the device, and waited for."""
    if check is False or (check is None and not service().check_offsets()):
        return
    if _launches.capturing(offs.get_device()):
        _refuse(
            op,
            "offsets cannot be checked while a CUDA graph is captured, since that waits for the device: "
            "check_offsets=False there, and neither True nor KILN_CHECK_OFFSETS",
        )
    ends = offs[offs.shape[0] - groups :].long()
    first = offs[:1].long() if offs.shape[0] > groups else torch.zeros_like(ends[:1])
    begins = torch.cat((first, ends[:-1]))
    bad = (ends < begins) | (ends < 0) | (ends > rows)
    bad[:1] |= first != 0
    # The only wait. argmax gives the first of equals.
    group = bad.byte().argmax()
    found, at, begin, end = torch.stack((bad.any().long(), group, begins[group], ends[group])).tolist()
    if found:
        _refuse(op, _first_bad(at, begin, end, rows))


def _first_bad(group: int, begin: int, end: int, rows: int) -> str:
    where = f"offs: group {group} owns rows {begin} to {end}"
    if group == 0 and begin != 0:
        return f"{where}; with a leading element the first group must begin at 0"
    if end < 0:
        return f"{where}; an end row is negative"
    if end < begin:
        return f"{where}; end rows must not decrease"
    return f"{where}, but x has {rows}"
