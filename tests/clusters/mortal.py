"""A worker that is killed once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from candide.model.accumulator import PartialState
from candide.model.train import Summarize


@dataclass(eq=False)
class MortalSummarize(Summarize):
    """Kills the process in which it has counted a partition, or small ones together, before the state is sent."""

    mark: str = ""

    def whole(self, chunks: Iterable[Any], partition: int) -> PartialState:
        state = super().whole(chunks, partition)
        die_once(self.mark)
        return state

    def part(self, chunk: Any) -> PartialState:
        state = super().part(chunk)
        die_once(self.mark)
        return state

    def read(self, chunk: Any, partition: int) -> PartialState:
        rows = super().read(chunk, partition)
        die_once(self.mark)
        return rows


def make_mortal(monkeypatch: Any, mark: str) -> None:
    """Let the first worker that counts a partition die."""
    for_workers = Summarize.for_workers

    def mortal(self: Summarize) -> Summarize:
        return MortalSummarize(**vars(for_workers(self)), mark=mark)

    monkeypatch.setattr(Summarize, "for_workers", mortal)


def die_once(mark: str) -> None:
    """The process kills itself, unless there is a file that says that another one did."""
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)
