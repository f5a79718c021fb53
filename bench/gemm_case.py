# SPDX-License-Identifier: Apache-2.0
"""Operands of one grouped GEMM in its directions, and the check of every group that a result must pass.

Groups own consecutive rows of packed activations. With r(e) the rows of group e:
    forward            y[r] = x[r] · w[e]ᵀ          dgrad   dx[r] = g[r] · w[e]
    wgrad_bf16, _f32   dw[e] = g[r]ᵀ · x[r]         wgrad_accumulate, _bf16   dw[e] += g[r]ᵀ · x[r]
    step               forward, dgrad and wgrad_accumulate (fp32), one after another
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.failure import Unavailable
from bench.norm_case import TOLERANCE, distance
from bench.shapes import GroupedShape, group_sizes

FORWARD, DGRAD = "forward", "dgrad"
WGRAD_BF16, WGRAD_F32 = "wgrad_bf16", "wgrad_f32"
WGRAD_ACCUMULATE, WGRAD_ACCUMULATE_BF16 = "wgrad_accumulate", "wgrad_accumulate_bf16"
DIRECTIONS = (FORWARD, DGRAD, WGRAD_BF16, WGRAD_F32, WGRAD_ACCUMULATE, WGRAD_ACCUMULATE_BF16)
STEP = "step"
STEP_DIRECTIONS = (FORWARD, DGRAD, WGRAD_ACCUMULATE)
CHECKED_GROUPS = 4


@dataclass
class GemmCase:
    direction: str
    shape: GroupedShape
    torch: Any
    sizes: list[int]
    ends: list[int]  # cumulative, on the host
    offs: Any  # the same, int32 on the device
    x: Any  # [rows, k]
    w: Any  # [experts, n, k]
    g: Any  # [rows, n]
    out: Any
    scratch: Any = None  # dw before it is added, for those that do not fuse

    @property
    def is_wgrad(self) -> bool:
        return self.direction.startswith("wgrad")

    @property
    def accumulates(self) -> bool:
        return self.direction in (WGRAD_ACCUMULATE, WGRAD_ACCUMULATE_BF16)


def make_operands(torch: Any, shape: GroupedShape, device: str = "cuda", seed: int = 0) -> dict[str, Any]:
    generator = torch.Generator(device=device).manual_seed(seed)

    def normal(*extents: int) -> Any:
        return torch.randn(*extents, device=device, dtype=torch.bfloat16, generator=generator)

    sizes = group_sizes(shape)
    offs = torch.tensor(sizes, dtype=torch.int32).cumsum(0, dtype=torch.int32)
    return {
        "sizes": sizes,
        "ends": offs.tolist(),
        "offs": offs.to(device),
        "x": normal(shape.rows, shape.k),
        "w": normal(shape.experts, shape.n, shape.k) * shape.k**-0.5,
        "g": normal(shape.rows, shape.n),
    }


def make(torch: Any, direction: str, shape: GroupedShape, operands: dict[str, Any]) -> GemmCase:
    wide = direction in (WGRAD_F32, WGRAD_ACCUMULATE)
    extents = {FORWARD: (shape.rows, shape.n), DGRAD: (shape.rows, shape.k)}.get(
        direction, (shape.experts, shape.n, shape.k)
    )
    device = operands["x"].device
    dtype = torch.float32 if wide else torch.bfloat16
    out = torch.zeros(*extents, dtype=dtype, device=device)
    case = GemmCase(direction=direction, shape=shape, torch=torch, out=out, **operands)
    if case.accumulates:
        case.scratch = torch.empty_like(out)
    return case


def bounds(case: GemmCase, group: int) -> tuple[int, int]:
    return (case.ends[group - 1] if group else 0), case.ends[group]


def checked_groups(case: GemmCase) -> list[int]:
    """The first, the last, the largest and the smallest: every group would cost more than the timing."""
    by_size = sorted(range(case.shape.experts), key=lambda group: case.sizes[group])
    return sorted({0, case.shape.experts - 1, by_size[0], by_size[-1]})[:CHECKED_GROUPS]


def reference(case: GemmCase) -> dict[int, Any]:
    """Checked groups in fp32 arithmetic on the bf16 operands (torch keeps TF32 off by default)."""
    found = {}
    for group in checked_groups(case):
        begin, end = bounds(case, group)
        x, g, w = case.x[begin:end].float(), case.g[begin:end].float(), case.w[group].float()
        if case.direction == FORWARD:
            found[group] = x @ w.t()
        elif case.direction == DGRAD:
            found[group] = g @ w
        else:
            found[group] = g.t() @ x
    return found


def check(case: GemmCase, result: Mapping[str, Any], expected: Mapping[int, Any]) -> dict[str, float]:
    """The largest distance of a checked group; raises Unavailable when it is too far."""
    worst = 0.0
    for group, want in expected.items():
        begin, end = bounds(case, group)
        got = result["out"][group] if case.is_wgrad else result["out"][begin:end]
        if want.numel() == 0:
            continue
        away = distance(got, want)
        if not away <= TOLERANCE:
            raise Unavailable(f"wrong result: group {group} is {away:.2g} away from its reference")
        worst = max(worst, away)
    return {"out": float(f"{worst:.3g}")}


def result_in(case: GemmCase, call: Callable[[], Any]) -> Callable[[], Mapping[str, Any]]:
    """Runs a call that writes case.out: on zeros when it accumulates, else on NaN, so that gaps show."""

    def result() -> Mapping[str, Any]:
        case.out.fill_(0.0 if case.accumulates else float("nan"))
        call()
        return {"out": case.out}

    return result
