# SPDX-License-Identifier: Apache-2.0
"""Host overhead: what a call costs Python before it returns, kiln beside ATen."""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from bench import kiln_ops, norm_case, record, session
from bench.entry import FLOOR, PEER, SUBJECT, Entry, gather
from bench.failure import Unavailable, sentence
from bench.norm_case import RMS, NormCase
from bench.timing import Measured, Settings

REPETITIONS = 30
# Work for the device is short, and a batch's launches fit into the queue while the device sleeps.
ROWS, COLUMNS = 256, 4096
BATCH = 100
SLEEP_US = 20_000.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=ROWS, help=f"default {ROWS}")
    parser.add_argument("--n", type=int, default=COLUMNS, help=f"default {COLUMNS}")
    session.add_arguments(parser, REPETITIONS)


def interleave_batches(
    calls: Mapping[str, Callable[[], Any]],
    quiet: Callable[[], None],
    settings: Settings,
    batch: int = BATCH,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Measured:
    """Host microseconds a call: each repetition times a batch of every call, in a fresh order.

    `quiet` makes the device idle and then keeps it busy, so that no launch waits for room in the queue. The
    collector is off inside a batch.
    """
    measured = Measured()
    alive: dict[str, Callable[[], Any]] = {}
    for name, call in calls.items():
        try:
            for _ in range(batch):
                call()
            alive[name] = call
        except Exception as error:  # noqa: BLE001
            measured.errors[name] = sentence(error)
    measured.samples_us = {name: [] for name in alive}
    shuffle = random.Random(settings.seed).shuffle
    order = list(alive)
    for _ in range(settings.repetitions):
        shuffle(order)
        for name in order:
            call = alive[name]
            quiet()
            gc.collect(0)
            gc.disable()
            begin = clock()
            for _ in range(batch):
                call()
            elapsed = clock() - begin
            gc.enable()
            measured.samples_us[name].append(round(elapsed / batch / 1e3, 4))
    return measured


def _empty(case: NormCase) -> list[Entry]:
    torch = case.torch
    return [
        Entry("nothing", "an empty Python function", FLOOR, lambda: None),
        Entry("allocation", "torch.empty_like", FLOOR, lambda: torch.empty_like(case.x)),
    ]


def _aten(case: NormCase) -> list[Entry]:
    aten = case.torch.ops.aten
    if not hasattr(aten, "_fused_rms_norm_backward"):
        raise Unavailable("this torch has no fused RMSNorm backward")

    def call() -> Any:
        return aten._fused_rms_norm_backward(case.dy, case.x, [case.n], case.rstd, case.w, [True, True])

    return [Entry("aten", "ATen, backward operator", PEER, call)]


def _aten_autograd(case: NormCase) -> list[Entry]:
    functional = case.torch.nn.functional

    def norm(x: Any, w: Any) -> Any:
        return functional.rms_norm(x, (case.n,), w, norm_case.EPSILON)

    return autograd_entries("aten", "torch", PEER, norm, case)


def autograd_entries(
    name: str, label: str, role: str, norm: Callable[[Any, Any], Any], case: NormCase
) -> list[Entry]:
    """Backward alone (autograd's engine included), and forward."""
    torch = case.torch
    x, w = case.x.detach().requires_grad_(), case.w.detach().requires_grad_()
    y = norm(x, w)

    def backward() -> Any:
        return torch.autograd.grad(y, (x, w), case.dy, retain_graph=True)

    found = [
        Entry(f"{name}_autograd", f"{label} functional.rms_norm, backward", role, backward),
        Entry(f"{name}_forward", f"{label} functional.rms_norm, forward", role, lambda: norm(x, w)),
    ]
    if role == SUBJECT:
        for entry, peer in zip(found, ("aten_autograd", "aten_forward")):
            entry.against = (peer,)
    return found


def module_entry(name: str, label: str, role: str, kind: Callable[..., Any], case: NormCase) -> Entry:
    """A module's forward and the backward of its output, as a training step calls them."""
    torch = case.torch
    module = kind(case.n, eps=norm_case.EPSILON, device=case.x.device, dtype=case.w.dtype)
    x = case.x.detach().requires_grad_()
    inputs = (x, module.weight)

    def step() -> Any:
        return torch.autograd.grad(module(x), inputs, case.dy)

    return Entry(f"{name}_module", f"{label} nn.RMSNorm, forward and backward", role, step)


def _aten_module(case: NormCase) -> list[Entry]:
    return [module_entry("aten", "torch", PEER, case.torch.nn.RMSNorm, case)]


def _kiln_module(case: NormCase) -> list[Entry]:
    entry = module_entry("kiln", "kiln", SUBJECT, kiln_ops.rms_norm_module(), case)
    entry.against = ("aten_module",)
    return [entry]


def _python_node(case: NormCase) -> list[Entry]:
    """What a step costs at least when its gradients come from Python: nothing is computed or launched."""
    torch = case.torch

    class Nothing(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, w: Any) -> Any:
            ctx.save_for_backward(x, w)
            return torch.empty_like(x)

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            x, w = ctx.saved_tensors
            return torch.empty_like(x), torch.empty_like(w)

    x, w = case.x.detach().requires_grad_(), case.w.detach().requires_grad_()

    def step() -> Any:
        return torch.autograd.grad(Nothing.apply(x, w), (x, w), case.dy)

    return [Entry("python_node", "an empty autograd.Function, forward and backward", FLOOR, step)]


def _kiln_autograd(case: NormCase) -> list[Entry]:
    return autograd_entries("kiln", "kiln", SUBJECT, kiln_ops.functional_rms_norm(case), case)


BUILDERS = {
    "kiln": ("kiln, bound launch", SUBJECT, kiln_ops.host_launch),
    "kiln_operator": ("kiln functional.rms_norm_backward", SUBJECT, kiln_ops.host_operator),
    "kiln_autograd": ("kiln functional.rms_norm, backward", SUBJECT, _kiln_autograd),
    "kiln_module": ("kiln nn.RMSNorm, forward and backward", SUBJECT, _kiln_module),
    "aten": ("ATen, backward operator", PEER, _aten),
    "aten_autograd": ("torch functional.rms_norm, backward", PEER, _aten_autograd),
    "aten_module": ("torch nn.RMSNorm, forward and backward", PEER, _aten_module),
    "nothing": ("an empty Python function", FLOOR, _empty),
    "python_node": ("an empty autograd.Function, forward and backward", FLOOR, _python_node),
}


def run(options: argparse.Namespace) -> int:
    here = session.Session("host", options, session.settings(options, REPETITIONS))
    case = norm_case.make(here.torch, RMS, options.rows, options.n, seed=here.how.seed)
    entries = gather(BUILDERS, BUILDERS, case)

    def quiet() -> None:
        here.torch.cuda.synchronize()
        here.stopwatch.sleep(SLEEP_US)

    calls = {entry.name: entry.call for entry in entries if entry.call}
    measured = interleave_batches(calls, quiet, here.how)
    kept = [
        record.entry_record(
            entry,
            measured.samples_us.get(entry.name),
            entry.error or measured.errors.get(entry.name),
            False,
        )
        for entry in entries
    ]
    here.add(
        {
            "name": f"{RMS} {options.rows}x{options.n}",
            "op": RMS,
            "shape": {"rows": options.rows, "n": options.n},
            "batch": BATCH,
            "entries": kept,
        }
    )
    return here.finish()
