# SPDX-License-Identifier: Apache-2.0
"""cuBLAS, one call an expert, through ctypes: beta = 1 accumulates in the epilogue, composed adds after.

This is the call that training frameworks make for fused gradient accumulation. cuBLAS is column-major: a
row-major [r, c] tensor is its c by r matrix, so a product is computed transposed, with the operands
exchanged.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from bench import gemm_case
from bench.entry import PEER, Entry
from bench.failure import Unavailable
from bench.gemm_case import GemmCase

NAMES = ("libcublas.so.13", "libcublas.so.12", "libcublas.so")
WORKSPACE_BYTES = 64 << 20
# Enumerators of cublas_api.h and library_types.h.
_OP_N, _OP_T = 0, 1
_R_32F, _R_16BF = 0, 14
_COMPUTE_32F = 68
_DEFAULT_ALGORITHM = -1


class Cublas:
    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._library = _open()
        self._handle = ctypes.c_void_p()
        _expect(self._library.cublasCreate_v2(ctypes.byref(self._handle)), "cublasCreate")
        self._workspace = torch.empty(WORKSPACE_BYTES, dtype=torch.uint8, device="cuda")
        address, size = ctypes.c_void_p(self._workspace.data_ptr()), ctypes.c_size_t(WORKSPACE_BYTES)
        _expect(self._library.cublasSetWorkspace_v2(self._handle, address, size), "cublasSetWorkspace")

    def use_current_stream(self) -> None:
        stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
        _expect(self._library.cublasSetStream_v2(self._handle, stream), "cublasSetStream")

    def product(
        self,
        ops: tuple[int, int],
        extents: tuple[int, int, int],
        left: Any,
        right: Any,
        out: Any,
        beta: float,
    ) -> Callable[[], None]:
        """A call with its arguments packed: out = op(left) · op(right) + beta · out, all column-major.

        Leading extents are the row lengths of the row-major tensors.
        """
        alpha, scale = ctypes.c_float(1.0), ctypes.c_float(beta)
        out_type = _R_32F if out.dtype == self._torch.float32 else _R_16BF
        arguments = (
            self._handle,
            *ops,
            *extents,
            ctypes.byref(alpha),
            *(ctypes.c_void_p(left.data_ptr()), _R_16BF, left.shape[-1]),
            *(ctypes.c_void_p(right.data_ptr()), _R_16BF, right.shape[-1]),
            ctypes.byref(scale),
            *(ctypes.c_void_p(out.data_ptr()), out_type, out.shape[-1]),
            *(_COMPUTE_32F, _DEFAULT_ALGORITHM),
        )
        function = self._library.cublasGemmEx
        return lambda: _expect(function(*arguments), "cublasGemmEx")


def _open() -> Any:
    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Unavailable("libcublas cannot be loaded")


def _expect(status: int, what: str) -> None:
    if status != 0:
        raise Unavailable(f"{what} failed with status {status}")


@lru_cache(maxsize=1)
def shared(torch: Any) -> Cublas:
    return Cublas(torch)


def _calls(cublas: Cublas, case: GemmCase, out: Any, beta: float) -> Callable[[], None]:
    """One packed product an expert. Empty groups have none; their overwritten gradients become zero."""
    n, k = case.shape.n, case.shape.k
    steps: list[Callable[[], Any]] = []
    for group, rows in enumerate(case.sizes):
        begin, end = gemm_case.bounds(case, group)
        x, g, w = case.x[begin:end], case.g[begin:end], case.w[group]
        if rows == 0:
            if case.is_wgrad and beta == 0.0:
                steps.append(out[group].zero_)
        elif case.direction == gemm_case.FORWARD:
            steps.append(cublas.product((_OP_T, _OP_N), (n, rows, k), w, x, out[begin:end], beta))
        elif case.direction == gemm_case.DGRAD:
            steps.append(cublas.product((_OP_N, _OP_N), (k, rows, n), w, g, out[begin:end], beta))
        else:
            steps.append(cublas.product((_OP_N, _OP_T), (k, n, rows), x, g, out[group], beta))

    def call() -> None:
        cublas.use_current_stream()
        for step in steps:
            step()

    return call


def build(case: GemmCase) -> list[Entry]:
    cublas = shared(case.torch)
    fused = _calls(cublas, case, case.out, 1.0 if case.accumulates else 0.0)
    label = "cuBLAS per expert, beta = 1" if case.accumulates else "cuBLAS per expert"
    entries = [Entry("cublas", label, PEER, fused, gemm_case.result_in(case, fused))]
    if case.accumulates:
        overwrite = _calls(cublas, case, case.scratch, 0.0)

        def composed() -> None:
            overwrite()
            case.out.add_(case.scratch)

        entries.append(
            Entry(
                "cublas_composed",
                "cuBLAS per expert, then add",
                PEER,
                composed,
                gemm_case.result_in(case, composed),
            )
        )
    return entries
