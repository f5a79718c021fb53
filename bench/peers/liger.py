# SPDX-License-Identifier: Apache-2.0
"""Liger's Triton kernels, with the saved values of their own forward."""

from __future__ import annotations

from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import EPSILON, RMS, NormCase
from bench.norm_pair_case import PAIR


def build(case: NormCase) -> list[Entry]:
    if case.op == PAIR:
        raise Unavailable("Liger is compared on single norms only")
    try:
        if case.op == RMS:
            from liger_kernel.ops.rms_norm import rms_norm_backward, rms_norm_forward
        else:
            from liger_kernel.ops.layer_norm import layer_norm_backward, layer_norm_forward
    except ImportError as error:
        raise Unavailable("liger_kernel cannot be imported (pip install liger-kernel)") from error

    if case.op == RMS:
        # "llama": the sum of squares in fp32, the rest in the operands' type. No offset, and dx is not
        # written over dy, so that a call can be repeated.
        saved = rms_norm_forward(case.x, case.w, EPSILON, 0.0, "llama", None)
        _, x, rstd, block, warps, casting = saved

        def call() -> Any:
            return rms_norm_backward(case.dy, x, case.w, rstd, 0.0, casting, block, warps, False, None)
    else:
        saved = layer_norm_forward(case.x, case.w, case.b, EPSILON)
        _, x, mean, rstd = saved[:4]

        def call() -> Any:
            return layer_norm_backward(case.dy, x, case.w, case.b, mean, rstd)

    def result() -> dict[str, Any]:
        return dict(zip(("dx", "dw", "db"), call()))

    return [Entry("liger", "Liger", PEER, call, result)]
