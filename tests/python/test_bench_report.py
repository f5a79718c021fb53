# SPDX-License-Identifier: Apache-2.0
"""Reports: tables, verdicts and figures of a record."""

from __future__ import annotations

import xml.etree.ElementTree as xml

import pytest
from bench_records import entry, norm_case, record_of

from bench import analysis, bars, curves, record, report, speedups, tables
from bench.__main__ import main
from bench.failure import BenchError

SVG = "{http://www.w3.org/2000/svg}"


def sweep() -> dict:
    return record_of(
        [norm_case(rows, 4096, 4 + rows / 180, 30 + rows / 90) for rows in (256, 512, 1024, 2048)]
    )


def grouped() -> dict:
    case = {
        "name": "grouped_gemm_forward E4 512x64x32 balanced",
        "op": "grouped_gemm_forward",
        "shape": {"experts": 4, "rows": 512, "n": 64, "k": 32},
        "flops": 2 * 512 * 64 * 32,
        "entries": [
            entry("kiln", "subject", None, error="kiln: no such op"),
            entry("torch", "peer", 2.0, "torch._grouped_mm"),
        ],
    }
    return record_of([case], "gemm")


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in xml.fromstring(svg).iter(f"{SVG}text")]


def test_a_table_shows_microseconds_and_the_rate_of_the_floor():
    text = tables.times(record_of([norm_case(8192, 4096, 50.0, 100.0)]), "rms_norm_backward")
    header, _, row = text.splitlines()
    assert header == "| shape | device copy | kiln, 1 stage | ATen |"
    assert row.startswith("| 8192x4096 | ")
    assert "| 50 (40" in row and "| 100 (20" in row


def test_verdicts_come_with_ratio_interval_and_noise():
    text = tables.verdicts(record_of([norm_case(8192, 4096, 50.0, 100.0)]), "rms_norm_backward")
    row = text.splitlines()[2]
    assert "2.00× [" in row and row.endswith("faster |")
    assert "0." in row.split("|")[3] and "%" in row.split("|")[3]


def test_without_a_second_copy_there_is_no_verdict():
    case = norm_case(8192, 4096, 50.0, 100.0)
    case["entries"] = [e for e in case["entries"] if e["role"] != "again"]
    assert analysis.comparisons(case) == []
    assert tables.verdicts(record_of([case]), "rms_norm_backward") == ""


def test_a_subject_is_judged_only_against_the_peers_it_names():
    case = norm_case(8192, 4096, 50.0, 100.0)
    case["entries"].append(entry("quack", "peer", 60.0, "QuACK"))
    case["entries"][0]["against"] = ["quack"]
    assert [found.peer for found in analysis.comparisons(case)] == ["quack"]


def test_the_share_of_the_ceiling_is_that_of_the_copy_in_the_same_case():
    case = norm_case(8192, 4096, 96.0, 192.0)
    shares = {r.name: r.share.value for r in analysis.readings(case) if r.share}
    assert shares["copy"] == pytest.approx(1.0)
    assert shares["kiln"] == pytest.approx(0.5, rel=0.01)
    assert shares["aten"] == pytest.approx(0.25, rel=0.01)


def test_the_terminal_shows_the_share_of_the_copy_in_the_same_case():
    lines = analysis.summary(norm_case(8192, 4096, 96.0, 192.0)).splitlines()
    (kiln,) = (line for line in lines if line.startswith("  kiln, 1 stage  "))
    (copy,) = (line for line in lines if "device copy" in line)
    assert "50% of the ceiling" in kiln and "ceiling" not in copy


def test_a_product_is_measured_against_the_matmul_of_the_run():
    read = grouped()
    reading = analysis.readings(read["cases"][0], read["ceilings"])[1]
    assert reading.share.value == pytest.approx(reading.rate / 810.0)


def test_what_was_not_measured_is_listed_once_with_its_reason():
    text = tables.absent(record_of([norm_case(64, 128, 1.0, 2.0), norm_case(128, 128, 1.0, 2.0)]))
    assert text == "- Liger <Triton>: liger_kernel cannot be imported"


def test_figures_recorded_before_are_compared():
    read = record_of([norm_case(8192, 4096, 50.0, 116.0)])
    text = tables.reproduced(read, tables.recorded("NVIDIA H200"))
    assert text.startswith("2 of 2 figures")
    slower = record_of([norm_case(8192, 4096, 50.0, 150.0)])
    assert tables.reproduced(slower, tables.recorded("NVIDIA H200")).startswith("1 of 2 figures")
    assert tables.reproduced(read, tables.recorded("another GPU")) == ""


