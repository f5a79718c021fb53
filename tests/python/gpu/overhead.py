"""What a call costs the host, in microseconds: python tests/python/gpu/overhead.py

Shapes are small, so that the device is never what is waited for. Medians of many batches.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable

import torch

import kiln
from kiln.nn import RMSNorm, functional

ROWS, N, CALLS, BATCHES = 16, 1024, 100, 60


def host_us(call: Callable[[], object]) -> float:
    for _ in range(3 * CALLS):
        call()
    times = []
    for _ in range(BATCHES):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        times.append((time.perf_counter() - begin) / CALLS * 1e6)
    torch.cuda.synchronize()
    return statistics.median(times)


def measure() -> dict[str, float]:
    x, dy = torch.randn(2, ROWS, N, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(N, device="cuda", dtype=torch.bfloat16)
    rstd = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    prepared = kiln.prepare(f"rms_norm_backward:n={N}")
    bound = {"dy": dy, "x": x, "rstd": rstd.view(-1), "w": w, "dx": dx, "dw": dw}
    launch = prepared.bind(**bound)
    measured = {
        "bound launch": host_us(launch.run),
        "functional.rms_norm_backward": host_us(lambda: functional.rms_norm_backward(dy, x, rstd, w)),
        "custom op": host_us(lambda: torch.ops.kiln.rms_norm_backward(dy, x, rstd, w, None, N)),
        "two torch.empty_like": host_us(lambda: (torch.empty_like(x), torch.empty_like(w))),
    }
    aten = getattr(torch.ops.aten, "_fused_rms_norm_backward", None)
    if aten is not None:
        measured["aten._fused_rms_norm_backward"] = host_us(
            lambda: aten.default(dy, x, [N], rstd, w, [True, True])
        )
    for name, kind in (("kiln.nn.RMSNorm", RMSNorm), ("torch.nn.RMSNorm", torch.nn.RMSNorm)):
        module = kind(N, device="cuda", dtype=torch.bfloat16)
        leaf = x.detach().requires_grad_()
        inputs = [leaf, module.weight]
        measured[f"{name} forward"] = host_us(lambda: module(leaf))  # noqa: B023
        measured[f"{name} forward and backward"] = host_us(
            lambda: torch.autograd.grad(module(leaf), inputs, dy)  # noqa: B023
        )
    return measured


if __name__ == "__main__":
    print(json.dumps({name: round(value, 2) for name, value in measure().items()}, indent=2))
