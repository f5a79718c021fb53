"""Devices and streams as callers name them. torch is asked when the program has imported it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from typing import Any

from kiln import _kiln
from kiln._errors import from_code


def _torch_with_cuda() -> Any:
    """torch once it has started CUDA: asking it earlier would start it, and its default is the driver's."""
    torch = sys.modules.get("torch")
    if torch is None or not getattr(torch, "cuda", None) or not torch.cuda.is_initialized():
        return None
    return torch


def ordinal_of(device: object) -> int:
    """The ordinal of 1, "cuda:1" or torch.device("cuda", 1). None: torch's current device, else that of
    the thread's CUDA context. Raises RequestError for anything else."""
    if isinstance(device, bool):
        raise _no_device(device)
    if isinstance(device, int):
        if not -(2**31) <= device < 2**31:
            raise _no_device(device)
        return device
    index = getattr(device, "index", None)
    kind = getattr(device, "type", None)
    if isinstance(device, str):
        kind, _, number = device.partition(":")
        if number and not number.isdecimal():
            raise _no_device(device)
        index = int(number) if number else None
        if index is not None and index >= 2**31:
            raise _no_device(device)
    elif device is None:
        kind = "cuda"
    if kind != "cuda":
        raise _no_device(device)
    if isinstance(index, int):
        return index
    torch = _torch_with_cuda()
    return torch.cuda.current_device() if torch else _kiln.current_device()


def _no_device(device: object) -> Exception:
    return from_code(
        "invalid_argument",
        f"{device!r} is no CUDA device; give an ordinal, 'cuda:0' or torch.device('cuda', 0)",
    )


def current_stream(ordinal: int) -> int:
    """The handle of torch's current stream on the device; 0, the legacy stream, without torch."""
    torch = sys.modules.get("torch")
    raw = getattr(getattr(torch, "_C", None), "_cuda_getCurrentRawStream", None)
    return raw(ordinal) if raw is not None else 0


def handle_of(stream: object) -> int:
    """The handle of an int, a torch or cupy stream, or anything with __cuda_stream__."""
    if isinstance(stream, int) and not isinstance(stream, bool) and 0 <= stream < 2**64:
        return stream
    for name in ("cuda_stream", "ptr"):
        handle = getattr(stream, name, None)
        if isinstance(handle, int):
            return handle
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        pair = protocol() if callable(protocol) else protocol
        return int(pair[1])
    raise from_code(
        "invalid_argument",
        f"{stream!r} is no CUDA stream; give a torch.cuda.Stream or the handle as an int",
    )
