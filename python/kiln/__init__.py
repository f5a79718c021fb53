"""GPU kernels compiled for exactly one shape, cached and verified.

`import kiln` needs neither a GPU, a driver, NVRTC nor torch: `explain`, `supports` and `warm` work
anywhere. `kiln.nn`, `grouped_mm` and `grouped_linear` need torch; running a kernel needs a GPU, and says
what is missing.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from kiln import _kiln
from kiln._api import Supported, explain, prepare, register, statistics, supports
from kiln._errors import Error, RequestError, ServiceError, WarmError
from kiln._launch import Launch, Prepared
from kiln._warm import Warmed, warm

if TYPE_CHECKING:
    from kiln import nn
    from kiln.nn._grouped import grouped_linear, grouped_mm

__version__: str = _kiln.version()

__all__ = [
    "Error",
    "Launch",
    "Prepared",
    "RequestError",
    "ServiceError",
    "Supported",
    "WarmError",
    "Warmed",
    "__version__",
    "explain",
    "grouped_linear",
    "grouped_mm",
    "nn",
    "prepare",
    "register",
    "statistics",
    "supports",
    "warm",
]


def __getattr__(name: str) -> object:
    # kiln.nn imports torch, which takes seconds and may not be there.
    if name == "nn":
        return importlib.import_module("kiln.nn")
    if name in ("grouped_linear", "grouped_mm"):
        found: object = getattr(importlib.import_module("kiln.nn._grouped"), name)
        globals()[name] = found  # from now on found without asking
        return found
    raise AttributeError(f"module 'kiln' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