def test_the_tally_counts_verdicts():
    cases = [norm_case(64, 128, 10.0, 20.0), norm_case(128, 128, 10.0, 5.0), norm_case(256, 128, 10.0, 20.0)]
    assert tables.tally(record_of(cases)).splitlines()[2] == "| kiln, 1 stage | ATen | 2 | 0 | 1 |"


def test_bars_are_a_well_formed_picture_that_names_every_shape_and_series():
    svg = bars.bars(record_of([norm_case(8192, 4096, 50.0, 116.0)]), "rms_norm_backward")
    shown = texts(svg)
    assert {"8192x4096", "kiln, 1 stage", "ATen", "100%", "device copy of the same bytes"} <= set(shown)
    assert "kiln, 1 stage, again" not in shown and "Liger <Triton>" not in shown


def test_a_longer_bar_is_a_faster_kernel():
    svg = bars.bars(record_of([norm_case(8192, 4096, 60.0, 120.0)]), "rms_norm_backward")
    widths = [
        float(rect.get("width"))
        for rect in xml.fromstring(svg).iter(f"{SVG}rect")
        if rect.find(f"{SVG}title") is not None and "[" in rect.find(f"{SVG}title").text
    ]
    assert widths[0] == pytest.approx(2 * widths[1], rel=0.02)


def test_pictures_have_colours_for_light_and_for_dark_pages():
    svg = bars.bars(record_of([norm_case(8192, 4096, 50.0, 116.0)]), "rms_norm_backward")
    light, dark = svg.split("@media (prefers-color-scheme: dark)")
    for rule in (".page{fill:", ".ink{fill:", ".s0{fill:"):
        assert rule in light and rule in dark
    assert "<title" in svg and "<desc" in svg


def test_labels_are_escaped():
    case = norm_case(64, 128, 1.0, 2.0)
    case["entries"][2]["label"] = 'A & B <"c">'
    assert 'A & B <"c">' in texts(bars.bars(record_of([case]), "rms_norm_backward"))


def test_a_sweep_over_rows_gets_curves_and_single_shapes_do_not():
    svg = curves.curves(sweep(), "rms_norm_backward")
    shown = texts(svg)
    assert {"n = 4096", "256", "512", "1k", "2k", "rows (M)"} <= set(shown)
    assert len(list(xml.fromstring(svg).iter(f"{SVG}polyline"))) == 3
    assert curves.curves(record_of([norm_case(64, 128, 1.0, 2.0)]), "rms_norm_backward") is None


def test_host_costs_are_bars_of_their_own():
    case = {
        "name": "rms_norm_backward 256x4096",
        "op": "rms_norm_backward",
        "shape": {"rows": 256, "n": 4096},
        "entries": [entry("kiln", "subject", 4.0, "bound launch"), entry("nothing", "floor", 0.05, "empty")],
    }
    read = record_of([case], "host")
    assert {"bound launch", "empty"} <= set(texts(bars.bars(read, "rms_norm_backward")))
    assert "| 4 | 0.05 |" in tables.times(read, "rms_norm_backward")


def test_the_report_is_a_pure_function_of_the_record():
    assert report.figures(sweep(), "x") == report.figures(sweep(), "x")
    assert report.body(sweep(), {}) == report.body(sweep(), {})


def test_the_command_writes_tables_and_figures_beside_the_record(tmp_path, capsys):
    record.write(sweep(), tmp_path / "2026-11-29-norm.json")
    record.write(grouped(), tmp_path / "2026-11-29-gemm.json")
    assert main(["report", *map(str, sorted(tmp_path.glob("*.json")))]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"2026-11-29-norm.md", "2026-11-29-norm-bars.svg", "2026-11-29-norm-rows.svg"} <= names
    assert {"2026-11-29-gemm.md", "2026-11-29-gemm-bars.svg"} <= names
    text = (tmp_path / "2026-11-29-norm.md").read_text(encoding="utf-8")
    assert "![norm: time against rows](2026-11-29-norm-rows.svg)" in text
    assert "commit 0123456789ab" in text
    assert "2 figures" in capsys.readouterr().out


def test_the_newest_record_of_each_kind_is_reported(tmp_path):
    for name, started in (("a", "2026-11-28T00:00:00Z"), ("b", "2026-11-30T00:00:00Z")):
        record.write({**sweep(), "started": started}, tmp_path / f"{name}.json")
    record.write(grouped(), tmp_path / "c.json")
    layer = sweep()
    layer["options"] = {**layer["options"], "op": "layer"}
    record.write({**layer, "started": "2026-11-27T00:00:00Z"}, tmp_path / "d.json")
    (tmp_path / "compile.json").write_text('{"what": "compile"}', encoding="utf-8")
    assert sorted(path.name for path in report.newest(tmp_path)) == ["b.json", "c.json", "d.json"]


