# SPDX-License-Identifier: Apache-2.0
"""The references of the norms and what peers compute, against torch's autograd on the CPU."""

from __future__ import annotations

import bench_records  # noqa: F401
import pytest

torch = pytest.importorskip("torch")

from bench import norm, norm_case, norm_pair_case  # noqa: E402
from bench.failure import Unavailable  # noqa: E402
from bench.peers import aten, inductor  # noqa: E402
from bench.shapes import NormShape, PairShape  # noqa: E402

CASES = [
    (norm.RMS, NormShape(7, 24)),
    (norm.LAYER, NormShape(7, 24)),
    (norm.PAIR, PairShape(7, 24, "f32", True)),
    (norm.PAIR, PairShape(7, 24, "bf16", True)),
    (norm.PAIR, PairShape(7, 24, "f32", False)),
]


def made(op, shape):
    return norm.make_case(torch, op, shape, seed=3, device="cpu")


def forward_of_one(case, x, w, b=None):
    if case.op == norm.LAYER:
        return torch.nn.functional.layer_norm(x, (case.n,), w, b, norm_case.EPSILON)
    return x * (x.square().mean(-1, keepdim=True) + norm_case.EPSILON).rsqrt() * w


def by_autograd(case):
    """The gradients that autograd gives of the forward pass in float64."""

    def leaf(tensor):
        return tensor.detach().double().requires_grad_()

    if case.op != norm.PAIR:
        x, w, b = leaf(case.x), leaf(case.w), leaf(case.b)
        forward_of_one(case, x, w, b).backward(case.dy.double())
        return {"dx": x.grad, "dw": w.grad, **({"db": b.grad} if case.op == norm.LAYER else {})}
    xs, ws = [leaf(x) for x in case.x], [leaf(w) for w in case.w]
    torch.cat([forward_of_one(case, x, w) for x, w in zip(xs, ws)], 1).backward(case.dy.double())
    added = case.residual or (0, 0)
    return {
        **{f"dx{i + 1}": xs[i].grad + added[i] for i in (0, 1)},
        **{f"dw{i + 1}": ws[i].grad for i in (0, 1)},
    }


@pytest.mark.parametrize(("op", "shape"), CASES, ids=lambda value: str(getattr(value, "name", value)))
def test_a_reference_is_the_gradient_and_the_compiled_formula_is_near_it(op, shape):
    case = made(op, shape)
    expected = norm.reference(case)
    distances = norm_case.check(by_autograd(case), expected, case.tolerance)
    assert set(distances) == set(expected)
    formula = inductor.FORMULAS[op](*inductor.tensors_of(case))
    norm_case.check(inductor.results_of(case, formula), expected, case.tolerance)


def test_a_pair_whose_residual_is_forgotten_is_not_timed():
    case = made(norm.PAIR, PairShape(7, 24, "f32", True))
    expected = norm.reference(case)
    case.residual = None
    result = inductor.results_of(case, inductor.FORMULAS[norm.PAIR](*inductor.tensors_of(case)))
    with pytest.raises(Unavailable, match="wrong result: dx1"):
        norm_case.check(result, expected, case.tolerance)


def test_the_bytes_of_a_pair_are_those_of_its_matrices():
    assert made(norm.PAIR, PairShape(7, 24, "f32", True)).floor_bytes == 8 * 7 * 24 * 4
    assert made(norm.PAIR, PairShape(7, 24, "bf16", False)).floor_bytes == 6 * 7 * 24 * 2
    assert made(norm.LAYER, NormShape(7, 24)).floor_bytes == 6 * 7 * 24


@pytest.mark.parametrize("residual", [True, False])
def test_aten_takes_one_norm_after_the_other(monkeypatch, residual):
    """With a stand-in for the operator, which the CPU does not have."""

    def backward(dy, x, shape, rstd, w, wanted):
        assert (shape, wanted) == ([24], [True, True])
        return inductor.rms_norm_backward(x, w, rstd, dy)

    monkeypatch.setattr(aten, "fused_rms_norm", lambda operators: backward)
    case = made(norm.PAIR, PairShape(7, 24, "f32", residual))
    (entry,) = aten.build(case)
    assert entry.name == "aten"
    norm_case.check(entry.result(), norm.reference(case), case.tolerance)


@pytest.mark.parametrize("residual", [True, False])
def test_a_pair_reads_the_halves_of_one_gradient(residual):
    case = norm_pair_case.make(torch, 5, 16, "f16", residual, device="cpu")
    first, second = case.halves
    assert torch.equal(torch.cat([first, second], 1), case.dy)
    assert first.stride() == (32, 1) and first.data_ptr() == case.dy.data_ptr()
    assert case.tolerance == norm_case.TOLERANCE
