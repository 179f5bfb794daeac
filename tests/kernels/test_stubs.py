"""The stub of the native module says what the binary says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import candide.kernels
from candide.kernels import _core


def stub_signatures() -> dict[str, list[str]]:
    stub = Path(candide.kernels.__file__).with_name("_core.pyi").read_text()
    functions = [node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef)]
    return {f.name: [argument.arg for argument in f.args.args] for f in functions}


def binary_signatures() -> dict[str, list[str]]:
    # nanobind writes the signature into the docstring: name(argument: type, …) -> type.
    names = [name for name in dir(_core) if callable(getattr(_core, name)) and not name.startswith("_")]
    return {name: re.findall(r"[(\s](\w+): ", getattr(_core, name).__doc__.split("->")[0]) for name in names}


def test_functions_and_arguments_agree() -> None:
    assert stub_signatures() == binary_signatures()
