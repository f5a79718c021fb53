# SPDX-License-Identifier: Apache-2.0
"""Transformer Engine's CUDA kernels, through its PyTorch extension."""

from __future__ import annotations

from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import RMS, NormCase
from bench.norm_pair_case import PAIR


def build(case: NormCase) -> list[Entry]:
    if case.op == PAIR:
        raise Unavailable("Transformer Engine is compared on single norms only")
    try:
        import transformer_engine.pytorch  # noqa: F401  (loads the libraries of the extension)
        import transformer_engine_torch as extension
    except ImportError as error:
        raise Unavailable("transformer_engine cannot be imported") from error
    mean, rstd = case.mean.reshape(-1), case.rstd.reshape(-1)
    spare_sms, zero_centred = 0, False

    def call() -> Any:
        if case.op == RMS:
            return extension.rmsnorm_bwd(case.dy, case.x, rstd, case.w, spare_sms, zero_centred)
        return extension.layernorm_bwd(case.dy, case.x, mean, rstd, case.w, spare_sms, zero_centred)

    def result() -> dict[str, Any]:
        return dict(zip(("dx", "dw", "db"), call()))

    return [Entry("te", "Transformer Engine", PEER, call, result)]
