"""Grouped GEMMs under torch.compile and fake tensors, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grouped_emulator import Emulator, install  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import GroupedLinear  # noqa: E402

E, N, K = 3, 16, 8


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    torch.manual_seed(0)
    torch._dynamo.reset()
    return install(monkeypatch)


def offsets(rows: int) -> Any:
    return torch.tensor([rows // 2, rows // 2, rows], dtype=torch.int32)


class Experts(torch.nn.Module):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.up, self.down = GroupedLinear(E, K, N, **options), GroupedLinear(E, N, K, **options)

    def forward(self, x: Any, offs: Any) -> Any:
        return x + self.down(self.up(x, offs).relu(), offs)


def gradients(run: Any, owner: Any, x: Any, offs: Any) -> list[Any]:
    x = x.detach().requires_grad_()
    owner.zero_grad()
    y = run(x, offs)
    y.square().sum().backward()
    return [y.detach(), x.grad, *(p.grad for p in owner.parameters())]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_model_compiles_into_one_graph(gpu: Emulator, dynamic: bool) -> None:
    model = Experts()
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for rows in (6, 10, 4):
        x, offs = torch.randn(rows, K).bfloat16(), offsets(rows)
        for left, right in zip(gradients(compiled, model, x, offs), gradients(model, model, x, offs)):
            torch.testing.assert_close(left, right)


def test_a_compiled_model_adds_into_main_grad(gpu: Emulator) -> None:
    model = Experts(fuse_wgrad_accumulation=True)
    weights = [model.up.weight, model.down.weight]
    for weight, dtype in zip(weights, (torch.float32, torch.bfloat16)):
        weight.main_grad = torch.zeros(weight.shape, dtype=dtype)
        weight.grad_added_to_main_grad = False
        weight.zero_out_wgrad = True
    x, offs = torch.randn(6, K).bfloat16(), offsets(6)
    gradients(model, model, x, offs)
    once = [weight.main_grad.clone() for weight in weights]
    for weight in weights:
        weight.main_grad.zero_()
        weight.grad_added_to_main_grad = False
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    for times in (1, 2):
        *_, up, down = gradients(compiled, model, x, offs)
        assert not up.any() and not down.any()
        for weight, wanted in zip(weights, once):
            torch.testing.assert_close(weight.main_grad, times * wanted)
            assert weight.grad_added_to_main_grad is True


def test_bad_tensors_are_refused_before_anything_runs(gpu: Emulator) -> None:
    compiled = torch.compile(kiln.grouped_mm, backend="aot_eager")
    x = torch.zeros(6 * K + 1).bfloat16()[1:].view(6, K)
    with pytest.raises(kiln.RequestError, match="x begins 2 bytes past"):
        compiled(x, torch.zeros(E, N, K).bfloat16(), offsets(6))
    with pytest.raises(Exception, match="the last dimensions differ"):
        compiled(torch.zeros(6, K + 8).bfloat16(), torch.zeros(E, N, K).bfloat16(), offsets(6))
    bad = torch.tensor([4, 2, 6], dtype=torch.int32)
    with pytest.raises(kiln.RequestError, match="group 1 owns rows 4 to 2"):
        torch.compile(kiln.grouped_mm, backend="aot_eager")(
            torch.zeros(6, K).bfloat16(), torch.zeros(E, N, K).bfloat16(), bad, check_offsets=True
        )
    assert not gpu.runs


def test_the_ops_declare_what_they_do(gpu: Emulator) -> None:
    x, w, offs = torch.randn(6, K).bfloat16(), torch.randn(E, N, K).bfloat16(), offsets(6)
    g, main_grad = torch.randn(6, N).bfloat16(), torch.zeros(E, N, K)
    ops = torch.ops.kiln
    calls = [
        (ops.grouped_mm.default, (x, w, offs, torch.float32, None)),
        (ops.grouped_mm.default, (x, w, offs, torch.bfloat16, True)),
        (ops.grouped_mm_dgrad.default, (g, w, offs)),
        (ops.grouped_mm_wgrad.default, (g, x, offs, E)),
        (ops.grouped_mm_wgrad_main_grad.default, (g, x, offs, main_grad, False)),
    ]
    for op, arguments in calls:
        torch.library.opcheck(
            op, arguments, test_utils=("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
        )
    mutated = [a.name for a in ops.grouped_mm_wgrad_main_grad.default._schema.arguments if a.is_write]
    assert mutated == ["main_grad"]


def test_fake_tensors_pass_through_the_forward_and_the_ops_of_the_backward() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        x = torch.empty(6, K, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        w = torch.empty(E, N, K, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        offs = torch.empty(E, device="cuda", dtype=torch.int32)
        y = kiln.grouped_mm(x, w, offs, out_dtype=torch.float32)
        assert y.shape == (6, N) and y.dtype is torch.float32 and y.device.type == "cuda"
        assert y.grad_fn is not None
        dx = torch.ops.kiln.grouped_mm_dgrad(y, w, offs)
        dw = torch.ops.kiln.grouped_mm_wgrad(y, x, offs, E)
        assert dx.shape == x.shape and dx.dtype is torch.bfloat16
        assert dw.shape == w.shape and dw.dtype is torch.bfloat16
