"""What holds for all methods that learn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..exceptions import InputError


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """An error in a method that learns leaves the estimator exactly as it was."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException as error:
            now = self.__dict__
            now.update(before)
            for name in now.keys() - before.keys():
                del now[name]
            if isinstance(error, MemoryError):
                raise InputError(
                    f"{type(self).__name__}.{method.__name__} needs more memory than there is ({error}); a model takes "
                    "memory for each class and column; pass fewer columns, or rows in chunks"
                ) from error
            raise

    return guarded
