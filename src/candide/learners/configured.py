"""A learner's parameters: what its constructor takes, under the same names."""

from __future__ import annotations

import copy
import inspect
from typing import Any, Self

from ..exceptions import ParameterError
from .settings import DEFAULTS


class Configured:
    """Parameters by name, copies without what was learned, and pickles that know which parameters nobody gave."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters that the model was constructed with, by name."""
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    def set_params(self, **params: Any) -> Self:
        """Change parameters; what was learned stays."""
        known = list(self.get_params())
        for name, value in params.items():
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}; name one of them"
                )
            setattr(self, name, value)
        return self

    def unfitted(self) -> Self:
        """Another one with the same parameters, which has learned nothing."""
        return type(self)(**{name: copy.deepcopy(value) for name, value in self.get_params(deep=False).items()})

    def __repr__(self) -> str:
        usual = {name: one.default for name, one in inspect.signature(type(self).__init__).parameters.items()}
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if not _alike(value, usual[name]))
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        names = [name for name, value in DEFAULTS.items() if vars(self).get(name) is value]
        return {**vars(self), "_not_given": names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        names = state.get("_not_given", [])
        self.__dict__.update({name: value for name, value in state.items() if name != "_not_given"})
        self.__dict__.update({name: DEFAULTS[name] for name in names})


def _alike(value: Any, usual: Any) -> bool:
    """Whether it is the usual value; arrays are never asked whether they are equal."""
    plain = isinstance(value, (str, int, float)) and type(value) is type(usual)
    return value is usual or (plain and bool(value == usual))
