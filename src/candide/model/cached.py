"""Attributes that are computed on first access, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached(Generic[T]):  # noqa: N801  # it is used like a function
    """As ``functools.cached_property``, whose lock in Python 3.11 is one for all objects of a class.

    There, two models in two threads may deadlock: one makes its family to fit stacking weights, the other fits weights
    for its family. Without a lock both threads may compute the same value; the first one is kept.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self.make, self.name = make, make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self  # accessed on the class, for documentation
        value: T = vars(instance).setdefault(self.name, self.make(instance))
        return value
