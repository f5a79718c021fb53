"""The examples of the Python page that need a GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import doc_examples
import pytest


@pytest.mark.parametrize("code", doc_examples.blocks(gpu=True))
def test_the_example_runs(code: str) -> None:
    exec(compile(code, "docs/python.md", "exec"), {"__name__": "example"})
