# SPDX-License-Identifier: Apache-2.0
"""What the bench asks of kiln's package: ops, keys and tensors that there are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import kiln
from bench import gemm, gemm_case, kiln_ops, norm
from bench.norm_pair_case import PairCase
from kiln import _kiln


def case_of(direction: str) -> SimpleNamespace:
    wide = direction in (gemm_case.WGRAD_F32, gemm_case.WGRAD_ACCUMULATE)
    return SimpleNamespace(
        direction=direction,
        is_wgrad=direction.startswith("wgrad"),
        accumulates=direction.startswith("wgrad_accumulate"),
        shape=SimpleNamespace(n=4096, k=2048),
        torch=SimpleNamespace(float32="float32"),
        **{name: name for name in ("x", "w", "g", "offs")},
        out=SimpleNamespace(dtype="float32" if wide else "bfloat16"),
    )


@pytest.mark.parametrize("direction", gemm_case.DIRECTIONS)
def test_every_grouped_gemm_is_an_op_with_those_tensors(direction: str, cache: object) -> None:
    case = case_of(direction)
    signature = kiln_ops.grouped_signature(case)
    assert kiln.supports(signature, "sm_90a") == (True, "")
    roles = dict(_kiln.tensor_roles(_kiln.canonical(signature)))
    tensors = kiln_ops.grouped_tensors(case)
    assert set(tensors) == set(roles)
    (written,) = (name for name, role in roles.items() if role != "input")
    assert tensors[written] is case.out
    assert (roles[written] == "in_out") == case.accumulates


@pytest.mark.parametrize("op", gemm.OPS)
def test_what_is_warmed_is_what_is_prepared(op: str, cache: object) -> None:
    for signature in kiln_ops.signatures_of(op, 4096, 2048):
        assert kiln.supports(signature, "sm_90a") == (True, "")
    parts = gemm_case.STEP_DIRECTIONS if op == gemm_case.STEP else (op,)
    wanted = [kiln_ops.grouped_signature(case_of(part)) for part in parts]
    assert set(wanted) <= set(kiln_ops.signatures_of(op, 4096, 2048))


class Like:
    """A tensor as far as its name goes."""

    def reshape(self, *shape: int) -> Like:
        return self

    def __getitem__(self, at: object) -> Like:
        return self


def norms(op: str) -> list[object]:
    if op == "pair":
        two = (Like(), Like())
        return [
            PairCase(8, 8192, kind, None, Like(), two, two, two, residual)
            for kind in ("f32", "bf16")
            for residual in (None, two)
        ]
    tensors = {name: Like() for name in ("x", "dy", "w", "rstd", "mean")}
    return [SimpleNamespace(op=norm.OPS[op], n=4096, **tensors)]


@pytest.mark.parametrize("op", norm.OPS)
def test_every_norm_is_an_op_with_those_tensors(op: str, cache: object) -> None:
    for case in norms(op):
        signature = kiln_ops.norm_signature(case)
        assert kiln.supports(signature, "sm_90a") == (True, "")
        roles = dict(_kiln.tensor_roles(_kiln.canonical(signature)))
        assert set(kiln_ops.norm_inputs(case)) == {name for name, role in roles.items() if role == "input"}
        assert set(kiln_ops.norm_outputs(case)) == {name for name, role in roles.items() if role == "output"}


@pytest.mark.parametrize("many", [False, True])
def test_the_pair_of_eagle3_is_one_fused_kernel_with_one_stage_and_with_many(
    many: bool, cache: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shape,) = norm.shapes_of(norm.PAIR, None, "baseline")
    two = (Like(), Like())
    case = PairCase(shape.rows, shape.n, shape.type, None, Like(), two, two, two, two)
    monkeypatch.setenv("KILN_ALLOW_MULTI_STAGES", str(int(many)))
    plan = kiln.explain(kiln_ops.norm_signature(case), "sm_90a")
    assert plan["route"] == "fused" and len(plan["stages"]) == 1
    assert (plan["stages"][0]["stages"]["chosen"] > 1) == many
