# SPDX-License-Identifier: Apache-2.0
"""The shape files, and how groups get their sizes."""

from __future__ import annotations

import json

import bench_records  # noqa: F401
import pytest

from bench import shapes
from bench.failure import BenchError
from bench.shapes import GroupedShape, NormShape, PairShape

NORM, GROUPED = shapes.FOLDER / "norm.json", shapes.FOLDER / "grouped.json"
PAIR = shapes.FOLDER / "norm_pair.json"


def test_every_shape_that_ships_can_be_read():
    assert len(shapes.load(NORM, NormShape, ["all"])) > 30
    assert len(shapes.load(GROUPED, GroupedShape, ["all"])) > 20
    assert len(shapes.load(PAIR, PairShape, ["all"])) > 3


def test_the_baseline_sets_are_those_that_figures_were_recorded_for():
    recorded = json.loads((shapes.FOLDER.parent / "baselines" / "h200.json").read_text(encoding="utf-8"))
    norms = {f"rms_norm_backward {s.name}" for s in shapes.load(NORM, NormShape, ["baseline"])}
    assert norms == {name for name in recorded["cases"] if name.startswith("rms_")}
    groups = {f"grouped_gemm_forward {s.name}" for s in shapes.load(GROUPED, GroupedShape, ["baseline"])}
    assert groups == {name for name in recorded["cases"] if name.startswith("grouped_gemm_forward")}


def test_the_pair_of_eagle3_is_measured_in_fp32_with_residuals():
    (shape,) = shapes.load(PAIR, PairShape, ["baseline"])
    assert (shape.rows, shape.n, shape.type, shape.residual) == (16384, 8192, "f32", True)
    assert shape.name == "16384x8192 f32 residual"


def test_every_skewed_baseline_has_a_twin_of_odd_sizes():
    base = shapes.load(GROUPED, GroupedShape, ["baseline"])
    twins = {(s.experts, s.rows, s.n, s.k) for s in base if s.groups == shapes.SKEWED}
    odd = shapes.load(GROUPED, GroupedShape, ["odd"])
    assert {(s.experts, s.rows, s.n, s.k) for s in odd} == twins
    assert all(s.groups == shapes.ODD for s in odd)


def test_real_models_are_measured_at_8192_and_16384_tokens():
    found = shapes.load(NORM, NormShape, ["models"])
    for family in ("Llama-3", "Qwen3", "DeepSeek-V3", "Mixtral", "GPT-OSS"):
        rows = {shape.rows for shape in found if family in shape.model}
        assert {8192, 16384} <= rows, family


def test_a_shape_in_two_sets_is_measured_once():
    both = shapes.load(NORM, NormShape, ["baseline", "models", "baseline"])
    names = [shape.name for shape in both]
    assert len(names) == len(set(names))


def test_an_unknown_set_is_refused_with_the_known_ones():
    with pytest.raises(BenchError, match="no set of shapes 'huge'.*baseline, models, sweep"):
        shapes.load(NORM, NormShape, ["huge"])


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"rows": 0, "n": 8}, r"norm.json, a\[0\]: rows is 0"),
        ({"rows": 8, "n": "8"}, "n is '8'"),
        ({"rows": 8, "n": 8, "width": 3}, "width"),
        ({"rows": 8}, "n"),
    ],
)
def test_a_malformed_shape_is_refused_with_its_place(tmp_path, fields, complaint):
    path = tmp_path / "norm.json"
    path.write_text(json.dumps({"a": [fields]}), encoding="utf-8")
    with pytest.raises(BenchError, match=complaint):
        shapes.load(path, NormShape, ["a"])


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"rows": 8, "n": 8, "type": "f64"}, r"a\[0\]: type is 'f64', not f32, f16, bf16"),
        ({"rows": 8, "n": 8, "residual": 1}, "residual is 1, not true or false"),
        ({"rows": -1, "n": 8}, "rows is -1"),
    ],
)
def test_a_malformed_pair_is_refused(tmp_path, fields, complaint):
    path = tmp_path / "norm_pair.json"
    path.write_text(json.dumps({"a": [fields]}), encoding="utf-8")
    with pytest.raises(BenchError, match=complaint):
        shapes.load(path, PairShape, ["a"])


def test_a_file_that_is_not_json_is_refused(tmp_path):
    path = tmp_path / "norm.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BenchError, match="cannot read shapes"):
        shapes.load(path, NormShape, ["a"])


def test_shapes_are_chosen_by_parts_of_their_names():
    found = shapes.choose(shapes.load(NORM, NormShape, ["baseline"]), "x2880, 655360")
    assert [shape.name for shape in found] == ["16384x2880", "655360x128"]
    with pytest.raises(BenchError, match="no shape matches"):
        shapes.choose(found, "x3")


@pytest.mark.parametrize("shape", shapes.load(GROUPED, GroupedShape, ["all"]), ids=lambda s: s.name)
def test_groups_hold_all_rows_in_multiples_of_128_or_odd(shape):
    sizes = shapes.group_sizes(shape)
    assert len(sizes) == shape.experts
    assert sum(sizes) == shape.rows
    largest = max(sizes)
    if shape.groups == shapes.ODD:
        assert all(size % 2 == 1 for size in sizes)
        return
    assert all(size % 128 == 0 for size in sizes if size != largest)


def test_balanced_groups_are_equal_and_skewed_ones_follow_their_rank():
    assert set(shapes.group_sizes(GroupedShape(8, 8192, 16, 16))) == {1024}
    sizes = shapes.group_sizes(GroupedShape(16, 1 << 20, 16, 16, "skewed"))
    ordered = sorted(sizes, reverse=True)
    assert sizes != ordered
    assert ordered[0] / ordered[1] == pytest.approx(2.0, rel=0.02)
    assert ordered[0] / ordered[15] == pytest.approx(16.0, rel=0.05)


def test_group_sizes_are_the_same_in_every_run():
    shape = GroupedShape(32, 65536, 16, 16, "skewed")
    assert shapes.group_sizes(shape) == shapes.group_sizes(shape)
