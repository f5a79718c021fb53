"""How tensors are described to the module: by address, shape, stride, type and device."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import array

import pytest

import kiln
from kiln import _kiln, _streams, _tensors


def test_a_tuple_is_taken_as_it_is() -> None:
    given = (4096, (3, 8), (16, 1), "bf16", 1)
    assert _tensors.describe("x", given) == ("x", 4096, [3, 8], [16, 1], "bf16", 1)


def test_no_strides_means_contiguous() -> None:
    given = (4096, (2, 3, 8), None, "f32", 0)
    assert _tensors.describe("x", given)[3] == [24, 8, 1]


@pytest.mark.parametrize("given", [(), (1, 2), (1, 2, 3, 4, 5), ("a", (1,), None, "f32", 0)])
def test_a_tuple_of_another_form_is_refused(given: tuple[object, ...]) -> None:
    with pytest.raises(kiln.RequestError, match="x is .* a tuple must be"):
        _tensors.describe("x", given)


@pytest.mark.parametrize(
    "given",
    [
        (-1, (1,), None, "f32", 0),
        (2**64, (1,), None, "f32", 0),
        (0, (2**63,), None, "f32", 0),
        (0, (2, 2**62), None, "f32", 2**31),
        (0, (1,), (-(2**63) - 1,), "f32", 0),
        (0, (1,), None, "f32", -2),
        (0, (1.5,), None, "f32", 0),
    ],
)
def test_a_number_that_the_module_cannot_hold_is_refused(given: tuple[object, ...]) -> None:
    with pytest.raises(kiln.RequestError, match="x is "):
        _tensors.describe("x", given)


def test_an_object_without_dlpack_is_refused_with_its_type() -> None:
    with pytest.raises(kiln.RequestError, match="x is a str"):
        _tensors.describe("x", "4096")


def test_host_memory_is_told_apart() -> None:
    host = array.array("f", [1.0, 2.0, 3.0])
    name, address, shape, strides, kind, ordinal = _tensors.describe("x", host)
    assert (name, shape, strides, kind, ordinal) == ("x", [3], [1], "f32", -1)
    assert address == host.buffer_info()[0]


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("torch.bfloat16", "bf16"),
        ("torch.float16", "f16"),
        ("torch.float32", "f32"),
        ("torch.uint8", "uint8"),
    ],
)
def test_types_have_kilns_names(dtype: str, name: str) -> None:
    assert _tensors.type_name(dtype) == name


def test_workspace_memory_must_be_contiguous_and_on_the_device() -> None:
    assert _tensors.memory_of("workspace", (256, (8, 4), None, "f32", 0), 0) == (256, 128)
    assert _tensors.memory_of("workspace", (256, (1024,), None, "uint8", 2), 2) == (256, 1024)
    with pytest.raises(kiln.RequestError, match="workspace is not contiguous"):
        _tensors.memory_of("workspace", (256, (8, 4), (8, 1), "f32", 0), 0)
    with pytest.raises(kiln.RequestError, match="workspace is not on cuda:1"):
        _tensors.memory_of("workspace", (256, (8, 4), None, "f32", 0), 1)


def test_streams_have_several_forms() -> None:
    class Torch:
        cuda_stream = 7

    class Cupy:
        ptr = 8

    class Protocol:
        def __cuda_stream__(self) -> tuple[int, int]:
            return 0, 9

    assert [_streams.handle_of(stream) for stream in (6, Torch(), Cupy(), Protocol())] == [6, 7, 8, 9]
    for bad in ("7", -1, 2**64, True, None, 1.0):
        with pytest.raises(kiln.RequestError, match="no CUDA stream"):
            _streams.handle_of(bad)


@pytest.mark.parametrize("device", [2**31, "cuda:99999999999", -(10**30)])
def test_an_ordinal_that_no_device_can_have_is_refused(device: object) -> None:
    with pytest.raises(kiln.RequestError, match="no CUDA device"):
        _streams.ordinal_of(device)


def test_roles_tell_outputs_from_inputs() -> None:
    roles = dict(_kiln.tensor_roles("rms_norm_backward:n=8,accumulate=1"))
    assert roles["dx"] == "output"
    assert roles["dw"] == "in_out"
    assert roles["x"] == "input"


def test_nothing_is_captured_where_there_is_no_driver_or_no_capture() -> None:
    assert _kiln.capturing(0) is False
