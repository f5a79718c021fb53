# SPDX-License-Identifier: Apache-2.0
"""One run on a device: checks and times the entries of each case, and keeps the record as it grows."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench import analysis, ceilings, environment, kernels, record, tables
from bench.entry import Entry
from bench.failure import BenchError, sentence
from bench.timing import CudaStopwatch, Settings, interleave

TIMING_SHARE = 0.7  # of a case; the rest goes into operands, the check and the warm-up

Check = Callable[[Mapping[str, Any]], dict[str, float]]


def import_torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise BenchError("measuring needs torch >= 2.6 with CUDA (reports do not)") from error
    return torch


def add_arguments(parser: argparse.ArgumentParser, repetitions: int) -> None:
    """The options that every measuring command has."""
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, fewest peers")
    parser.add_argument("--repetitions", type=int, default=None, help=f"default {repetitions}; quick: 12")
    parser.add_argument(
        "--case-budget", type=float, default=20.0, help="seconds of timing a case (default 20)"
    )
    parser.add_argument("--budget", type=float, help="seconds of the whole run, shared among its cases")
    parser.add_argument("--seed", type=int, default=0, help="of the data and of the order")
    parser.add_argument("--kernels", action="store_true", help="also record each entry's kernels (profiler)")
    parser.add_argument("--commit", help="what is measured, where git cannot tell")
    parser.add_argument("--out", help="the record (default: bench/results/<date>-<what>.json)")


def settings(options: argparse.Namespace, repetitions: int) -> Settings:
    count = options.repetitions or (12 if options.quick else repetitions)
    if count < 5:
        raise BenchError(f"--repetitions {count}: fewer than 5 give no interval")
    return Settings(repetitions=count, budget_s=options.case_budget, seed=options.seed)


class Session:
    def __init__(self, what: str, options: argparse.Namespace, how: Settings) -> None:
        self.torch = import_torch()
        self.how = how
        on_gpu = self.torch.cuda.is_available()  # without one the stopwatch says so
        self.stopwatch = CudaStopwatch(self.torch, self.torch.cuda.current_device() if on_gpu else 0)
        self.list_kernels = options.kernels
        self._nvml = environment.nvml_of(self.torch)
        self._began = time.monotonic()
        self._budget_s = options.budget
        self._case_budget_s = how.budget_s
        kept = {key: value for key, value in vars(options).items() if key not in ("out", "commit")}
        self.record = record.start(
            what,
            {**kept, "repetitions": how.repetitions, "warmup": how.warmup},
            environment.describe(self.torch, self._nvml, options.commit),
        )
        self.record["stopwatch"] = self.stopwatch.facts()
        self.path = record.path_for(self.record, options.out)
        facts = self.record["environment"]
        print(f"{facts['gpu']}, driver {facts['driver']}, torch {facts['versions'].get('torch')}", flush=True)

    def measure_ceilings(self) -> None:
        found = ceilings.measure(self.torch, self.stopwatch, self.how)
        self.record["ceilings"] = found
        print(f"ceilings: copy {found['copy_gbs']:.0f} GB/s, matmul {found['matmul_tflops']:.0f} TFLOPS")
        self.torch.cuda.empty_cache()

    def has_time_for(self, cases_left: int) -> bool:
        """Whether the run's budget allows another case; from then on a case may time for its share of it."""
        if self._budget_s is None:
            return True
        left = self._budget_s - (time.monotonic() - self._began)
        share = max(0.0, left / max(1, cases_left) * TIMING_SHARE)
        self.how = replace(self.how, budget_s=min(self._case_budget_s, share))
        return left > 0

    def case(self, fields: dict[str, Any], entries: Sequence[Entry], check: Check | None) -> dict[str, Any]:
        """Times the entries that give the right result, and adds the case to the record."""
        for entry in entries:
            self._verify(entry, check)
        calls = {entry.name: entry.call for entry in entries if entry.call and not entry.error}
        measured = interleave(calls, self.stopwatch, self.how)
        clocks = self._nvml.now()
        kept = []
        for entry in entries:
            if self.list_kernels and entry.name in measured.samples_us and entry.call:
                entry.detail["kernels"] = kernels.of(self.torch, entry.call)
            kept.append(
                record.entry_record(
                    entry,
                    measured.samples_us.get(entry.name),
                    entry.error or measured.errors.get(entry.name),
                    entry.name in measured.exposed,
                )
            )
        case = {**fields, "clocks": clocks, "entries": kept}
        self.add(case)
        return case

    def add(self, case: dict[str, Any]) -> None:
        self.record["cases"].append(case)
        record.write(self.record, self.path)
        print(analysis.summary(case), flush=True)

    def finish(self) -> int:
        self.record["finished"] = record.utc_now()
        self.record["seconds"] = round(time.monotonic() - self._began, 1)
        record.write(self.record, self.path)
        print(tables.tally(self.record))
        print(f"{len(self.record['cases'])} cases in {self.record['seconds']:.0f} s: {self.path}")
        return 0

    def _verify(self, entry: Entry, check: Check | None) -> None:
        if entry.error or entry.result is None or check is None:
            return
        try:
            entry.detail["distance"] = check(entry.result())
            self.torch.cuda.synchronize()
        except Exception as error:  # noqa: BLE001  (a peer that fails is a finding)
            entry.error = sentence(error)
