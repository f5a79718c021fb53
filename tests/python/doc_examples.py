"""Python code in docs/python.md. A block whose first line is `# needs a GPU` is a GPU test."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

from paths import REPOSITORY

_NEEDS_GPU = "# needs a GPU\n"


def blocks(*, gpu: bool) -> list[str]:
    text = (REPOSITORY / "docs" / "python.md").read_text()
    found = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [code for code in found if code.startswith(_NEEDS_GPU) == gpu]
