"""Ctrl-C and SIGTERM: at once, or when a step that must not be cut in two is done."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """SIGTERM came."""


class Interrupts:
    """Signals that wait while a step is under way; a second Ctrl-C does not wait."""

    def __init__(self) -> None:
        self._within = False
        self._waiting: BaseException | None = None

    @contextmanager
    def caught(self) -> Iterator[Interrupts]:
        """While this lasts, signals raise here. Only the main thread can catch them."""
        before = {one: signal.signal(one, self._came) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step that is done wholly or, by a second Ctrl-C, ended with the program."""
        self._within = True
        try:
            yield
        finally:
            self._within = False
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            raise waiting

    def _came(self, number: int, frame: FrameType | None) -> None:
        stop: BaseException = KeyboardInterrupt() if number == signal.SIGINT else Terminated()
        if not self._within or self._waiting is not None:
            raise stop
        self._waiting = stop
