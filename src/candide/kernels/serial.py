"""Linear algebra on one thread.

Its libraries share out even small products, and where the cores are busy, threads that wait for each other take a
hundred times as long as the work. How many threads they use is mostly a setting of the whole process: there, the first
stretch of work to begin sets it to one, and the last to end sets it back. Some have a setting for each thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any, NamedTuple


class _Libraries(NamedTuple):
    """That are set for the whole process, and that are set for each thread."""

    shared: list[Any]
    own: Any


@lru_cache(maxsize=1)
def _libraries() -> _Libraries:
    """Finding them takes some hundredths of a second, once."""
    # NumPy and SciPy have a library each; a later import would bring one that is not found.
    import_module("scipy.linalg")
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas")
    shared = [library for library in found.lib_controllers if getattr(library, "threading_layer", "") != "openmp"]
    return _Libraries(shared, found.select(threading_layer="openmp"))


class _Stretches:
    """How many are under way, and the threads that libraries had before the first."""

    def __init__(self) -> None:
        self.lock, self.running = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def begin(self) -> None:
        with self.lock:
            if not self.running:
                self.before = [(library, library.get_num_threads()) for library in _libraries().shared]
                for library, _ in self.before:
                    _set(library, 1)
            self.running += 1

    def end(self) -> None:
        with self.lock:
            self.running -= 1
            if not self.running:
                self._restore()

    def forked(self) -> None:
        """In a child process, where the threads whose stretches were under way do not exist."""
        self.lock, self.running = Lock(), 0
        self._restore()

    def _restore(self) -> None:
        for library, threads in self.before:
            # What someone else has set meanwhile is theirs.
            if library.get_num_threads() == 1:
                _set(library, threads)
        self.before = []


def _set(library: Any, threads: int) -> None:
    library.set_num_threads(threads)
    # Since threadpoolctl 3.8, a thread that sets it keeps all others from it until it lets go.
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread()


_stretches = _Stretches()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stretches.forked)


@contextmanager
def serial() -> Iterator[None]:
    """Around a stretch of work, or as a decorator of a function that is one."""
    _stretches.begin()
    try:
        with _libraries().own.limit(limits=1):
            yield
    finally:
        _stretches.end()
