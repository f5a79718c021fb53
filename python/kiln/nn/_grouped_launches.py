"""Running the grouped GEMMs on tensors that are checked, and memory for what they write."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import threading
from typing import Any

import torch
from torch import Tensor

from kiln import _kiln
from kiln.nn import _launches
from kiln.nn._launches import TYPE_NAMES

# stream, device, op, n, k, type of the output, whether it is added to
_Key = tuple[Any, int, str, int, int, torch.dtype, bool]

_kept: dict[_Key, Any] = {}


def forward(x: Tensor, w: Tensor, offs: Tensor, dtype: torch.dtype) -> Tensor:
    """y[r] = x[r] w[e]^T. Rows past the last offset hold whatever was there."""
    y = torch.empty((x.shape[0], w.shape[1]), dtype=dtype, device=x.device)
    _run("forward", w.shape, x.shape[0], offs, _rows(x), _matrices(w), y)
    return y


def dgrad(g: Tensor, w: Tensor, offs: Tensor) -> Tensor:
    """dx[r] = g[r] w[e], in bf16. Rows past the last offset hold whatever was there."""
    g = operand(g)
    dx = torch.empty((g.shape[0], w.shape[2]), dtype=torch.bfloat16, device=g.device)
    _run("dgrad", w.shape, g.shape[0], offs, _rows(g), _matrices(w), dx)
    return dx


def wgrad(g: Tensor, x: Tensor, offs: Tensor, groups: int) -> Tensor:
    """dw[e] = g[r]^T x[r], in bf16; zeros for an empty group."""
    dw = _all_written((groups, g.shape[1], x.shape[1]), torch.bfloat16, x.device)
    wgrad_into(g, x, offs, dw, accumulate=False)
    return dw


def wgrad_into(g: Tensor, x: Tensor, offs: Tensor, out: Tensor, *, accumulate: bool) -> None:
    """The same into memory of the caller's; accumulating gives the bits of out.add_(dw)."""
    g = operand(g)
    _run("wgrad", out.shape, x.shape[0], offs, _rows(g), _rows(x), out, accumulate)


def operand(g: Tensor) -> Tensor:
    """A gradient as the kernels read it: bf16, rows on 16 bytes. Autograd hands over any strides."""
    if g.dtype is not torch.bfloat16:
        g = g.to(torch.bfloat16)
    rows, columns = g.shape
    stride, step = g.stride()
    if step == 1 and g.data_ptr() % 16 == 0 and (rows < 2 or (stride >= columns and stride % 8 == 0)):
        return g
    return g.clone(memory_format=torch.contiguous_format)


def _rows(tensor: Tensor) -> tuple[int, int, int]:
    """Address, and elements between rows and between groups."""
    rows, columns = tensor.shape
    return tensor.data_ptr(), tensor.stride(0) if rows > 1 else columns, 0


def _matrices(tensor: Tensor) -> tuple[int, int, int]:
    groups, rows, columns = tensor.shape
    stride = tensor.stride(1) if rows > 1 else columns
    return tensor.data_ptr(), stride, tensor.stride(0) if groups > 1 else rows * stride


def _run(
    op: str,
    extents: torch.Size,
    rows: int,
    offs: Tensor,
    a: tuple[int, int, int],
    b: tuple[int, int, int],
    out: Tensor,
    accumulate: bool = False,
) -> None:
    """Launches on the current stream of out's device. Offsets are never read here."""
    groups, n, k = extents
    index = out.get_device()
    stream = _launches._raw_stream(index)  # type: ignore[misc]
    lane = stream if stream != _launches._PER_THREAD_STREAM else (stream, threading.get_ident())
    key: _Key = (lane, index, op, n, k, out.dtype, accumulate)
    target = _matrices(out) if out.dim() == 3 else _rows(out)
    numbers = (rows, groups, offs.data_ptr(), offs.numel(), *a[:2], *b, *target)
    kind = _kiln.GroupedGemm
    launch = _kept.get(key)
    if launch is None:
        launch = _launches.make(_kept, kind, key, signature(key), stream)
    if launch is None or not launch(stream, *numbers):
        _launches.run_captured(kind, index, signature(key), stream, numbers)


def signature(key: _Key) -> str:
    _, _, op, n, k, out, accumulate = key
    text = f"grouped_gemm_{op}:n={n},k={k},out={TYPE_NAMES[out]}"
    return text + ",accumulate=1" if accumulate else text


def _all_written(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Memory of which every element will be written. torch's deterministic mode fills what torch.empty
    gives, which here would only cost a pass."""
    if not torch.are_deterministic_algorithms_enabled():
        return torch.empty(shape, dtype=dtype, device=device)
    count = 1
    for size in shape:
        count *= size
    storage = torch.UntypedStorage(count * dtype.itemsize, device=device)  # type: ignore[no-untyped-call]
    strides = torch.empty(shape, dtype=dtype, device="meta").stride()
    return torch.empty(0, dtype=dtype, device=device).set_(storage, 0, shape, strides)


def _forget() -> None:
    """In a forked child: nothing of the parent's may be used or freed."""
    global _kept
    _launches._of_parents.append(_kept)
    _kept = {}


os.register_at_fork(after_in_child=_forget)
