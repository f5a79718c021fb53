"""Grouped GEMMs through the compiled module, packed from numbers, on a driver that runs nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = os.environ.get("KILN_TEST_LIBCUDA", "")

pytestmark = pytest.mark.skipif(
    not FOLDER, reason="KILN_TEST_LIBCUDA names no folder with the stand-in for libcuda"
)

PRELUDE = """
import ctypes
import kiln
from kiln import _kiln
from kiln._service import service
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_last_stream.restype = ctypes.c_ulonglong
driver.fake_last_words.restype = ctypes.POINTER(ctypes.c_ulonglong)
def words(): return [driver.fake_last_words()[i] for i in range(13)]
N, K, E, ROWS = 264, 136, 5, 1000
A, B, OUT, OFFS = (i << 30 for i in range(1, 5))
portable = _kiln.Service([], composed=True)
def launch_of(op, captured=False, service=portable):
    name, _, more = op.partition(":")
    prepared = service.prepare(f"grouped_gemm_{name}:n={N},k={K}{',' * bool(more)}{more}", 0)
    assert prepared.workspace_bytes() == 0
    return _kiln.GroupedGemm(prepared, None, (1 << 29, 256), captured=captured)
def call(launch, stream=7, **other):
    given = dict(rows=ROWS, groups=E, offs=OFFS, offs_size=E, a=A, a_stride=K, b=B, b_stride=K,
                 b_group_stride=N * K, out=OUT, out_stride=N, out_group_stride=0)
    return launch(stream, **{**given, **other})
def refused(launch, **other):
    try:
        call(launch, **other)
    except kiln.RequestError as error:
        return str(error)
    raise AssertionError("accepted")
"""

Run = Callable[[str], str]


@pytest.fixture
def run(python: Callable[..., str], cache: Path) -> Run:
    return lambda code: python(
        PRELUDE + code, LD_LIBRARY_PATH=FOLDER, KILN_CACHE_DIR=str(cache), KILN_LOG="warn"
    )


def test_numbers_reach_the_driver_as_the_op_names_them(run: Run) -> None:
    run("""
assert call(launch_of("forward"), b_stride=K + 8, b_group_stride=2 * N * (K + 8)) is True
assert driver.fake_launches() == 1 and driver.fake_last_stream() == 7
# a, b, out, ends, rows, n, k, strides of a, b and out, of w's groups and out's
assert words()[:12] == [A, B, OUT, OFFS, ROWS, N, K, K, K + 8, N, 2 * N * (K + 8), 0]
assert words()[12] & 0xffffffff == E
assert call(launch_of("dgrad"), a_stride=N, out_stride=K, offs_size=E + 1) is True
assert words()[:12] == [A, B, OUT, OFFS + 4, ROWS, N, K, N, K, K, N * K, 0]
wgrad = launch_of("wgrad:out=f32,accumulate=1")
assert call(wgrad, a_stride=N, b_group_stride=0, out_stride=K, out_group_stride=N * K) is True
assert words()[:12] == [A, B, OUT, OFFS, ROWS, N, K, N, K, K, 0, N * K]
assert words()[12] >> 32 == 1, "it accumulates"
""")


def test_one_launch_takes_any_number_of_rows_and_groups(run: Run) -> None:
    run("""
launch = launch_of("forward")
for rows, groups in ((1, 1), (5000, 1024), (3, 7)):
    assert call(launch, rows=rows, groups=groups, offs_size=groups) is True
    assert words()[4] == rows and words()[12] & 0xffffffff == groups
before = driver.fake_launches()
assert call(launch, rows=0, a=0, out=0) is True
assert driver.fake_launches() == before, "no output, no kernel"
assert call(launch_of("wgrad"), rows=0, a=0, b=0, a_stride=N, b_group_stride=0, out_stride=K,
            out_group_stride=N * K) is True
assert driver.fake_launches() == before + 1, "zeros are written"
""")


def test_what_the_package_lets_pass_is_refused_here(run: Run) -> None:
    run("""
launch = launch_of("forward")
assert "y overlaps the input x" in refused(launch, out=A)
assert "no multiple of 16 bytes" in refused(launch, a=A + 2)
assert "stride" in refused(launch, a_stride=K - 8)
assert "offs has 3 elements" in refused(launch, offs_size=3)
assert "0 groups" in refused(launch, groups=0, offs_size=0)
assert driver.fake_launches() == 0
wgrad = launch_of("wgrad")
assert "dw overlaps the input g" in refused(wgrad, a_stride=N, b_group_stride=0, out=A, out_stride=K,
                                           out_group_stride=N * K)
assert driver.fake_launches() == 0
""")


def test_a_captured_stream_takes_only_a_launch_made_for_it(run: Run) -> None:
    run("""
CAPTURED = 0xCA
plain, captured = launch_of("forward"), launch_of("forward", captured=True)
assert call(plain, CAPTURED) is False and call(captured, 7) is False
assert driver.fake_launches() == 0
assert call(captured, CAPTURED) is True and call(plain, 7) is True
""")


def test_the_fused_route_is_prepared_where_it_can_be(run: Run) -> None:
    run("""
prepared = kiln.prepare(f"grouped_gemm_forward:n={N},k={K}", 0)
assert prepared.plan["route"] == "fused" and prepared.roles["y"] == "output"
assert call(launch_of("forward", service=service())) is True
assert driver.fake_launches() == 1
import json
composed = json.loads(portable.prepare(f"grouped_gemm_forward:n={N},k={K}", 0).plan_json())
assert composed["route"] == "composed" and composed["reason"]["id"] == "forced"
""")
