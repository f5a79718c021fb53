"""The stub of the compiled module says exactly what is in it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import ast
import re
from importlib import resources

from kiln import _kiln

Arguments = dict[str, list[str] | None]


def argument_names(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in function.args.args if argument.arg != "self"]


def stub() -> tuple[Arguments, dict[str, Arguments]]:
    text = resources.files("kiln").joinpath("_kiln.pyi").read_text()
    functions: Arguments = {}
    classes: dict[str, Arguments] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            functions[node.name] = argument_names(node)
        elif isinstance(node, ast.ClassDef):
            classes[node.name] = {
                member.name: argument_names(member)
                for member in node.body
                if isinstance(member, ast.FunctionDef)
            }
    return functions, classes


def bound_argument_names(function: object) -> list[str]:
    """nanobind keeps the signature as text: def f(a: int, b: str = ...) -> None."""
    ((signature, *_),) = function.__nb_signature__  # type: ignore[attr-defined]
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    while re.search(r"[\[(][^\[\]()]*[\])]", inside):
        inside = re.sub(r"[\[(][^\[\]()]*[\])]", "", inside)
    names = [part.split(":")[0].split("=")[0].strip() for part in inside.split(",")]
    return [name for name in names if name and name not in ("self", "/", "*")]


def members(of: type | object) -> dict[str, object]:
    kept = ("__init__", "__call__")
    return {
        name: value
        for name, value in vars(of).items()
        if (not name.startswith("_") or name in kept) and hasattr(value, "__nb_signature__")
    }


def test_functions_match() -> None:
    functions, _ = stub()
    bound = {name: bound_argument_names(value) for name, value in members(_kiln).items()}
    assert bound == functions


def test_classes_match() -> None:
    _, classes = stub()
    bound = {
        name: {member: bound_argument_names(value) for member, value in members(kind).items()}
        for name, kind in vars(_kiln).items()
        if isinstance(kind, type)
    }
    assert bound == classes
