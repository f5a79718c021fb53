# SPDX-License-Identifier: Apache-2.0
"""Operands, references and entries of grouped products, computed on the host."""

from __future__ import annotations

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import bench_records  # noqa: E402, F401

from bench import gemm, gemm_case, gemm_step  # noqa: E402
from bench.entry import AGAIN, PEER, SUBJECT, Entry  # noqa: E402
from bench.failure import Unavailable  # noqa: E402
from bench.shapes import GroupedShape  # noqa: E402
from bench.timing import Settings  # noqa: E402

SHAPE = GroupedShape(4, 64, 24, 16, "odd")


def by_hand(case: gemm_case.GemmCase, wrong: float = 0.0) -> list[Entry]:
    """Two entries that compute the product with torch on the host."""

    def call() -> None:
        for group in range(case.shape.experts):
            begin, end = gemm_case.bounds(case, group)
            x, g, w = case.x[begin:end].float(), case.g[begin:end].float(), case.w[group].float()
            if case.is_wgrad:
                dw = (g.t() @ x + wrong).to(case.out.dtype)
                case.out[group] = case.out[group] + dw if case.accumulates else dw
            else:
                case.out[begin:end] = (x @ w.t() if case.direction == gemm_case.FORWARD else g @ w) + wrong

    result = gemm_case.result_in(case, call)
    return [
        Entry("kiln", "kiln", SUBJECT, call, result),
        Entry("kiln_again", "again", AGAIN, call, result, again_of="kiln"),
        Entry("other", "other", PEER, call, result),
    ]


@pytest.fixture
def operands() -> dict:
    return gemm_case.make_operands(torch, SHAPE, device="cpu")


@pytest.mark.parametrize("direction", gemm_case.DIRECTIONS)
def test_a_right_product_passes_the_check_and_a_wrong_one_does_not(operands, direction):
    case = gemm_case.make(torch, direction, SHAPE, operands)
    assert (case.scratch is not None) == case.accumulates
    expected = gemm_case.reference(case)
    right, *_ = by_hand(case)
    assert gemm_case.check(case, right.result(), expected)["out"] < 1e-2
    wrong, *_ = by_hand(case, wrong=1.0)
    with pytest.raises(Unavailable, match="wrong result"):
        gemm_case.check(case, wrong.result(), expected)


def test_a_step_is_three_products_and_is_checked_as_three(operands):
    step = gemm_step.make(torch, SHAPE, operands)
    expected = gemm_step.reference(step)
    entries = gemm_step.builder(by_hand)(step)
    assert [(e.name, e.role, e.again_of) for e in entries] == [
        ("kiln", SUBJECT, None),
        ("kiln_again", AGAIN, "kiln"),
        ("other", PEER, None),
    ]
    distances = gemm_step.check(step, entries[0].result(), expected)
    assert set(distances) == set(gemm_case.STEP_DIRECTIONS) and max(distances.values()) < 1e-2
    for part in step.parts:
        part.out.zero_()
    entries[1].call()
    assert all(part.out.any() for part in step.parts)
    broken = gemm_step.builder(lambda part: by_hand(part, wrong=float(part.is_wgrad)))(step)
    with pytest.raises(Unavailable, match="wrong result"):
        gemm_step.check(step, broken[0].result(), expected)


class Here:
    """A session that checks entries and calls them once, and has time for some cases."""

    def __init__(self, cases: int) -> None:
        self.torch, self.how = torch, Settings()
        self.left_of, self.cases, self._for = [], [], cases

    def has_time_for(self, left: int) -> bool:
        self.left_of.append(left)
        return len(self.cases) < self._for

    def case(self, fields, entries, check) -> None:
        for one in entries:
            assert one.error is None
            check(one.result())
            one.call()
        self.cases.append(fields)


def test_every_op_of_a_shape_is_measured_and_a_spent_budget_leaves_the_rest(monkeypatch):
    monkeypatch.setattr(gemm_case, "make_operands", partial(gemm_case.make_operands, device="cpu"))
    monkeypatch.setattr(gemm, "BUILDERS", {"kiln": ("kiln", SUBJECT, by_hand)})
    here = Here(cases=100)
    assert gemm._measure(here, SHAPE, list(gemm.OPS), ["kiln"], 20) == len(gemm.OPS)
    assert [case["op"] for case in here.cases] == [f"grouped_gemm_{op}" for op in gemm.OPS]
    assert here.cases[-1]["flops"] == 3 * here.cases[0]["flops"] == 3 * SHAPE.flops
    assert here.left_of == [20, *range(20, 20 - len(gemm.OPS), -1)]
    stopped = Here(cases=2)
    assert gemm._measure(stopped, SHAPE, list(gemm.OPS), ["kiln"], 20) == 2
    assert gemm._measure(Here(cases=0), SHAPE, list(gemm.OPS), ["kiln"], 20) == 0
