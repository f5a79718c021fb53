# SPDX-License-Identifier: Apache-2.0
"""Norm backward: kiln with one stage and with many, beside ATen, torch.compile, Liger and others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bench import ceilings, kiln_ops, norm_case, norm_pair_case, session, shapes
from bench.entry import PEER, SUBJECT, Builder, gather
from bench.failure import BenchError
from bench.norm_case import LAYER, RMS, NormCase
from bench.norm_pair_case import PAIR, PairCase
from bench.peers import aten, inductor, liger, quack, transformer_engine

REPETITIONS = 40
OPS = {"rms": RMS, "layer": LAYER, "pair": PAIR}

BUILDERS: dict[str, tuple[str, str, Builder]] = {
    "kiln": ("kiln, 1 stage", SUBJECT, kiln_ops.norm_one_stage),
    "kiln_many": ("kiln, many stages", SUBJECT, kiln_ops.norm_many_stages),
    "aten": ("ATen", PEER, aten.build),
    **{name: (label, PEER, inductor.build_one(name)) for name, (label, _) in inductor.VARIANTS.items()},
    "liger": ("Liger", PEER, liger.build),
    "quack": ("QuACK", PEER, quack.build),
    "te": ("Transformer Engine", PEER, transformer_engine.build),
}
QUICK = ("kiln", "kiln_many", "aten", "inductor")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--op", choices=sorted(OPS), default="rms", help="default rms")
    parser.add_argument(
        "--set",
        default="baseline",
        help="of shapes/norm.json, or norm_pair.json of pair: baseline, models, sweep, all",
    )
    parser.add_argument("--shape-file", help="another file of shapes")
    parser.add_argument("--shapes", help="those whose names contain one of these: 16384x4096,x2880")
    parser.add_argument("--peers", help=f"which to measure, of {','.join(BUILDERS)} (default: all)")
    session.add_arguments(parser, REPETITIONS)


def chosen_peers(given: str | None, quick: bool) -> list[str]:
    """Names in the order of the table. kiln is always measured: without it there is no verdict."""
    if given is None:
        return list(QUICK if quick else BUILDERS)
    names = [name.strip() for name in given.split(",") if name.strip()]
    unknown = [name for name in names if name not in BUILDERS]
    if unknown:
        raise BenchError(f"unknown peer {unknown[0]!r}: there are {', '.join(BUILDERS)}")
    return [name for name in BUILDERS if name in names or name == "kiln"]


def shapes_of(op: str, file: str | None, sets: str) -> list[Any]:
    """Those of an op, from its file of shapes or another."""
    name, kind = ("norm_pair.json", shapes.PairShape) if op == PAIR else ("norm.json", shapes.NormShape)
    return shapes.load(Path(file) if file else shapes.FOLDER / name, kind, sets.split(","))


def run(options: argparse.Namespace) -> int:
    wanted = shapes_of(OPS[options.op], options.shape_file, options.set)
    wanted = shapes.choose(wanted, options.shapes)
    names = chosen_peers(options.peers, options.quick)
    here = session.Session("norm", options, session.settings(options, REPETITIONS))
    here.measure_ceilings()
    for done, shape in enumerate(wanted):
        if not here.has_time_for(len(wanted) - done):
            print(f"budget spent: {len(wanted) - done} shapes were not measured")
            break
        _measure(here, OPS[options.op], shape, names)
        here.torch.cuda.empty_cache()
    return here.finish()


def make_case(torch: Any, op: str, shape: Any, seed: int, device: str = "cuda") -> NormCase | PairCase:
    if op == PAIR:
        return norm_pair_case.make(torch, shape.rows, shape.n, shape.type, shape.residual, device, seed)
    return norm_case.make(torch, op, shape.rows, shape.n, device, seed)


def reference(case: NormCase | PairCase) -> dict[str, Any]:
    if isinstance(case, PairCase):
        return norm_pair_case.reference(case)
    return norm_case.reference(case)


def _measure(here: session.Session, op: str, shape: Any, names: list[str]) -> None:
    case = make_case(here.torch, op, shape, here.how.seed)
    expected = reference(case)
    entries = gather(BUILDERS, names, case)
    entries.append(ceilings.copy_entry(here.torch, case.floor_bytes))
    fields = {
        "name": f"{op} {shape.name}",
        "op": op,
        "shape": {key: value for key, value in vars(shape).items() if key != "model"},
        "model": shape.model,
        "floor_bytes": case.floor_bytes,
    }
    here.case(fields, entries, lambda result: norm_case.check(result, expected, case.tolerance))
