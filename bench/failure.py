# SPDX-License-Identifier: Apache-2.0
"""The two ways a measurement fails: the whole run cannot go on, or one entry cannot take part."""

from __future__ import annotations


class BenchError(Exception):
    """The run cannot go on; the message says what to do."""


class Unavailable(Exception):
    """One entry cannot take part here (not installed, or it refuses the shape); the run goes on."""


def sentence(error: BaseException, limit: int = 240) -> str:
    """One line that says what went wrong, for a record or a table."""
    text = " ".join(str(error).split())
    if not isinstance(error, Unavailable):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
