"""The stub of the native module says what the binary says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import candide.kernels
from candide.kernels import _core


def signatures_in(body: list[ast.stmt], owner: str = "") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            found |= signatures_in(node.body, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            found[owner + node.name] = [argument.arg for argument in node.args.args if argument.arg != "self"]
    return found


def stub_signatures() -> dict[str, list[str]]:
    stub = Path(candide.kernels.__file__).with_name("_core.pyi").read_text()
    return signatures_in(ast.parse(stub).body)


def binary_signatures() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for owner, place in [("", _core)] + [(f"{name}.", value) for name, value in vars(_core).items() if is_class(value)]:
        for name, value in vars(place).items():
            signature = getattr(value, "__nb_signature__", None)
            if signature is not None and not is_class(value):
                # name(argument: type, …) -> type
                found[owner + name] = re.findall(r"[(\s](\w+): ", signature[0][0].split("->")[0])
    return found


def is_class(value: object) -> bool:
    return isinstance(value, type)


def test_functions_and_arguments_agree() -> None:
    assert stub_signatures() == binary_signatures()
