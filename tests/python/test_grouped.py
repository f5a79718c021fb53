"""kiln.grouped_mm, kiln.grouped_linear and the module: what they compute, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grouped_emulator import Emulator, install  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import GroupedLinear  # noqa: E402

SIZES = [3, 0, 1, 7]
ROWS, N, K = sum(SIZES), 24, 16


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    torch.manual_seed(0)
    return install(monkeypatch)


def offsets(sizes: list[int] = SIZES, leading_zero: bool = False) -> Any:
    ends = torch.tensor(sizes).cumsum(0)
    return (torch.cat((torch.zeros(1), ends)) if leading_zero else ends).int()


def operands(rows: int = ROWS) -> tuple[Any, Any]:
    x = torch.randn(rows, K).bfloat16().requires_grad_()
    w = torch.randn(len(SIZES), N, K).bfloat16().requires_grad_()
    return x, w


def loop(x: Any, w: Any) -> Any:
    """The same by torch, an expert at a time."""
    parts = zip(x.split([*SIZES, x.shape[0] - ROWS]), w)
    return torch.cat([rows @ one.t() for rows, one in parts])


@pytest.mark.parametrize("leading_zero", [False, True])
def test_output_and_gradients_are_those_of_a_loop_of_experts(gpu: Emulator, leading_zero: bool) -> None:
    x, w = operands()
    y = kiln.grouped_mm(x, w, offsets(leading_zero=leading_zero))
    dy = torch.randn_like(y)
    want = loop(x.float(), w.float())
    torch.testing.assert_close(y, want.bfloat16())
    got = torch.autograd.grad(y, [x, w], dy)
    for one, other in zip(got, torch.autograd.grad(want, [x, w], dy.float())):
        assert one.dtype is torch.bfloat16
        torch.testing.assert_close(one, other)
    assert gpu.ops == ["forward", "dgrad", "wgrad"]


def test_an_fp32_output_keeps_every_bit_of_the_sum(gpu: Emulator) -> None:
    x, w = operands()
    y = kiln.grouped_mm(x, w, offsets(), out_dtype=torch.float32)
    assert y.dtype is torch.float32
    torch.testing.assert_close(y, loop(x.float(), w.float()))
    y.sum().backward()
    assert x.grad.dtype is torch.bfloat16 and w.grad.dtype is torch.bfloat16


def test_rows_past_the_last_offset_touch_nothing(gpu: Emulator) -> None:
    x, w = operands(ROWS + 5)
    with torch.no_grad():
        x[ROWS:] = float("nan")
    y = kiln.grouped_mm(x, w, offsets())
    assert y.shape == (ROWS + 5, N)
    dy = torch.full_like(y, float("nan"))
    dy[:ROWS] = 1
    dx, dw = torch.autograd.grad(y, [x, w], dy)
    assert not y[:ROWS].isnan().any() and not dx[:ROWS].isnan().any() and not dw.isnan().any()
    assert not dw[1].any()  # an empty group


@pytest.mark.parametrize("which", [(True, False), (False, True)])
def test_only_gradients_that_are_wanted_are_computed(gpu: Emulator, which: tuple[bool, bool]) -> None:
    x, w = operands()
    x.requires_grad_(which[0])
    w.requires_grad_(which[1])
    kiln.grouped_mm(x, w, offsets()).sum().backward()
    assert gpu.ops == ["forward", "dgrad" if which[0] else "wgrad"]
    assert (x.grad is not None, w.grad is not None) == which


def test_without_gradients_there_is_no_graph(gpu: Emulator) -> None:
    x, w = operands()
    with torch.no_grad():
        assert kiln.grouped_mm(x, w, offsets()).grad_fn is None
    assert kiln.grouped_mm(x.detach(), w.detach(), offsets()).grad_fn is None


@pytest.mark.parametrize(
    "make",
    [
        lambda y: torch.ones(1, 1).expand_as(y),
        lambda y: torch.randn(N, ROWS).t(),
        lambda y: torch.randn(ROWS, N + 3)[:, :N],
        lambda y: torch.randn(ROWS * N + 1)[1:].view(ROWS, N),
    ],
)
def test_a_gradient_may_have_any_strides(gpu: Emulator, make: Any) -> None:
    x, w = operands()
    y = kiln.grouped_mm(x, w, offsets())
    dy = make(y).to(y.dtype) if make(y).stride() != (0, 0) else torch.ones(1, 1).to(y.dtype).expand_as(y)
    got = torch.autograd.grad(y, [x, w], dy)
    want = torch.autograd.grad(loop(x.float(), w.float()), [x, w], dy.float())
    for one, other in zip(got, want):
        torch.testing.assert_close(one, other)


def test_operands_may_have_gaps_between_rows_and_groups(gpu: Emulator) -> None:
    x, w = operands()
    wide_x, wide_w = torch.full((ROWS, K + 8), 9.0).bfloat16(), torch.full((8, N + 1, K + 16), 9.0).bfloat16()
    with torch.no_grad():
        wide_x[:, :K] = x
        wide_w[::2, :N, :K] = w
        y = kiln.grouped_mm(wide_x[:, :K], wide_w[::2, :N, :K], offsets())
        assert torch.equal(y, kiln.grouped_mm(x, w, offsets()))


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row(gpu: Emulator, rows: int) -> None:
    x = torch.randn(rows, K).bfloat16().requires_grad_()
    w = torch.randn(2, N, K).bfloat16().requires_grad_()
    y = kiln.grouped_mm(x, w, offsets([0, rows]))
    y.sum().backward()
    assert y.shape == (rows, N) and x.grad.shape == x.shape
    assert not w.grad[0].any() and bool(w.grad[1].any()) == (rows > 0)


def test_another_number_of_rows_is_the_same_launch(gpu: Emulator) -> None:
    for sizes in ([1, 2], [30, 4], [0, 0]):
        x = torch.randn(sum(sizes), K).bfloat16().requires_grad_()
        w = torch.randn(2, N, K).bfloat16().requires_grad_()
        kiln.grouped_mm(x, w, offsets(sizes)).sum().backward()
    assert len(gpu.launches) == 3 and len(gpu.prepared) == 3
    assert len({launch.counters for launch in gpu.launches}) == 3


def test_streams_have_launches_and_counters_of_their_own(gpu: Emulator) -> None:
    x, w = operands()
    for gpu.stream in (7, 8, 7):
        with torch.no_grad():
            kiln.grouped_mm(x, w, offsets())
    assert [run.counters for run in gpu.runs][0] != [run.counters for run in gpu.runs][1]
    assert gpu.runs[0].counters == gpu.runs[2].counters and len(gpu.launches) == 2


def test_a_captured_call_shares_nothing(gpu: Emulator) -> None:
    x, w = operands()
    with torch.no_grad():
        kiln.grouped_mm(x, w, offsets())
        gpu.capturing = True
        for _ in range(2):
            kiln.grouped_mm(x, w, offsets())
    assert [run.captured for run in gpu.runs] == [False, True, True]
    assert len({run.counters for run in gpu.runs}) == 3


def test_a_backward_in_another_thread(gpu: Emulator) -> None:
    x, w = operands()
    y = kiln.grouped_mm(x, w, offsets())
    thread = threading.Thread(target=lambda: y.sum().backward())
    thread.start()
    thread.join()
    assert x.grad is not None and w.grad is not None


def test_changing_offsets_between_forward_and_backward_is_refused(gpu: Emulator) -> None:
    x, w = operands()
    offs = offsets()
    y = kiln.grouped_mm(x, w, offs)
    offs.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_second_derivative_is_refused(gpu: Emulator) -> None:
    x, w = operands()
    (dx,) = torch.autograd.grad(kiln.grouped_mm(x, w, offsets()).square().sum(), [x], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        dx.sum().backward()


def test_the_module_holds_an_experts_weights_as_linear_does(gpu: Emulator) -> None:
    module = GroupedLinear(4, K, N)
    assert module.weight.shape == (4, N, K) and module.weight.dtype is torch.bfloat16
    assert 0.9 * K**-0.5 < module.weight.abs().max() <= K**-0.5
    x, _ = operands()
    torch.testing.assert_close(module(x, offsets()), loop(x.float(), module.weight.float()).bfloat16())
    assert "num_experts=4, in_features=16, out_features=24" in repr(module)
    again = GroupedLinear(4, K, N)
    again.load_state_dict(module.state_dict())
    assert torch.equal(again.weight, module.weight)


@pytest.mark.parametrize("sizes", [(0, 16, 24), (1025, 16, 24), (4, 12, 24), (4, 16, 0), (4, 16, 2**20 + 8)])
def test_a_module_of_sizes_that_are_not_served_is_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(kiln.RequestError, match="GroupedLinear: "):
        GroupedLinear(*sizes)


def test_activation_checkpointing(gpu: Emulator) -> None:
    from torch.utils.checkpoint import checkpoint

    module = GroupedLinear(4, K, N, fuse_wgrad_accumulation=True)
    module.weight.main_grad = torch.zeros(4, N, K)
    x, _ = operands()
    checkpoint(module, x, offsets(), use_reentrant=False).sum().backward()
    kept, module.weight.main_grad = module.weight.main_grad, torch.zeros(4, N, K)
    module(x, offsets()).sum().backward()
    assert torch.equal(kept, module.weight.main_grad) and kept.any()


def test_deterministic_mode_fills_no_gradient_of_weights(gpu: Emulator) -> None:
    x, w = operands()
    torch.use_deterministic_algorithms(True)
    try:
        kiln.grouped_mm(x, w, offsets()).sum().backward()
    finally:
        torch.use_deterministic_algorithms(False)
    want = torch.autograd.grad(loop(x.float(), w.float()).sum(), [w])[0]
    torch.testing.assert_close(w.grad, want)
    assert w.grad.is_contiguous()
