# SPDX-License-Identifier: Apache-2.0
"""Records: complete, readable, and without names of hosts and paths."""

from __future__ import annotations

import json

import bench_records
import pytest
from bench_records import norm_case, record_of

from bench import environment, record
from bench.entry import PEER, SUBJECT, Entry
from bench.failure import BenchError, Unavailable, sentence
from bench.nvml import Nvml


def test_a_record_comes_back_as_it_was_written(tmp_path):
    wrote = record_of([norm_case(64, 128, 10.0, 20.0)])
    path = tmp_path / "new" / "2026-11-29-norm.json"
    record.write(wrote, path)
    assert record.read(path) == wrote
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_samples_of_an_entry_stand_on_one_line():
    text = record.render(record_of([norm_case(64, 128, 10.0, 20.0)]))
    lines = [line for line in text.splitlines() if '"samples_us"' in line]
    assert len(lines) == 4
    assert all(line.count(",") >= 19 and "]" in line for line in lines)


def test_a_sample_that_is_no_number_is_refused():
    broken = record_of([norm_case(64, 128, 10.0, 20.0)])
    broken["cases"][0]["entries"][0]["samples_us"][3] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        record.render(broken)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("cannot open /opt/someone/kiln/libkiln.so: no", "cannot open …/libkiln.so: no"),
        ("~/src/x.py:12 failed", "…/x.py:12 failed"),
        ("ran on build-host-7 today", "ran on (host) today"),
        ("4260 GB/s at 1/2 of n/m", "4260 GB/s at 1/2 of n/m"),
        ("rms_norm_backward:n=4096,x=bf16", "rms_norm_backward:n=4096,x=bf16"),
    ],
)
def test_paths_and_the_name_of_the_host_do_not_get_into_a_record(text, kept):
    assert record.scrub({"a": [text]}, host="build-host-7") == {"a": [kept]}


def test_a_second_record_of_a_day_gets_a_number(tmp_path):
    one = record_of([])
    first = record.path_for(one, None, tmp_path)
    assert first.name == "2026-11-29-norm.json"
    record.write(one, first)
    assert record.path_for(one, None, tmp_path).name == "2026-11-29-norm-2.json"
    assert str(record.path_for(one, "elsewhere/x.json")) == "elsewhere/x.json"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda r: r.update(schema=2), "schema"),
        (lambda r: r.update(what="copy"), "'copy'"),
        (lambda r: r.pop("environment"), "environment"),
        (lambda r: r["cases"][0]["entries"][0].update(role="friend"), "'friend'"),
        (lambda r: r["cases"][0]["entries"][0].pop("samples_us"), "neither samples nor an error"),
    ],
)
def test_what_is_no_record_is_refused_with_the_reason(tmp_path, change, complaint):
    broken = record_of([norm_case(64, 128, 10.0, 20.0)])
    change(broken)
    path = tmp_path / "x.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(BenchError, match=complaint):
        record.read(path)


def test_a_missing_and_a_broken_file_are_told_apart(tmp_path):
    with pytest.raises(BenchError, match="cannot read"):
        record.read(tmp_path / "absent.json")
    (tmp_path / "half.json").write_text('{"schema": 1,', encoding="utf-8")
    with pytest.raises(BenchError, match="is not JSON"):
        record.read(tmp_path / "half.json")


def test_an_entry_keeps_samples_or_an_error():
    entry = Entry("kiln", "kiln", SUBJECT, lambda: None, detail={"route": "fused"}, against=("aten",))
    kept = record.entry_record(entry, [1.0, 2.0], None, False)
    assert kept["samples_us"] == [1.0, 2.0] and kept["against"] == ["aten"]
    refused = record.entry_record(Entry("te", "TE", PEER, None), None, "not here", True)
    assert refused["error"] == "not here" and refused["exposed"]


def test_an_error_becomes_one_short_line():
    assert sentence(ValueError("a\n  b")) == "ValueError: a b"
    assert sentence(Unavailable("not installed")) == "not installed"
    assert len(sentence(ValueError("x" * 1000))) == 240


def test_the_commit_is_what_git_says_or_what_was_given():
    assert environment.commit("abc") == {"commit": "abc", "modified": None}
    assert set(environment.commit()) == {"commit", "modified"}


def test_versions_name_python_and_no_place():
    found = environment.versions()
    assert found["python"].count(".") == 2
    assert not any("/" in value for value in found.values())


def test_without_the_management_library_clocks_are_left_out(monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr("bench.nvml.ctypes.CDLL", absent)
    nvml = Nvml()
    assert nvml.driver() is None and nvml.now() == {} and nvml.limits() == {}


def test_the_environment_of_a_run_names_gpu_driver_versions_and_commit(monkeypatch):
    from types import SimpleNamespace

    properties = SimpleNamespace(
        name="NVIDIA H200", major=9, minor=0, multi_processor_count=132, total_memory=141 << 30
    )
    torch = SimpleNamespace(
        cuda=SimpleNamespace(get_device_properties=lambda device: properties, current_device=lambda: 0),
        version=SimpleNamespace(cuda="13.0"),
    )
    nvml = SimpleNamespace(driver=lambda: "580.159", limits=lambda: {"power_limit_w": 700})
    found = environment.describe(torch, nvml, "abc")
    assert found["gpu"] == "NVIDIA H200" and found["driver"] == "580.159" and found["commit"] == "abc"
    assert record.scrub(found) == found
    assert bench_records.ROOT.name not in json.dumps(found).split('"')
