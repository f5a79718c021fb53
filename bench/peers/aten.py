# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own fused norm backwards, as autograd calls them."""

from __future__ import annotations

from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import RMS, NormCase
from bench.norm_pair_case import PairCase


def fused_rms_norm(aten: Any) -> Any:
    if not hasattr(aten, "_fused_rms_norm_backward"):
        raise Unavailable("this torch has no fused RMSNorm backward")
    return aten._fused_rms_norm_backward


def build(case: NormCase | PairCase) -> list[Entry]:
    aten = case.torch.ops.aten
    if isinstance(case, PairCase):
        return [_pair(case)]
    if case.op == RMS:
        backward = fused_rms_norm(aten)

        def call() -> Any:
            return backward(case.dy, case.x, [case.n], case.rstd, case.w, [True, True])
    else:

        def call() -> Any:
            return aten.native_layer_norm_backward(
                case.dy, case.x, [case.n], case.mean, case.rstd, case.w, case.b, [True, True, True]
            )

    def result() -> dict[str, Any]:
        return dict(zip(("dx", "dw", "db"), call()))

    return [Entry("aten", "ATen", PEER, call, result)]


def _pair(case: PairCase) -> Entry:
    """One norm after the other, then their residuals added in place, as autograd would accumulate them."""
    backward = fused_rms_norm(case.torch.ops.aten)

    def call() -> Any:
        found = {}
        for i, half in enumerate(case.halves):
            dx, dw = backward(half, case.x[i], [case.n], case.rstd[i], case.w[i], [True, True])
            if case.residual is not None:
                dx.add_(case.residual[i])
            found[f"dx{i + 1}"], found[f"dw{i + 1}"] = dx, dw
        return found

    return Entry("aten", "ATen", PEER, call, call)
