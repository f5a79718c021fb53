# SPDX-License-Identifier: Apache-2.0
"""Device time of calls: interleaved, cold L2, the host hidden behind a device-side sleep.

Each repetition measures every call once, in a fresh order. Before each, the L2 is evicted by *reading* a
clean buffer: a zero-fill would leave dirty lines that are written back inside the timing. Then the device
sleeps while the host issues the start event, the call and the end event. If the sleep was over before the
host was done, the sample would hold host time: it is thrown away and taken again behind a longer sleep.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bench.failure import BenchError, sentence

SHORTEST_SLEEP_US = 60.0
LONGEST_SLEEP_US = 40_000.0
LEAST_REPETITIONS = 5


@dataclass(frozen=True)
class Settings:
    repetitions: int = 40
    warmup: int = 3
    budget_s: float = 20.0  # no repetition starts after it, once there are LEAST_REPETITIONS
    seed: int = 0


@dataclass
class Measured:
    """Microseconds by name, in the order of the repetitions: equal indices belong together."""

    samples_us: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    exposed: set[str] = field(default_factory=set)  # samples that hold host time all the same


class Stopwatch(Protocol):
    def warm(self, name: str, call: Callable[[], Any], times: int) -> None: ...
    def measure(self, name: str, call: Callable[[], Any]) -> float: ...
    def exposed(self) -> set[str]: ...


def interleave(
    calls: Mapping[str, Callable[[], Any]],
    stopwatch: Stopwatch,
    settings: Settings,
    now: Callable[[], float] = time.monotonic,
) -> Measured:
    """Samples of every call that survives its warm-up."""
    measured = Measured()
    alive: dict[str, Callable[[], Any]] = {}
    for name, call in calls.items():
        try:
            stopwatch.warm(name, call, settings.warmup)
            alive[name] = call
        except Exception as error:  # noqa: BLE001  (a peer that cannot run a shape is a finding)
            measured.errors[name] = sentence(error)
    measured.samples_us = {name: [] for name in alive}
    shuffle = random.Random(settings.seed).shuffle
    order = list(alive)
    end = now() + settings.budget_s
    for repetition in range(settings.repetitions):
        if repetition >= LEAST_REPETITIONS and now() > end:
            break
        shuffle(order)
        for name in order:
            measured.samples_us[name].append(round(stopwatch.measure(name, alive[name]), 3))
    measured.exposed = stopwatch.exposed() & set(alive)
    return measured


class CudaStopwatch:
    """CUDA events behind a device-side sleep, on the current stream of one device."""

    def __init__(self, torch: Any, device: int = 0) -> None:
        if not torch.cuda.is_available():
            raise BenchError("no CUDA device is visible to torch: measuring needs one (reports do not)")
        self._torch = torch
        properties = torch.cuda.get_device_properties(device)
        self.l2_bytes = int(getattr(properties, "L2_cache_size", 0) or 64 << 20)
        # Eight times the L2, whatever its replacement policy; at least 256 MiB.
        self.evict_bytes = max(8 * self.l2_bytes, 256 << 20)
        self._buffer = torch.zeros(self.evict_bytes // 8, dtype=torch.int64, device=f"cuda:{device}")
        self._sink = torch.zeros((), dtype=torch.int64, device=f"cuda:{device}")
        self._sleep_us: dict[str, float] = {}
        self._exposed: set[str] = set()
        self.cycles_per_us = self._calibrate()
        self.event_floor_us = self._event_floor()

    def evict(self) -> None:
        self._torch.sum(self._buffer, dim=0, out=self._sink)

    def sleep(self, microseconds: float) -> None:
        self._torch.cuda._sleep(int(microseconds * self.cycles_per_us))

    def warm(self, name: str, call: Callable[[], Any], times: int) -> None:
        """First calls compile and allocate; the last one tells how long the host takes to issue it."""
        issue_us = 0.0
        for _ in range(max(times, 2)):
            self._torch.cuda.synchronize()
            start = time.perf_counter()
            call()
            issue_us = (time.perf_counter() - start) * 1e6
        self._torch.cuda.synchronize()
        self._sleep_us[name] = min(max(SHORTEST_SLEEP_US, 2 * issue_us + 30), LONGEST_SLEEP_US)
        self._exposed.discard(name)

    def measure(self, name: str, call: Callable[[], Any]) -> float:
        while True:
            elapsed_us, hidden = self._once(call, self._sleep_us[name])
            if hidden or name in self._exposed:
                return elapsed_us
            if self._sleep_us[name] >= LONGEST_SLEEP_US:
                self._exposed.add(name)  # it waits for the device: no sleep hides that
                return elapsed_us
            self._sleep_us[name] = min(2 * self._sleep_us[name], LONGEST_SLEEP_US)

    def exposed(self) -> set[str]:
        return set(self._exposed)

    def facts(self) -> dict[str, Any]:
        """What a record says about the stopwatch."""
        return {
            "clock": "CUDA events behind a device-side sleep",
            "l2_bytes": self.l2_bytes,
            "evict_bytes": self.evict_bytes,
            "cycles_per_us": round(self.cycles_per_us, 1),
            "event_floor_us": round(self.event_floor_us, 3),
        }

    def _once(self, call: Callable[[], Any], sleep_us: float) -> tuple[float, bool]:
        cuda = self._torch.cuda
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self.evict()
        self.sleep(sleep_us)
        start.record()
        call()
        end.record()
        hidden = not start.query()  # the device still sleeps: all that follows was issued in time
        end.synchronize()
        return start.elapsed_time(end) * 1e3, hidden

    def _calibrate(self) -> float:
        """Cycles that _sleep counts in a microsecond, at the clock the device works at."""
        cuda = self._torch.cuda
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline:  # from the idle clock to the working one
            for _ in range(20):
                self.evict()
            cuda.synchronize()
        cycles = 2_000_000
        rates = []
        for _ in range(3):
            start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
            start.record()
            cuda._sleep(cycles)
            end.record()
            end.synchronize()
            rates.append(cycles / (start.elapsed_time(end) * 1e3))
        return sorted(rates)[1]

    def _event_floor(self) -> float:
        """What two events with nothing between them show: part of every sample."""
        return sorted(self._once(lambda: None, 200.0)[0] for _ in range(11))[5]
