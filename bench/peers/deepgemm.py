# SPDX-License-Identifier: Apache-2.0
"""DeepGEMM's bf16 kernels. They take groups of multiples of 128 rows, and for wgrad the sizes on the host."""

from __future__ import annotations

from typing import Any

from bench import gemm_case
from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.gemm_case import GemmCase

ALIGNMENT = 128


def build(case: GemmCase) -> list[Entry]:
    try:
        import deep_gemm
    except Exception as error:  # noqa: BLE001  (it compiles and probes when imported)
        raise Unavailable("deep_gemm cannot be imported") from error
    if case.direction in (gemm_case.WGRAD_BF16, gemm_case.WGRAD_F32, gemm_case.WGRAD_ACCUMULATE_BF16):
        raise Unavailable("DeepGEMM's bf16 wgrad only accumulates into fp32")
    if any(size % ALIGNMENT for size in case.sizes):
        raise Unavailable(f"DeepGEMM wants groups of multiples of {ALIGNMENT} rows")
    if hasattr(deep_gemm, "set_mk_alignment_for_contiguous_layout"):
        deep_gemm.set_mk_alignment_for_contiguous_layout(ALIGNMENT)
    call = _call(deep_gemm, case)
    return [Entry("deepgemm", "DeepGEMM", PEER, call, gemm_case.result_in(case, call))]


def _call(deep_gemm: Any, case: GemmCase) -> Any:
    torch, device = case.torch, case.x.device
    sizes = torch.tensor(case.sizes, dtype=torch.int32)
    if case.is_wgrad:
        on_device = sizes.to(device)
        return lambda: deep_gemm.k_grouped_bf16_gemm_tn_contiguous(
            case.g, case.x, case.out, case.sizes, on_device, case.out
        )
    groups = torch.arange(case.shape.experts, dtype=torch.int32)
    group_of_row = torch.repeat_interleave(groups, sizes.long()).to(device)
    if case.direction == gemm_case.FORWARD:
        return lambda: deep_gemm.m_grouped_bf16_gemm_nt_contiguous(case.x, case.w, case.out, group_of_row)
    return lambda: deep_gemm.m_grouped_bf16_gemm_nn_contiguous(case.g, case.w, case.out, group_of_row)
