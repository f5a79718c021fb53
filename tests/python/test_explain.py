"""Plans, without a GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

import kiln

NORM = "rms_norm_backward:n=4096"


def test_a_plan_is_a_dict_that_says_what_would_run(cache: Path) -> None:
    plan = kiln.explain(NORM, "sm_90a")
    assert plan["op"] == "rms_norm_backward"
    assert plan["arch"] == "sm_90a"
    assert plan["route"] == "fused"
    assert plan["workspace_bytes"] > 0
    (stage,) = plan["stages"]
    assert stage["entry"].startswith("rms_norm_backward")
    assert stage["smem_bytes"] > 0


def test_explaining_compiles_nothing_and_makes_no_cache(cache: Path) -> None:
    kiln.explain(NORM, "sm_90a")
    counted = kiln.statistics()
    assert counted["compiles"] == 0
    assert counted["nvrtc_loaded"] is False
    assert not cache.exists()


def test_a_wide_row_is_composed_with_a_reason(cache: Path) -> None:
    plan = kiln.explain("rms_norm_backward:n=65536", "sm_90a")
    assert plan["route"] == "composed"
    assert plan["reason"]["id"] == "unsupported_size"
    assert "65536" in plan["reason"]["detail"]


@pytest.mark.parametrize("arch", ["sm_90a", "sm_90", "90a", "9.0"])
def test_an_architecture_has_several_spellings(cache: Path, arch: str) -> None:
    assert kiln.explain(NORM, arch)["arch"] == "sm_90a"


@pytest.mark.parametrize(
    "signature",
    [
        " rms_norm_backward : w=bf16 , n=04096",
        {"op": "rms_norm_backward", "n": 4096},
        {"op": "rms_norm_backward", "n": "4096", "accumulate": False},
    ],
)
def test_two_spellings_are_one_signature(cache: Path, signature: object) -> None:
    assert kiln.explain(signature, "sm_90a") == kiln.explain(NORM, "sm_90a")


def test_policy_comes_from_the_environment(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_ALLOW_MULTI_STAGES", "1")
    (stage,) = kiln.explain("rms_norm_backward:n=7168", "sm_90a")["stages"]
    assert stage["stages"]["chosen"] > 1


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120a"])
def test_every_architecture_is_planned_for_on_any_machine(cache: Path, arch: str) -> None:
    assert kiln.explain(NORM, arch)["arch"] == arch
