"""Who dies on the way, once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from typing import Any

from candide import GaussianNB


class Mortal(GaussianNB):
    """Kills the process in which it has counted a partition before that can tell anybody."""

    def __init__(self, mark: str = "") -> None:
        super().__init__(keep_sample=True)
        self.mark = mark

    def count(self, chunks: Iterable[Any]) -> Any:
        state = super().count(chunks)
        die_once(self.mark)
        return state


def die_once(mark: str) -> None:
    """The process kills itself, unless there is a file that says that another one did."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
