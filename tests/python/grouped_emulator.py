"""A stand-in for the GPU that grouped GEMMs run on: see emulator.py."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from emulator import TYPES, at

from kiln import _kiln
from kiln.nn import _grouped_checks, _grouped_launches, _launches


@dataclass
class Prepared:
    op: str
    keys: dict[str, str]

    def workspace_bytes(self) -> int:
        return 0


@dataclass
class Run:
    """One launch: the op, its keys, and whether a graph captured it."""

    op: str
    keys: dict[str, str]
    captured: bool
    counters: int


@dataclass
class Emulator:
    """What happened."""

    prepared: list[str] = field(default_factory=list)
    launches: list[Any] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    stream: int = 7
    capturing: bool = False
    check_offsets: bool = False  # what KILN_CHECK_OFFSETS says

    @property
    def ops(self) -> list[str]:
        return [run.op.removeprefix("grouped_gemm_") for run in self.runs]


def install(monkeypatch: Any) -> Emulator:
    emulator = Emulator()

    class Launch:
        def __init__(self, prepared: Prepared, workspace: Any, counters: Any, captured: bool) -> None:
            assert workspace is None
            self.prepared, self.counters, self.captured = prepared, counters[0], captured
            emulator.launches.append(self)

        def __call__(self, stream: int, *numbers: int) -> bool:
            if emulator.capturing != self.captured:
                return False
            emulator.runs.append(Run(self.prepared.op, self.prepared.keys, self.captured, self.counters))
            run(self.prepared, *numbers)
            return True

    class Service:
        @staticmethod
        def prepare(signature: str, ordinal: int) -> Prepared:
            op, _, keys = _kiln.canonical(signature).partition(":")
            emulator.prepared.append(f"{op}:{keys}")
            return Prepared(op, dict(part.split("=") for part in keys.split(",")))

        @staticmethod
        def check_offsets() -> bool:
            return emulator.check_offsets

    class Module:
        GroupedGemm = Launch
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
    monkeypatch.setattr(_grouped_launches, "_kept", {})
    monkeypatch.setattr(_grouped_launches, "_kiln", Module)
    monkeypatch.setattr(_grouped_checks, "service", Service)
    monkeypatch.setattr(_grouped_checks, "_on_gpu", lambda tensor: tensor.device == host)
    return emulator


def run(
    prepared: Prepared,
    rows: int,
    groups: int,
    offs: int,
    offs_size: int,
    a: int,
    a_stride: int,
    b: int,
    b_stride: int,
    b_group_stride: int,
    out: int,
    out_stride: int,
    out_group_stride: int,
) -> None:
    """What the kernels do, with sums in fp32. Offsets are clamped, as there."""
    keys = prepared.keys
    n, k, kind = int(keys["n"]), int(keys["k"]), TYPES[keys["out"]]
    bf16 = torch.bfloat16
    ends = at(offs, 1, offs_size, offs_size, torch.int32)[0].tolist()[offs_size - groups :]
    first = 0
    for group, end in enumerate(ends):
        end = min(max(end, first), rows)

        def mine(address: int, columns: int, stride: int, dtype: torch.dtype) -> torch.Tensor:
            return at(address, rows, columns, stride, dtype)[first:end]  # noqa: B023

        def matrix(address: int, stride: int, step: int, dtype: torch.dtype) -> torch.Tensor:
            return at(address + group * step * dtype.itemsize, n, k, stride, dtype)  # noqa: B023

        if prepared.op == "grouped_gemm_forward":
            w = matrix(b, b_stride, b_group_stride, bf16).float()
            mine(out, n, out_stride, kind).copy_(mine(a, k, a_stride, bf16).float() @ w.t())
        elif prepared.op == "grouped_gemm_dgrad":
            w = matrix(b, b_stride, b_group_stride, bf16).float()
            mine(out, k, out_stride, kind).copy_(mine(a, n, a_stride, bf16).float() @ w)
        else:
            assert b_group_stride == 0
            dw = mine(a, n, a_stride, bf16).float().t() @ mine(b, k, b_stride, bf16).float()
            target = matrix(out, out_stride, out_group_stride, kind)
            if keys["accumulate"] == "1":
                target.add_(dw.to(kind))
            else:
                target.copy_(dw)
        first = end
