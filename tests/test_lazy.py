"""The lazy decorator gives the dataclasses of the standard library."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from typing import Any

import pytest
from tiers import every

from candide.lazy import dataclass


def pairs(**options: Any) -> tuple[Any, Any]:
    """The same class by both decorators."""
    made = []
    for decorate in (dataclass, dataclasses.dataclass):

        class Point:
            x: float
            tags: list[str] = dataclasses.field(default_factory=list)
            y: float = 2.0

            def __post_init__(self) -> None:
                vars(self)["norm"] = abs(self.x) + abs(self.y)

        made.append(decorate(**options)(Point))
    return made[0], made[1]


@dataclass(frozen=True)
class Pair:
    first: int
    second: int = 2


class Labeled(Pair):
    label = "a"


@dataclass(frozen=True)
class Triple(Pair):
    third: int = 3


@dataclass(frozen=True)
class Unequal:
    number: float

    def __eq__(self, other: object) -> bool:
        return False


@every("options", [{}, {"frozen": True}, {"frozen": True, "eq": False}, {"repr": False}])
def test_methods_are_those_of_the_standard_library(options: dict[str, Any]) -> None:
    lazy, eager = pairs(**options)
    assert str(inspect.signature(lazy)) == str(inspect.signature(eager))
    assert [field.name for field in dataclasses.fields(lazy)] == ["x", "tags", "y"]
    for cls in (lazy, eager):
        one, other = cls(1.0, ["a"]), cls(1.0, y=2.0, tags=["a"])
        assert (one.x, one.tags, one.y, one.norm) == (1.0, ["a"], 2.0, 3.0)
        assert (one == other) == options.get("eq", True)
        assert dataclasses.replace(one, x=5.0).norm == 7.0
        with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'x'"):
            cls()
    assert repr(lazy(1.0)).startswith("<") == repr(eager(1.0)).startswith("<")
    assert (lazy.__hash__ is None) == (eager.__hash__ is None)


def test_frozen_fields_cannot_be_assigned() -> None:
    pair = Pair(1)
    for name in ("first", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field {name!r}"):
            setattr(pair, name, 3)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'first'"):
        del pair.first
    labeled: Any = Labeled(1)
    labeled.label = "b"
    assert (labeled.label, labeled.first) == ("b", 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        labeled.first = 3


def test_hashes_equality_and_pickles() -> None:
    assert {Pair(1), Pair(1, 2), Pair(2)} == {Pair(2), Pair(1)}
    assert Pair(1) != Triple(1)
    assert repr(Triple(1, third=4)) == "Triple(first=1, second=2, third=4)"
    assert pickle.loads(pickle.dumps(Triple(1))) == Triple(1)
    assert Unequal(1.0) != Unequal(1.0)
    assert hash(Unequal(1.0)) == hash(Unequal(1.0))
    assert str(inspect.signature(Triple)) == "(first: 'int', second: 'int' = 2, third: 'int' = 3) -> None"