def test_a_record_of_another_schema_is_named_not_passed_over(tmp_path):
    record.write({**sweep(), "schema": 0}, tmp_path / "old.json")
    with pytest.raises(BenchError, match=r"old\.json is not a record of schema"):
        report.newest(tmp_path)


def test_results_are_spliced_into_a_readme_between_its_markers(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- bench:norm -->\nold\n<!-- /bench:norm -->\nafter\n", encoding="utf-8")
    results = tmp_path / "bench" / "results"
    record.write(sweep(), results / "r.json")
    for _ in range(2):  # the second time replaces the first
        assert main(["report", str(results / "r.json"), "--splice", str(readme)]) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- bench:norm -->") and text.endswith("<!-- /bench:norm -->\nafter\n")
    assert "old" not in text and text.count("bench/results/r-rows.svg") == 1


def test_a_readme_without_markers_is_left_alone():
    with pytest.raises(BenchError, match="<!-- bench:norm -->"):
        report.splice("no markers", "norm", "x")


def test_a_file_that_is_no_record_ends_with_a_message(tmp_path, capsys):
    path = tmp_path / "x.json"
    path.write_text("[]", encoding="utf-8")
    assert main(["report", str(path)]) == 1
    assert "is not a record" in capsys.readouterr().err


def products() -> dict:
    """Two shapes of two ops, kiln twice as fast as one peer and half as fast as nothing."""
    cases = []
    for op, best in (("forward", 1.5), ("step", 3.0)):
        for k, factor in ((32, 1.0), (64, 1.2)):
            entries = [
                entry("kiln", "subject", 10.0, "kiln"),
                entry("kiln_again", "again", 10.0, "kiln, again", again_of="kiln"),
                entry("kiln_composed", "peer", 11.0, "kiln, then add"),
                entry("torch", "peer", 10 * best * factor, "torch._grouped_mm"),
                entry("cublas", "peer", 10 * best * factor * 2, "cuBLAS per expert"),
            ]
            name = f"grouped_gemm_{op} E4 512x64x{k} balanced"
            shape = {"experts": 4, "rows": 512, "n": 64, "k": k}
            cases.append(
                {
                    "name": name,
                    "op": f"grouped_gemm_{op}",
                    "shape": shape,
                    "flops": 1 << 30,
                    "entries": entries,
                }
            )
    return record_of(cases, "gemm")


def test_products_are_compared_with_the_best_peer_but_not_with_kilns_own():
    found = [speedups.best(case) for case in products()["cases"]]
    assert [one.peer for one in found] == ["torch"] * 4
    lines = tables.speedups(products()).splitlines()
    assert lines[2].startswith("| op | best peer | faster, within noise, slower |")
    forward = next(line for line in lines if line.startswith("| forward"))
    value = float(forward.split("|")[2].split()[0])
    assert value == pytest.approx(1.5 * 1.2**0.5, rel=0.01)
    assert "| 2, 0, 0 |" in forward and "(1.50" in forward.split("|")[2]


def test_the_peer_that_wants_padded_groups_is_told_apart():
    read = products()
    for case in read["cases"]:
        case["entries"].append(entry("deepgemm", "peer", 10.5, "DeepGEMM"))
    assert {speedups.best(case).peer for case in read["cases"]} == {"deepgemm"}
    header, rows = speedups.rows(read, {"torch": "torch._grouped_mm", "deepgemm": "DeepGEMM"})
    line = dict(zip(header, rows[0]))
    assert line["best peer"] == line["DeepGEMM"] and line["DeepGEMM"].startswith("1.05")
    assert line["best but DeepGEMM"] == line["torch._grouped_mm"]


def test_speed_ups_are_a_picture_with_a_group_a_shape_and_a_bar_an_op():
    svg = speedups.figure(products())
    shown = texts(svg)
    assert {"E4 512x64x32 balanced", "forward", "step", "1.0×", "the best peer"} <= set(shown)
    assert speedups.figure(grouped()) is None
    pictures = report.figures(products(), "r")
    assert list(pictures)[0] == "r-speedups.svg"
    short = report.body(products(), pictures, folder="x/", short=True)
    assert "![gemm: speed-up over the best peer](x/r-speedups.svg)" in short
    assert short.count("![") == 1 and "geometric mean" in short
