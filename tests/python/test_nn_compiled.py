"""torch.compile, export and fake tensors, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator  # noqa: E402

from kiln.nn import RMSNorm, functional  # noqa: E402


@pytest.fixture(autouse=True)
def _compile_anew() -> None:
    torch._dynamo.reset()


class Block(torch.nn.Module):
    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.norm = norm
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x: Any) -> Any:
        return x + self.linear(self.norm(x)).relu()


def gradients(model: Any, x: Any, parameters: list[Any]) -> list[Any]:
    x = x.detach().requires_grad_()
    loss = model(x).square().sum()
    return [loss.detach(), *torch.autograd.grad(loss, [x, *parameters], allow_unused=True)]


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_model_compiles_into_one_graph(gpu: Emulator, affine: bool, dynamic: bool) -> None:
    block = Block(RMSNorm(16, elementwise_affine=affine))
    compiled = torch.compile(block, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    for rows in (3, 5):
        x = torch.randn(rows, 16)
        parameters = list(block.parameters())
        for left, right in zip(gradients(compiled, x, parameters), gradients(block, x, parameters)):
            torch.testing.assert_close(left, right)


def test_a_compiled_model_adds_into_main_grad(gpu: Emulator) -> None:
    block = Block(RMSNorm(16, fuse_wgrad_accumulation=True))
    weight = block.norm.weight
    weight.main_grad = torch.zeros(16)
    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    x = torch.randn(3, 16)
    compiled(x).square().sum().backward()
    once = weight.main_grad.clone()
    assert once.abs().sum() > 0
    compiled(x).square().sum().backward()
    torch.testing.assert_close(weight.main_grad, 2 * once)
    assert weight.grad is None
    weight.main_grad.zero_()
    block(x).square().sum().backward()
    torch.testing.assert_close(weight.main_grad, once)


def test_a_compiled_model_keeps_megatrons_convention(gpu: Emulator) -> None:
    block = Block(RMSNorm(16, fuse_wgrad_accumulation=True))
    weight = block.norm.weight
    weight.main_grad = torch.zeros(16)
    weight.grad_added_to_main_grad = False
    weight.zero_out_wgrad = True
    compiled = torch.compile(block, fullgraph=True, backend="aot_eager")
    compiled(torch.randn(3, 16)).square().sum().backward()
    assert weight.grad_added_to_main_grad is True
    assert weight.grad is not None and not weight.grad.any()
    assert weight.main_grad.any()


def test_the_ops_declare_what_they_do(gpu: Emulator) -> None:
    x, dy = torch.randn(3, 16), torch.randn(3, 16)
    rstd, weight, main_grad = torch.ones(3, 1), torch.ones(16), torch.zeros(16)
    tests = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    ops = torch.ops.kiln
    for w in (weight, None):
        torch.library.opcheck(ops.rms_norm_backward.default, (dy, x, rstd, w, None, 16), test_utils=tests)
    torch.library.opcheck(
        ops.rms_norm_backward_main_grad.default,
        (dy, x, rstd, weight, main_grad, x, 16, False),
        test_utils=tests,
    )
    schema = ops.rms_norm_backward_main_grad.default._schema
    mutated = [argument.name for argument in schema.arguments if argument.is_write]
    assert mutated == ["main_grad"]


def test_fake_tensors_pass_through_forward_and_backward() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        norm = RMSNorm(16, device="cuda", dtype=torch.bfloat16)
        x = torch.empty(2, 3, 16, device="cuda", dtype=torch.bfloat16)
        y = norm(x)
        assert y.shape == x.shape and y.device.type == "cuda" and y.grad_fn is not None
        dx, dw = functional.rms_norm_backward(x, x, torch.empty(6, device="cuda"), norm.weight)
        assert dx.shape == x.shape and dw.shape == (16,) and dw.dtype is torch.bfloat16


@pytest.mark.parametrize(
    ("x", "w"), [("bfloat16", "bfloat16"), ("bfloat16", "float32"), ("float16", "float16")]
)
def test_types_compile_alike(gpu: Emulator, x: str, w: str) -> None:
    norm = RMSNorm(16, dtype=getattr(torch, w))
    compiled = torch.compile(norm, fullgraph=True, backend="aot_eager")
    rows = torch.randn(3, 16, dtype=getattr(torch, x))
    for left, right in zip(gradients(compiled, rows, [norm.weight]), gradients(norm, rows, [norm.weight])):
        torch.testing.assert_close(left, right, atol=2e-2, rtol=2e-2)


def test_the_forward_of_a_compiled_model_is_left_to_be_fused(gpu: Emulator) -> None:
    seen: list[str] = []

    def backend(graph: Any, inputs: Any) -> Any:
        from functorch.compile import make_boxed_func
        from torch._dynamo.backends.common import aot_autograd

        def record(traced: Any, _: Any) -> Any:
            seen.extend(str(node.target) for node in traced.graph.nodes)
            return make_boxed_func(traced.forward)

        return aot_autograd(fw_compiler=record)(graph, inputs)

    model = torch.compile(RMSNorm(16), fullgraph=True, backend=backend)
    model(torch.randn(2, 16, requires_grad=True)).sum().backward()
    assert "aten.rsqrt.default" in seen
    assert seen.count("kiln.rms_norm_backward.default") == 1
