"""Ops of the user's own, from a description file."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

import kiln

EXAMPLE = Path(__file__).parents[2] / "examples" / "l2_norm_backward.json"
SIGNATURE = "l2_norm_backward:n=192"


def test_a_described_op_is_served_like_any_other(cache: Path) -> None:
    assert kiln.register(EXAMPLE) == "l2_norm_backward"
    assert kiln.register(str(EXAMPLE)) == "l2_norm_backward"  # again: nothing changes
    assert kiln.explain(SIGNATURE, "sm_90a")["route"] == "fused"
    assert kiln.supports({"op": "l2_norm_backward", "n": 192, "gain": "none"}, "sm_90a").supported
    wide = kiln.supports("l2_norm_backward:n=100000", "sm_90a")
    assert wide.supported and "compiled when they are asked for" in wide.reason


def test_a_mistake_is_found_with_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(EXAMPLE.read_text().replace("row_sum(x * x)", "row_sum(x * z)"))
    with pytest.raises(kiln.RequestError, match=r"bad\.json, formula 1, column 22: \"z\" is not defined"):
        kiln.register(bad)
    with pytest.raises(kiln.Error, match="cannot read"):
        kiln.register(tmp_path / "none.json")
    other = tmp_path / "other.json"
    other.write_text(EXAMPLE.read_text().replace('"l2_norm_backward"', '"absmax"'))
    with pytest.raises(kiln.RequestError, match='"absmax" is built in already'):
        kiln.register(other)
