"""The module as a drop-in: arguments, state dicts, copies."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import inspect
import pickle

import pytest

torch = pytest.importorskip("torch")

from kiln.nn import RMSNorm, functional  # noqa: E402


def test_state_dicts_interchange_with_torchs_module() -> None:
    mine, theirs = RMSNorm(8, eps=1e-6), torch.nn.RMSNorm(8, eps=1e-6)
    torch.nn.init.normal_(mine.weight)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    theirs.load_state_dict(mine.state_dict())
    mine.load_state_dict(theirs.state_dict())
    assert isinstance(mine, torch.nn.RMSNorm)
    assert repr(mine) == repr(theirs)
    fused = RMSNorm(8, fuse_wgrad_accumulation=True)
    assert "fuse_wgrad_accumulation=True" in repr(fused)
    for again in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert torch.equal(again.weight, mine.weight)


def test_the_module_takes_torchs_arguments() -> None:
    theirs = inspect.signature(torch.nn.RMSNorm).parameters
    mine = inspect.signature(RMSNorm).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
    assert {name: mine[name].default for name in theirs} == {
        name: parameter.default for name, parameter in theirs.items()
    }
    theirs = inspect.signature(torch.nn.functional.rms_norm).parameters
    mine = inspect.signature(functional.rms_norm).parameters
    assert list(mine)[: len(theirs)] == list(theirs)
