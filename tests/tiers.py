"""What the two tiers of tests share: cases in one test, modules imported at first use, how often a law is tried."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import settings


def every(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As ``pytest.mark.parametrize``, but in one test: for cases that take less time than a test of their own.

    The first that fails ends the test, and the error names it. Not for tests that change what a fixture gives.
    """
    keys, found = names.replace(" ", "").split(","), list(cases)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        asked = inspect.signature(test)
        others = asked.replace(parameters=[one for name, one in asked.parameters.items() if name not in keys])

        @functools.wraps(test)
        def tried(*args: Any, **kwargs: Any) -> None:
            fixtures = others.bind(*args, **kwargs).arguments
            for case in found:
                given = dict(zip(keys, case if len(keys) > 1 else (case,), strict=True))
                try:
                    test(**fixtures, **given)
                except Exception as error:
                    error.add_note(f"with {given}")
                    raise

        tried.__signature__ = others  # type: ignore[attr-defined]
        return tried

    return decorate


def fast(some: Iterable[Any], cases: Iterable[Any]) -> list[Any]:
    """All of the cases, for ``pytest.mark.parametrize``; those that are not among ``some`` are slow."""
    some, cases = list(some), list(cases)
    assert all(one in cases for one in some)
    return [case if case in some else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def fitted_once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Keep the models that a function of a test module fits: equal settings and the same tables give a copy of one.

    Not where a test patches a class; ``fit.__wrapped__`` is the function itself.
    """
    # Keys hold the tables by their identity, and values the tables, so that no other can have the same.
    kept: dict[Any, tuple[Any, tuple[Any, ...]]] = {}

    @functools.wraps(fit)
    def copied(*tables: Any, **settings: Any) -> Any:
        key = (*map(id, tables), repr(settings))
        if key not in kept:
            kept[key] = fit(*tables, **settings), tables
        return copy.deepcopy(kept[key][0])

    return copied


class late:  # noqa: N801, it stands for a module
    """A module that is imported when something of it is used: collecting the tests does not wait for it.

    With ``function``, one of its functions, to be called.
    """

    def __init__(self, name: str, function: str = "") -> None:
        self._late_name, self._late_function = name, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self, self._late_function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks for ``_mock_name`` in everything that a module holds
            raise AttributeError(name)
        return getattr(importlib.import_module(self._late_name), name)


def tries(n: int) -> settings:
    """So many examples with the profile ``ci``, and as many more or fewer as another profile tries."""
    return settings(max_examples=max(4, round(n * settings.default.max_examples / 25)))
