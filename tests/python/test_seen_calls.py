"""Calls that are launched without going through Python: tensors read through DLPack's table of C functions,
here a made-up type's, on a driver that runs nothing."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from test_launch import Run, pytestmark, run

__all__ = ["pytestmark", "run"]

PRELUDE = """
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p, py_object, pythonapi)

class View(Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("ordinal", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]

class Tensor:
    def __init__(self, address, shape, type="bf16", ordinal=0, strides=None, device_type=2, offset=0):
        if strides is None:
            strides = [1] * len(shape)
            for i in reversed(range(len(shape) - 1)):
                strides[i] = strides[i + 1] * shape[i + 1]
        self.kept = (c_int64 * len(shape))(*shape), (c_int64 * len(shape))(*strides)
        code, bits = {"bf16": (4, 16), "f16": (2, 16), "f32": (2, 32), "f64": (2, 64), "i32": (0, 32)}[type]
        self.view = View(address, device_type, ordinal, len(shape), code, bits, 1, *self.kept, offset)

class Parameter(Tensor):
    pass

class Other(Tensor):
    pass

STREAM = [7]
READ = CFUNCTYPE(c_int, py_object, POINTER(View))
CURRENT = CFUNCTYPE(c_int, c_int32, c_int32, POINTER(c_void_p))

@READ
def read(tensor, out):
    if tensor.view is None:
        # As a C function fails: with an exception set, which the caller has to clear.
        pythonapi.PyErr_SetString(py_object(RuntimeError), b"no memory of its own")
        return -1
    ctypes.memmove(out, ctypes.byref(tensor.view), ctypes.sizeof(View))
    return 0

@CURRENT
def current(device_type, ordinal, out):
    assert device_type == 2
    out[0] = STREAM[0]
    return 0

class Table(Structure):
    pass

Table._fields_ = [("major", c_uint32), ("minor", c_uint32), ("previous", POINTER(Table)),
                  ("allocate", c_void_p), ("managed_from", c_void_p), ("managed_to", c_void_p),
                  ("read", READ), ("current", CURRENT)]
NAME = b"dlpack_exchange_api"
pythonapi.PyCapsule_New.restype = py_object
pythonapi.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
capsule = lambda table, name=NAME: pythonapi.PyCapsule_New(ctypes.addressof(table), name, None)
table = Table(1, 3, None, None, None, None, read, current)
Tensor.__dlpack_c_exchange_api__ = capsule(table)

ROWS = 100
launch = _kiln.RmsNormBackward(prepared._prepared, (8 << 20, prepared._prepared.workspace_bytes()),
                               (9 << 20, 256), captured=False)
calls = _kiln.RmsNormBackwardCalls(Tensor, Parameter)
assert calls.usable()

def call(becomes=0, **other):
    given = dict(grad_output=Tensor(DY, (10, 10, N)), input=Tensor(X, (10, 10, N)),
                 rstd=Tensor(RSTD, (10, 10, 1), "f32"), weight=Parameter(W, (N,)),
                 dx=Tensor(DX, (10, 10, N)), dw=Tensor(DW, (N,)))
    before = driver.fake_launches()
    launched = calls(**{**given, **other}, becomes=becomes)
    assert driver.fake_launches() == before + launched
    return launched

assert not call(), "nothing like it was seen"
calls.add(7, 0, N, "bf16", "bf16", 0, launch)
"""


def test_a_seen_call_reaches_the_driver_with_its_addresses_and_stream(run: Run) -> None:
    run(PRELUDE + """
assert call()
assert driver.fake_last_stream() == 7
assert {DY, X, RSTD, W, DX, DW} <= set(words())
assert call(input=Tensor(X - 64, (10, 10, N), offset=64))
assert {DY, X, RSTD, W, DX, DW} <= set(words())
assert call(rstd=Tensor(RSTD, (100,), "f32"), weight=Tensor(W, (N,)))
assert call(input=Tensor(X, (10, 10, N), strides=(10 * N, N, 1)))
assert call(rstd=Tensor(RSTD, (10, 10, 1), "f32", strides=(10, 1, 1))), "one element's stride is any"
""")


def test_every_other_call_is_left_to_python(run: Run) -> None:
    run(PRELUDE + """
matrix = (10, 10, N)
names = dict(grad_output=(DY, matrix), input=(X, matrix), rstd=(RSTD, (100,)), weight=(W, (N,)),
             dx=(DX, matrix), dw=(DW, (N,)))
types = dict(rstd="f32")
for name, (address, shape) in names.items():
    type = types.get(name, "bf16")
    wrong = dict(
        other_type=Other(address, shape, type),
        not_a_tensor=3,
        none=None,
        of_the_host=Tensor(address, shape, type, device_type=1),
        elsewhere=Tensor(address, shape, type, ordinal=1),
        f64=Tensor(address, shape, "f64"),
        ints=Tensor(address, shape, "i32"),
        short=Tensor(address, (*shape[:-1], shape[-1] - 1), type),
        strided=Tensor(address, shape, type, strides=[2 * s for s in Tensor(0, shape).kept[1]]),
        empty=Tensor(address, (0, *shape[1:]), type),
        scalar=Tensor(address, (), type),
    )
    memoryless = Tensor(address, shape, type)
    memoryless.view = None
    for what, tensor in dict(wrong, memoryless=memoryless).items():
        assert not call(**{name: tensor}), (name, what)
    assert not call(**{name: Tensor(address, shape, "f16")}), name
assert not call(becomes=1), "dw is not fp32"
assert not call(becomes=1, dw=Tensor(DW, (N,), "f32")), "nothing like it was seen"
STREAM[0] = 8
assert not call(), "nothing was seen on this stream"
STREAM[0] = 7
assert call()
calls.clear()
assert not call()
""")


def test_what_becomes_of_the_weight_gradient_is_part_of_the_call(run: Run) -> None:
    run(PRELUDE + """
added = kiln.prepare(f"rms_norm_backward:n={N},dw=f32,accumulate=1")
launch = _kiln.RmsNormBackward(added._prepared, (8 << 20, added._prepared.workspace_bytes()),
                               (9 << 20, 256), captured=False)
calls.add(7, 0, N, "bf16", "bf16", 1, launch)
assert call(becomes=1, dw=Tensor(DW, (N,), "f32"))
assert not call(becomes=1), "dw is not fp32"
assert call()
""")


def test_a_stream_that_is_captured_keeps_nothing(run: Run) -> None:
    run(PRELUDE + """
STREAM[0] = 0xCA
calls.add(0xCA, 0, N, "bf16", "bf16", 0, launch)
assert not call()
""")


def test_tables_of_unknown_versions_are_not_used(run: Run) -> None:
    run(PRELUDE + """
def usable(value):
    kind = type("Kind", (), {} if value is None else {"__dlpack_c_exchange_api__": value})
    return _kiln.RmsNormBackwardCalls(kind, kind).usable()
assert not usable(None)
assert not usable(ctypes.addressof(table))
assert not usable(capsule(table, b"another"))
newer = Table(2, 0, None, None, None, None, read, current)
assert not usable(capsule(newer))
newer.previous = ctypes.pointer(table)
assert usable(capsule(newer)), "the one before it is known"
blind = Table(1, 3, None, None, None, None, READ(), current)
assert not usable(capsule(blind))
streamless = Table(1, 3, None, None, None, None, read, CURRENT())
assert not usable(capsule(streamless))
""")
