"""Ctrl-C and SIGTERM: at once, or when a step that must not be cut in two is done."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Seconds within which several signals are taken for one.
_TOGETHER = 1.0


class Terminated(BaseException):
    """SIGTERM came."""


@contextmanager
def terminable() -> Iterator[None]:
    """While this lasts, SIGTERM raises, so that whatever was begun is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    last = float("-inf")

    def came(number: int, frame: FrameType | None) -> None:
        # A second signal at once must not cut short what clears away: `timeout`, for one, sends two.
        nonlocal last
        if time.monotonic() - last >= _TOGETHER:
            last = time.monotonic()
            raise Terminated

    before = signal.signal(signal.SIGTERM, came)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Interrupts:
    """Signals that wait while a step is under way, if what it does is kept; a second Ctrl-C does not wait."""

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self._within = False
        self._waiting: BaseException | None = None
        # Whether a step was ended half-way: nobody knows what of it was done.
        self.cut = False

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
        """A step that is done wholly if it is kept or, by a second Ctrl-C, ended with the program."""
        self._within = self._kept
        try:
            yield
        finally:
            self._within = False
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            raise waiting

    def _came(self, number: int, frame: FrameType | None) -> None:
        stop: BaseException = KeyboardInterrupt() if number == signal.SIGINT else Terminated()
        again = self._waiting is not None
        # Also one that raises here: libraries swallow some (pyarrow, where it looks for pandas), and then the next step
        # ends with it.
        self._waiting = stop
        if not self._within or again:
            self.cut = self._within
            raise stop
