"""RMSNorm forward on an emulated GPU: the output, and what is saved for the backward."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator, gradients  # noqa: E402

from kiln.nn import RMSNorm, functional  # noqa: E402
from kiln.nn._forward import composed  # noqa: E402


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("eps", [None, 1e-5])
def test_the_output_is_torchs(gpu: Emulator, dtype: str, eps: float | None) -> None:
    kind = getattr(torch, dtype)
    mine, theirs = RMSNorm(24, eps=eps, dtype=kind), torch.nn.RMSNorm(24, eps=eps, dtype=kind)
    torch.nn.init.normal_(mine.weight)
    theirs.load_state_dict(mine.state_dict())
    x = torch.randn(2, 5, 24, dtype=kind)
    tolerance = {"float32": 1e-6, "float16": 2e-3, "bfloat16": 2e-2}[dtype]
    torch.testing.assert_close(mine(x), theirs(x), atol=tolerance, rtol=tolerance)
    with torch.no_grad():
        assert torch.equal(mine(x), theirs(x))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("eps", [None, 1e-5])
def test_the_composed_output_has_torchs_eps(dtype: str, eps: float | None) -> None:
    x = (1e-3 * torch.randn(3, 64)).to(getattr(torch, dtype))  # so small that eps counts
    weight = torch.randn(64).to(x.dtype)
    y, rstd = composed(x, (64,), weight, eps)
    # Each of the two rounds once to the type, the older torch also its eps.
    tolerance = {"float32": 1e-6, "float16": 2e-3, "bfloat16": 1.6e-2}[dtype]
    torch.testing.assert_close(y, torch.nn.functional.rms_norm(x, (64,), weight, eps), rtol=tolerance, atol=0)
    assert rstd.dtype is torch.float32 and rstd.shape == (3, 1)


def test_types_may_differ(gpu: Emulator) -> None:
    mine = RMSNorm(16)
    x = torch.randn(4, 16, dtype=torch.bfloat16)
    y = mine(x)
    assert y.dtype is torch.bfloat16
    _, dw = gradients(mine, x, torch.randn(4, 16, dtype=torch.bfloat16))
    assert dw.dtype is torch.float32
    assert "w=f32" in gpu.prepared[0]


def test_nothing_is_saved_without_grad(gpu: Emulator) -> None:
    module = RMSNorm(16)
    with torch.no_grad():
        assert module(torch.randn(2, 16)).grad_fn is None
    with torch.inference_mode():
        assert module(torch.randn(2, 16)).grad_fn is None
    assert not gpu.prepared


def test_the_transforms_of_torch_func_are_refused(gpu: Emulator) -> None:
    weight, x = torch.ones(16, requires_grad=True), torch.randn(3, 2, 16)

    def norm(rows: Any) -> Any:
        return functional.rms_norm(rows, (16,), weight)

    for transform in (lambda: torch.vmap(norm)(x), lambda: torch.func.grad(lambda t: norm(t).sum())(x)):
        with pytest.raises(RuntimeError, match="functorch transforms"):
            transform()
    assert not gpu.runs
