"""The example of a mixture-of-experts layer, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

import pytest
from paths import REPOSITORY

torch = pytest.importorskip("torch")

from grouped_emulator import Emulator, install  # noqa: E402


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    monkeypatch.syspath_prepend(str(REPOSITORY / "examples" / "moe"))
    for name in ("layer", "train"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return install(monkeypatch)


def test_grouped_experts_train_as_a_loop_of_experts_does(gpu: Emulator) -> None:
    import layer
    import train

    sizes = layer.Sizes(width=32, hidden=32, experts=4, tokens=64)
    steps = 40
    grouped = train.train(layer.grouped_experts, steps, sizes, device="cpu")
    loop = train.train(layer.looped_experts, steps, sizes, device="cpu")
    assert grouped[0][-5:].mean() < 0.9 * grouped[0][:5].mean(), "it learns"
    torch.testing.assert_close(grouped[0][:5], loop[0][:5], rtol=1e-2, atol=1e-3)
    assert train.same_bits(grouped, train.train(layer.grouped_experts, steps, sizes, device="cpu"))
    assert not train.same_bits(grouped, loop)
    # Two runs of two micro-batches of two products; the tokens themselves need no gradient.
    assert gpu.ops.count("wgrad") == 2 * gpu.ops.count("dgrad") == 2 * 2 * 2 * steps
