"""Warming the cache: compiling ahead of time what a program will ask for."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kiln import _kiln
from kiln._api import Signature, canonical, resolve_arch
from kiln._errors import Error, WarmError, from_code
from kiln._service import service


class Warmed(NamedTuple):
    """One signature on one architecture."""

    signature: str
    arch: str
    #: "compiled", "cache", "layer", "memory", or "embedded" for composed kernels
    origin: str
    plan: dict[str, Any]


def warm(
    what: Signature | Iterable[Signature] | os.PathLike[str],
    arch: object = None,
) -> list[Warmed]:
    """Compiles into the cache what is not there yet. Needs no GPU when `arch` is named.

    `what`: a signature, several, or the path of a recipe (a file of signatures: JSON, or one a line).
    `arch`: a name ("sm_90a"), a device, or a list of them; None is the current device.
    A bad line of a recipe, or a compile that fails, does not stop the rest: WarmError comes at the end
    and holds what was warmed. A signature that is wrong on its own raises RequestError at once.
    """
    archs = [resolve_arch(one) for one in (arch if isinstance(arch, (list, tuple)) else [arch])]
    signatures, failures = _requested(what)
    warmed = []
    for signature in signatures:
        for name in archs:
            try:
                plan = json.loads(service().prepare_for_arch(signature, name).plan_json())
            except Error as error:
                failures.append((error.code, f"{signature} for {name}: {error.detail}"))
            else:
                warmed.append(Warmed(signature, name, _origin(plan), plan))
    if failures:
        lines = "\n  ".join(text for _, text in failures)
        raise WarmError(
            failures[0][0],
            f"{len(failures)} of what was to be warmed failed, {len(warmed)} are warm:\n  {lines}",
            warmed,
        )
    return warmed


def _requested(what: object) -> tuple[list[str], list[tuple[str, str]]]:
    """Canonical signatures without repetitions; and code and message of a recipe's bad lines."""
    if isinstance(what, os.PathLike) or (isinstance(what, str) and _is_path(what)):
        path = os.fspath(what)
        entries, problems = _kiln.read_recipe(path)
        unique = dict.fromkeys(signature for signature, _, _ in entries)
        bad = [("invalid_recipe", f"{path}, line {line}: {detail}") for line, detail in problems]
        return list(unique), bad
    if isinstance(what, (str, Mapping)):
        return [canonical(what)], []
    if isinstance(what, Iterable):
        return list(dict.fromkeys(canonical(one) for one in what)), []
    raise from_code("invalid_argument", f"{what!r} is no signature, list of signatures or path of a recipe")


def _is_path(text: str) -> bool:
    return os.path.exists(text) or text.endswith((".json", ".txt")) or os.sep in text


def _origin(plan: dict[str, Any]) -> str:
    """ "compiled" when any kernel was, else where they came from."""
    origins = {stage["origin"] for stage in plan["stages"]}
    for origin in ("compiled", "layer", "cache", "memory"):
        if origin in origins:
            return origin
    return "embedded"
