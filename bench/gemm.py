# SPDX-License-Identifier: Apache-2.0
"""Grouped GEMM, op by op and as a step: kiln beside torch._grouped_mm, cuBLAS per expert and DeepGEMM."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import gemm_case, gemm_step, kiln_ops, session, shapes, tables
from bench.entry import PEER, SUBJECT, Builder, gather
from bench.failure import BenchError, Unavailable
from bench.peers import cublas, deepgemm, torch_grouped
from bench.shapes import GroupedShape

REPETITIONS = 15
OPS = (*gemm_case.DIRECTIONS, gemm_case.STEP)
SETS = "baseline,odd,fine"

BUILDERS: dict[str, tuple[str, str, Builder]] = {
    "kiln": ("kiln", SUBJECT, kiln_ops.grouped_gemm),
    "portable": ("kiln, portable route", SUBJECT, kiln_ops.grouped_gemm_portable),
    "torch": ("torch._grouped_mm", PEER, torch_grouped.build),
    "cublas": ("cuBLAS per expert", PEER, cublas.build),
    "deepgemm": ("DeepGEMM", PEER, deepgemm.build),
}
QUICK = ("kiln", "torch", "cublas")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        default=SETS,
        help=f"of shapes/grouped.json: baseline, odd, fine, models, all (default {SETS})",
    )
    parser.add_argument("--shape-file", help="another file of shapes")
    parser.add_argument("--shapes", help="those whose names contain one of these: E32,x4096x6144")
    parser.add_argument("--ops", help=f"of {','.join(OPS)} (default: all)")
    parser.add_argument("--peers", help=f"which to measure, of {','.join(BUILDERS)} (default: all)")
    parser.add_argument(
        "--warm-only", metavar="ARCH", help="compile what would be measured into the cache, and end; no GPU"
    )
    session.add_arguments(parser, REPETITIONS)


def _pick(given: str | None, known: tuple[str, ...], what: str) -> list[str]:
    if given is None:
        return list(known)
    names = [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BenchError(f"unknown {what} {unknown[0]!r}: there are {', '.join(known)}")
    return [name for name in known if name in names]


def chosen_peers(given: str | None, quick: bool) -> list[str]:
    """kiln is always measured: without it there is no verdict."""
    if given is None:
        return list(QUICK if quick else BUILDERS)
    names = _pick(given, tuple(BUILDERS), "peer")
    return [name for name in BUILDERS if name in names or name == "kiln"]


def run(options: argparse.Namespace) -> int:
    path = Path(options.shape_file) if options.shape_file else shapes.FOLDER / "grouped.json"
    wanted = shapes.choose(shapes.load(path, GroupedShape, options.set.split(",")), options.shapes)
    ops = _pick(options.ops, OPS, "op")
    names = chosen_peers(options.peers, options.quick)
    if options.warm_only:
        return 0 if _warm(wanted, ops, options.warm_only) else 1
    here = session.Session("gemm", options, session.settings(options, REPETITIONS))
    _warm(wanted, ops, None)
    here.measure_ceilings()
    left = len(wanted) * len(ops)
    for shape in wanted:
        left -= _measure(here, shape, ops, names, left)
        here.torch.cuda.empty_cache()
    if left:
        print(f"budget spent: {left} cases were not measured")
    print(tables.speedups(here.record))
    return here.finish()


def _warm(wanted: list[GroupedShape], ops: list[str], arch: str | None) -> bool:
    """Compiles side by side what would be compiled one after another between the measurements."""
    signatures = list(
        dict.fromkeys(
            s for shape in wanted for op in ops for s in kiln_ops.signatures_of(op, shape.n, shape.k)
        )
    )
    begin = time.monotonic()
    try:
        origins = kiln_ops.warm_grouped(signatures, arch)
    except Unavailable as error:
        print(f"kiln: {error}")
        return False
    failed = {s: origin for s, origin in origins.items() if origin not in _ORIGINS}
    for signature, reason in failed.items():
        print(f"{signature}: {reason}")
    compiled = sum(origin == "compiled" for origin in origins.values())
    print(
        f"kernels of {len(signatures)} signatures, of {compiled} compiled now: "
        f"{time.monotonic() - begin:.1f} s",
        flush=True,
    )
    return not failed


_ORIGINS = ("compiled", "layer", "cache", "memory", "embedded")


def _measure(here: session.Session, shape: GroupedShape, ops: list[str], names: list[str], left: int) -> int:
    """How many of the ops were measured, or cannot be."""
    if not here.has_time_for(left):
        return 0
    done = 0
    try:
        operands = gemm_case.make_operands(here.torch, shape, seed=here.how.seed)
        for op in ops:
            if not here.has_time_for(left - done):
                break
            _measure_op(here, shape, op, operands, names)
            done += 1
            here.torch.cuda.empty_cache()
    except here.torch.OutOfMemoryError:
        print(f"{shape.name}: does not fit into this GPU's memory")
        return len(ops)
    return done


def _fields(shape: GroupedShape, op: str, sizes: list[int]) -> dict[str, Any]:
    named = f"grouped_gemm_{op}"
    return {
        "name": f"{named} {shape.name}",
        "op": named,
        "shape": {"experts": shape.experts, "rows": shape.rows, "n": shape.n, "k": shape.k},
        "groups": shape.groups,
        "largest_group": max(sizes),
        "smallest_group": min(sizes),
        "model": shape.model,
        "flops": shape.flops * (3 if op == gemm_case.STEP else 1),
    }


def _measure_op(
    here: session.Session, shape: GroupedShape, op: str, operands: Mapping[str, Any], names: list[str]
) -> None:
    fields = _fields(shape, op, operands["sizes"])
    if op == gemm_case.STEP:
        step = gemm_step.make(here.torch, shape, dict(operands))
        wanted = gemm_step.reference(step)
        builders = {
            name: (label, role, gemm_step.builder(build)) for name, (label, role, build) in BUILDERS.items()
        }
        entries = gather(builders, names, step)
        here.case(fields, entries, lambda result: gemm_step.check(step, result, wanted))
        return
    case = gemm_case.make(here.torch, op, shape, dict(operands))
    expected = gemm_case.reference(case)
    entries = gather(BUILDERS, names, case)
    here.case(fields, entries, lambda result: gemm_case.check(case, result, expected))
