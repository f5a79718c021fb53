"""Python code in the documents. A block whose first line is `# needs a GPU` is a GPU test."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from paths import REPOSITORY

DOCUMENTS = ("README.md", "docs/python.md")
_NEEDS_GPU = "# needs a GPU\n"


def blocks(*, gpu: bool) -> list[object]:
    """Parameters of a test: each a document's name and a block of it."""
    return [
        pytest.param(name, code, id=f"{name}-{number}")
        for name in DOCUMENTS
        for number, code in enumerate(in_document(name, gpu=gpu), start=1)
    ]


def in_document(name: str, *, gpu: bool) -> list[str]:
    found = re.findall(r"^```python\n(.*?)^```$", (REPOSITORY / name).read_text(), re.MULTILINE | re.DOTALL)
    return [code for code in found if code.startswith(_NEEDS_GPU) == gpu]
