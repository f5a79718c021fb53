"""A short run of the example of a mixture-of-experts layer."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import torch
from paths import REPOSITORY

STEPS = 40


@pytest.fixture(autouse=True)
def _example(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(REPOSITORY / "examples" / "moe"))
    for name in ("layer", "train"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def test_grouped_experts_train_as_a_loop_of_experts_does_and_repeat_their_bits() -> None:
    import layer
    import train

    sizes = layer.Sizes(width=256, hidden=512, experts=8, tokens=1024)
    grouped = train.train(layer.grouped_experts, STEPS, sizes)
    loop = train.train(layer.looped_experts, STEPS, sizes)
    exact = train.train(layer.looped_experts, STEPS, sizes, dtype=torch.float32)
    assert train.same_bits(grouped, train.train(layer.grouped_experts, STEPS, sizes))
    assert grouped[0][-5:].mean() < 0.9 * grouped[0][:5].mean(), "it learns"
    # What bf16 does to the curve of the loop is the noise.
    noise = (loop[0] - exact[0]).abs().max()
    assert (grouped[0] - exact[0]).abs().max() <= 2 * noise + 0.01 * exact[0].max()
    assert (grouped[0] - loop[0]).abs().max() <= 2 * noise + 0.01 * exact[0].max()
