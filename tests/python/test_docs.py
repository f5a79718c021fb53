"""The examples of the Python page that need no GPU, and that the page says what is there."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import doc_examples
import pytest


@pytest.mark.parametrize("code", doc_examples.blocks(gpu=False))
def test_the_example_runs(code: str, cache: Path) -> None:
    exec(compile(code, "docs/python.md", "exec"), {"__name__": "example"})


def test_there_are_examples_of_both_kinds() -> None:
    assert doc_examples.blocks(gpu=False)
    assert doc_examples.blocks(gpu=True)
