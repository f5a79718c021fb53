"""Tensors of whatever library, as (name, address, shape, strides, type, ordinal) for the module."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import struct
import sys
from operator import index
from typing import Any

from kiln import _kiln
from kiln._errors import Error, from_code

TensorTuple = tuple[str, int, list[int], list[int], str, int]
MemoryTuple = tuple[int, int]

_HOST = -1
_MOST = 2**63 - 1
_MOST_ADDRESS = 2**64 - 1
_NAMES = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "float64": "f64",
    "int64": "i64",
}


def type_name(dtype: object) -> str:
    """ "bf16" for torch.bfloat16; the library's own name for a type that kiln does not know."""
    name = str(dtype).rpartition(".")[2]
    return _NAMES.get(name, name)


def describe(name: str, tensor: object, *, written: bool = False) -> TensorTuple:
    """`tensor` is torch's, one with __dlpack__, a tuple (address, shape, strides in elements or None,
    "bf16", ordinal), or a number, which the kernel takes by value. Raises RequestError."""
    if isinstance(tensor, (int, float)) and not isinstance(tensor, bool):
        return _from_number(name, tensor)
    if isinstance(tensor, (tuple, list)):
        return _from_tuple(name, tensor)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return _from_torch(name, tensor, torch, written)
    return _from_dlpack(name, tensor)


def memory_of(name: str, tensor: object, ordinal: int) -> MemoryTuple:
    """Address and bytes of contiguous memory on the device. Raises RequestError."""
    _, address, shape, strides, kind, device = describe(name, tensor, written=True)
    if device != ordinal:
        raise _refused(name, f"is not on cuda:{ordinal}")
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            raise _refused(name, "is not contiguous")
        expected *= size
    digits = "".join(character for character in kind if character.isdigit())
    return address, expected * int(digits or 8) // 8


def _refused(name: str, what: str) -> Error:
    return from_code("invalid_argument", f"{name} {what}")


def _from_torch(name: str, tensor: Any, torch: Any, written: bool) -> TensorTuple:
    if tensor.layout is not torch.strided:
        raise _refused(name, f"has layout {tensor.layout}; a dense tensor is needed")
    if tensor.is_neg() or tensor.is_conj():
        raise _refused(
            name, "is a negated or conjugate view, whose memory holds other numbers; resolve it first"
        )
    if written and tensor.requires_grad:
        raise _refused(
            name,
            "requires grad, and would be written behind autograd's back; pass a tensor that does not, "
            "such as its .detach()",
        )
    if tensor.device.type not in ("cuda", "cpu"):
        raise _refused(name, f"is on {tensor.device}; a CUDA tensor is needed")
    on_gpu = tensor.device.type == "cuda"
    return (
        name,
        tensor.data_ptr() if on_gpu else 0,
        list(tensor.shape),
        list(tensor.stride()),
        type_name(tensor.dtype),
        tensor.get_device() if on_gpu else _HOST,
    )


def _from_dlpack(name: str, tensor: object) -> TensorTuple:
    try:
        address, shape, strides, kind, ordinal = _kiln.describe(tensor)
    except TypeError:
        raise _refused(
            name,
            f"is a {type(tensor).__name__}; give a CUDA tensor of torch, one with __dlpack__, a number, or a tuple "
            "(address, shape, strides in elements or None, type, ordinal)",
        ) from None
    return name, address, list(shape), list(strides), kind, ordinal


def _from_number(name: str, value: int | float) -> TensorTuple:
    try:
        (bits,) = struct.unpack("=Q", struct.pack("=d", value))
    except OverflowError:
        raise _refused(name, f"is {value}, which is out of range") from None
    return name, bits, [], [], "number", _HOST


def _from_tuple(name: str, given: tuple[Any, ...] | list[Any]) -> TensorTuple:
    try:
        address, shape, strides, kind, ordinal = given
        sizes = [index(size) for size in shape]
        steps = _contiguous(sizes) if strides is None else [index(stride) for stride in strides]
        described = name, index(address), sizes, steps, str(kind), index(ordinal)
    except (TypeError, ValueError):
        raise _refused(
            name,
            f"is {given!r}; a tuple must be (address, shape, strides in elements or None, type, ordinal)",
        ) from None
    fits = all(-_MOST - 1 <= number <= _MOST for number in (*sizes, *steps))
    if not fits or not 0 <= described[1] <= _MOST_ADDRESS or not _HOST <= described[5] < 2**31:
        raise _refused(name, f"is {given!r}, of which a number is out of range")
    return described


def _contiguous(shape: list[int]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides
