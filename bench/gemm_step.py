# SPDX-License-Identifier: Apache-2.0
"""A full step: forward, dgrad and fp32 accumulation, each by the same entry, timed as one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench import gemm_case
from bench.entry import Builder, Entry
from bench.gemm_case import GemmCase
from bench.shapes import GroupedShape


@dataclass
class StepCase:
    shape: GroupedShape
    parts: list[GemmCase]  # in the order of gemm_case.STEP_DIRECTIONS

    @property
    def sizes(self) -> list[int]:
        return self.parts[0].sizes


def make(torch: Any, shape: GroupedShape, operands: dict[str, Any]) -> StepCase:
    parts = [gemm_case.make(torch, name, shape, operands) for name in gemm_case.STEP_DIRECTIONS]
    return StepCase(shape, parts)


def reference(case: StepCase) -> list[Mapping[int, Any]]:
    return [gemm_case.reference(part) for part in case.parts]


def check(
    case: StepCase, result: Mapping[str, Any], expected: Sequence[Mapping[int, Any]]
) -> dict[str, float]:
    distances = {}
    for part, wanted in zip(case.parts, expected):
        found = gemm_case.check(part, result[part.direction](), wanted)
        distances[part.direction] = found["out"]
    return distances


def builder(build: Builder) -> Builder:
    """The step of a peer that builds entries of single products: one for each of its ways to accumulate."""

    def of_step(case: StepCase) -> list[Entry]:
        forward, dgrad, accumulations = (list(build(part)) for part in case.parts)
        return [_joined(forward[0], dgrad[0], last) for last in accumulations]

    return of_step


def _joined(forward: Entry, dgrad: Entry, last: Entry) -> Entry:
    entries = (forward, dgrad, last)
    calls = [entry.call for entry in entries]

    def call() -> None:
        for one in calls:
            if one is not None:
                one()

    # Each product is run when it is checked, one after another: all write memory of their own.
    results: dict[str, Callable[[], Any] | None] = {
        name: entry.result for name, entry in zip(gemm_case.STEP_DIRECTIONS, entries)
    }
    return Entry(
        last.name,
        last.label,
        last.role,
        call,
        lambda: results,
        dict(last.detail),
        again_of=last.again_of,
        against=last.against,
    )
