"""What a trained model is made of is what a file can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from candide.kernels.layouts import TextRows
from candide.storage.registry import CLASSES, IMPLEMENTATIONS, NAMES, field_types

from .storing import content_of
from .zoo import ZOO


def nouns_in(value: Any) -> Iterator[type[Any]]:
    """The types of all objects of the house that a value is made of."""
    named = hasattr(value, "_fields")
    if (is_dataclass(value) or named) and not isinstance(value, TextRows):
        yield type(value)
        names = value._fields if named else [field.name for field in fields(value)]
        for name in names:
            yield from nouns_in(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from nouns_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from nouns_in(item)


@pytest.mark.slow
def test_every_noun_of_a_trained_model_has_a_name() -> None:
    found = set()
    for make in ZOO.values():
        case = make()
        for sample in (False, True):
            found |= set(nouns_in(content_of(case.model, sample=sample).parts))
    assert found <= NAMES.keys()
    # And the table has no name too many: what no model holds, no file should.
    assert NAMES.keys() <= found


def test_names_are_for_one_noun_each() -> None:
    assert len(NAMES) == len(CLASSES)
    assert all(name == name.lower() and "." not in name for name in CLASSES)


@pytest.mark.parametrize("name", list(CLASSES))
def test_hints_can_be_read(name: str) -> None:
    assert field_types(CLASSES[name])


def test_members_are_nouns() -> None:
    assert {noun for members in IMPLEMENTATIONS.values() for noun in members} <= NAMES.keys()
