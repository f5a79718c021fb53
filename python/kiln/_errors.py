"""The exceptions. Messages are those of the C++ library; `code` is what programs branch on."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiln._warm import Warmed

# The caller's mistakes: the same request fails again wherever it is made.
_REQUEST_CODES = frozenset(
    {
        "invalid_signature",
        "unknown_op",
        "unknown_arch",
        "invalid_policy",
        "invalid_argument",
        "invalid_recipe",
        "invalid_source",
    }
)


class Error(Exception):
    """Any failure of kiln. `code` is a stable name, such as "driver_missing"."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"


class RequestError(Error, ValueError):
    """A bad signature, architecture, policy, recipe, description or tensor."""


class ServiceError(Error, RuntimeError):
    """What surrounds kiln is broken or missing: driver, device, NVRTC, memory, files."""


class WarmError(ServiceError):
    """Some of what was to be warmed failed. All the rest was warmed, and is in `warmed`."""

    def __init__(self, code: str, detail: str, warmed: Sequence[Warmed] = ()) -> None:
        super().__init__(code, detail)
        self.warmed = list(warmed)


def from_code(code: str, detail: str) -> Error:
    return (RequestError if code in _REQUEST_CODES else ServiceError)(code, detail)
