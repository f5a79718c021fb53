"""A stand-in for the GPU: reads the addresses a launch is given, and computes on the host.

With it the torch-facing layer runs where there is no GPU: what it passes to the module, which launches
it keeps, and what autograd makes of it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import torch

from kiln import _kiln
from kiln.nn import _checks, _launches, functional

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def at(address: int, rows: int, columns: int, stride: int, dtype: torch.dtype) -> torch.Tensor:
    """A view of memory."""
    count = (rows - 1) * stride + columns
    if rows == 0 or columns == 0:
        return torch.empty(rows, columns, dtype=dtype)
    buffer = (ctypes.c_char * (count * dtype.itemsize)).from_address(address)
    return torch.frombuffer(buffer, dtype=dtype).as_strided((rows, columns), (stride, 1))


def reference(
    dy: torch.Tensor, x: torch.Tensor, rstd: torch.Tensor, w: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """dx and dw of rows, in double precision."""
    dy, x, rstd = dy.double(), x.double(), rstd.double().reshape(-1, 1)
    normalized = x * rstd
    g = dy if w is None else dy * w.double()
    dx = rstd * (g - normalized * (g * normalized).mean(1, keepdim=True))
    return dx, (dy * normalized).sum(0)


@dataclass
class Prepared:
    keys: dict[str, str]

    def workspace_bytes(self) -> int:
        return 0 if self.keys["w"] == "none" else int(self.keys["n"]) * 4


@dataclass
class Emulator:
    """What happened: the signatures prepared, the launches made, the runs."""

    prepared: list[str] = field(default_factory=list)
    launches: list[Any] = field(default_factory=list)
    runs: list[Any] = field(default_factory=list)
    stream: int = 7
    capturing: bool = False

    def prepare(self, signature: str, ordinal: int) -> Prepared:
        text = _kiln.canonical(signature)
        self.prepared.append(text)
        return Prepared(dict(part.split("=") for part in text.split(":")[1].split(",")))


def install(monkeypatch: Any) -> Emulator:
    emulator = Emulator()

    class Launch:
        def __init__(self, prepared: Prepared, workspace: Any, counters: Any, captured: bool) -> None:
            self.keys, self.workspace, self.counters = prepared.keys, workspace, counters
            self.captured = captured
            emulator.launches.append(self)

        def __call__(self, stream: int, *numbers: int) -> bool:
            if emulator.capturing != self.captured:
                return False
            emulator.runs.append(self)
            run(self.keys, *numbers)
            return True

    class Service:
        prepare = staticmethod(emulator.prepare)

    class Module:
        RmsNormBackward = Launch
        capturing = staticmethod(lambda stream: emulator.capturing)

    host = torch.device("cpu")
    for name in ("_launches", "_workspaces", "_counters"):
        monkeypatch.setattr(_launches, name, {})
    monkeypatch.setattr(_launches, "_kept", [])
    monkeypatch.setattr(_launches, "_kiln", Module)
    monkeypatch.setattr(_launches, "service", Service)
    monkeypatch.setattr(_launches, "_raw_stream", lambda index: emulator.stream)
    monkeypatch.setattr(_launches, "_allocate", lambda size, index: torch.empty(size, dtype=torch.uint8))
    monkeypatch.setattr(_launches, "_zeros", lambda size, index: torch.zeros(size, dtype=torch.uint8))
    monkeypatch.setattr(_launches, "_persistent", _launches._zeros)
    monkeypatch.setattr(_checks, "_on_gpu", lambda tensor: tensor.device == host)
    assert functional.run is _launches.run
    return emulator


def gradients(module: Any, x: Any, dy: Any) -> tuple[Any, Any]:
    x = x.detach().requires_grad_()
    module.zero_grad()
    module(x).backward(dy)
    return x.grad, None if module.weight is None else module.weight.grad


def run(
    keys: dict[str, str],
    rows: int,
    dy: int,
    dy_stride: int,
    x: int,
    x_stride: int,
    rstd: int,
    w: int,
    dx: int,
    dx_stride: int,
    dw: int,
    residual: int,
    residual_stride: int,
) -> None:
    n, kind = int(keys["n"]), TYPES[keys["x"]]
    weighted = keys["w"] != "none"
    weight = at(w, 1, n, n, TYPES[keys["w"]]) if weighted else None
    gradient, total = reference(
        at(dy, rows, n, dy_stride, kind),
        at(x, rows, n, x_stride, kind),
        at(rstd, rows, 1, 1, torch.float32),
        weight,
    )
    if keys["residual"] == "1":
        gradient = gradient + at(residual, rows, n, residual_stride, kind).double()
    at(dx, rows, n, dx_stride, kind).copy_(gradient)
    if weighted:
        out = at(dw, 1, n, n, TYPES[keys["dw"]])[0]
        out.copy_(out + total.to(out.dtype) if keys["accumulate"] == "1" else total)
