"""Launches, one for each stream, device and signature, found by one look-up: RMSNorm backward's here.

Workspace and counters come from torch's allocator. Runs on one stream are ordered, so its launches
share one workspace. A call that a CUDA graph captures gets a workspace and counters of its own, since
the graph may replay beside anything.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

from kiln import _kiln
from kiln._errors import from_code
from kiln._service import service

#: What becomes of the weight gradient.
RETURNED = 0  # written, in the weight's type
ADDED = 1  # added into fp32
OVERWRITTEN = 2  # written, in fp32

TYPE_NAMES = {torch.float32: "f32", torch.float16: "f16", torch.bfloat16: "bf16"}

# stream, device, n, type of x, type of w, what becomes of dw, whether there is a residual gradient
_Key = tuple[Any, int, int, torch.dtype, torch.dtype | None, int, bool]

_COUNTER_BYTES = 256  # one launch's
_SLAB_COUNTERS = 4096
_PER_THREAD_STREAM = 2  # CU_STREAM_PER_THREAD: one handle, but a stream for each thread

_lock = threading.RLock()
_launches: dict[_Key, _kiln.RmsNormBackward] = {}
_workspaces: dict[tuple[Any, int], Tensor] = {}
_counters: dict[int, list[int]] = {}  # a device: addresses that nobody uses
# Memory that launches hold an address of. They live as long as the process, which bounds it: a slab a
# device, and a workspace a stream, twice at most for each doubling.
_kept: list[Tensor] = []
_of_parents: list[object] = []

_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

_Launch = _kiln.RmsNormBackward
_seen = _kiln.RmsNormBackwardCalls(torch.Tensor, torch.nn.Parameter)
#: launched(dy, x, rstd, weight, dx, dw, becomes): checks a whole call and launches it, if all its tensors are
#: dense and one like it was seen; else does nothing and is False. From torch 2.10 on, which lets C read tensors.
reads_tensors = _seen.usable()
launched = _seen if reads_tensors else lambda *call: False


def run(
    dy: Tensor,
    x: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    dx: Tensor,
    dw: Tensor | None,
    n: int,
    becomes: int,
    residual: Tensor | None = None,
) -> None:
    """Launches on the current stream of x's device. Tensors are checked; outputs are contiguous."""
    index = x.get_device()
    stream = _raw_stream(index)  # type: ignore[misc]
    lane = stream if stream != _PER_THREAD_STREAM else (stream, threading.get_ident())
    key = (
        lane,
        index,
        n,
        x.dtype,
        None if weight is None else weight.dtype,
        becomes,
        residual is not None,
    )
    dy_stride = x_stride = residual_stride = n
    if not dy.is_contiguous():
        dy, dy_stride = row_major(dy, n)
    if not x.is_contiguous():
        x, x_stride = row_major(x, n)
    if residual is not None and not residual.is_contiguous():
        residual, residual_stride = row_major(residual, n)
    numbers = (
        rstd.numel(),
        dy.data_ptr(),
        dy_stride,
        x.data_ptr(),
        x_stride,
        rstd.data_ptr(),
        0 if weight is None else weight.data_ptr(),
        dx.data_ptr(),
        n,
        0 if dw is None else dw.data_ptr(),
        0 if residual is None else residual.data_ptr(),
        residual_stride,
    )
    launch = _launches.get(key)
    if launch is None:
        if n == 0:
            return  # rows without elements: outputs have none either
        launch = make(_launches, _kiln.RmsNormBackward, key, signature(key), stream)
        _remember(key, launch)
    if launch is None or not launch(stream, *numbers):
        run_captured(_kiln.RmsNormBackward, key[1], signature(key), stream, numbers)


def capturing(index: int) -> bool:
    """Whether a CUDA graph captures the device's current stream."""
    return _kiln.capturing(_raw_stream(index))  # type: ignore[misc]


def row_major(tensor: Tensor, n: int) -> tuple[Tensor, int]:
    """The tensor or a contiguous copy, and the elements between rows of n."""
    if tensor.is_contiguous():
        return tensor, n
    if tensor.is_neg():  # the imaginary part of a conjugate: what is in memory has the other sign
        return tensor.contiguous(), n
    try:
        stride, step = tensor.view(-1, n).stride()
    except RuntimeError:  # no view has these rows
        return tensor.contiguous(), n
    if (step == 1 or n == 1) and stride >= n:
        return tensor, stride
    return tensor.contiguous(), n


def contiguous_like(tensor: Tensor) -> Tensor:
    """Memory for an output, which is contiguous whatever the strides of what it resembles."""
    return torch.empty_like(tensor, memory_format=torch.contiguous_format)


