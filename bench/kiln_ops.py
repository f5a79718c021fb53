# SPDX-License-Identifier: Apache-2.0
"""Everything that the bench knows of kiln's Python package; the rest of the bench sees entries."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from bench import gemm_case
from bench.entry import AGAIN, PEER, SUBJECT, Entry
from bench.failure import Unavailable
from bench.gemm_case import GemmCase
from bench.norm_case import EPSILON, LAYER, RMS, NormCase
from bench.norm_pair_case import PAIR, PairCase


def _kiln() -> Any:
    try:
        import kiln
    except ImportError as error:
        raise Unavailable(f"kiln cannot be imported ({error}): pip install . builds it") from error
    return kiln


@lru_cache(maxsize=None)
def _service(allow_multi_stages: bool, composed: bool = False) -> Callable[[str, int], Any]:
    """A service of its own for a policy and a route, as a function of signature and device.

    The package has one service a process, with the policy of the environment; measuring two policies in one
    process takes two, so this makes them from the module beneath it.
    """
    kiln = _kiln()
    module, folders = kiln._kiln, [str(folder) for folder in kiln._service.nvrtc_folders()]
    with _variable("KILN_ALLOW_MULTI_STAGES", "1" if allow_multi_stages else "0"):
        service = module.Service(folders, composed=True) if composed else module.Service(folders)
    return lambda signature, device: kiln.Prepared(service.prepare(signature, device), signature)


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _facts(plan: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What a record keeps of a plan: the route with its reason, and what makes each kernel what it is."""
    kept = (
        *("entry", "tile", "threads", "ctas_per_sm", "stages", "smem_bytes"),
        *("registers", "spill_bytes", "digest", "origin", "compile_ms"),
    )
    facts = {key: plan[key] for key in ("signature", "arch", "route", "reason") if key in plan}
    facts["kernels_planned"] = [{k: s[k] for k in kept if k in s} for s in plan.get("stages", ())]
    return {**facts, "prepare_s": round(seconds, 3)}


def _prepare(
    signature: str, allow_multi_stages: bool, device: int, composed: bool = False
) -> tuple[Any, dict[str, Any]]:
    prepare = _service(allow_multi_stages, composed)
    begin = time.monotonic()
    prepared = prepare(signature, device)
    return prepared, _facts(prepared.plan, time.monotonic() - begin)


def norm_signature(case: NormCase | PairCase) -> str:
    if isinstance(case, PairCase):
        types = ",".join(f"{key}={case.type}" for key in ("x", "w", "dw"))
        return f"{PAIR}:n={case.n},{types},residual={int(case.residual is not None)}"
    return f"{case.op}:n={case.n},x=bf16,w=bf16,dw=bf16" + (",db=bf16" if case.op == LAYER else "")


def norm_inputs(case: NormCase | PairCase) -> dict[str, Any]:
    if isinstance(case, PairCase):
        columns = tuple(saved.reshape(-1) for saved in case.rstd)
        pairs = {"x": case.x, "dy": case.halves, "rstd": columns, "w": case.w}
        if case.residual is not None:
            pairs["residual"] = case.residual
        return {f"{name}{i + 1}": pair[i] for name, pair in pairs.items() for i in (0, 1)}
    mean = {"mean": case.mean.reshape(-1)} if case.op == LAYER else {}
    return {"dy": case.dy, "x": case.x, **mean, "rstd": case.rstd.reshape(-1), "w": case.w}


def norm_outputs(case: NormCase | PairCase) -> dict[str, Any]:
    """By name, a tensor that each is like."""
    if isinstance(case, PairCase):
        return {"dx1": case.x[0], "dx2": case.x[1], "dw1": case.w[0], "dw2": case.w[1]}
    return {"dx": case.x, "dw": case.w, **({"db": case.w} if case.op == LAYER else {})}


def _norm(case: NormCase | PairCase, name: str, label: str, many: bool, copies: int) -> list[Entry]:
    """Entries with outputs, launch and workspace of their own; the second is the copy for the noise."""
    _kiln()
    prepared, facts = _prepare(norm_signature(case), many, case.device.index or 0)
    entries = []
    for copy in range(copies):
        outputs = {out: case.torch.empty_like(like) for out, like in norm_outputs(case).items()}
        launch = prepared.bind(**norm_inputs(case), **outputs)

        def result(launch: Any = launch, outputs: dict[str, Any] = outputs) -> dict[str, Any]:
            for tensor in outputs.values():
                tensor.fill_(float("nan"))
            launch.run()
            return outputs

        if copy == 0:
            entries.append(Entry(name, label, SUBJECT, launch.run, result, facts))
        else:
            entries.append(
                Entry(f"{name}_again", f"{label}, again", AGAIN, launch.run, result, again_of=name)
            )
    return entries


def norm_one_stage(case: NormCase | PairCase) -> list[Entry]:
    return _norm(case, "kiln", "kiln, 1 stage", many=False, copies=2)


def norm_many_stages(case: NormCase | PairCase) -> list[Entry]:
    return _norm(case, "kiln_many", "kiln, many stages", many=True, copies=1)


