"""The decorator of commands: expands groups of options, and turns errors into messages and exit codes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from .groups import spread
from .guard import guarded

_Command = TypeVar("_Command", bound=Callable[..., None])


def command(function: _Command) -> _Command:
    """Return a command with its groups of options expanded, which prints errors as messages."""
    expanded = spread(function)

    @functools.wraps(expanded)
    def run(*args: Any, **kwargs: Any) -> None:
        guarded(lambda: expanded(*args, **kwargs), machine=bool(kwargs.get("json")))

    return cast(_Command, run)
