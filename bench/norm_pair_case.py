# SPDX-License-Identifier: Apache-2.0
"""The tensors of two RMSNorms that feed a concatenation, backward, and their float64 reference.

Eagle3's draft layer normalises a hidden state and an embedding and concatenates them: the gradient of the
concatenation is one matrix [rows, 2n], and each norm's `dy` is half of it, a view with a stride.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.norm_case import EPSILON, TOLERANCE, blocks

PAIR = "rms_norm_pair_backward"
# Sums of 16,384 fp32 values lie within about 1e-6 of a float64 reference, by norm.
TOLERANCE_F32 = 1e-4
TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}  # torch's names


@dataclass
class PairCase:
    rows: int
    n: int
    type: str  # kiln's name
    torch: Any
    dy: Any  # [rows, 2n]
    x: tuple[Any, Any]
    w: tuple[Any, Any]
    rstd: tuple[Any, Any]  # [rows, 1]
    residual: tuple[Any, Any] | None
    op: str = PAIR

    @property
    def halves(self) -> tuple[Any, Any]:
        """The gradients of the two norms' results."""
        return self.dy[:, : self.n], self.dy[:, self.n :]

    @property
    def device(self) -> Any:
        return self.dy.device

    @property
    def floor_bytes(self) -> int:
        """Bytes that must move: of each norm x, dy and the residual are read and dx is written once."""
        matrices = 2 * (3 + (self.residual is not None))
        return matrices * self.rows * self.n * self.dy.element_size()

    @property
    def tolerance(self) -> float:
        return TOLERANCE_F32 if self.type == "f32" else TOLERANCE


def make(
    torch: Any, rows: int, n: int, type: str, residual: bool, device: str = "cuda", seed: int = 0
) -> PairCase:
    """Random data: zeros would draw less power and hide wrong indexing."""
    generator = torch.Generator(device=device).manual_seed(seed)
    dtype = getattr(torch, TYPES[type])

    def normal(*shape: int) -> Any:
        return torch.randn(*shape, device=device, dtype=dtype, generator=generator)

    def two(*shape: int) -> tuple[Any, Any]:
        return normal(*shape), normal(*shape)

    x = two(rows, n)
    rstd = tuple(torch.empty(rows, 1, device=device) for _ in x)
    for one, saved in zip(x, rstd):
        for begin, end in blocks(rows, n):
            square = one[begin:end].float().square().mean(-1, keepdim=True)
            saved[begin:end] = (square + EPSILON).rsqrt()
    added = two(rows, n) if residual else None
    return PairCase(rows, n, type, torch, normal(rows, 2 * n), x, two(n), (rstd[0], rstd[1]), added)


def reference(case: PairCase) -> dict[str, Any]:
    """dx1 and dx2 in the matrices' type (rounded once), dw1 and dw2 in float64."""
    found = {}
    for side in (0, 1):
        dx = case.torch.empty_like(case.x[side])
        dw = case.torch.zeros(case.n, dtype=case.torch.float64, device=case.device)
        for (begin, end), rows in _sides(case, side):
            dx[begin:end] = rows[0].to(dx.dtype)
            dw += rows[1]
        found[f"dx{side + 1}"], found[f"dw{side + 1}"] = dx, dw
    return found


def _sides(case: PairCase, side: int) -> Iterator[tuple[tuple[int, int], tuple[Any, Any]]]:
    """Of one norm, block by block: its rows, and their dx and share of dw in float64."""
    for begin, end in blocks(case.rows, case.n):
        dy = case.halves[side][begin:end].double()
        rstd = case.rstd[side][begin:end].double()
        xh = case.x[side][begin:end].double() * rstd
        g = dy * case.w[side].double()
        dx = rstd * (g - xh * (g * xh).mean(-1, keepdim=True))
        if case.residual is not None:
            dx += case.residual[side][begin:end].double()
        yield (begin, end), (dx, (dy * xh).sum(0))
