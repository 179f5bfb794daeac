"""What is made when it is first used: names of packages, methods of dataclasses, attributes.

``candide classify`` of one text takes about as long as its imports. Of the classes that a package offers and the
dataclasses that its modules define, a prediction uses few.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    # Type checkers see the decorator of the standard library, which behaves the same.
    from dataclasses import dataclass as dataclass

T = TypeVar("T")


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package (PEP 562), given the module of each name.

    >>> from candide import families
    >>> families.Poisson.__module__
    'candide.families.poisson'
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{modules[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


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


if not TYPE_CHECKING:
    import dataclasses
    import inspect

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True):
        """Turn a class into a dataclass, as ``dataclasses.dataclass`` does, with methods that are compiled later.

        The standard library compiles the source of up to six methods for each class while its module is imported. The
        modules behind ``candide classify`` define a hundred dataclasses, which took a third of the time of all imports.
        Use this decorator in packages that a prediction imports; elsewhere, the one of the standard library.

        Parameters
        ----------
        cls : type
            The class.
        frozen, eq, repr : bool
            As in the standard library. ``slots`` is not supported: use the decorator of the standard library.

        Examples
        --------
        >>> @dataclass(frozen=True)
        ... class Point:
        ...     x: float
        ...     y: float = 0.0
        >>> Point(1.0), Point(1.0) == Point(1.0, 0.0)
        (Point(x=1.0, y=0.0), True)
        """
        if cls is None:
            return lambda decorated: dataclass(decorated, frozen=frozen, eq=eq, repr=repr)
        defined = vars(cls).copy()
        # Without methods to generate, this collects the fields and compiles nothing.
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        options = {"frozen": frozen, "init": False, "repr": False, "eq": False}
        _defer(cls, "__init__", defined, options | {"init": True})
        cls.__signature__ = _Signature(cls)
        if repr:
            _defer(cls, "__repr__", defined, options | {"repr": True})
        if eq:
            _defer(cls, "__eq__", defined, options | {"eq": True})
            if frozen:
                # Python sets __hash__ to None where a class defines __eq__.
                _defer(cls, "__hash__", {} if defined.get("__hash__") is None else defined, options | {"eq": True})
            elif "__hash__" not in defined:
                cls.__hash__ = None
        if frozen:
            _freeze(cls)
        return cls

    def _defer(cls, name, defined, options):
        """Add a method that replaces itself by the one of the standard library at its first call."""
        if name in defined:
            return

        def method(self, *args, **kwargs):
            _compile(cls, name, options)
            return getattr(cls, name)(self, *args, **kwargs)

        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        method._options = options
        setattr(cls, name, method)

    def _compile(cls, name, options):
        """Set a method to the one that the standard library generates for a class with the same fields."""
        fields = dataclasses.fields(cls)
        # With a docstring, the standard library does not compute a signature to make one, which is slow.
        namespace = {"__doc__": name, "__annotations__": {field.name: field.type for field in fields}}
        namespace |= {field.name: field for field in fields}
        if hasattr(cls, "__post_init__"):
            namespace["__post_init__"] = cls.__post_init__
        twin = dataclasses.dataclass(**options)(type(cls.__name__, (), namespace))
        method = vars(twin)[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)

    def _freeze(cls):
        names = frozenset(cls.__dataclass_fields__)

        def assign(self, name, value):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def delete(self, name):
            if type(self) is cls or name in names:
                raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        cls.__setattr__, cls.__delattr__ = assign, delete

    class _Signature:
        """The signature of a class, for ``help`` and ``inspect.signature``."""

        def __init__(self, cls):
            self._class = cls

        def __get__(self, instance, owner):
            definer = next(base for base in owner.__mro__ if "__init__" in vars(base))
            if definer is not self._class:
                raise AttributeError("__signature__")
            options = getattr(definer.__init__, "_options", None)
            if options is not None:
                _compile(definer, "__init__", options)
            signature = inspect.signature(definer.__init__)
            return signature.replace(parameters=list(signature.parameters.values())[1:])
