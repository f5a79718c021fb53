# SPDX-License-Identifier: Apache-2.0
"""Grouped GEMM in its directions: kiln beside torch._grouped_mm, cuBLAS per expert and DeepGEMM."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bench import gemm_case, kiln_ops, session, shapes
from bench.entry import PEER, SUBJECT, Builder, gather
from bench.failure import BenchError
from bench.peers import cublas, deepgemm, torch_grouped

REPETITIONS = 15

BUILDERS: dict[str, tuple[str, str, Builder]] = {
    "kiln": ("kiln", SUBJECT, kiln_ops.grouped_gemm),
    "torch": ("torch._grouped_mm", PEER, torch_grouped.build),
    "cublas": ("cuBLAS per expert", PEER, cublas.build),
    "deepgemm": ("DeepGEMM", PEER, deepgemm.build),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--set", default="baseline", help="of shapes/grouped.json: baseline, models, all")
    parser.add_argument("--shapes", help="another file of shapes")
    parser.add_argument("--only", help="shapes whose names contain one of these: E32,x4096x6144")
    parser.add_argument("--directions", help=f"of {','.join(gemm_case.DIRECTIONS)} (default: all)")
    parser.add_argument("--peers", help=f"which to measure, of {','.join(BUILDERS)} (default: all)")
    session.add_arguments(parser, REPETITIONS)


def _pick(given: str | None, known: tuple[str, ...], what: str) -> list[str]:
    if given is None:
        return list(known)
    names = [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BenchError(f"unknown {what} {unknown[0]!r}: there are {', '.join(known)}")
    return [name for name in known if name in names]


def run(options: argparse.Namespace) -> int:
    path = Path(options.shapes) if options.shapes else shapes.FOLDER / "grouped.json"
    wanted = shapes.choose(shapes.load(path, shapes.GroupedShape, options.set.split(",")), options.only)
    directions = _pick(options.directions, gemm_case.DIRECTIONS, "direction")
    names = _pick(options.peers, tuple(BUILDERS), "peer")
    here = session.Session("gemm", options, session.settings(options, REPETITIONS))
    here.measure_ceilings()
    for shape in wanted:
        _measure(here, shape, directions, names)
        here.torch.cuda.empty_cache()
    return here.finish()


def _measure(
    here: session.Session, shape: shapes.GroupedShape, directions: list[str], names: list[str]
) -> None:
    try:
        operands = gemm_case.make_operands(here.torch, shape, seed=here.how.seed)
        for direction in directions:
            _measure_direction(here, shape, direction, operands, names)
            here.torch.cuda.empty_cache()
    except here.torch.OutOfMemoryError:
        print(f"{shape.name}: does not fit into this GPU's memory")


def _measure_direction(
    here: session.Session,
    shape: shapes.GroupedShape,
    direction: str,
    operands: dict[str, Any],
    names: list[str],
) -> None:
    case = gemm_case.make(here.torch, direction, shape, operands)
    expected = gemm_case.reference(case)
    op = f"grouped_gemm_{direction}"
    fields = {
        "name": f"{op} {shape.name}",
        "op": op,
        "shape": {"experts": shape.experts, "rows": shape.rows, "n": shape.n, "k": shape.k},
        "groups": shape.groups,
        "largest_group": max(case.sizes),
        "smallest_group": min(case.sizes),
        "model": shape.model,
        "flops": shape.flops,
    }
    entries = gather(BUILDERS, names, case)
    here.case(fields, entries, lambda result: gemm_case.check(case, result, expected))
