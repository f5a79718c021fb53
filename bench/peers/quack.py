# SPDX-License-Identifier: Apache-2.0
"""QuACK's CuTe kernels."""

from __future__ import annotations

from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import RMS, NormCase


def build(case: NormCase) -> list[Entry]:
    if case.op != RMS:
        raise Unavailable("QuACK is compared on RMSNorm only")
    try:
        from quack.rmsnorm import rmsnorm_bwd
    except ImportError as error:
        raise Unavailable("quack cannot be imported (pip install quack-kernels)") from error
    rstd = case.rstd.reshape(-1)

    def call() -> Any:
        return rmsnorm_bwd(case.x, case.w, case.dy, rstd)

    def result() -> dict[str, Any]:
        return dict(zip(("dx", "dw"), call()))

    return [Entry("quack", "QuACK", PEER, call, result)]
