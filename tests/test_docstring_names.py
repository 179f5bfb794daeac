"""The reference describes each name of a combined docstring entry."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[1] / "tools" / "docstring_names.py"


def test_entries_for_the_reference() -> None:
    pytest.importorskip("griffe", reason="the documentation tools are in the extra 'docs'")
    spec = importlib.util.spec_from_file_location("docstring_names", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.separated('    a : {"b", "c"}, optional\n') == '    a : one of "b", "c", default None\n'
    docstring = (
        "Parameters\n----------\na : int\n    One.\nb, c,\nd\n    As\n    there.\n\nNotes\n-----\nOne, two\nor three.\n"
    )
    expected = docstring.replace("b, c,\nd\n    As\n    there.\n", "".join(f"{n}\n    As\n    there.\n" for n in "bcd"))
    assert module.separated(docstring) == expected