def grouped_gemm(case: GemmCase) -> list[Entry]:
    """Two copies of kiln's grouped GEMM, and where it accumulates kiln's own way without fusing."""
    _kiln()
    prepared, facts = _grouped(case, grouped_signature(case))
    entries = []
    for name, label, role in (("kiln", "kiln", SUBJECT), ("kiln_again", "kiln, again", AGAIN)):
        launch = prepared.bind(**grouped_tensors(case))
        entries.append(
            Entry(
                name,
                label,
                role,
                launch.run,
                gemm_case.result_in(case, launch.run),
                facts if role == SUBJECT else {},
                again_of="kiln" if role == AGAIN else None,
            )
        )
    if case.accumulates:
        entries.append(_grouped_composed(case))
    return entries


def grouped_gemm_portable(case: GemmCase) -> list[Entry]:
    """The portable route, which serves other architectures, on this one."""
    _kiln()
    prepared, facts = _grouped(case, grouped_signature(case), composed=True)
    launch = prepared.bind(**grouped_tensors(case))
    result = gemm_case.result_in(case, launch.run)
    against = ("torch", "torch_add")
    return [
        Entry("kiln_portable", "kiln, portable route", SUBJECT, launch.run, result, facts, against=against)
    ]


def _grouped(case: GemmCase, signature: str, composed: bool = False) -> tuple[Any, dict[str, Any]]:
    supported, reason = _kiln().supports(signature, case.x.device)
    if not supported:
        raise Unavailable(f"kiln: {reason}")
    return _prepare(signature, False, case.x.device.index or 0, composed)


def _grouped_composed(case: GemmCase) -> Entry:
    """kiln's product into scratch, then torch's add: what fusing saves."""
    prepared, _ = _grouped(case, grouped_signature(case, accumulate=False))
    launch = prepared.bind(**{**grouped_tensors(case), "dw": case.scratch})

    def call() -> None:
        launch.run()
        case.out.add_(case.scratch)

    return Entry("kiln_composed", "kiln, then add", PEER, call, gemm_case.result_in(case, call))


def warm_grouped(signatures: Sequence[str], arch: object) -> dict[str, str]:
    """Compiles signatures side by side; gives where each came from, or why it failed."""
    kiln = _kiln()

    def one(signature: str) -> str:
        try:
            return str(kiln.warm(signature, arch)[0].origin)
        except kiln.Error as error:
            return str(error)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(signatures, pool.map(one, signatures)))


def grouped_signature(case: GemmCase, accumulate: bool | None = None) -> str:
    """`accumulate`: instead of what the case does."""
    if accumulate is None:
        accumulate = case.accumulates
    wide = case.out.dtype == case.torch.float32
    return signature_text(case.direction, case.shape.n, case.shape.k, wide, accumulate)


def signature_text(direction: str, n: int, k: int, wide: bool, accumulate: bool) -> str:
    if not direction.startswith("wgrad"):
        return f"grouped_gemm_{direction}:n={n},k={k}"
    out = "f32" if wide else "bf16"
    return f"grouped_gemm_wgrad:n={n},k={k},out={out},accumulate={int(accumulate)}"


def signatures_of(direction: str, n: int, k: int) -> list[str]:
    """What the entries of a direction prepare."""
    wide = direction in (gemm_case.WGRAD_F32, gemm_case.WGRAD_ACCUMULATE)
    if direction == gemm_case.STEP:
        return [s for part in gemm_case.STEP_DIRECTIONS for s in signatures_of(part, n, k)]
    if direction in (gemm_case.WGRAD_ACCUMULATE, gemm_case.WGRAD_ACCUMULATE_BF16):
        return [signature_text(direction, n, k, wide, accumulate) for accumulate in (True, False)]
    return [signature_text(direction, n, k, wide, False)]


def grouped_tensors(case: GemmCase) -> dict[str, Any]:
    if case.direction == gemm_case.FORWARD:
        return {"x": case.x, "w": case.w, "offs": case.offs, "y": case.out}
    if case.direction == gemm_case.DGRAD:
        return {"g": case.g, "w": case.w, "offs": case.offs, "dx": case.out}
    return {"g": case.g, "x": case.x, "offs": case.offs, "dw": case.out}


def host_launch(case: NormCase) -> list[Entry]:
    entries = _norm(case, "kiln", "kiln, bound launch", many=False, copies=2)
    entries[0].against = ("aten",)
    return entries


def host_operator(case: NormCase) -> list[Entry]:
    """The eager function (allocates outputs, re-binds a launch), and the operator for torch.compile."""
    functional, rstd = _kiln().nn.functional, case.rstd.reshape(-1)
    operator = case.torch.ops.kiln.rms_norm_backward

    def eager() -> Any:
        return functional.rms_norm_backward(case.dy, case.x, rstd, case.w)

    def library() -> Any:
        return operator(case.dy, case.x, rstd, case.w, None, case.n)

    calls = (
        ("kiln_operator", "kiln functional.rms_norm_backward", eager),
        ("kiln_library", "kiln, torch.library operator", library),
    )
    return [Entry(name, label, SUBJECT, call, against=("aten",)) for name, label, call in calls]


def functional_rms_norm(case: NormCase) -> Callable[[Any, Any], Any]:
    """kiln's drop-in for torch.nn.functional.rms_norm, as a function of x and weight."""
    functional = _kiln().nn.functional
    return lambda x, w: functional.rms_norm(x, (case.n,), w, EPSILON)


def rms_norm_module() -> Any:
    """kiln's drop-in for torch.nn.RMSNorm."""
    return _kiln().nn.RMSNorm
