"""Binding and running through the compiled module, on a driver that runs nothing."""

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
import ctypes, os, sys, threading
import kiln
from kiln import _kiln
from kiln._service import service
driver = ctypes.CDLL("libcuda.so.1")
driver.fake_last_stream.restype = ctypes.c_ulonglong
driver.fake_last_words.restype = ctypes.POINTER(ctypes.c_ulonglong)
def words(): return [driver.fake_last_words()[i] for i in range(64)]
N = 512
DY, X, RSTD, W, DX, DW = (i << 20 for i in range(1, 7))
def tensors(rows=100, stride=N, ordinal=0, **other):
    matrix = lambda address: (address, (rows, N), (stride, 1), "bf16", ordinal)
    given = dict(dy=matrix(DY), x=matrix(X), rstd=(RSTD, (rows,), None, "f32", ordinal),
                 w=(W, (N,), None, "bf16", ordinal), dx=matrix(DX), dw=(DW, (N,), None, "bf16", ordinal))
    return {**given, **other}
def refused(call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kiln.RequestError as error:
        return str(error)
    raise AssertionError("accepted")
prepared = kiln.prepare(f"rms_norm_backward:n={N}")
"""

Run = Callable[[str], str]


@pytest.fixture
def run(python: Callable[..., str], cache: Path) -> Run:
    return lambda code: python(
        PRELUDE + code, LD_LIBRARY_PATH=FOLDER, KILN_CACHE_DIR=str(cache), KILN_LOG="warn"
    )


def test_a_launch_reaches_the_driver_with_its_addresses_stream_and_device(run: Run) -> None:
    run("""
assert prepared.device == 0 and prepared.plan["route"] == "fused"
assert prepared.roles == dict(dy="input", x="input", rstd="input", w="input", dx="output", dw="output")
launch = prepared.bind(**tensors())
assert driver.fake_launches() == 0
launch.run(7)
assert driver.fake_launches() == 1 == launch.kernel_count
assert driver.fake_last_stream() == 7
assert {DY, X, RSTD, W, DX, DW} <= set(words())
launch.run()
assert driver.fake_last_stream() == 0, "without torch: the legacy stream"
""")


def test_rebinding_and_cloning(run: Run) -> None:
    run("""
launch = prepared.bind(**tensors())
before = driver.fake_allocations()
launch.rebind(**tensors(rows=7, stride=1024))
assert driver.fake_allocations() == before
launch.run(7)
assert 7 in words() and 1024 in words() and 100 not in words()
clone = launch.clone()
assert driver.fake_allocations() > before
clone.run(8)
assert 7 in words() and driver.fake_last_stream() == 8
assert "type f32" in refused(launch.rebind, **tensors(x=(X, (100, N), None, "f32", 0)))
launch.run(7)
assert 7 in words(), "as it was"
""")


def test_bad_tensors_are_refused_before_any_launch(run: Run) -> None:
    run("""
bind = prepared.bind
assert "x is on cuda:1, the kernel was prepared for cuda:0" in refused(bind, **tensors(ordinal=1) | {"dy": tensors()["dy"]})
assert "w is in host memory" in refused(bind, **tensors(w=(W, (N,), None, "bf16", -1)))
assert "type f64" in refused(bind, **tensors(w=(W, (N,), None, "f64", 0)))
assert "dimensions" in refused(bind, **tensors(w=(W, (1,) * 5, None, "bf16", 0)))
assert "w is missing" in refused(bind, **tensors(w=None))
assert "bias is not an argument" in refused(bind, **tensors(bias=(W, (N,), None, "bf16", 0)))
assert "dx overlaps the input x" in refused(bind, **tensors(dx=tensors()["x"]))
assert "stride" in refused(bind, **tensors(dx=(DX, (100, N), (1, 100), "bf16", 0)))
assert "null" in refused(bind, **tensors(dx=(0, (100, N), None, "bf16", 0)))
assert "multiple" in refused(bind, **tensors(dx=(DX + 1, (100, N), None, "bf16", 0)))
for limit in (-1, 2**31, "all", 1.5, None):
    assert "sm_limit" in refused(bind, sm_limit=limit, **tensors())
size = prepared.workspace_bytes
assert "workspace" in refused(bind, workspace=(1 << 30, (size - 1,), None, "uint8", 0), **tensors())
assert "workspace" in refused(bind, workspace=((1 << 30) + 8, (size,), None, "uint8", 0), **tensors())
assert driver.fake_launches() == 0
bind(workspace=(1 << 30, (size,), None, "uint8", 0), **tensors()).run(7)
assert 1 << 30 in words()
""")


def test_another_device(run: Run) -> None:
    run("""
other = kiln.prepare(prepared.signature, "cuda:1")
assert other.device == 1
other.bind(**tensors(ordinal=1)).run(7)
assert driver.fake_last_device() == 1
prepared.bind(**tensors()).run(7)
assert driver.fake_last_device() == 0
try:
    kiln.prepare(prepared.signature, 2)
except kiln.ServiceError as error:
    assert error.code == "device_missing" and "sees 2" in str(error)
else:
    raise AssertionError
""")


def test_a_thread_without_a_context_binds_rebinds_and_runs(run: Run) -> None:
    run("""
grouped = kiln.prepare("grouped_gemm_forward:n=512,k=256")
assert grouped.plan["route"] == "fused", grouped.plan
given = dict(x=(X, (64, 256), None, "bf16", 0), w=(W, (2, 512, 256), None, "bf16", 0),
             offs=(RSTD, (2,), None, "i32", 0), y=(DX, (64, 512), None, "bf16", 0))
done = []
def all_of_it(prepared, arguments):
    launch = prepared.bind(**arguments)
    launch.rebind(**arguments)
    launch.run(7)
    launch.clone().run(7)
    done.append(prepared.signature)
for one, arguments in ((prepared, tensors()), (grouped, given)):
    thread = threading.Thread(target=all_of_it, args=(one, arguments))
    thread.start()
    thread.join()
assert len(done) == 2 and driver.fake_launches() == 4
""")


def test_nothing_bound_for_an_architecture_can_run(run: Run) -> None:
    run("""
planned = service().prepare_for_arch(prepared.signature, "sm_90a")
assert planned.ordinal() == -1
assert "cannot be bound" in refused(planned.bind, [])
""")


NORM = """
size = prepared.workspace_bytes
low = prepared._prepared
fast = _kiln.RmsNormBackward(low, (1 << 30, size), (1 << 29, 256), captured=False)
def call(launch, stream=7, rows=100, **other):
    numbers = dict(dy=DY, dy_stride=N, x=X, x_stride=N, rstd=RSTD, w=W, dx=DX, dx_stride=N, dw=DW)
    return launch(stream, rows, **{**numbers, **other})
"""


def test_one_call_binds_again_and_runs_on_memory_of_the_caller(run: Run) -> None:
    run(
        NORM
        + """
before = driver.fake_allocations()
assert call(fast) is True
assert {DY, X, RSTD, W, DX, DW, 1 << 30, 1 << 29, 100} <= set(words())
assert call(fast, rows=9, x_stride=2048, x=X + 4096) is True
assert {9, 2048, X + 4096} <= set(words())
assert driver.fake_allocations() == before, "workspace and counters were adopted"
assert "overlaps" in refused(call, fast, dx=X)
assert driver.fake_launches() == 2
assert call(fast, rows=0, dy=0, x=0, dx=0, rstd=0) is True
"""
    )


def test_a_captured_stream_takes_only_a_launch_made_for_it(run: Run) -> None:
    run(
        NORM
        + """
CAPTURED = 0xCA
assert _kiln.capturing(CAPTURED) and not _kiln.capturing(7)
captured = _kiln.RmsNormBackward(low, (1 << 30, size), (1 << 29, 256), captured=True)
assert call(fast, CAPTURED) is False
assert call(captured, 7) is False
assert driver.fake_launches() == 0
assert call(captured, CAPTURED) is True
assert call(fast, 7) is True
assert driver.fake_last_stream() == 7
"""
    )


def test_what_a_launch_allocates_a_capture_elsewhere_does_not_forbid(run: Run) -> None:
    run("""
assert driver.fake_allocations() == driver.fake_strict_allocations() == 0
prepared.bind(**tensors()).clone()
assert driver.fake_allocations() > 0
assert driver.fake_strict_allocations() == 0
assert driver.fake_capture_mode() == 0, "restored"
""")


def test_threads_take_turns(run: Run) -> None:
    run(
        NORM
        + """
def work():
    for rows in range(1, 200):
        assert call(fast, rows=rows)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert driver.fake_launches() == 4 * 199
"""
    )


def test_a_forked_child_prepares_anew_and_leaves_the_parents_launches_alone(run: Run) -> None:
    run("""
launch = prepared.bind(**tensors())
child = os.fork()
if child == 0:
    again = kiln.prepare(prepared.signature)
    again.bind(**tensors()).run(9)
    assert driver.fake_last_stream() == 9
    del launch, prepared
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
launch.run(7)
""")


def test_the_process_ends_in_peace_with_launches_alive(run: Run) -> None:
    assert run("launch = prepared.bind(**tensors()); launch.run(7); print('done')") == "done\n"
