# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own fused norm backwards, as autograd calls them."""

from __future__ import annotations

from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import RMS, NormCase


def build(case: NormCase) -> list[Entry]:
    aten = case.torch.ops.aten
    if case.op == RMS:
        if not hasattr(aten, "_fused_rms_norm_backward"):
            raise Unavailable("this torch has no fused RMSNorm backward")

        def call() -> Any:
            return aten._fused_rms_norm_backward(case.dy, case.x, [case.n], case.rstd, case.w, [True, True])
    else:

        def call() -> Any:
            return aten.native_layer_norm_backward(
                case.dy, case.x, [case.n], case.mean, case.rstd, case.w, case.b, [True, True, True]
            )

    def result() -> dict[str, Any]:
        return dict(zip(("dx", "dw", "db"), call()))

    return [Entry("aten", "ATen", PEER, call, result)]
