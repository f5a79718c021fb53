"""Planning, explaining and preparing by signature."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from kiln import _kiln, _streams
from kiln._errors import Error, from_code
from kiln._launch import Prepared
from kiln._service import service

#: "op:key=value,..." or {"op": "...", key: value, ...}
Signature = str | Mapping[str, Any]


class Supported(NamedTuple):
    """`reason` is empty for the fused kernel, else why it is composed kernels or nothing at all."""

    supported: bool
    reason: str


def canonical(signature: Signature) -> str:
    """The canonical text of a signature. Raises RequestError."""
    if isinstance(signature, str):
        return _kiln.canonical(signature)
    if isinstance(signature, Mapping):
        try:
            return _kiln.canonical_json(json.dumps(dict(signature)))
        except TypeError as error:
            raise from_code("invalid_signature", f"{signature!r}: {error}") from None
    raise from_code(
        "invalid_signature",
        f"a signature is text such as 'rms_norm_backward:n=4096' or a dict with 'op', not {type(signature).__name__}",
    )


def register(path: str | os.PathLike[str]) -> str:
    """Adds the op that a description file holds to those of this process, and returns its name.

    From then on signatures name it as any other: in `explain`, `prepare`, `warm` and recipes. The same
    file again changes nothing. Raises RequestError that names the file, the statement and the column of
    a mistake, or says that another op has the name; ServiceError when the file cannot be read.
    """
    return _kiln.register_op(os.fspath(path))


def resolve_arch(arch: object = None) -> str:
    """ "sm_90a" for "sm_90a", "90a", "9.0", for a device, and for None: torch's current device, else 0."""
    if isinstance(arch, str) and not arch.startswith("cuda"):
        return _kiln.arch(arch)
    return _kiln.device_arch(_streams.ordinal_of(arch))


def explain(signature: Signature, arch: object = None) -> dict[str, Any]:
    """The plan: route, tiles, stages, memory, and why. Needs no GPU, compiles nothing.

    `arch` is a name ("sm_90a") or a device; None is the current device.
    Raises RequestError for a bad signature or architecture.
    """
    plan: dict[str, Any] = json.loads(service().plan(canonical(signature), resolve_arch(arch)))
    return plan


def supports(signature: Signature, arch: object = None) -> Supported:
    """Whether kiln serves the signature there. Never raises and allocates no device memory."""
    try:
        plan = explain(signature, arch)
    except Error as error:
        return Supported(False, str(error))
    except Exception as error:  # whatever it was given, it answers
        return Supported(False, f"{type(error).__name__}: {error}")
    if plan["route"] == "fused":
        return Supported(True, "")
    reason = plan["reason"]
    text = f"{reason['id']}: {reason['detail']}"
    if any(stage["origin"] == "none" for stage in plan["stages"]):
        return Supported(True, f"composed kernels serve it, compiled when they are asked for: {text}")
    return Supported(True, f"composed kernels serve it: {text}")


def prepare(signature: Signature, device: object = None) -> Prepared:
    """Plans, compiles if the cache has it not, and loads the kernel for a device.

    `device` is an ordinal, "cuda:1" or a torch.device; None is the current device. Asking again is
    a look-up. Raises RequestError for a bad signature, ServiceError (`.code` "driver_missing",
    "device_missing", ...) when it cannot run here.
    """
    text = canonical(signature)
    return Prepared(service().prepare(text, _streams.ordinal_of(device)), text)


def statistics() -> dict[str, Any]:
    """What the service of this process did: hits, compiles, fallbacks, whether NVRTC was loaded."""
    return service().statistics()
