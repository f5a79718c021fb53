# SPDX-License-Identifier: Apache-2.0
"""Shapes to measure, read from data files: named sets of plain objects."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.failure import BenchError

FOLDER = Path(__file__).resolve().parent / "shapes"
BALANCED, SKEWED, ODD = "balanced", "skewed", "odd"
TYPES = ("f32", "f16", "bf16")
_NO_EXTENTS = ("groups", "model", "type", "residual")


@dataclass(frozen=True)
class NormShape:
    rows: int
    n: int
    model: str = ""

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.n}"


@dataclass(frozen=True)
class PairShape:
    """Two norms of the same rows."""

    rows: int
    n: int  # of each
    type: str = "bf16"  # of every matrix and weight
    residual: bool = False
    model: str = ""

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.n} {self.type}" + (" residual" if self.residual else "")


@dataclass(frozen=True)
class GroupedShape:
    experts: int
    rows: int  # of all groups together
    n: int
    k: int
    groups: str = BALANCED
    model: str = ""

    @property
    def name(self) -> str:
        return f"E{self.experts} {self.rows}x{self.n}x{self.k} {self.groups}"

    @property
    def flops(self) -> int:
        return 2 * self.rows * self.n * self.k


def load(path: Path, kind: type, sets: Sequence[str]) -> list[Any]:
    """Shapes of the chosen sets ("all": every one), each once, in the order of the file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(f"cannot read shapes from {path}: {error}") from error
    names = list(data) if "all" in sets else list(sets)
    unknown = [name for name in names if name not in data]
    if unknown:
        raise BenchError(f"no set of shapes {unknown[0]!r} in {path.name}: it has {', '.join(data)}")
    found: dict[str, Any] = {}
    for name in names:
        for position, fields in enumerate(data[name]):
            shape = _parse(kind, fields, f"{path.name}, {name}[{position}]")
            found.setdefault(shape.name, shape)
    return list(found.values())


def _parse(kind: type, fields: dict[str, Any], where: str) -> Any:
    try:
        shape = kind(**fields)
    except TypeError as error:
        raise BenchError(f"{where}: {error}") from error
    for key, value in vars(shape).items():
        if key not in _NO_EXTENTS and not (isinstance(value, int) and value > 0):
            raise BenchError(f"{where}: {key} is {value!r}, not a positive integer")
    if getattr(shape, "type", "f32") not in TYPES:
        raise BenchError(f"{where}: type is {shape.type!r}, not {', '.join(TYPES)}")
    if not isinstance(getattr(shape, "residual", False), bool):
        raise BenchError(f"{where}: residual is {shape.residual!r}, not true or false")
    if getattr(shape, "groups", BALANCED) not in (BALANCED, SKEWED, ODD):
        raise BenchError(f"{where}: groups is {shape.groups!r}, not {BALANCED}, {SKEWED} or {ODD}")
    return shape


def choose(shapes: Sequence[Any], only: str | None) -> list[Any]:
    """Those whose names contain one of the comma-separated texts."""
    if not only:
        return list(shapes)
    texts = [text.strip() for text in only.split(",") if text.strip()]
    found = [shape for shape in shapes if any(text in shape.name for text in texts)]
    if not found:
        raise BenchError(f"no shape matches {only!r}: there are {', '.join(s.name for s in shapes)}")
    return found


def group_sizes(shape: GroupedShape, multiple: int = 128, seed: int = 0) -> list[int]:
    """Rows of each group, adding up to shape.rows.

    Balanced: equal. Skewed: in proportion to 1/rank, ranks shuffled. Sizes are multiples of 128 as far as the
    total allows, because one peer takes no others; the largest group takes what is left over. Odd: skewed,
    and each size an odd number, a multiple of nothing that a kernel would like.
    """
    count = shape.experts
    skewed = shape.groups != BALANCED
    weights = [1.0 / (rank + 1) if skewed else 1.0 for rank in range(count)]
    if skewed:
        random.Random(seed).shuffle(weights)
    total = sum(weights)
    sizes = [int(weight / total * shape.rows) for weight in weights]
    if shape.groups == ODD:
        sizes = [max(size - 1 + size % 2, 1) for size in sizes]
    else:
        sizes = [size // multiple * multiple for size in sizes]
    largest = max(range(count), key=lambda i: (sizes[i], i))
    sizes[largest] += shape.rows - sum(sizes)
    return sizes
