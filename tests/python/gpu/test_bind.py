"""prepare, bind and run by name, and what bind refuses."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

import kiln
from kiln.nn import functional

N, ROWS = 512, 100


def tensors() -> dict[str, torch.Tensor]:
    x, dy = torch.randn(2, ROWS, N, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(N, device="cuda", dtype=torch.bfloat16)
    rstd = torch.rsqrt(x.float().pow(2).mean(-1) + 1e-5)
    return {
        "dy": dy,
        "x": x,
        "rstd": rstd,
        "w": w,
        "dx": torch.empty_like(x),
        "dw": torch.empty_like(w),
    }


def expected(given: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    dx, dw = functional.rms_norm_backward(given["dy"], given["x"], given["rstd"], given["w"])
    return {"dx": dx, "dw": dw}


def check(given: dict[str, torch.Tensor]) -> None:
    for name, value in expected(given).items():
        assert torch.equal(given[name], value), name


@pytest.fixture(scope="module")
def prepared() -> kiln.Prepared:
    return kiln.prepare(f"rms_norm_backward:n={N}")


def test_bind_and_run(prepared: kiln.Prepared) -> None:
    given = tensors()
    launch = prepared.bind(**given)
    launch.run()
    check(given)
    assert launch.kernel_count >= 1
    assert prepared.plan["route"] in ("fused", "composed")
    assert prepared.plan["signature"] == prepared.signature


def test_rebind_takes_other_tensors_and_rows(prepared: kiln.Prepared) -> None:
    launch = prepared.bind(**tensors())
    other = {name: t[:7].clone() if t.dim() == 2 or name == "rstd" else t for name, t in tensors().items()}
    launch.rebind(**other)
    launch.run(torch.cuda.current_stream())
    check(other)


def test_a_clone_and_a_stream_of_its_own(prepared: kiln.Prepared) -> None:
    given = tensors()
    clone = prepared.bind(**given).clone()
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    clone.run(stream.cuda_stream)
    stream.synchronize()
    check(given)


def test_tensors_as_numbers_and_a_workspace_of_torch(prepared: kiln.Prepared) -> None:
    given = tensors()
    as_numbers = {
        name: (t.data_ptr(), tuple(t.shape), t.stride(), "f32" if name == "rstd" else "bf16", 0)
        for name, t in given.items()
    }
    workspace = torch.empty(prepared.workspace_bytes, dtype=torch.uint8, device="cuda")
    prepared.bind(workspace=workspace, **as_numbers).run()
    torch.cuda.synchronize()
    check(given)


def test_dlpack_is_enough(prepared: kiln.Prepared) -> None:
    class Exported:
        def __init__(self, tensor: torch.Tensor) -> None:
            self.tensor = tensor

        def __dlpack__(self, **options: Any) -> Any:
            return self.tensor.__dlpack__(stream=-1)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.tensor.__dlpack_device__()

    given = tensors()
    prepared.bind(**{name: Exported(tensor) for name, tensor in given.items()}).run()
    check(given)


def test_fewer_sms_give_the_same_bits(prepared: kiln.Prepared) -> None:
    given = tensors()
    prepared.bind(sm_limit=3, **given).run()
    check(given)


def test_preparing_again_hits_memory(prepared: kiln.Prepared) -> None:
    before = kiln.statistics()
    again = kiln.prepare(prepared.signature, torch.device("cuda", 0))
    assert kiln.statistics()["memory_hits"] == before["memory_hits"] + 1
    assert again.device == 0


@pytest.mark.parametrize(
    ("name", "change", "part"),
    [
        ("x", lambda t: t.float(), "type f32"),
        ("x", lambda t: t.double(), "f64"),
        ("x", lambda t: t[:, :-1], "shape"),
        ("x", lambda t: t.cpu(), "host memory"),
        ("x", lambda t: t[None], "rank 3"),
        ("x", lambda t: t.t().contiguous().t(), "stride"),
        ("dx", lambda t: t[:1].expand(ROWS, N), "stride"),
        ("dx", lambda t: t.requires_grad_(), "requires grad"),
        ("dw", lambda t: torch.empty(2 * N, device="cuda", dtype=t.dtype)[::2], "contiguous"),
        ("dw", lambda t: t[:1].expand(N), "contiguous"),
        ("rstd", lambda t: t.bfloat16(), "type bf16"),
        ("w", lambda t: None, "w is missing"),
        ("w", lambda t: 17, "w has rank 0"),
        ("w", lambda t: t.to_sparse(), "layout"),
    ],
)
def test_a_bad_tensor_is_one_exception(prepared: kiln.Prepared, name: str, change: Any, part: str) -> None:
    given: dict[str, Any] = tensors()
    given[name] = change(given[name])
    with pytest.raises(kiln.RequestError) as caught:
        prepared.bind(**given)
    assert part in str(caught.value)
    assert caught.value.code == "invalid_argument"


def test_outputs_may_not_overlap(prepared: kiln.Prepared) -> None:
    given = tensors()
    with pytest.raises(kiln.RequestError, match="dx overlaps the input x"):
        prepared.bind(**{**given, "dx": given["x"]})
    with pytest.raises(kiln.RequestError, match="dx overlaps the input dy"):
        prepared.bind(**{**given, "dx": given["dy"]})


def test_an_unknown_tensor_is_refused(prepared: kiln.Prepared) -> None:
    with pytest.raises(kiln.RequestError, match="residual"):
        prepared.bind(**tensors(), residual=tensors()["x"])
    with pytest.raises(kiln.RequestError, match="bias is not an argument"):
        prepared.bind(**tensors(), bias=tensors()["w"])


def test_a_small_workspace_is_refused(prepared: kiln.Prepared) -> None:
    small = torch.empty(prepared.workspace_bytes - 1, dtype=torch.uint8, device="cuda")
    with pytest.raises(kiln.RequestError, match="workspace"):
        prepared.bind(workspace=small, **tensors())


def test_a_rebind_that_fails_leaves_the_launch_as_it_was(prepared: kiln.Prepared) -> None:
    given = tensors()
    launch = prepared.bind(**given)
    with pytest.raises(kiln.RequestError):
        launch.rebind(**{**given, "x": given["x"].float()})
    launch.run()
    check(given)


def test_asking_what_is_supported_here_makes_no_context() -> None:
    code = """
import ctypes, kiln
print(kiln.supports("rms_norm_backward:n=4096").supported)
cuda = ctypes.CDLL("libcuda.so.1")
flags, active = ctypes.c_uint(), ctypes.c_int(-1)
assert cuda.cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)) == 0
print(active.value)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.split() == ["True", "0"]
