"""kiln.grouped_linear adding into main_grad, and Megatron's convention, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grouped_emulator import Emulator, install  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import GroupedLinear  # noqa: E402

E, N, K, ROWS = 3, 16, 8, 10


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    torch.manual_seed(0)
    return install(monkeypatch)


def make(**attributes: Any) -> tuple[Any, Any, Any]:
    x = torch.randn(ROWS, K).bfloat16().requires_grad_()
    w = torch.nn.Parameter(torch.randn(E, N, K).bfloat16())
    for name, value in attributes.items():
        setattr(w, name, value)
    return x, w, torch.tensor([4, 4, 10], dtype=torch.int32)


def fused(x: Any, w: Any, offs: Any) -> Any:
    return kiln.grouped_linear(x, w, offs, fuse_wgrad_accumulation=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_main_grad_gets_the_bits_of_add_and_no_gradient_comes_back(gpu: Emulator, dtype: Any) -> None:
    x, w, offs = make(main_grad=torch.randn(E, N, K).to(dtype))
    w.main_grad[1, 0, 0] = -0.0
    before = w.main_grad.clone()
    fused(x, w, offs).sum().backward()
    assert w.grad is None and x.grad is not None
    assert gpu.runs[-1].keys["accumulate"] == "1"
    # The gradient in main_grad's type, by the op that overwrites.
    overwritten = torch.empty_like(before)
    w.main_grad, w.overwrite_main_grad = overwritten, True
    fused(x, w, offs).sum().backward()
    assert gpu.runs[-1].keys["accumulate"] == "0"
    kept = before.clone().add_(overwritten)
    x2, w2, _ = make(main_grad=before)
    with torch.no_grad():
        w2.copy_(w)
        x2.copy_(x)
    fused(x2, w2, offs).sum().backward()
    assert torch.equal(w2.main_grad.view(torch.uint8), kept.view(torch.uint8))


def test_without_fusing_the_gradient_comes_back_and_main_grad_is_left_alone(gpu: Emulator) -> None:
    x, w, offs = make(main_grad=torch.zeros(E, N, K))
    kiln.grouped_linear(x, w, offs).sum().backward()
    assert w.grad is not None and not w.main_grad.any()


@pytest.mark.parametrize("zeros", [True, False])
def test_megatrons_hooks_get_a_placeholder(gpu: Emulator, zeros: bool) -> None:
    x, w, offs = make(main_grad=torch.zeros(E, N, K), grad_added_to_main_grad=False, zero_out_wgrad=zeros)
    hooked: list[Any] = []
    w.register_hook(hooked.append)
    fused(x, w, offs).sum().backward()
    assert w.grad_added_to_main_grad is True and w.main_grad.any()
    (placeholder,) = hooked
    assert placeholder.dtype is torch.bfloat16 and placeholder.shape == w.shape
    assert not zeros or not placeholder.any()


def test_a_frozen_weight_and_no_grad_need_no_main_grad(gpu: Emulator) -> None:
    x, w, offs = make()
    with torch.no_grad():
        fused(x, w, offs)
    w.requires_grad_(False)
    fused(x, w, offs).sum().backward()
    assert gpu.ops == ["forward", "forward", "dgrad"]


BAD = [
    (None, "no main_grad"),
    ("text", "main_grad is a str"),
    (torch.zeros(E, N, K, dtype=torch.float16), "torch.float16"),
    (torch.zeros(E, N, K, dtype=torch.float64), "torch.float64"),
    (torch.zeros(E, N, K + 1), "shape [3, 16, 9]"),
    (torch.zeros(E * N, K), "shape [48, 8]"),
    (torch.zeros(E, N, 2 * K)[..., ::2], "strides"),
    (torch.zeros(1).expand(E, N, K), "strides [0, 0, 0]"),
    (torch.zeros(E, N, K, device="meta"), "on meta"),
    (torch.zeros(E, N, K, requires_grad=True), "requires grad"),
]


@pytest.mark.parametrize(("bad", "part"), BAD)
@pytest.mark.parametrize("when", ["forward", "backward"])
def test_a_bad_main_grad_is_one_exception_before_any_launch(
    gpu: Emulator, when: str, bad: Any, part: str
) -> None:
    x, w, offs = make(main_grad=torch.zeros(E, N, K) if when == "backward" else bad)
    if when == "forward":
        with pytest.raises(kiln.RequestError) as caught:
            fused(x, w, offs)
        assert not gpu.runs
    else:
        y = fused(x, w, offs)
        w.main_grad = bad
        with pytest.raises(kiln.RequestError) as caught:
            y.sum().backward()
        assert gpu.ops == ["forward"]
    assert part in str(caught.value)


def test_a_main_grad_that_was_bound_anew_is_refused(gpu: Emulator) -> None:
    x, w, offs = make(main_grad=torch.zeros(E, N, K))
    y = fused(x, w, offs)
    w.main_grad = torch.zeros(E, N, K)
    with pytest.raises(kiln.RequestError, match="not the one of the forward"):
        y.sum().backward()
    assert gpu.ops == ["forward"]


def test_another_view_of_the_same_main_grad_is_the_same(gpu: Emulator) -> None:
    flat = torch.zeros(E * N * K + 1)
    x, w, offs = make(main_grad=flat[1:].view(E, N, K))
    y = fused(x, w, offs)
    w.main_grad = flat[1:].view(E, N, K)
    y.sum().backward()
    assert flat[1:].any() and flat[0] == 0


def test_a_main_grad_that_shares_memory_is_refused(gpu: Emulator) -> None:
    shared = torch.zeros(E * N * K + ROWS * K).bfloat16()
    x, w, offs = make(main_grad=shared[: E * N * K].view(E, N, K))
    overlapping = shared[-ROWS * K - 8 : -8].view(ROWS, K)
    with pytest.raises(kiln.RequestError, match="main_grad shares memory with x"):
        fused(overlapping, w, offs)
    w.main_grad = w.detach()
    with pytest.raises(kiln.RequestError, match="main_grad shares memory with w"):
        fused(x, w, offs)
    assert not gpu.runs


def test_a_main_grad_that_shares_memory_with_the_gradient_is_refused(gpu: Emulator) -> None:
    memory = torch.zeros(max(E * N * K, ROWS * N)).bfloat16()
    x, w, offs = make(main_grad=memory[: E * N * K].view(E, N, K))
    y = fused(x, w, offs)
    with pytest.raises(kiln.RequestError, match="main_grad shares memory with grad_output"):
        y.backward(memory[: ROWS * N].view(ROWS, N))
    assert gpu.ops == ["forward"]


def test_two_forwards_before_two_backwards(gpu: Emulator) -> None:
    module = GroupedLinear(E, K, N, fuse_wgrad_accumulation=True)
    module.weight.main_grad = torch.zeros(E, N, K)
    x, _, offs = make()
    outputs = [module(x, offs) for _ in range(2)]
    for y in outputs:
        y.sum().backward()
    twice = module.weight.main_grad.clone()
    module.weight.main_grad.zero_()
    module(x, offs).sum().backward()
    torch.testing.assert_close(twice, 2 * module.weight.main_grad)
    assert "fuse_wgrad_accumulation=True" in repr(module)
