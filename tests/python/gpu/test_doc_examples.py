"""The documents' examples that need a GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import doc_examples
import pytest


@pytest.mark.parametrize(("document", "code"), doc_examples.blocks(gpu=True))
def test_the_example_runs(document: str, code: str) -> None:
    exec(compile(code, document, "exec"), {"__name__": "example"})
