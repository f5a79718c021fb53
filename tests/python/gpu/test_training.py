"""A small transformer trained with kiln's norm beside torch's."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn

import kiln.nn

WIDTH, HEADS, LAYERS, WORDS, LENGTH, BATCH, STEPS = 128, 4, 4, 64, 48, 16, 200

Norm = Callable[..., nn.Module]


class Layer(nn.Module):
    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.before_attention, self.before_mlp = norm(WIDTH, eps=1e-5), norm(WIDTH, eps=1e-5)
        self.head_norm = norm(WIDTH // HEADS, eps=1e-5)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[:2], HEADS, WIDTH // HEADS)
        q, k, v = self.qkv(self.before_attention(x)).chunk(3, dim=-1)
        q, k = self.head_norm(q.reshape(shape)), self.head_norm(k.reshape(shape))
        q, k, v = (t.transpose(1, 2) for t in (q, k, v.reshape(shape)))
        scores = q @ k.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        mixed = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(nn.functional.gelu(self.up(self.before_mlp(x))))


class Transformer(nn.Module):
    def __init__(self, norm: Norm) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(WORDS, WIDTH).normal_(std=0.02))
        self.layers = nn.Sequential(*(Layer(norm) for _ in range(LAYERS)))
        self.last = norm(WIDTH, eps=1e-5)

    def forward(self, words: Tensor) -> Tensor:
        # A product, whose gradient needs no atomics.
        one_hot = nn.functional.one_hot(words, WORDS).to(self.embedding.dtype)
        return self.last(self.layers(one_hot @ self.embedding)) @ self.embedding.t()


def batches() -> Iterator[Tensor]:
    """Words that follow from the one before, with noise."""
    generator = torch.Generator().manual_seed(1)
    table = torch.randperm(WORDS, generator=generator)
    for _ in range(STEPS):
        words = torch.empty(BATCH, LENGTH + 1, dtype=torch.int64)
        words[:, 0] = torch.randint(WORDS, (BATCH,), generator=generator)
        for i in range(LENGTH):
            noise = torch.rand(BATCH, generator=generator) < 0.1
            anything = torch.randint(WORDS, (BATCH,), generator=generator)
            words[:, i + 1] = torch.where(noise, anything, table[words[:, i]])
        yield words.cuda()


def train(norm: Norm, dtype: torch.dtype) -> tuple[Tensor, list[Tensor]]:
    torch.manual_seed(0)
    model = Transformer(norm).to("cuda", torch.bfloat16).to(dtype)  # one start for every type
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for words in batches():
        logits = model(words[:, :-1]).float()
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu(), [parameter.detach() for parameter in model.parameters()]


@pytest.fixture(autouse=True)
def _deterministic() -> Iterator[None]:
    with deterministic():
        yield


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def test_the_loss_curve_is_torchs_within_the_noise_of_bf16() -> None:
    exact, _ = train(nn.RMSNorm, torch.float32)
    theirs, _ = train(nn.RMSNorm, torch.bfloat16)
    mine, _ = train(kiln.nn.RMSNorm, torch.bfloat16)
    assert mine[-20:].mean() < 0.6 * mine[:5].mean(), "it learns"
    # What rounding to bf16 does to the curve, smoothed over ten steps, is the noise.
    smooth = lambda curve: curve.unfold(0, 10, 1).mean(-1)  # noqa: E731
    noise = (smooth(theirs) - smooth(exact)).abs().max()
    assert (smooth(mine) - smooth(exact)).abs().max() <= 2 * noise + 0.01
    assert (smooth(mine) - smooth(theirs)).abs().max() <= 2 * noise + 0.01


def test_in_fp32_the_curves_agree_closely_at_first() -> None:
    theirs, _ = train(nn.RMSNorm, torch.float32)
    mine, _ = train(kiln.nn.RMSNorm, torch.float32)
    torch.testing.assert_close(mine[:20], theirs[:20], atol=1e-3, rtol=1e-3)


def test_training_twice_gives_identical_bits() -> None:
    losses, parameters = train(kiln.nn.RMSNorm, torch.bfloat16)
    again, parameters_again = train(kiln.nn.RMSNorm, torch.bfloat16)
    assert torch.equal(losses, again)
    assert all(torch.equal(left, right) for left, right in zip(parameters, parameters_again))
