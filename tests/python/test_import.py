"""What importing kiln needs, and what it does not."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources
from importlib.util import find_spec

import pytest
from paths import REPOSITORY

import kiln

Python = Callable[..., str]


def test_importing_kiln_imports_no_torch(python: Python) -> None:
    assert python("import sys, kiln; print('torch' in sys.modules)") == "False\n"


def test_importing_kiln_opens_no_driver_and_no_compiler(python: Python) -> None:
    code = "import kiln; print(open('/proc/self/maps').read())"
    mapped = python(code)
    assert "_kiln" in mapped
    assert not re.search(r"lib(cuda|nvrtc)\.so", mapped)


def test_the_neural_network_part_says_that_torch_is_missing(python: Python) -> None:
    code = """
import sys
sys.modules["torch"] = None  # what an interpreter without torch finds
import kiln
try:
    kiln.nn
except ImportError as error:
    print(error)
"""
    assert "kiln.nn needs torch 2.6 or newer" in python(code)


def test_an_old_torch_is_refused_with_its_version(python: Python) -> None:
    code = """
import sys, types
sys.modules["torch"] = types.SimpleNamespace(__version__="2.5.1+cu124")
try:
    import kiln.nn
except ImportError as error:
    print(error)
"""
    assert "2.5.1+cu124" in python(code)


def test_the_version_is_the_projects() -> None:
    stated = re.search(r"project\(kiln VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text())
    assert stated is not None
    assert kiln.__version__ == stated[1]


def test_the_package_is_marked_as_typed() -> None:
    assert resources.files("kiln").joinpath("py.typed").is_file()


def test_every_public_name_is_there_and_documented() -> None:
    for name in kiln.__all__:
        if name in ("nn", "__version__") or (name.startswith("grouped_") and not find_spec("torch")):
            continue
        assert getattr(kiln, name).__doc__, name
    assert "nn" in dir(kiln)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        kiln.nothing  # noqa: B018
