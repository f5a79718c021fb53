# SPDX-License-Identifier: Apache-2.0
"""The tensors of one norm backward, its float64 reference, and the check that comes before timing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.failure import Unavailable

RMS = "rms_norm_backward"
LAYER = "layer_norm_backward"
EPSILON = 1e-6
# bf16 results of bf16 operands lie within about 3e-3 of a float64 reference; a wrong kernel lies near 1.
TOLERANCE = 1e-2
REFERENCE_ELEMENTS = 1 << 25  # rows of the reference go in blocks of this many elements


@dataclass
class NormCase:
    op: str
    rows: int
    n: int
    torch: Any
    x: Any
    dy: Any
    w: Any
    b: Any
    mean: Any  # [rows, 1]; zeros for RMSNorm
    rstd: Any  # [rows, 1]
    tolerance: float = TOLERANCE

    @property
    def device(self) -> Any:
        return self.x.device

    @property
    def floor_bytes(self) -> int:
        """Bytes that must move: x and dy are read and dx is written once, 2 bytes each. The rest is small."""
        return 6 * self.rows * self.n


def make(torch: Any, op: str, rows: int, n: int, device: str = "cuda", seed: int = 0) -> NormCase:
    """Random bf16 data: zeros would draw less power and hide wrong indexing."""
    generator = torch.Generator(device=device).manual_seed(seed)

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, device=device, dtype=torch.bfloat16, generator=generator)

    x, dy, w, b = normal(rows, n), normal(rows, n), normal(n), normal(n)
    mean = torch.zeros(rows, 1, device=device)
    rstd = torch.empty(rows, 1, device=device)
    for begin, end in blocks(rows, n):
        block = x[begin:end].float()
        if op == LAYER:
            mean[begin:end] = block.mean(-1, keepdim=True)
        centred = block - mean[begin:end]
        rstd[begin:end] = (centred.square().mean(-1, keepdim=True) + EPSILON).rsqrt()
    return NormCase(op, rows, n, torch, x, dy, w, b, mean, rstd)


def blocks(rows: int, n: int) -> list[tuple[int, int]]:
    """Ranges of rows that a reference takes at once, so that its float64 copies stay small."""
    step = max(1, REFERENCE_ELEMENTS // n)
    return [(begin, min(begin + step, rows)) for begin in range(0, rows, step)]


def reference(case: NormCase) -> dict[str, Any]:
    """dx in bf16 (rounded once), dw and db in float64, from float64 arithmetic."""
    torch = case.torch
    dx = torch.empty_like(case.x)
    dw = torch.zeros(case.n, dtype=torch.float64, device=case.x.device)
    db = torch.zeros_like(dw)
    for begin, end in blocks(case.rows, case.n):
        dy = case.dy[begin:end].double()
        rstd = case.rstd[begin:end].double()
        xh = (case.x[begin:end].double() - case.mean[begin:end].double()) * rstd
        g = dy * case.w.double()
        inner = g - xh * (g * xh).mean(-1, keepdim=True)
        if case.op == LAYER:
            inner -= g.mean(-1, keepdim=True)
        dx[begin:end] = (rstd * inner).to(dx.dtype)
        dw += (dy * xh).sum(0)
        db += dy.sum(0)
    return {"dx": dx, "dw": dw, "db": db} if case.op == LAYER else {"dx": dx, "dw": dw}


def distance(out: Any, expected: Any) -> float:
    """The norm of the difference, relative to the norm of what was expected."""
    if out is None or tuple(out.shape) != tuple(expected.shape):
        return float("inf")
    error = square = 0.0
    rows = out.shape[0] if out.dim() == 2 else 1
    flat_out, flat_expected = out.reshape(rows, -1), expected.reshape(rows, -1)
    for begin, end in blocks(rows, flat_out.shape[1]):
        want = flat_expected[begin:end].double()
        error += float((flat_out[begin:end].double() - want).square().sum())
        square += float(want.square().sum())
    return (error / square) ** 0.5 if square else error**0.5


def check(
    result: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float = TOLERANCE
) -> dict[str, float]:
    """Distances by tensor; raises Unavailable when one is too far: what is wrong is not timed."""
    distances = {name: distance(result.get(name), expected[name]) for name in expected}
    for name, value in distances.items():
        if not value <= tolerance:  # NaN is not
            raise Unavailable(
                f"wrong result: {name} is {value:.2g} away from the float64 reference "
                f"(allowed: {tolerance:g})"
            )
    return {name: float(f"{value:.3g}") for name, value in distances.items()}
