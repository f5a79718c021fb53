"""Drop-in replacements for modules of torch.nn. Needs torch 2.6 or newer."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

try:
    import torch
except ImportError as error:
    raise ImportError(f"kiln.nn needs torch 2.6 or newer ({error}): pip install torch") from error

_MINIMUM = (2, 6)
if tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2]) < _MINIMUM:
    raise ImportError(f"kiln.nn needs torch 2.6 or newer; this is {torch.__version__}")

from kiln.nn import functional  # noqa: E402
from kiln.nn._grouped_linear import GroupedLinear  # noqa: E402
from kiln.nn._rms_norm import RMSNorm  # noqa: E402

__all__ = ["GroupedLinear", "RMSNorm", "functional"]
