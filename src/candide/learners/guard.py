"""What holds for all methods that learn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def all_or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    """An error in a method that learns leaves the estimator exactly as it was."""

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            now = self.__dict__
            now.update(before)
            for name in now.keys() - before.keys():
                del now[name]
            raise

    return guarded
