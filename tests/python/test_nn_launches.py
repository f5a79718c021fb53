"""Which launches the backward keeps, shares and makes, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator, gradients  # noqa: E402

from kiln.nn import RMSNorm, _launches, functional  # noqa: E402


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
    gpu.capturing = True
    gradients(RMSNorm(16), torch.randn(2, 16), torch.randn(2, 16))
    assert not _launches._kept
    assert not _launches._launches
    assert [launch.captured for launch in gpu.launches] == [True]
