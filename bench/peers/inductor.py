# SPDX-License-Identifier: Apache-2.0
"""torch.compile of the formula: mix-order reduction with one stage, with many, and off."""

from __future__ import annotations

import time
import types
from collections.abc import Callable
from typing import Any

from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.norm_case import LAYER, RMS, NormCase
from bench.norm_pair_case import PAIR, PairCase

MIX = "triton.mix_order_reduction"
MANY = "triton.mix_order_reduction_allow_multi_stages"
# name: (label, options)
VARIANTS: dict[str, tuple[str, dict[str, bool]]] = {
    "inductor": ("torch.compile, 1 stage", {MIX: True, MANY: False}),
    "inductor_many": ("torch.compile, many stages", {MIX: True, MANY: True}),
    "inductor_split": ("torch.compile, mix-order off", {MIX: False}),
}


def rms_norm_backward(x, w, rstd, dy):  # noqa: ANN001, ANN201  (traced by torch.compile)
    wide, grad = x.float(), dy.float()
    xh = wide * rstd
    g = grad * w.float()
    mean = (g * xh).mean(-1, keepdim=True)
    return ((g - xh * mean) * rstd).to(x.dtype), (grad * xh).sum(0).to(w.dtype)


def layer_norm_backward(x, w, mean, rstd, dy):  # noqa: ANN001, ANN201
    wide, grad = x.float(), dy.float()
    xh = (wide - mean) * rstd
    g = grad * w.float()
    projection = (g * xh).mean(-1, keepdim=True)
    dx = (g - xh * projection - g.mean(-1, keepdim=True)) * rstd
    return dx.to(x.dtype), (grad * xh).sum(0).to(w.dtype), grad.sum(0).to(w.dtype)


def rms_norm_pair_backward(x1, x2, w1, w2, rstd1, rstd2, dy, residual1, residual2):  # noqa: ANN001, ANN201
    n = x1.shape[1]
    found = []
    for x, w, rstd, half, residual in (
        (x1, w1, rstd1, dy[:, :n], residual1),
        (x2, w2, rstd2, dy[:, n:], residual2),
    ):
        grad = half.float()
        xh = x.float() * rstd
        g = grad * w.float()
        dx = (g - xh * (g * xh).mean(-1, keepdim=True)) * rstd
        if residual is not None:
            dx = dx + residual.float()
        found.append((dx.to(x.dtype), (grad * xh).sum(0).to(w.dtype)))
    (dx1, dw1), (dx2, dw2) = found
    return dx1, dx2, dw1, dw2


FORMULAS: dict[str, Callable[..., Any]] = {
    RMS: rms_norm_backward,
    LAYER: layer_norm_backward,
    PAIR: rms_norm_pair_backward,
}


def tensors_of(case: NormCase | PairCase) -> tuple[Any, ...]:
    """The arguments of a case's formula."""
    if isinstance(case, PairCase):
        return (*case.x, *case.w, *case.rstd, case.dy, *(case.residual or (None, None)))
    mean = (case.mean,) if case.op == LAYER else ()
    return (case.x, case.w, *mean, case.rstd, case.dy)


def results_of(case: NormCase | PairCase, returned: tuple[Any, ...]) -> dict[str, Any]:
    names = ("dx1", "dx2", "dw1", "dw2") if case.op == PAIR else ("dx", "dw", "db")
    return dict(zip(names, returned))


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy with a code object of its own.

    Dynamo keeps compiled code by code object and gives up on one that was compiled too often; a copy for each
    variant and shape keeps all of them alive, none disturbing another.
    """
    code = function.__code__.replace(co_name=function.__name__)
    return types.FunctionType(code, function.__globals__, function.__name__)


def build_one(name: str) -> Callable[[NormCase | PairCase], list[Entry]]:
    def build(case: NormCase | PairCase) -> list[Entry]:
        import torch._inductor

        label, wanted = VARIANTS[name]
        known = set(torch._inductor.list_options())
        if MIX not in known and name != "inductor":
            raise Unavailable("this torch has no mix-order reduction")
        if name == "inductor_many" and MANY not in known:
            raise Unavailable("this torch does not let mix-order reductions take many stages")
        options = {key: value for key, value in wanted.items() if key in known}
        formula = torch.compile(fresh(FORMULAS[case.op]), dynamic=False, options=options)
        tensors = tensors_of(case)

        def call() -> Any:
            return formula(*tensors)

        def result() -> dict[str, Any]:
            return results_of(case, call())

        start = time.monotonic()
        call()
        case.torch.cuda.synchronize()
        detail = {"options": options, "compile_s": round(time.monotonic() - start, 2)}
        return [Entry(name, label, PEER, call, result, detail)]

    return build
