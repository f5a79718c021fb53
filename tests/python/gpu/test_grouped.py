"""kiln.grouped_mm and kiln.grouped_linear on a GPU: numbers, bits, streams, graphs, torch.compile."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor

import kiln
from kiln.nn import GroupedLinear

BF16 = torch.bfloat16
SIZES = [129, 0, 1, 300, 7, 64]
EXPERTS, N, K = len(SIZES), 264, 136


def offsets(sizes: list[int]) -> Tensor:
    return torch.tensor(sizes, device="cuda").cumsum(0).int()


def operands(rows: int = sum(SIZES), n: int = N, k: int = K, experts: int = EXPERTS) -> tuple[Tensor, Tensor]:
    x = torch.randn(rows, k, device="cuda", dtype=BF16, requires_grad=True)
    w = torch.randn(experts, n, k, device="cuda", dtype=BF16, requires_grad=True)
    return x, w


def loop(x: Tensor, w: Tensor, sizes: list[int]) -> Tensor:
    return torch.cat([rows @ one.t() for rows, one in zip(x[: sum(sizes)].split(sizes), w)])


def near(actual: Tensor, exact: Tensor, magnitude: Tensor, depth: int) -> None:
    """Tensor cores truncate while they add: each of the depth sums errs by one unit in the last of 24 bits
    of the magnitudes added, and the store rounds once."""
    unit = 2.0**-8 if actual.dtype is BF16 else 2.0**-24
    error = (depth + 16) * 2.0**-23 * magnitude
    allowed = error + unit * (exact.abs() + error) + 2.0**-133
    worst = ((actual.double() - exact).abs() - allowed).max() if exact.numel() else torch.zeros(())
    assert worst <= 0, f"off by {float(worst):.3g} more than allowed"


@pytest.mark.parametrize("out_dtype", [BF16, torch.float32])
@pytest.mark.parametrize("extra", [0, 77])
def test_output_and_gradients_against_double_precision(out_dtype: Any, extra: int) -> None:
    rows = sum(SIZES)
    x, w = operands(rows + extra)
    with torch.no_grad():
        x[rows:] = float("nan")
    y = kiln.grouped_mm(x, w, offsets(SIZES), out_dtype=out_dtype)
    dy = torch.randn_like(y).to(BF16).to(out_dtype)
    dy[rows:] = float("inf")
    dx, dw = torch.autograd.grad(y, [x, w], dy)
    assert y.dtype is out_dtype and dx.dtype is dw.dtype is BF16
    begin = 0
    for e, size in enumerate(SIZES):
        mine = slice(begin, begin + size)
        xe, we, ge = x[mine].detach().double(), w[e].detach().double(), dy[mine].double()
        near(y[mine].detach(), xe @ we.t(), xe.abs() @ we.abs().t(), K)
        near(dx[mine], ge @ we, ge.abs() @ we.abs(), N)
        near(dw[e], ge.t() @ xe, ge.abs().t() @ xe.abs(), size)
        begin += size
    assert not dw[1].any() and not torch.signbit(dw[1]).any()


def test_a_leading_zero_and_offsets_past_the_rows_change_nothing_else() -> None:
    x, w = operands()
    ends = offsets(SIZES)
    with torch.no_grad():
        y = kiln.grouped_mm(x, w, ends)
        leading = torch.cat((torch.zeros(1, dtype=torch.int32, device="cuda"), ends))
        assert torch.equal(y, kiln.grouped_mm(x, w, leading))
        beyond = ends.clone()
        beyond[-1] = 2**31 - 1
        assert torch.equal(y, kiln.grouped_mm(x, w, beyond))


def test_a_groups_bits_are_the_same_alone_and_among_others() -> None:
    x, w = operands()
    with torch.no_grad():
        y = kiln.grouped_mm(x, w, offsets(SIZES))
        begin = sum(SIZES[:3])
        alone = kiln.grouped_mm(x[begin : begin + 300].clone(), w[3:4], offsets([300]))
    assert torch.equal(y[begin : begin + 300], alone)


@pytest.mark.parametrize("dtype", [torch.float32, BF16])
@pytest.mark.parametrize("shift", [0, 1])
def test_fused_accumulation_gives_the_bits_of_add(dtype: Any, shift: int) -> None:
    x, w = operands()
    offs = offsets(SIZES)
    memory = torch.randn(w.numel() + shift, device="cuda").to(dtype)
    memory[shift : shift + 64] *= 1e-39  # subnormal sums, and signed zeros
    main_grad = memory[shift:].view(w.shape)
    main_grad[1, 0] = -0.0
    before = main_grad.clone()
    w.main_grad = torch.empty_like(before)
    w.overwrite_main_grad = True
    y = kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True)
    dy = torch.randn_like(y)
    y.backward(dy)
    want = before.add_(w.main_grad)
    del w.overwrite_main_grad
    w.main_grad = main_grad
    kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True).backward(dy)
    assert torch.equal(main_grad.view(torch.uint8), want.view(torch.uint8))
    assert w.grad is None


def test_the_fused_route_allocates_nothing_for_the_gradient() -> None:
    sizes = [512] * 8
    x, w = operands(sum(sizes), 1024, 1024, 8)
    x.requires_grad_(False)
    offs = offsets(sizes)
    w.main_grad = torch.zeros(w.shape, device="cuda")
    dy = torch.randn(sum(sizes), 1024, device="cuda", dtype=BF16)

    def backward() -> int:
        y = kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        y.backward(dy)
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before

    backward()
    assert backward() == 0


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def test_nothing_waits_for_the_device_and_nothing_warns() -> None:
    x, w = operands()
    offs = offsets(SIZES)

    def step() -> None:
        kiln.grouped_mm(x, w, offs).backward(torch.ones(sum(SIZES), N, device="cuda", dtype=BF16))

    step()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        with warnings.catch_warnings(), deterministic():
            warnings.simplefilter("error")
            step()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_training_steps_repeat_their_bits_on_two_streams_and_in_threads() -> None:
    x, w = operands()
    offs = offsets(SIZES)
    dy = torch.randn(sum(SIZES), N, device="cuda", dtype=BF16)

    def step() -> list[Tensor]:
        y = kiln.grouped_mm(x, w, offs)
        return [y.detach(), *torch.autograd.grad(y, [x, w], dy)]

    expected = step()
    torch.cuda.synchronize()
    found: list[list[Tensor]] = []

    def worker() -> None:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(100):
                found.append(step())
        stream.synchronize()

    threads = [threading.Thread(target=worker) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    assert len(found) == 200
    for got in found:
        for left, right in zip(got, expected):
            assert torch.equal(left, right)


@pytest.mark.own_process
def test_a_captured_step_replays_with_other_offsets() -> None:
    rows = sum(SIZES)
    x, w = operands()
    w.main_grad = torch.zeros(w.shape, device="cuda")
    offs, dy = offsets(SIZES), torch.randn(rows, N, device="cuda", dtype=BF16)

    def step() -> tuple[Tensor, Tensor]:
        y = kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True)
        return y, torch.autograd.grad(y, [x, w], dy, allow_unused=True)[0]

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y, dx = step()
    for sizes in (SIZES, [0, 0, rows, 0, 0, 0], [1, 2, 3, 4, 5, rows - 15], SIZES):
        offs.copy_(offsets(sizes))
        w.main_grad.zero_()
        graph.replay()
        got = [y.detach().clone(), dx.clone(), w.main_grad.clone()]
        w.main_grad.zero_()
        again, dx_again = step()
        for left, right in zip(got, (again.detach(), dx_again, w.main_grad)):
            assert torch.equal(left, right)


@pytest.mark.parametrize("mode", ["default", pytest.param("reduce-overhead", marks=pytest.mark.own_process)])
def test_a_model_compiles_without_a_graph_break(mode: str) -> None:
    torch._dynamo.reset()
    up, down = GroupedLinear(EXPERTS, K, N, device="cuda"), GroupedLinear(EXPERTS, N, K, device="cuda")
    weights = [up.weight, down.weight]

    def model(x: Tensor, offs: Tensor) -> Tensor:
        return x + down(torch.nn.functional.silu(up(x, offs)), offs)

    def step(run: Any, x: Tensor, offs: Tensor) -> list[Tensor]:
        x = x.detach().requires_grad_()
        y = run(x, offs)
        return [
            y.detach().clone(),
            *(g.clone() for g in torch.autograd.grad(y.square().sum(), [x, *weights])),
        ]

    compiled = torch.compile(model, fullgraph=True, mode=mode)
    offs = offsets(SIZES)
    for _ in range(4):
        torch.compiler.cudagraph_mark_step_begin()
        x = torch.randn(sum(SIZES), K, device="cuda", dtype=BF16)
        for left, right in zip(step(compiled, x, offs), step(model, x, offs)):
            # What is around the products may be rounded at other places.
            assert (left.float() - right.float()).norm() <= 0.02 * right.float().norm()


def test_a_compiled_model_adds_into_main_grad() -> None:
    torch._dynamo.reset()
    layer = GroupedLinear(EXPERTS, K, N, device="cuda", fuse_wgrad_accumulation=True)
    layer.weight.main_grad = torch.zeros(layer.weight.shape, device="cuda")
    x, offs = torch.randn(sum(SIZES), K, device="cuda", dtype=BF16), offsets(SIZES)
    layer(x, offs).sum().backward()
    once = layer.weight.main_grad.clone()
    layer.weight.main_grad.zero_()
    compiled = torch.compile(layer, fullgraph=True)
    for times in (1, 2):
        compiled(x, offs).sum().backward()
        torch.testing.assert_close(layer.weight.main_grad, times * once)


def test_the_first_bad_group_is_reported() -> None:
    x, w = operands()
    bad = offsets(SIZES)
    bad[2] = 5
    bad[4] = 10**6
    with pytest.raises(kiln.RequestError, match="group 2 owns rows 129 to 5"):
        kiln.grouped_mm(x, w, bad, check_offsets=True)
    kiln.grouped_mm(x, w, offsets(SIZES), check_offsets=True)
    with torch.no_grad():  # unchecked: clamped, never outside of the tensors
        kiln.grouped_mm(x, w, bad)
    torch.cuda.synchronize()


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row(rows: int) -> None:
    x, w = operands(rows, experts=2)
    y = kiln.grouped_mm(x, w, offsets([0, rows]))
    y.backward(torch.ones_like(y))
    assert y.shape == (rows, N) and x.grad is not None and x.grad.shape == x.shape
    assert w.grad is not None and not w.grad[0].any() and bool(w.grad[1].any()) == (rows > 0)
    torch.testing.assert_close(y.detach(), loop(x.detach(), w.detach(), [0, rows]))


def test_tensors_of_two_places_are_refused() -> None:
    x, w = operands()
    with pytest.raises(kiln.RequestError, match="offs is on cpu"):
        kiln.grouped_mm(x, w, offsets(SIZES).cpu())
    with pytest.raises(kiln.RequestError, match="w is on cpu"):
        kiln.grouped_mm(x, w.detach().cpu(), offsets(SIZES))
