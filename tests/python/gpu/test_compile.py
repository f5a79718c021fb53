"""torch.compile with Inductor: one graph, the eager gradients, CUDA graphs, main_grad."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from kiln.nn import RMSNorm

WIDTH = 512


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Block(nn.Module):
    def __init__(self, norm: Any, **options: Any) -> None:
        super().__init__()
        self.norm = norm(WIDTH, eps=1e-5, **options)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.linear(self.norm(x)).relu()


def model(dtype: torch.dtype = torch.float32, norm: Any = RMSNorm, **options: Any) -> nn.Module:
    return nn.Sequential(Block(norm, **options), Block(norm, **options)).to("cuda", dtype)


def step(run: Any, owner: nn.Module, x: torch.Tensor) -> list[torch.Tensor | None]:
    x = x.detach().requires_grad_()
    owner.zero_grad()
    y = run(x)
    y.backward(torch.ones_like(y))
    return [y.detach().clone(), x.grad, *(p.grad for p in owner.parameters())]


def close(left: Any, right: Any) -> None:
    for one, other in zip(left, right):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("mode", ["default", pytest.param("reduce-overhead", marks=pytest.mark.own_process)])
def test_a_model_compiles_without_a_graph_break(mode: str) -> None:
    eager = model()
    compiled = torch.compile(eager, fullgraph=True, mode=mode)
    for i in range(5):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randn(64, WIDTH, device="cuda") * (i + 1)
        close(step(compiled, eager, x), step(eager, eager, x))


def test_the_number_of_rows_may_change() -> None:
    eager = model()
    compiled = torch.compile(eager, fullgraph=True, dynamic=True)
    for rows in (64, 3, 200):
        x = torch.randn(rows, WIDTH, device="cuda")
        close(step(compiled, eager, x), step(eager, eager, x))


def test_explain_counts_no_break() -> None:
    explained = torch._dynamo.explain(model())(torch.randn(8, WIDTH, device="cuda"))
    assert explained.graph_break_count == 0
    assert explained.graph_count == 1


def test_bf16_errs_as_torch_does() -> None:
    """The error of every tensor, by norm, against the same model in double precision.

    What bf16 costs such a model is measured: it is what torch's own norm, uncompiled, is off by. A compiled
    model rounds at other places, and no more often; with at least 512 independent roundings in every norm,
    two such errors differ by a few percent.
    """
    mine, theirs = model(torch.bfloat16), model(torch.bfloat16, nn.RMSNorm)
    exact = model(torch.float64, nn.RMSNorm)
    for other in (theirs, exact):
        other.load_state_dict(mine.state_dict())
    x = torch.randn(64, WIDTH, device="cuda", dtype=torch.bfloat16)
    compiled = step(torch.compile(mine, fullgraph=True), mine, x)
    for left, right, truth in zip(compiled, step(theirs, theirs, x), step(exact, exact, x.double())):
        assert left is not None and right is not None and truth is not None
        assert left.dtype is torch.bfloat16
        assert (left.double() - truth).norm() <= 1.5 * (right.double() - truth).norm()


def test_main_grad_is_added_to_by_a_compiled_model() -> None:
    eager = model(fuse_wgrad_accumulation=True)
    weights = [block.norm.weight for block in eager]
    for weight in weights:
        weight.main_grad = torch.zeros(WIDTH, device="cuda")
        weight.grad_added_to_main_grad = False
    x = torch.randn(64, WIDTH, device="cuda")
    step(eager, eager, x)
    expected = [weight.main_grad.clone() for weight in weights]
    for weight in weights:
        weight.main_grad.zero_()
        weight.grad_added_to_main_grad = False
    compiled = torch.compile(eager, fullgraph=True)
    for times in (1, 2):
        step(compiled, eager, x)
        for weight, once in zip(weights, expected):
            torch.testing.assert_close(weight.main_grad, times * once, atol=1e-3, rtol=1e-3)
            assert weight.grad_added_to_main_grad is True
