"""Trains a mixture-of-experts layer with kiln's grouped products, beside a loop of experts, and twice.

    python examples/moe/train.py             200 steps: both losses, and whether a second run has the same bits
    python examples/moe/train.py --steps 20

Weights are bf16. Each step adds the gradients of two micro-batches into fp32 buffers (`main_grad`), from
which Adam updates fp32 copies.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
import time
from typing import Any

# cuBLAS, which multiplies the router's scores, gives the same bits only with this.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from layer import MoE, Sizes, grouped_experts, looped_experts
from torch import Tensor

MICRO_BATCHES = 2
RATE = 1e-3


def batches(sizes: Sizes, steps: int, device: Any) -> Any:
    """Tokens and what a fixed, random two-layer network makes of them."""
    generator = torch.Generator().manual_seed(1)
    width = sizes.width
    first, second = (
        torch.randn(width, width, generator=generator).to(device) * width**-0.5 for _ in range(2)
    )
    for _ in range(steps * MICRO_BATCHES):
        x = torch.randn(sizes.tokens, width, generator=generator).to(device).bfloat16().float()
        yield x, torch.tanh(x @ first) @ second


def train(
    experts: Any, steps: int, sizes: Sizes, device: Any = "cuda", dtype: torch.dtype = torch.bfloat16
) -> tuple[Tensor, list[Tensor]]:
    """The loss of each step, and the fp32 copies of the weights at the end."""
    torch.manual_seed(0)
    model = MoE(sizes, experts, device, dtype)
    weights = [model.up, model.down]
    for weight in weights:
        weight.main_grad = torch.zeros(weight.shape, device=device)
    copies = [weight.detach().float().clone() for weight in weights]
    optimizer = torch.optim.Adam([*copies, model.router], lr=RATE)
    losses = []
    data = batches(sizes, steps, device)
    for _ in range(steps):
        total = torch.zeros((), device=device)
        for _ in range(MICRO_BATCHES):
            x, wanted = next(data)
            loss = (model(x.to(dtype)).float() - wanted).square().mean() / MICRO_BATCHES
            loss.backward()
            total += loss.detach()
        for copy, weight in zip(copies, weights):
            copy.grad = weight.main_grad
        optimizer.step()
        with torch.no_grad():
            for copy, weight in zip(copies, weights):
                weight.copy_(copy)
                weight.main_grad.zero_()
        model.router.grad = None
        losses.append(total)
    return torch.stack(losses).cpu(), copies


def same_bits(left: tuple[Tensor, list[Tensor]], right: tuple[Tensor, list[Tensor]]) -> bool:
    pairs = zip([left[0], *left[1]], [right[0], *right[1]])
    return all(torch.equal(one.view(torch.int32), other.view(torch.int32)) for one, other in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    steps, sizes = parser.parse_args().steps, Sizes()
    torch.use_deterministic_algorithms(True)
    train(grouped_experts, 1, sizes)  # compiles
    runs = {}
    for name, experts in (("grouped", grouped_experts), ("again", grouped_experts), ("loop", looped_experts)):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        runs[name] = train(experts, steps, sizes)
        torch.cuda.synchronize()
        print(f"{name}: {(time.perf_counter() - begin) / steps * 1e3:.1f} ms a step")
    grouped, loop = runs["grouped"][0], runs["loop"][0]
    for step in sorted({0, steps // 4, steps // 2, steps - 1}):
        print(f"step {step + 1}: loss {grouped[step]:.5f}, by the loop of experts {loop[step]:.5f}")
    identical = same_bits(runs["grouped"], runs["again"])
    print(f"a second run: {'identical bits' if identical else 'OTHER BITS'}")
    return 0 if identical else 1


if __name__ == "__main__":
    raise SystemExit(main())
