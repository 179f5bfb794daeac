"""A worker that is killed once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from candide.training import PartitionCounter


@dataclass(frozen=True)
class MortalCounter(PartitionCounter):
    """Kills the process in which it has counted a partition, before the state is sent."""

    mark: str = ""

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
