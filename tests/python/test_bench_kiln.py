# SPDX-License-Identifier: Apache-2.0
"""What the bench asks of kiln's package: ops, keys and tensors that there are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import kiln
from bench import gemm, gemm_case, kiln_ops
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
