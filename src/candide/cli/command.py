"""A function as a command: its groups of options are spread out, and its errors become messages and exit codes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .groups import spread
from .guard import guarded

_Command = TypeVar("_Command", bound=Callable[..., None])


def command(function: _Command) -> _Command:
    """A command whose errors are one message each, and whose groups of options are spread out."""
    whole = spread(function)

    @functools.wraps(whole)
    def called(*args: Any, **kwargs: Any) -> None:
        guarded(lambda: whole(*args, **kwargs), machine=bool(kwargs.get("json")))

    return cast(_Command, called)
