# SPDX-License-Identifier: Apache-2.0
"""Interleaving, and the stopwatch on a make-believe device."""

from __future__ import annotations

from types import SimpleNamespace

import bench_records  # noqa: F401  (the repository's root on the path)
import pytest

from bench.failure import BenchError
from bench.host import interleave_batches
from bench.timing import LEAST_REPETITIONS, CudaStopwatch, Settings, interleave


class ByHand:
    """A stopwatch that notes what it was asked for, and reads 1, 2, 3 … µs."""

    def __init__(self, broken: str | None = None) -> None:
        self.order: list[str] = []
        self.broken = broken

    def warm(self, name, call, times):
        if name == self.broken:
            raise RuntimeError("this shape is refused")

    def measure(self, name, call):
        self.order.append(name)
        return float(len(self.order))

    def exposed(self):
        return {"b", "not measured here"}


CALLS = {name: lambda: None for name in "abcd"}


def test_each_repetition_measures_every_call_once():
    stopwatch = ByHand()
    measured = interleave(CALLS, stopwatch, Settings(repetitions=9))
    rounds = [stopwatch.order[i : i + 4] for i in range(0, 36, 4)]
    assert all(sorted(one) == list("abcd") for one in rounds)
    assert all(len(samples) == 9 for samples in measured.samples_us.values())


def test_the_order_differs_between_repetitions_and_repeats_with_the_seed():
    orders = []
    for _ in range(2):
        stopwatch = ByHand()
        interleave(CALLS, stopwatch, Settings(repetitions=8, seed=5))
        orders.append(stopwatch.order)
    rounds = {tuple(orders[0][i : i + 4]) for i in range(0, 32, 4)}
    assert len(rounds) > 3
    assert orders[0] == orders[1]


def test_samples_with_one_index_were_taken_in_one_repetition():
    measured = interleave(CALLS, ByHand(), Settings(repetitions=7))
    for index in range(7):
        moments = [measured.samples_us[name][index] for name in CALLS]
        assert sorted(moments) == [4 * index + k for k in (1, 2, 3, 4)]


def test_a_call_that_fails_to_warm_up_is_reported_and_the_others_go_on():
    measured = interleave(CALLS, ByHand(broken="c"), Settings(repetitions=5))
    assert measured.errors == {"c": "RuntimeError: this shape is refused"}
    assert sorted(measured.samples_us) == ["a", "b", "d"]
    assert measured.exposed == {"b"}


def test_a_spent_budget_ends_the_run_between_repetitions():
    moments = iter(range(1000))
    measured = interleave(CALLS, ByHand(), Settings(repetitions=50, budget_s=12), now=lambda: next(moments))
    lengths = {len(samples) for samples in measured.samples_us.values()}
    assert len(lengths) == 1
    assert LEAST_REPETITIONS <= lengths.pop() < 50


class MakeBelieve:
    """Just enough of torch: a device clock that runs while the host issues, and a log of what was issued.

    A call costs the host `issue_us`; the device takes `work_us` for it.
    """

    def __init__(self, issue_us: float = 10.0, work_us: float = 50.0, available: bool = True) -> None:
        self.host = self.device_free = 0.0
        self.issue_us, self.work_us = issue_us, work_us
        self.log: list[str] = []
        self.int64 = "int64"
        outer = self

        class Event:
            def __init__(self, enable_timing: bool = False) -> None:
                self.at = 0.0

            def record(self) -> None:
                outer.log.append("event")
                self.at = max(outer.device_free, outer.host)

            def query(self) -> bool:
                return self.at <= outer.host

            def synchronize(self) -> None:
                outer.host = max(outer.host, self.at)

            def elapsed_time(self, end) -> float:
                return (end.at - self.at) / 1e3

        properties = SimpleNamespace(L2_cache_size=60 << 20)
        self.cuda = SimpleNamespace(
            is_available=lambda: available,
            get_device_properties=lambda device: properties,
            Event=Event,
            _sleep=self._sleep,
            synchronize=self._synchronize,
        )

    def zeros(self, *shape, **kwargs):
        return ("zeros", shape)

    def sum(self, buffer, dim, out):
        self.log.append("evict")
        self._run(100.0)

    def _sleep(self, cycles):
        self.log.append("sleep")
        self._run(cycles / 2000.0)  # a clock of 2 GHz

    def _synchronize(self):
        self.host = max(self.host, self.device_free) + 1000.0

    def _run(self, microseconds):
        self.device_free = max(self.device_free, self.host) + microseconds

    def call(self):
        self.log.append("call")
        self.host += self.issue_us
        self._run(self.work_us)


@pytest.fixture
def quick_clock(monkeypatch):
    """Host seconds that pass at once, so that nothing waits."""
    moments = iter(i * 0.05 for i in range(100_000))
    monkeypatch.setattr("bench.timing.time.monotonic", lambda: next(moments))


def test_the_stopwatch_reads_device_time_and_not_what_the_host_costs(quick_clock):
    device = MakeBelieve(issue_us=35.0)
    stopwatch = CudaStopwatch(device)
    stopwatch.warm("x", device.call, 3)
    assert stopwatch.measure("x", device.call) == pytest.approx(50.0)
    assert stopwatch.exposed() == set()


def test_the_cache_is_evicted_then_the_device_sleeps_then_the_call_is_timed(quick_clock):
    device = MakeBelieve()
    stopwatch = CudaStopwatch(device)
    stopwatch.warm("x", device.call, 3)
    device.log.clear()
    stopwatch.measure("x", device.call)
    assert device.log == ["evict", "sleep", "event", "call", "event"]


def test_a_sample_that_the_host_was_too_slow_for_is_taken_again_behind_a_longer_sleep(quick_clock):
    device = MakeBelieve()
    stopwatch = CudaStopwatch(device)
    stopwatch.warm("x", device.call, 3)
    device.issue_us = 900.0  # slower than the warm-up foretold
    device.log.clear()
    assert stopwatch.measure("x", device.call) == pytest.approx(50.0)
    assert device.log.count("call") > 1
    assert stopwatch.exposed() == set()


def test_a_call_that_waits_for_the_device_is_marked_and_ends(quick_clock):
    device = MakeBelieve()

    def waits():
        device.call()
        device._synchronize()

    stopwatch = CudaStopwatch(device)
    stopwatch.warm("x", waits, 3)
    stopwatch.measure("x", waits)
    assert stopwatch.exposed() == {"x"}


def test_the_sleep_is_calibrated_to_the_clock_of_the_device(quick_clock):
    stopwatch = CudaStopwatch(MakeBelieve())
    assert stopwatch.cycles_per_us == pytest.approx(2000.0)
    assert stopwatch.evict_bytes >= 8 * (60 << 20)


def test_without_a_device_the_stopwatch_says_so():
    with pytest.raises(BenchError, match="no CUDA device"):
        CudaStopwatch(MakeBelieve(available=False))


def test_host_time_is_a_batch_divided_by_its_calls():
    ticks = iter(range(0, 10_000_000, 50_000))  # each look at the clock is 50 µs later
    measured = interleave_batches(
        {"a": lambda: None}, lambda: None, Settings(repetitions=6), batch=10, clock=lambda: next(ticks)
    )
    assert measured.samples_us == {"a": [5.0] * 6}


def test_host_calls_that_raise_are_reported():
    def broken():
        raise RuntimeError("no")

    measured = interleave_batches({"a": broken, "b": lambda: None}, lambda: None, Settings(repetitions=5))
    assert measured.errors == {"a": "RuntimeError: no"}
    assert list(measured.samples_us) == ["b"]
