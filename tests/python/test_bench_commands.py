# SPDX-License-Identifier: Apache-2.0
"""The command line and the peers, where neither torch nor a GPU nor any peer is there."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from bench_records import ROOT

from bench import entry, gemm, gemm_case, kiln_ops, norm, session
from bench.__main__ import main
from bench.failure import BenchError, Unavailable
from bench.norm_case import LAYER, RMS
from bench.norm_pair_case import PAIR, PairCase
from bench.peers import aten, cublas, deepgemm, inductor, liger, quack, torch_grouped, transformer_engine


@pytest.fixture
def bare(monkeypatch):
    """Nothing that the bench would like to import can be imported."""
    for name in (
        "torch",
        "kiln",
        "liger_kernel",
        "quack",
        "transformer_engine",
        "transformer_engine_torch",
        "deep_gemm",
    ):
        monkeypatch.setitem(sys.modules, name, None)
    kiln_ops._service.cache_clear()


def test_help_needs_no_torch():
    code = (
        "import sys; sys.modules['torch'] = None\nfrom bench.__main__ import main\nmain(['norm', '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert "--peers" in done.stdout and "--quick" in done.stdout


@pytest.mark.parametrize("command", ["norm", "norm --op layer", "norm --op pair", "gemm", "host"])
def test_measuring_without_torch_ends_with_a_message(bare, command, capsys):
    assert main(command.split()) == 1
    assert "measuring needs torch" in capsys.readouterr().err


def test_no_command_is_an_error_that_lists_them(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


NORM = SimpleNamespace(op=RMS, rows=8, n=16, torch=SimpleNamespace(ops=SimpleNamespace(aten=object())))
BOTH = PairCase(8, 16, "f32", NORM.torch, None, (None, None), (None, None), (None, None), None)
GEMM = SimpleNamespace(
    direction=gemm_case.FORWARD, is_wgrad=False, accumulates=False, torch=object(), sizes=[128], shape=None
)


@pytest.mark.parametrize(
    ("build", "case", "reason"),
    [
        (aten.build, NORM, "no fused RMSNorm"),
        (aten.build, BOTH, "no fused RMSNorm"),
        (liger.build, BOTH, "single norms only"),
        (quack.build, BOTH, "RMSNorm only"),
        (transformer_engine.build, BOTH, "single norms only"),
        (kiln_ops.norm_one_stage, BOTH, "kiln cannot be imported"),
        (liger.build, NORM, "pip install liger-kernel"),
        (quack.build, NORM, "pip install quack-kernels"),
        (transformer_engine.build, NORM, "transformer_engine cannot be imported"),
        (kiln_ops.norm_one_stage, NORM, "kiln cannot be imported"),
        (kiln_ops.norm_many_stages, NORM, "kiln cannot be imported"),
        (kiln_ops.grouped_gemm, GEMM, "kiln cannot be imported"),
        (kiln_ops.grouped_gemm_portable, GEMM, "kiln cannot be imported"),
        (torch_grouped.build, GEMM, "no _grouped_mm"),
        (deepgemm.build, GEMM, "deep_gemm cannot be imported"),
    ],
)
def test_a_peer_that_is_not_there_says_so(bare, build, case, reason):
    with pytest.raises(Unavailable, match=reason):
        build(case)


def test_cublas_that_cannot_be_loaded_says_so(monkeypatch):
    def absent(name):
        raise OSError(name)

    monkeypatch.setattr("bench.peers.cublas.ctypes.CDLL", absent)
    with pytest.raises(Unavailable, match="libcublas"):
        cublas._open()


def test_a_peer_that_raises_becomes_an_entry_with_the_reason():
    def broken(case):
        raise RuntimeError("out of\nmemory")

    def absent(case):
        raise Unavailable("not installed")

    def fine(case):
        return [entry.Entry("c", "C", entry.PEER, lambda: None)]

    builders = {
        "a": ("A", entry.PEER, broken),
        "b": ("B", entry.PEER, absent),
        "c": ("C", entry.PEER, fine),
    }
    found = entry.gather(builders, ["c", "a", "b"], None)
    assert [(e.name, e.error) for e in found] == [
        ("c", None),
        ("a", "RuntimeError: out of memory"),
        ("b", "not installed"),
    ]


def test_kiln_is_measured_whichever_peers_are_chosen():
    assert norm.chosen_peers("liger,aten", quick=False) == ["kiln", "aten", "liger"]
    assert norm.chosen_peers(None, quick=True) == list(norm.QUICK)
    assert norm.chosen_peers(None, quick=False) == list(norm.BUILDERS)
    with pytest.raises(BenchError, match="unknown peer 'apex'"):
        norm.chosen_peers("apex", quick=False)


def test_ops_of_a_product_are_chosen_by_name():
    assert gemm._pick("step,dgrad,forward", gemm.OPS, "op") == ["forward", "dgrad", "step"]
    with pytest.raises(BenchError, match="unknown op 'sideways'"):
        gemm._pick("sideways", gemm.OPS, "op")
    assert gemm.chosen_peers("torch", quick=False) == ["kiln", "torch"]
    assert gemm.chosen_peers(None, quick=True) == list(gemm.QUICK)


class Clock:
    now = 0.0

    def monotonic(self):
        return self.now


def test_a_budget_of_the_run_is_shared_among_its_cases(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(session, "time", clock)
    here = session.Session.__new__(session.Session)
    here.how = session.Settings(budget_s=20.0)
    here._case_budget_s, here._budget_s, here._began = 20.0, 100.0, 0.0
    assert here.has_time_for(50) and here.how.budget_s == pytest.approx(2 * session.TIMING_SHARE)
    clock.now = 90.0
    assert here.has_time_for(1) and here.how.budget_s == pytest.approx(10 * session.TIMING_SHARE)
    clock.now = 100.0
    assert not here.has_time_for(1)
    here._budget_s = None
    assert here.has_time_for(1000)


def test_too_few_repetitions_are_refused():
    options = SimpleNamespace(repetitions=3, quick=False, case_budget=1.0, seed=0)
    with pytest.raises(BenchError, match="fewer than 5"):
        session.settings(options, 40)
    options.repetitions = None
    assert session.settings(options, 40).repetitions == 40
    options.quick = True
    assert session.settings(options, 40).repetitions == 12


def test_each_compiled_variant_has_a_code_object_of_its_own():
    for op in (RMS, LAYER, PAIR):
        formula = inductor.FORMULAS[op]
        copies = [inductor.fresh(formula), inductor.fresh(formula)]
        assert copies[0].__code__ is not copies[1].__code__
        assert copies[0].__code__ is not formula.__code__


class Records(list):
    """A kiln that notes how it is asked."""

    def module(self):
        outer = self

        class Launch:
            def run(self):
                outer.append("run")

        class Prepared:
            plan = {"route": "fused", "stages": [{"entry": "e", "digest": "d", "constants": [1]}]}

            def __init__(self, inner, signature):
                outer.append((inner, signature))

            def bind(self, **tensors):
                outer.append(sorted(tensors))
                return Launch()

        class Service:
            def __init__(self, folders):
                outer.append(("policy", folders, os.environ["KILN_ALLOW_MULTI_STAGES"]))

            def prepare(self, signature, device):
                return ("prepared", device)

        return SimpleNamespace(
            _kiln=SimpleNamespace(Service=Service),
            _service=SimpleNamespace(nvrtc_folders=lambda: ["somewhere"]),
            Prepared=Prepared,
        )


class Tensor(SimpleNamespace):
    def __getitem__(self, at):
        return self


def tensor():
    made = Tensor(device=SimpleNamespace(index=1), filled=[])
    made.reshape = lambda *shape: made
    made.fill_ = made.filled.append
    return made


def norm_cases(torch):
    """One of each op, with what kiln is asked for it: the signature, its tensors and its outputs."""
    names = [f"{name}{i}" for name in ("dw", "dx", "dy", "residual", "rstd", "w", "x") for i in (1, 2)]
    two = (tensor(), tensor())
    pair = PairCase(8, 64, "f32", torch, tensor(), two, two, two, two)
    single = {name: tensor() for name in ("x", "dy", "w", "rstd", "mean")}
    rms, layer = (
        SimpleNamespace(op=op, n=64, torch=torch, device=single["x"].device, **single) for op in (RMS, LAYER)
    )
    grads = ["dw", "dx", "dy"]
    return [
        (rms, "rms_norm_backward:n=64,x=bf16,w=bf16,dw=bf16", [*grads, "rstd", "w", "x"], {"dx", "dw"}),
        (
            layer,
            "layer_norm_backward:n=64,x=bf16,w=bf16,dw=bf16,db=bf16",
            ["db", *grads, "mean", "rstd", "w", "x"],
            {"dx", "dw", "db"},
        ),
        (
            pair,
            "rms_norm_pair_backward:n=64,x=f32,w=f32,dw=f32,residual=1",
            names,
            {"dx1", "dx2", "dw1", "dw2"},
        ),
    ]


@pytest.mark.parametrize("which", [0, 1, 2], ids=[RMS, LAYER, PAIR])
def test_kiln_is_bound_twice_to_outputs_of_its_own_and_poisoned_before_the_check(monkeypatch, which):
    asked = Records()
    monkeypatch.setitem(sys.modules, "kiln", asked.module())
    monkeypatch.setenv("KILN_ALLOW_MULTI_STAGES", "as it was")
    kiln_ops._service.cache_clear()
    made = []

    def empty_like(like):
        made.append(tensor())
        return made[-1]

    case, signature, tensors, outputs = norm_cases(SimpleNamespace(empty_like=empty_like))[which]
    first, again = kiln_ops.norm_one_stage(case)
    (many,) = kiln_ops.norm_many_stages(case)
    kiln_ops._service.cache_clear()
    assert ("policy", ["somewhere"], "0") in asked and ("policy", ["somewhere"], "1") in asked
    assert os.environ["KILN_ALLOW_MULTI_STAGES"] == "as it was"
    assert asked.count((("prepared", 1), signature)) == 2
    assert asked.count(tensors) == 3
    assert (first.role, again.role, again.again_of) == (entry.SUBJECT, entry.AGAIN, "kiln")
    assert many.name == "kiln_many" and len(made) == 3 * len(outputs)
    result = first.result()
    assert asked[-1] == "run" and set(result) == outputs
    for tensor_of_kiln in result.values():
        (poison,) = tensor_of_kiln.filled
        assert poison != poison  # NaN
    assert first.detail["route"] == "fused"
    assert first.detail["kernels_planned"] == [{"entry": "e", "digest": "d"}]
