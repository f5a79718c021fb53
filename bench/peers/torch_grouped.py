# SPDX-License-Identifier: Apache-2.0
"""torch._grouped_mm (CUTLASS), and the same followed by an add where fp32 gradients accumulate."""

from __future__ import annotations

from typing import Any

from bench import gemm_case
from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.gemm_case import GemmCase


def build(case: GemmCase) -> list[Entry]:
    torch = case.torch
    if not hasattr(torch, "_grouped_mm"):
        raise Unavailable("this torch has no _grouped_mm")
    name, label = "torch", "torch._grouped_mm"
    if case.direction == gemm_case.FORWARD:
        weights = case.w.transpose(-2, -1)

        def call() -> Any:
            return torch._grouped_mm(case.x, weights, offs=case.offs)
    elif case.direction == gemm_case.DGRAD:

        def call() -> Any:
            return torch._grouped_mm(case.g, case.w, offs=case.offs)
    elif case.direction == gemm_case.WGRAD_F32:
        raise Unavailable("torch._grouped_mm has no fp32 output")
    else:
        gradients = case.g.t()

        def call() -> Any:
            return torch._grouped_mm(gradients, case.x, offs=case.offs)

    if case.accumulates:
        name, label = "torch_add", "torch._grouped_mm (bf16), then add"
        product = call

        def add() -> Any:
            return case.out.add_(product())

        return [Entry(name, label, PEER, add, gemm_case.result_in(case, add))]
    return [Entry(name, label, PEER, call, lambda: {"out": call()})]
