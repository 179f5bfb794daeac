"""Ctrl-C and SIGTERM: at once, or when a step that must not be cut in two is done."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# Signals within this many seconds count as one.
_TOGETHER = 1.0


INTERRUPTED, TERMINATED = 130, 143
STOPPED = "stopped; nothing was written"


class Terminated(BaseException):
    """SIGTERM came."""


@contextmanager
def at_once() -> Iterator[None]:
    """Make signals end the process with a message within this block, except in :func:`terminable` blocks.

    Used while modules are imported, because some convert exceptions raised there into other errors.
    """
    # Signals that are already ignored stay ignored: shells set this for background processes.
    heard = [one for one in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(one) is not signal.SIG_IGN]
    before = {one: signal.signal(one, _end) for one in heard}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(number: int, frame: FrameType | None) -> None:
    interrupted = number == signal.SIGINT
    if "--json" in sys.argv:
        kind = "Interrupted" if interrupted else "Terminated"
        os.write(1, f'{{"error": {{"kind": "{kind}", "message": "{STOPPED}"}}}}\n'.encode())
    os.write(2, f"candide: {STOPPED}\n".encode())
    os._exit(INTERRUPTED if interrupted else TERMINATED)


@contextmanager
def terminable() -> Iterator[None]:
    """Make SIGTERM raise an exception like Ctrl-C within this block, so that unfinished work is cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    last = float("-inf")

    def came(number: int, frame: FrameType | None) -> None:
        # A second signal right after the first must not interrupt the cleanup: `timeout`, for example, sends two.
        nonlocal last
        if time.monotonic() - last >= _TOGETHER:
            last = time.monotonic()
            raise Terminated

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, came)}
    if signal.getsignal(signal.SIGINT) is _end:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


class Interrupts:
    """Signals that wait while a step is under way, if what it does is kept; a second Ctrl-C does not wait."""

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self._within = False
        self._waiting: BaseException | None = None
        # Whether a step was interrupted, so that its result is undefined.
        self.cut = False

    @contextmanager
    def caught(self) -> Iterator[Interrupts]:
        """Make signals raise an exception within this block. Only the main thread can catch them."""
        before = {one: signal.signal(one, self._came) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    @contextmanager
    def step(self) -> Iterator[None]:
        """Run a step that is either completed and kept, or interrupted by a second Ctrl-C, which ends the program."""
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
        # Also if the signal raises here: libraries swallow some exceptions (pyarrow when it imports pandas), and
        # then the next step raises it.
        self._waiting = stop
        if not self._within or again:
            self.cut = self._within
            raise stop