def signature(key: _Key) -> str:
    _, _, n, x, w, becomes, residual = key
    text = f"rms_norm_backward:n={n},x={TYPE_NAMES[x]},w={TYPE_NAMES[w] if w else 'none'}"
    if becomes != RETURNED:
        text += f",dw=f32,accumulate={int(becomes == ADDED)}"
    return text + f",residual={int(residual)}"


def make(table: dict[Any, Any], kind: Any, key: tuple[Any, ...], text: str, stream: int) -> Any:
    """A launch of a signature, kept in the table under a key that begins with stream and device; None
    while the stream is captured, when nothing may be kept."""
    if _kiln.capturing(stream):
        return None
    lane, index = key[0], key[1]
    prepared = service().prepare(text, index)
    with _lock:
        launch = table.get(key)
        if launch is None:
            workspace = _workspace(lane, index, prepared.workspace_bytes())
            counters = _take_counters(index)
            if counters is None:
                counters = _add_counters(index)
            launch = kind(prepared, workspace, (counters, _COUNTER_BYTES), captured=False)
            table[key] = launch
    return launch


def _remember(key: _Key, launch: _kiln.RmsNormBackward | None) -> None:
    """Lets `launched` serve calls like this one. A launch that tests emulate stays here."""
    lane, index, n, x, w, becomes, residual = key
    if isinstance(launch, _Launch) and w is not None and not residual and not isinstance(lane, tuple):
        _seen.add(lane, index, n, TYPE_NAMES[x], TYPE_NAMES[w], becomes, launch)


def run_captured(kind: Any, index: int, text: str, stream: int, numbers: tuple[Any, ...]) -> None:
    """Memory that is freed here belongs to the graph's pool, which keeps it for the graph."""
    prepared = service().prepare(text, index)
    workspace = _allocate(prepared.workspace_bytes(), index)
    counters = _take_counters(index)
    zeroed = None
    if counters is None:
        # No counters were made before the capture: the graph zeroes its own at each replay.
        zeroed = _zeros(_COUNTER_BYTES, index)
        counters = zeroed.data_ptr()
    launch = kind(prepared, _memory(workspace), (counters, _COUNTER_BYTES), captured=True)
    if not launch(stream, *numbers):
        raise from_code("internal", "the capture of a CUDA graph ended while a kernel was bound")


def _workspace(lane: object, index: int, size: int) -> tuple[int, int] | None:
    if size == 0:
        return None
    tensor = _workspaces.get((lane, index))
    if tensor is None or tensor.numel() < size:
        # Rounded up, so that a stream's widest kernels do not each leave one behind.
        tensor = _persistent(1 << (size - 1).bit_length(), index)
        _workspaces[lane, index] = tensor
        _kept.append(tensor)
    return _memory(tensor)


def _take_counters(index: int) -> int | None:
    try:
        return _counters[index].pop()
    except (KeyError, IndexError):
        return None


def _add_counters(index: int) -> int:
    slab = _persistent(_SLAB_COUNTERS * _COUNTER_BYTES, index)
    _kept.append(slab)
    first = slab.data_ptr()
    free = [first + i * _COUNTER_BYTES for i in range(_SLAB_COUNTERS)]
    taken = free.pop()
    _counters.setdefault(index, []).extend(free)
    return taken


def _persistent(size: int, index: int) -> Tensor:
    """Zeroed memory that is never freed, made by a thread of its own on a stream of its own: a thread that
    warms up CUDA graphs, as torch.compile does, allocates in their pool, where nothing may outlive the
    step. Which allocations go there torch decides by the thread, before 2.7 by the stream."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_zeroed, size, index).result()


def _zeroed(size: int, index: int) -> Tensor:
    device = torch.device("cuda", index)
    # Of high priority: graphs are captured and warmed up on one of torch's few streams of the other kind.
    stream = torch.cuda.Stream(device, priority=-1)  # type: ignore[no-untyped-call]
    with torch.cuda.stream(stream):
        memory = torch.zeros(size, dtype=torch.uint8, device=device)
    stream.synchronize()  # other streams use it
    return memory


def _allocate(size: int, index: int) -> Tensor:
    return torch.empty(size, dtype=torch.uint8, device=torch.device("cuda", index))


def _zeros(size: int, index: int) -> Tensor:
    return torch.zeros(size, dtype=torch.uint8, device=torch.device("cuda", index))


def _memory(tensor: Tensor) -> tuple[int, int] | None:
    return (tensor.data_ptr(), tensor.numel()) if tensor.numel() else None


def _forget() -> None:
    """In a forked child: nothing of the parent's may be used or freed."""
    global _launches, _workspaces, _counters, _kept, _lock
    _of_parents.append((_launches, _workspaces, _counters, _kept))
    _launches, _workspaces, _counters, _kept = {}, {}, {}, []
    _lock = threading.RLock()
    _seen.clear()


os.register_at_fork(after_in_child=_forget)
