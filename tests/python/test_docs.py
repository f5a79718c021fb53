"""The documents' examples that need no GPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import doc_examples
import pytest


@pytest.mark.parametrize(("document", "code"), doc_examples.blocks(gpu=False))
def test_the_example_runs(document: str, code: str, cache: Path) -> None:
    exec(compile(code, document, "exec"), {"__name__": "example"})


@pytest.mark.parametrize("gpu", [False, True])
@pytest.mark.parametrize("document", doc_examples.DOCUMENTS)
def test_there_are_examples_of_both_kinds(document: str, gpu: bool) -> None:
    assert doc_examples.in_document(document, gpu=gpu)
