"""Streams, threads and devices."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest
import torch

import kiln
from kiln.nn import RMSNorm, _launches, functional

N, ROWS = 4096, 2048


def inputs(device: str = "cuda") -> tuple[torch.Tensor, ...]:
    x, dy = torch.randn(2, ROWS, N, device=device, dtype=torch.bfloat16)
    return dy, x, torch.rsqrt(x.float().pow(2).mean(-1) + 1e-5), torch.randn(N, device=device).bfloat16()


@pytest.mark.skipif(not _launches.reads_tensors, reason="torch publishes no table of C functions, as 2.10 does")
def test_a_call_like_one_that_was_seen_goes_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    dy, x, rstd, w = inputs()
    module = RMSNorm(N, device="cuda", dtype=torch.bfloat16)
    fused = RMSNorm(N, device="cuda", dtype=torch.bfloat16, fuse_wgrad_accumulation=True)
    fused.weight.main_grad = torch.zeros(N, device="cuda")

    def train(module: RMSNorm) -> torch.Tensor:
        leaf = x.clone().requires_grad_()
        module(leaf).backward(dy)
        assert leaf.grad is not None
        return leaf.grad

    first = functional.rms_norm_backward(dy, x, rstd, w), train(module), train(fused)

    def run(*call: object) -> None:
        raise AssertionError("went through Python")

    monkeypatch.setattr(functional, "run", run)
    again = functional.rms_norm_backward(dy, x, rstd, w), train(module), train(fused)
    for left, right in zip((*first[0], *first[1:]), (*again[0], *again[1:])):
        assert torch.equal(left, right)
    strided = torch.randn(ROWS, 2 * N, device="cuda", dtype=torch.bfloat16)[:, :N]
    with pytest.raises(AssertionError, match="through Python"):
        functional.rms_norm_backward(strided, x, rstd, w)


def test_two_streams_at_once_have_the_bits_of_one() -> None:
    problems = [inputs(), inputs()]
    expected = [functional.rms_norm_backward(*problem) for problem in problems]
    torch.cuda.synchronize()
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    results: list[list[tuple[torch.Tensor, ...]]] = [[], []]
    for _ in range(50):
        for stream, problem, kept in zip(streams, problems, results):
            with torch.cuda.stream(stream):
                kept.append(functional.rms_norm_backward(*problem))
    torch.cuda.synchronize()
    for kept, wanted in zip(results, expected):
        for result in kept:
            for left, right in zip(result, wanted):
                assert torch.equal(left, right)


def test_threads_on_one_stream_and_on_their_own() -> None:
    problems = [inputs() for _ in range(4)]
    expected = [functional.rms_norm_backward(*problem) for problem in problems]
    torch.cuda.synchronize()
    wrong: list[int] = []

    def work(i: int) -> None:
        stream = torch.cuda.Stream() if i % 2 else torch.cuda.default_stream()
        with torch.cuda.stream(stream):
            for _ in range(50):
                result = functional.rms_norm_backward(*problems[i])
            stream.synchronize()
            if not all(torch.equal(left, right) for left, right in zip(result, expected[i])):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_backward_runs_on_the_streams_of_the_forward() -> None:
    module = RMSNorm(N, device="cuda", dtype=torch.bfloat16)
    dy, x, _, _ = inputs()
    x.requires_grad_()
    (expected,) = torch.autograd.grad(module(x), x, dy)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = module(x)
        torch.cuda._sleep(50_000_000)  # what is behind it on the stream must wait
        y.backward(dy)
    stream.synchronize()
    assert torch.equal(x.grad, expected)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_a_device_that_is_not_the_current_one() -> None:
    on_first = [tensor.cuda(0) for tensor in inputs()]
    expected = functional.rms_norm_backward(*on_first)
    on_second = [tensor.to("cuda:1") for tensor in on_first]
    assert torch.cuda.current_device() == 0
    result = functional.rms_norm_backward(*on_second)
    assert torch.cuda.current_device() == 0
    for left, right in zip(result, expected):
        assert left.device == torch.device("cuda", 1)
        assert torch.equal(left.cuda(0), right)
    module = RMSNorm(N, device="cuda:1", dtype=torch.bfloat16)
    x = on_second[1].requires_grad_()
    module(x).backward(on_second[0])
    assert x.grad.device == torch.device("cuda", 1)
    with pytest.raises(kiln.RequestError, match="cuda:0"):
        functional.rms_norm_backward(on_first[0], *on_second[1:])


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU")
def test_prepared_on_another_device() -> None:
    dy, x, rstd, w = inputs("cuda:1")
    prepared = kiln.prepare(f"rms_norm_backward:n={N}", "cuda:1")
    dx, dw = torch.empty_like(x), torch.empty_like(w)
    prepared.bind(dy=dy, x=x, rstd=rstd, w=w, dx=dx, dw=dw).run()
    for left, right in zip((dx, dw), functional.rms_norm_backward(dy, x, rstd, w)):
        assert torch.equal(left, right)
    with pytest.raises(kiln.RequestError, match="x is on cuda:1, the kernel was prepared for cuda:0"):
        kiln.prepare(f"rms_norm_backward:n={N}", 0).bind(x=x)
