"""kiln.nn on an emulated GPU: what reaches the module, and what autograd makes of the results."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator, install, reference  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import RMSNorm, functional  # noqa: E402
from kiln.nn._main_grad import main_grad_of  # noqa: E402


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    torch.manual_seed(0)
    return install(monkeypatch)


def gradients(module: Any, x: Any, dy: Any) -> tuple[Any, Any]:
    x = x.detach().requires_grad_()
    module.zero_grad()
    module(x).backward(dy)
    return x.grad, None if module.weight is None else module.weight.grad


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("shape", [(5, 24), (2, 3, 24), (24,), (0, 24)])
def test_gradients_are_those_of_torchs_module(
    gpu: Emulator, dtype: str, affine: bool, shape: tuple[int, ...]
) -> None:
    kind = getattr(torch, dtype)
    mine = RMSNorm(24, eps=1e-5, elementwise_affine=affine, dtype=kind)
    theirs = torch.nn.RMSNorm(24, eps=1e-5, elementwise_affine=affine, dtype=kind)
    if affine:
        torch.nn.init.normal_(mine.weight)
        theirs.load_state_dict(mine.state_dict())
    x, dy = torch.randn(shape, dtype=kind), torch.randn(shape, dtype=kind)
    tolerance = {"float32": 1e-5, "bfloat16": 5e-2}[dtype]
    torch.testing.assert_close(mine(x), theirs(x), atol=tolerance, rtol=tolerance)
    for left, right in zip(gradients(mine, x, dy), gradients(theirs, x, dy)):
        torch.testing.assert_close(left, right, atol=tolerance, rtol=tolerance)
    assert len(gpu.runs) == 1


def test_rows_of_several_dimensions_are_normalised_together(gpu: Emulator) -> None:
    mine, theirs = RMSNorm((3, 8)), torch.nn.RMSNorm((3, 8))
    x, dy = torch.randn(4, 3, 8), torch.randn(4, 3, 8)
    for left, right in zip(gradients(mine, x, dy), gradients(theirs, x, dy)):
        torch.testing.assert_close(left, right)
    assert gpu.prepared == [kiln._kiln.canonical("rms_norm_backward:n=24,x=f32")]


def test_types_may_differ(gpu: Emulator) -> None:
    mine = RMSNorm(16)
    x = torch.randn(4, 16, dtype=torch.bfloat16)
    y = mine(x)
    assert y.dtype is torch.bfloat16
    _, dw = gradients(mine, x, torch.randn(4, 16, dtype=torch.bfloat16))
    assert dw.dtype is torch.float32
    assert "w=f32" in gpu.prepared[0]


def test_a_seen_call_prepares_nothing_and_shares_the_launch(gpu: Emulator) -> None:
    module = RMSNorm(16)
    for rows in (1, 4, 9):
        gradients(module, torch.randn(rows, 16), torch.randn(rows, 16))
    assert len(gpu.prepared) == 1
    assert len(gpu.launches) == 1
    assert len(gpu.runs) == 3


def test_streams_have_launches_workspaces_and_counters_of_their_own(gpu: Emulator) -> None:
    module = RMSNorm(16)
    for gpu.stream in (7, 8, 7):
        gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    first, second = gpu.launches
    assert first.workspace != second.workspace
    assert first.counters != second.counters


def test_the_stream_that_each_thread_has_is_one_a_thread(gpu: Emulator) -> None:
    import threading

    gpu.stream = 2
    x, rstd = torch.randn(2, 16), torch.ones(2)

    def call() -> None:
        functional.rms_norm_backward(x, x, rstd, torch.ones(16))

    call()
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert len(gpu.launches) == 2


def test_signatures_on_one_stream_share_a_workspace(gpu: Emulator) -> None:
    for n in (64, 16):
        gradients(RMSNorm(n), torch.randn(2, n), torch.randn(2, n))
    wide, narrow = gpu.launches
    assert wide.workspace == narrow.workspace
    assert wide.counters != narrow.counters


def test_a_captured_call_shares_nothing(gpu: Emulator) -> None:
    module = RMSNorm(16)
    x, dy = torch.randn(2, 16), torch.randn(2, 16)
    eager = gradients(module, x, dy)
    gpu.capturing = True
    captured = gradients(module, x, dy)
    gradients(module, x, dy)
    for left, right in zip(eager, captured):
        assert torch.equal(left, right)
    assert [launch.captured for launch in gpu.runs] == [False, True, True]
    assert len({launch.counters for launch in gpu.launches}) == 3
    assert gpu.runs[0].workspace != gpu.runs[1].workspace
    gpu.capturing = False
    gradients(module, x, dy)
    assert gpu.runs[-1] is gpu.runs[0]


def test_nothing_is_kept_by_a_capture_that_comes_first(gpu: Emulator) -> None:
    from kiln.nn import _launches

    gpu.capturing = True
    gradients(RMSNorm(16), torch.randn(2, 16), torch.randn(2, 16))
    assert not _launches._kept
    assert not _launches._launches
    assert [launch.captured for launch in gpu.launches] == [True]


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t[:, :16],  # rows further apart than they are long
        lambda t: t[::2, :16],
        lambda t: t.t()[:16].t() if t.shape[1] >= 16 else t,
        lambda t: t[:1, :16].expand(6, 16),  # one row, again and again
        lambda t: t[:, 0:32:2],  # columns apart
        lambda t: t[:6, :1].expand(6, 16),
    ],
)
def test_strided_inputs_and_gradients_are_served(gpu: Emulator, view: Any) -> None:
    x, dy = view(torch.randn(6, 40)), view(torch.randn(6, 40))
    weight = torch.randn(16)
    rstd = torch.rand(x.shape[0]) + 0.5
    dx, dw = functional.rms_norm_backward(dy, x, rstd, weight)
    expected = reference(dy, x, rstd, weight)
    torch.testing.assert_close(dx.double(), expected[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(dw.double(), expected[1], atol=1e-5, rtol=1e-5)
    assert dx.is_contiguous()


def test_the_gradient_of_a_sum_is_expanded_and_served(gpu: Emulator) -> None:
    module = RMSNorm(16)
    x = torch.randn(3, 16, requires_grad=True)
    module(x).sum().backward()
    assert x.grad.shape == (3, 16)


def test_a_frozen_weight_gets_no_gradient_and_a_frozen_input_neither(gpu: Emulator) -> None:
    module = RMSNorm(16)
    module.weight.requires_grad_(False)
    dx, dw = gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert dx is not None and dw is None
    module.weight.requires_grad_(True)
    module(torch.randn(2, 16)).sum().backward()
    assert module.weight.grad is not None


def test_nothing_is_saved_without_grad(gpu: Emulator) -> None:
    module = RMSNorm(16)
    with torch.no_grad():
        assert module(torch.randn(2, 16)).grad_fn is None
    with torch.inference_mode():
        assert module(torch.randn(2, 16)).grad_fn is None
    assert not gpu.prepared


def test_a_residual_gradient_is_added(gpu: Emulator) -> None:
    x, dy, residual = torch.randn(3, 3, 16).unbind(1)
    rstd, weight = torch.ones(3), torch.ones(16)
    with_it, _ = functional.rms_norm_backward(dy, x, rstd, weight, residual=residual)
    without, _ = functional.rms_norm_backward(dy, x, rstd, weight)
    torch.testing.assert_close(with_it, without + residual)


def test_main_grad_is_added_to_and_no_gradient_comes_back(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    plain = RMSNorm(16)
    x, dy = torch.randn(3, 16), torch.randn(3, 16)
    _, dw = gradients(plain, x, dy)
    module.weight.main_grad = torch.full((16,), 2.0)
    _, nothing = gradients(module, x, dy)
    assert nothing is None
    torch.testing.assert_close(module.weight.main_grad, dw + 2)
    gradients(module, x, dy)
    torch.testing.assert_close(module.weight.main_grad, 2 * dw + 2)
    assert "accumulate=1" in gpu.prepared[-1] and "dw=f32" in gpu.prepared[-1]


@pytest.mark.parametrize("zeros", [True, False])
def test_megatrons_hooks_get_a_placeholder(gpu: Emulator, zeros: bool) -> None:
    module = RMSNorm(16, dtype=torch.bfloat16, fuse_wgrad_accumulation=True)
    weight = module.weight
    weight.main_grad = torch.zeros(16)
    weight.grad_added_to_main_grad = False
    weight.zero_out_wgrad = zeros
    hooked = []
    weight.register_hook(lambda grad: hooked.append(grad))
    gradients(module, torch.randn(2, 16).bfloat16(), torch.randn(2, 16).bfloat16())
    assert weight.grad_added_to_main_grad is True
    (placeholder,) = hooked
    assert placeholder.dtype is torch.bfloat16 and placeholder.shape == (16,)
    if zeros:
        assert not placeholder.any()


def test_main_grad_is_overwritten_when_the_weight_says_so(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    module.weight.main_grad = torch.full((16,), float("nan"))
    module.weight.overwrite_main_grad = True
    gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert not module.weight.main_grad.isnan().any()


def test_a_frozen_weight_leaves_main_grad_alone(gpu: Emulator) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    module.weight.requires_grad_(False)
    module.weight.main_grad = torch.zeros(16)
    gradients(module, torch.randn(2, 16), torch.randn(2, 16))
    assert not module.weight.main_grad.any()


@pytest.mark.parametrize(
    "bad",
    [
        None,
        torch.zeros(16, dtype=torch.bfloat16),
        torch.zeros(15),
        torch.zeros(1, 16),
        torch.zeros(32)[::2],
        torch.zeros(1).expand(16),
        torch.zeros(16, device="meta"),
        torch.zeros(16, requires_grad=True),
    ],
)
def test_a_bad_main_grad_is_one_exception_before_any_launch(gpu: Emulator, bad: Any) -> None:
    module = RMSNorm(16, fuse_wgrad_accumulation=True)
    if bad is not None:
        module.weight.main_grad = bad
    x = torch.randn(2, 16, requires_grad=True)
    y = module(x).sum()
    with pytest.raises(kiln.RequestError, match="main_grad"):
        y.backward()
    assert not gpu.runs
    with pytest.raises(ValueError, match="main_grad"):
        main_grad_of(module.weight)


def test_differentiating_twice_is_refused_and_once_in_a_graph_is_not(gpu: Emulator) -> None:
    module = RMSNorm(16)
    x = torch.randn(2, 16, requires_grad=True)
    (dx,) = torch.autograd.grad(module(x).pow(2).sum(), x, create_graph=True)
    assert dx.shape == x.shape
    with pytest.raises(RuntimeError, match="once_differentiable"):
        dx.sum().backward()


def test_checkpointing_recomputes_and_hooks_on_saved_tensors_work(gpu: Emulator) -> None:
    from torch.utils.checkpoint import checkpoint

    module = RMSNorm(16)
    x, dy = torch.randn(2, 16), torch.randn(2, 16)
    expected = gradients(module, x, dy)
    again = x.clone().requires_grad_()
    module.zero_grad()
    checkpoint(module, again, use_reentrant=False).backward(dy)
    assert torch.equal(again.grad, expected[0])
    with torch.autograd.graph.save_on_cpu():
        for left, right in zip(gradients(module, x, dy), expected):
            assert torch.equal(left, right)


def test_state_dicts_interchange_with_torchs_module() -> None:
    mine, theirs = RMSNorm(8, eps=1e-6), torch.nn.RMSNorm(8, eps=1e-6)
    torch.nn.init.normal_(mine.weight)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(mine.state_dict())
    mine.load_state_dict(theirs.state_dict())
    assert isinstance(mine, torch.nn.RMSNorm)
    assert repr(mine) == repr(theirs)
    fused = RMSNorm(8, elementwise_affine=False, fuse_wgrad_accumulation=True)
    assert "fuse_wgrad_accumulation=True" in repr(fused)
    for again in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert torch.equal(again.weight, mine.weight)


def test_the_module_takes_torchs_arguments() -> None:
    import inspect

    theirs = inspect.signature(torch.nn.RMSNorm).parameters
    mine = inspect.signature(RMSNorm).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    assert {name: mine[name].default for name in theirs} == {
        name: parameter.default for name, parameter in theirs.items()
    }
    theirs = inspect.signature(torch.nn.functional.rms_norm).parameters
    mine = inspect.signature(functional.rms_norm).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
