"""The registry lists exactly the classes of which trained models consist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from properties.tables import clusters, repeated_values

from candide import NaiveBayes
from candide.kernels.layouts import TextRows
from candide.storage.registry import CLASSES, DECLARED, NAMES, class_named, field_types, name_of

from .example_models import EXAMPLES
from .storing import content_of


def classes_in(value: Any) -> Iterator[type[Any]]:
    """Yield the types of all dataclasses and named tuples in a value."""
    named = hasattr(value, "_fields")
    if (is_dataclass(value) or named) and not isinstance(value, TextRows):
        yield type(value)
        names = value._fields if named else [field.name for field in fields(value)]
        for name in names:
            yield from classes_in(getattr(value, name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from classes_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from classes_in(item)


@pytest.mark.slow
def test_every_class_of_a_trained_model_is_registered() -> None:
    found = set(classes_in(content_of(NaiveBayes(order=1).fit(*repeated_values()), sample=False).parts))
    found |= set(classes_in(content_of(NaiveBayes().fit(*clusters()), sample=False).parts))
    for make in EXAMPLES.values():
        case = make()
        for sample in (False, True):
            found |= set(classes_in(content_of(case.model, sample=sample).parts))
    assert None not in set(map(name_of, found))
    # No file needs a class that no model contains.
    assert CLASSES.keys() <= set(map(name_of, found))


def test_names_are_unique() -> None:
    assert len(NAMES) == len(CLASSES)
    assert all(name == name.lower() and "." not in name for name in CLASSES)


@pytest.mark.parametrize("name", list(CLASSES))
def test_classes_exist(name: str) -> None:
    assert name_of(class_named(name)) == name


@pytest.mark.parametrize("name", list(CLASSES))
def test_field_types_can_be_resolved(name: str) -> None:
    assert field_types(class_named(name))


@pytest.mark.parametrize("declared", list(DECLARED))
def test_stand_ins_are_for_registered_classes(declared: str) -> None:
    names = DECLARED[declared].names
    assert set(names) <= CLASSES.keys()
    assert len(names) > 1 or class_named(*names).__name__ == declared
