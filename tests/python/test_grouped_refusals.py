"""Bad calls of grouped GEMMs: one clear exception before any launch, on an emulated GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from grouped_emulator import Emulator, install  # noqa: E402

import kiln  # noqa: E402
from kiln.nn import _grouped_checks  # noqa: E402

E, N, K, ROWS = 3, 16, 8, 10


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Emulator:
    return install(monkeypatch)


def good() -> dict[str, Any]:
    return {
        "x": torch.randn(ROWS, K).bfloat16(),
        "w": torch.randn(E, N, K).bfloat16(),
        "offs": torch.tensor([4, 4, 10], dtype=torch.int32),
    }


def misplaced(*shape: int) -> Any:
    count = torch.Size(shape).numel()
    return torch.zeros(count + 1).bfloat16()[1:].view(shape)


CASES = [
    ("x", lambda t: t.float(), "x has type torch.float32"),
    ("x", lambda t: t.half(), "x has type torch.float16"),
    ("x", lambda t: t[0], "x has shape [8]"),
    ("x", lambda t: t[None], "x has shape [1, 10, 8]"),
    ("x", lambda t: t[:, :7], "the last dimensions differ"),
    ("x", lambda t: t.to_sparse(), "x has layout"),
    ("x", lambda t: t.to("meta"), "x is on meta"),
    ("x", lambda t: None, "x is a NoneType"),
    ("x", lambda t: [1.0], "x is a list"),
    ("x", lambda t: t.t().contiguous().t(), "the last one must be 1"),
    ("x", lambda t: t[:1].expand(ROWS, K), "rows would overlap"),
    ("x", lambda t: torch.zeros(ROWS, K + 1).bfloat16()[:, :K], "not a multiple of 8 elements"),
    ("x", lambda t: misplaced(ROWS, K), "x begins 2 bytes past a multiple of 16"),
    ("w", lambda t: t.float(), "w has type torch.float32"),
    ("w", lambda t: t[0], "w has shape [16, 8]"),
    ("w", lambda t: t.to("meta"), "w is on meta"),
    ("w", lambda t: t[:0], "w has 0 groups"),
    ("w", lambda t: t[:1].expand(1025, N, K), "w has 1025 groups"),
    ("w", lambda t: t[:, :12], "is 12, which is not a multiple of 8"),
    ("w", lambda t: t[:, :0], "is 0; 8 to"),
    ("w", lambda t: t.transpose(1, 2).contiguous().transpose(1, 2), "the last one must be 1"),
    ("w", lambda t: t[:1].expand(E, N, K), "rows would overlap"),
    ("w", lambda t: torch.zeros(E, N, K + 4).bfloat16()[..., :K], "not a multiple of 8 elements"),
    ("w", lambda t: misplaced(E, N, K), "w begins 2 bytes"),
    ("offs", lambda t: t.long(), "offs has type torch.int64"),
    ("offs", lambda t: t[None], "offs has shape [1, 3]"),
    ("offs", lambda t: t[:2], "offs has 2 elements; 3 groups need 3 end rows, or 4"),
    ("offs", lambda t: torch.cat((t, t)), "offs has 6 elements"),
    ("offs", lambda t: t.to("meta"), "offs is on meta"),
    ("offs", lambda t: [4, 4, 10], "offs is a list"),
    ("offs", lambda t: torch.cat((t, t))[::2], "offs has stride 2"),
    ("out_dtype", lambda t: torch.float16, "out_dtype is torch.float16"),
    ("out_dtype", lambda t: "bf16", "out_dtype is bf16"),
]


@pytest.mark.parametrize(("name", "change", "part"), CASES)
def test_a_bad_tensor_is_refused(gpu: Emulator, name: str, change: Any, part: str) -> None:
    given = good()
    given[name] = change(given.get(name))
    with pytest.raises(kiln.RequestError) as caught:
        kiln.grouped_mm(**given)
    assert part in str(caught.value) and str(caught.value).startswith("invalid_argument: grouped_mm: ")
    assert not gpu.runs
    if name != "out_dtype":
        with pytest.raises(kiln.RequestError, match="grouped_linear: "):
            kiln.grouped_linear(**given, fuse_wgrad_accumulation=True)
        assert not gpu.runs


def test_a_width_that_is_no_multiple_of_8_is_told_what_would_do(gpu: Emulator) -> None:
    given = {**good(), "x": torch.zeros(ROWS, 12).bfloat16(), "w": torch.zeros(E, N, 12).bfloat16()}
    with pytest.raises(kiln.RequestError, match="K, the last dimension, is 12.*pad to 16"):
        kiln.grouped_mm(**given)


def test_more_rows_than_an_int32_counts_are_refused(gpu: Emulator, monkeypatch: Any) -> None:
    monkeypatch.setattr(_grouped_checks, "MOST_ROWS", ROWS - 1)
    with pytest.raises(kiln.RequestError, match="x has 10 rows; up to 9"):
        kiln.grouped_mm(**good())


def test_tensors_of_the_host_are_refused() -> None:
    for call in (kiln.grouped_mm, kiln.grouped_linear):
        with pytest.raises(kiln.RequestError, match="x is on cpu"):
            call(**good())


BAD_OFFSETS = [
    ([4, 3, 10], "group 1 owns rows 4 to 3; end rows must not decrease"),
    ([-1, 3, 10], "group 0 owns rows 0 to -1; an end row is negative"),
    ([4, 4, 11], "group 2 owns rows 4 to 11, but x has 10"),
    ([11, 12, 10], "group 0 owns rows 0 to 11, but x has 10"),
    ([1, 4, 4, 10], "group 0 owns rows 1 to 4; with a leading element the first group must begin at 0"),
    ([0, 4, 3, 10], "group 1 owns rows 4 to 3"),
    ([0, 4, 4, 2**31 - 1], "group 2 owns rows 4 to 2147483647"),
    ([4, 4, -(2**31)], "group 2 owns rows 4 to -2147483648; an end row is negative"),
]


@pytest.mark.parametrize(("ends", "part"), BAD_OFFSETS)
@pytest.mark.parametrize("by_environment", [False, True])
def test_offsets_are_checked_on_request(
    gpu: Emulator, ends: list[int], part: str, by_environment: bool
) -> None:
    given = {**good(), "offs": torch.tensor(ends, dtype=torch.int32)}
    gpu.check_offsets = by_environment
    with pytest.raises(kiln.RequestError) as caught:
        kiln.grouped_mm(**given, check_offsets=None if by_environment else True)
    assert part in str(caught.value)
    assert not gpu.runs


@pytest.mark.parametrize(
    "ends", [[4, 4, 10], [0, 0, 0], [0, 4, 4, 10], [0, 0, 0, 10], [10, 10, 10], [1, 2, 3]]
)
def test_good_offsets_pass_the_check(gpu: Emulator, ends: list[int]) -> None:
    kiln.grouped_mm(**{**good(), "offs": torch.tensor(ends, dtype=torch.int32)}, check_offsets=True)
    assert gpu.ops == ["forward"]


def test_bad_offsets_are_not_looked_at_unless_asked(gpu: Emulator) -> None:
    offs = torch.tensor([4, 3, 11], dtype=torch.int32)
    kiln.grouped_mm(**{**good(), "offs": offs})
    gpu.check_offsets = True
    kiln.grouped_mm(**{**good(), "offs": offs}, check_offsets=False)
    assert gpu.ops == ["forward", "forward"]


def test_a_captured_call_cannot_check_offsets(gpu: Emulator) -> None:
    gpu.capturing = True
    with pytest.raises(kiln.RequestError, match="while a CUDA graph is captured"):
        kiln.grouped_mm(**good(), check_offsets=True)
    assert not gpu.runs


def test_the_policy_reads_the_variable(python: Any) -> None:
    code = "import kiln._service; print(kiln._service.service().check_offsets())"
    assert python(code) == "False\n"
    assert python(code, KILN_CHECK_OFFSETS="1") == "True\n"
