"""The decorator of commands: expands groups of options, and turns errors into messages and exit codes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, TypeVar, cast, get_type_hints

from .errors import run_command

_Command = TypeVar("_Command", bound=Callable[..., None])


def command(function: _Command) -> _Command:
    """Return a command with its groups of options expanded, which prints errors as messages."""
    expanded = spread(function)

    @functools.wraps(expanded)
    def run(*args: Any, **kwargs: Any) -> None:
        run_command(lambda: expanded(*args, **kwargs), machine=bool(kwargs.get("json")))

    return cast(_Command, run)


@dataclass(frozen=True)
class Group:
    """A dataclass whose fields are options of every command that has a parameter of this type."""


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command in which groups are replaced by their options.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Place(Group):
    ...     x: int = 0
    ...     y: int = 0
    >>> def show(name: str, *, at: Place) -> None:
    ...     print(name, at)
    >>> inspect.signature(spread(show))
    <Signature (name: str, *, x: int = 0, y: int = 0) -> None>
    >>> spread(show)("home", x=3)
    home Place(x=3, y=0)
    """
    own = inspect.signature(function, eval_str=True)
    groups = {name: one.annotation for name, one in own.parameters.items() if _is_group(one.annotation)}

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> None:
        made = {name: _taken(group, kwargs) for name, group in groups.items()}
        function(*args, **kwargs, **made)

    parameters = [one for name, one in own.parameters.items() if name not in groups]
    parameters += [_parameter(field, group) for group in groups.values() for field in fields(group)]
    vars(called)["__signature__"] = own.replace(parameters=parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Group)


def _taken(group: type[Group], options: dict[str, Any]) -> Group:
    names = [field.name for field in fields(group) if field.name in options]
    return group(**{name: options.pop(name) for name in names})


def _parameter(field: Field[Any], group: type[Group]) -> inspect.Parameter:
    assert field.default is not MISSING
    annotation = get_type_hints(group, include_extras=True)[field.name]
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=annotation)
