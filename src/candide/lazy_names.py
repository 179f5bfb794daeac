"""Public names of a package that are imported when they are first used (PEP 562).

A prediction uses few of the classes that a package offers, and importing all of them takes longer than the prediction.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package, given the module of each name.

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
