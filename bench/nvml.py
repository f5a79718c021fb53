# SPDX-License-Identifier: Apache-2.0
"""Clocks, power and temperature of a GPU, read through NVIDIA's management library. Reads only."""

from __future__ import annotations

import ctypes
from typing import Any

# Codes of nvml.h.
_CLOCK_SM, _CLOCK_MEMORY = 1, 2
_TEMPERATURE_GPU = 0


class Nvml:
    """Absent values are left out: containers and virtual machines hide some of them."""

    def __init__(self, uuid: str | None = None) -> None:
        self._device = ctypes.c_void_p()
        self._library: Any = None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
            if library.nvmlInit_v2() != 0:
                return
        except (OSError, AttributeError):
            return
        if uuid is None:
            code = library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device))
        else:
            code = library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._device))
        if code == 0:
            self._library = library

    def driver(self) -> str | None:
        if self._library is None:
            return None
        text = ctypes.create_string_buffer(96)
        code = self._library.nvmlSystemGetDriverVersion(text, len(text))
        return text.value.decode() if code == 0 else None

    def limits(self) -> dict[str, int]:
        """What the card may do: highest clocks (MHz), power limit (W)."""
        return self._values(
            {
                "max_sm_mhz": ("nvmlDeviceGetMaxClockInfo", _CLOCK_SM, 1),
                "max_memory_mhz": ("nvmlDeviceGetMaxClockInfo", _CLOCK_MEMORY, 1),
                "power_limit_w": ("nvmlDeviceGetEnforcedPowerLimit", None, 1000),
            }
        )

    def now(self) -> dict[str, int]:
        """What it does at this moment."""
        return self._values(
            {
                "sm_mhz": ("nvmlDeviceGetClockInfo", _CLOCK_SM, 1),
                "memory_mhz": ("nvmlDeviceGetClockInfo", _CLOCK_MEMORY, 1),
                "power_w": ("nvmlDeviceGetPowerUsage", None, 1000),
                "temperature_c": ("nvmlDeviceGetTemperature", _TEMPERATURE_GPU, 1),
            }
        )

    def _values(self, wanted: dict[str, tuple[str, int | None, int]]) -> dict[str, int]:
        found: dict[str, int] = {}
        if self._library is None:
            return found
        for key, (function, selector, unit) in wanted.items():
            value = ctypes.c_uint()
            arguments = [] if selector is None else [ctypes.c_int(selector)]
            call = getattr(self._library, function, None)
            if call and call(self._device, *arguments, ctypes.byref(value)) == 0:
                found[key] = value.value // unit
        return found
