# SPDX-License-Identifier: Apache-2.0
"""What `python -m bench host` times, on an emulated GPU: every call runs, and the modules agree."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from emulator import Emulator  # noqa: E402

from bench import host, norm_case  # noqa: E402
from bench.entry import FLOOR, gather  # noqa: E402
from bench.norm_case import NormCase  # noqa: E402

# The others launch through kiln.prepare, which needs a GPU.
CHOSEN = ("kiln_autograd", "kiln_module", "aten_autograd", "aten_module", "nothing", "python_node")


@pytest.fixture
def case() -> NormCase:
    return norm_case.make(torch, norm_case.RMS, 4, 16, device="cpu")


def test_every_call_runs_and_every_subject_is_judged_against_a_peer(gpu: Emulator, case: NormCase) -> None:
    entries = gather(host.BUILDERS, CHOSEN, case)
    assert [entry.error for entry in entries] == [None] * len(entries)
    for entry in entries:
        assert entry.call is not None
        entry.call()
    names = {entry.name for entry in entries}
    for entry in entries:
        assert set(entry.against) <= names
        assert bool(entry.against) == (entry.role == "subject")


def test_a_step_of_kilns_module_is_one_of_torchs(gpu: Emulator, case: NormCase) -> None:
    mine, theirs = gather(host.BUILDERS, ("kiln_module", "aten_module"), case)
    assert mine.call is not None and theirs.call is not None
    for left, right in zip(mine.call(), theirs.call()):
        torch.testing.assert_close(left, right, atol=5e-2, rtol=5e-2)
    assert len(gpu.runs) == 1


def test_floors_launch_nothing(gpu: Emulator, case: NormCase) -> None:
    for entry in gather(host.BUILDERS, ("nothing", "python_node"), case):
        assert entry.role == FLOOR
        assert entry.call is not None
        entry.call()
    assert not gpu.runs
