"""CUDA graphs: forward and backward captured, replayed, and beside one another."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
import torch

from kiln.nn import RMSNorm, _launches

pytestmark = pytest.mark.own_process


class Step:
    """One forward and backward on tensors that stay where they are."""

    def __init__(self, n: int, rows: int = 333, **options: Any) -> None:
        self.module = RMSNorm(n, device="cuda", dtype=torch.bfloat16, **options)
        self.x = torch.randn(rows, n, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        self.dy = torch.randn(rows, n, device="cuda", dtype=torch.bfloat16)

    def __call__(self) -> tuple[torch.Tensor, ...]:
        y = self.module(self.x)
        return (y, *torch.autograd.grad(y, [self.x, self.module.weight], self.dy))

    def fill(self) -> None:
        with torch.no_grad():
            self.x.normal_()
            self.dy.normal_()


def warm_up(step: Step) -> None:
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)


def detached(outputs: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    """Copies that hold no autograd graph. One that is alive would keep the nodes that accumulate into
    the leaves, and with them the stream of that call, which a later capture would have to wait for."""
    return [output.detach().clone() for output in outputs]


def capture(step: Step) -> tuple[torch.cuda.CUDAGraph, tuple[torch.Tensor, ...]]:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = step()
    return graph, outputs


@pytest.mark.parametrize("n", [128, 4096, 20000])
def test_forward_and_backward_replay(n: int) -> None:
    step = Step(n)
    warm_up(step)
    graph, outputs = capture(step)
    for _ in range(5):
        step.fill()
        graph.replay()
        replayed = detached(outputs)
        for left, right in zip(replayed, step()):
            assert torch.equal(left, right)


def test_a_capture_may_be_the_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """No launch, workspace or counters were made before; then the graph zeroes counters of its own."""
    for name in ("_launches", "_workspaces", "_counters"):
        monkeypatch.setattr(_launches, name, {})
    step = Step(1232)  # a width that no other test loads
    warm = torch.randn(8, 16, device="cuda", requires_grad=True)
    torch.nn.functional.rms_norm(warm, (16,)).sum().backward()  # torch's own lazy starts
    torch.cuda.synchronize()
    graph, outputs = capture(step)
    assert not _launches._launches
    for _ in range(3):
        step.fill()
        graph.replay()
        replayed = detached(outputs)
        for left, right in zip(replayed, step()):
            assert torch.equal(left, right)


def test_a_capture_keeps_no_memory() -> None:
    step = Step(4096)
    warm_up(step)
    graph, outputs = capture(step)
    del outputs
    kept = len(_launches._kept)
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        again, outputs = capture(step)
        del again, outputs
    assert len(_launches._kept) == kept
    assert torch.cuda.memory_allocated() <= before
    graph.replay()
    torch.cuda.synchronize()


def test_graphs_replay_beside_one_another_and_beside_eager_calls() -> None:
    steps = [Step(2880, rows=1024) for _ in range(3)]
    for step in steps:
        warm_up(step)
    expected = [detached(step()) for step in steps]
    captured = [capture(step) for step in steps[:2]]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream() for _ in captured]
    for _ in range(100):
        for stream, (graph, _) in zip(streams, captured):
            with torch.cuda.stream(stream):
                graph.replay()
        eager = steps[2]()
    torch.cuda.synchronize()
    for (_, outputs), wanted in zip(captured, expected):
        for left, right in zip(outputs, wanted):
            assert torch.equal(left, right)
    for left, right in zip(eager, expected[2]):
        assert torch.equal(left, right)


def test_graphed_callables_train() -> None:
    module = RMSNorm(1024, device="cuda")
    plain = RMSNorm(1024, device="cuda")
    sample = torch.randn(64, 1024, device="cuda", requires_grad=True)
    graphed = torch.cuda.make_graphed_callables(module, (sample,))
    for _ in range(3):
        # A kept gradient of a graphed module is the memory that the next replay writes: torch's rule.
        module.weight.grad = plain.weight.grad = None
        x = torch.randn(64, 1024, device="cuda", requires_grad=True)
        again = x.detach().clone().requires_grad_()
        graphed(x).square().sum().backward()
        plain(again).square().sum().backward()
        assert torch.equal(x.grad, again.grad)
        assert torch.equal(module.weight.grad, plain.weight.grad)


def test_main_grad_is_added_to_at_every_replay() -> None:
    step = Step(1024, fuse_wgrad_accumulation=True)
    step.module.weight.main_grad = torch.zeros(1024, device="cuda")

    def backward() -> None:
        step.x.grad = None
        step.module(step.x).backward(step.dy)

    backward()
    once = step.module.weight.main_grad.clone()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        backward()
    torch.cuda.current_stream().wait_stream(stream)
    step.module.weight.main_grad.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        backward()
    assert not step.module.weight.main_grad.any(), "capturing runs nothing"
    graph.replay()
    assert torch.equal(step.module.weight.main_grad, once)
    graph.replay()
    torch.testing.assert_close(step.module.weight.main_grad, 2 * once)
