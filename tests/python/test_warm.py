"""Warming a cache without a GPU, and finding it warm."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from paths import REPOSITORY

import kiln
import kiln._service

NORMS = ["rms_norm_backward:n=2880", "rms_norm_backward:n=128,residual=1"]


def test_the_second_warm_finds_everything_and_loads_no_nvrtc(cache: Path, python: Callable[..., str]) -> None:
    first = kiln.warm(NORMS, "sm_90a")
    assert [one.origin for one in first] == ["compiled", "compiled"]
    assert all(stage["spill_bytes"] == 0 for one in first for stage in one.plan["stages"])
    code = f"""
import json, kiln
warmed = kiln.warm({NORMS!r}, "sm_90a")
print(json.dumps([[one.origin for one in warmed], kiln.statistics()]))
"""
    origins, counted = json.loads(python(code, KILN_CACHE_DIR=str(cache)))
    assert origins == ["cache", "cache"]
    assert counted["cache_hits"] == 2
    assert counted["compiles"] == 0
    assert counted["nvrtc_loaded"] is False


def test_again_in_one_process_comes_from_memory(cache: Path) -> None:
    kiln.warm(NORMS[0], "sm_90a")
    (again,) = kiln.warm(NORMS[0], "sm_90a")
    assert again.origin == "memory"
    assert kiln.statistics()["compiles"] == 1


def test_one_signature_for_several_architectures(cache: Path) -> None:
    warmed = kiln.warm({"op": "rms_norm_backward", "n": 64}, ["sm_80", "90a"])
    assert [one.arch for one in warmed] == ["sm_80", "sm_90a"]


def test_repetitions_are_warmed_once(cache: Path) -> None:
    assert len(kiln.warm([NORMS[0], NORMS[0] + ",x=bf16"], "sm_90a")) == 1


def test_composed_kernels_are_embedded(cache: Path) -> None:
    (one,) = kiln.warm("rms_norm_backward:n=65536", "sm_90a")
    assert one.origin == "embedded"
    assert one.plan["reason"]["id"] == "unsupported_size"


def test_a_recipe_is_a_path(cache: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "norms.txt"
    recipe.write_text("# two\n" + "\n".join(NORMS) + "\n")
    assert [one.signature for one in kiln.warm(recipe, "sm_90a")] == [
        one.signature for one in kiln.warm(str(recipe), "sm_90a")
    ]


def test_a_bad_line_is_named_and_the_good_ones_are_warmed(cache: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "norms.txt"
    recipe.write_text(f"{NORMS[0]}\nrms_norm_backward:n=zero\n{NORMS[1]}\n")
    with pytest.raises(kiln.WarmError) as caught:
        kiln.warm(recipe, "sm_90a")
    assert "norms.txt, line 2" in str(caught.value)
    assert "zero" in str(caught.value)
    assert caught.value.code == "invalid_recipe"
    assert [one.origin for one in caught.value.warmed] == ["compiled", "compiled"]


@pytest.mark.parametrize(
    ("name", "content"), [("absent.json", None), ("not.json", "{"), ("empty.txt", ""), ("folder.json", "/")]
)
def test_a_recipe_that_cannot_be_read_is_an_error(
    cache: Path, tmp_path: Path, name: str, content: str | None
) -> None:
    path = tmp_path / name
    if content == "/":
        path.mkdir()
    elif content is not None:
        path.write_text(content)
    with pytest.raises(kiln.RequestError) as caught:
        kiln.warm(path, "sm_90a")
    assert caught.value.code == "invalid_recipe"
    assert name in str(caught.value)


def test_the_models_recipe_is_readable() -> None:
    from kiln import _kiln

    entries, problems = _kiln.read_recipe(str(REPOSITORY / "tools/recipes/models.json"))
    assert len(entries) > 20
    assert problems == []


def test_nothing_compiles_where_it_is_forbidden(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_DISABLE_JIT", "1")
    monkeypatch.setenv("KILN_LOG", "off")
    (one,) = kiln.warm(NORMS[0], "sm_90a")
    assert one.origin == "embedded"
    assert one.plan["reason"]["id"] == "jit_disabled"


def test_a_strict_environment_turns_that_into_an_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KILN_DISABLE_JIT", "1")
    monkeypatch.setenv("KILN_STRICT", "1")
    with pytest.raises(kiln.WarmError) as caught:
        kiln.warm(NORMS[0], "sm_90a")
    assert caught.value.code == "forced_fallback"


def test_what_is_no_request_is_refused(cache: Path) -> None:
    with pytest.raises(kiln.RequestError, match="no signature, list of signatures or path"):
        kiln.warm(17, "sm_90a")  # type: ignore[arg-type]
