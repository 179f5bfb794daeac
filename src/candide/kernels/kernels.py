"""All kernels in one class, their number of threads, and linear algebra on one thread.

BLAS libraries split even small products over threads. Where the cores are busy, waiting for these threads takes a
hundred times as long as the product. Most libraries have one setting for the whole process: the first block that begins
sets it to one thread, and the last one that ends restores it. Some have a setting for each thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from itertools import islice
from numbers import Integral
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..exceptions import ParameterError
from .counting import CountingKernels
from .layouts import Floats, Rows, chunks
from .scoring import DependenceKernels, LeftOutKernels, ScoringKernels
from .token_bins import TokenBinKernels
from .tokens import TokenKernels


def resolve_n_threads(n_threads: int | None) -> int:
    """Return ``n_threads``, else ``CANDIDE_NUM_THREADS``, else the number of available cores."""
    if n_threads is None:
        return _default_n_threads(os.environ.get("CANDIDE_NUM_THREADS"))
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads!r}; expected None or a positive integer")
    return int(n_threads)


@lru_cache(maxsize=64)
def _default_n_threads(setting: str | None) -> int:
    if not setting:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal() or int(setting) < 1:
        raise ParameterError(f"CANDIDE_NUM_THREADS is {setting!r}; expected a positive integer")
    return int(setting)


class _Libraries(NamedTuple):
    """BLAS libraries with one setting for the process, and those with a setting for each thread."""

    per_process: list[Any]
    per_thread: Any


@lru_cache(maxsize=1)
def _libraries() -> _Libraries:
    """Return the loaded libraries; finding them takes some hundredths of a second, once."""
    # NumPy and SciPy each have their own BLAS library; SciPy's is found only after its import.
    import_module("scipy.linalg")
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas")
    shared = [library for library in found.lib_controllers if getattr(library, "threading_layer", "") != "openmp"]
    return _Libraries(shared, found.select(threading_layer="openmp"))


class _Blocks:
    """The number of blocks that are running, and the threads of each library before the first."""

    def __init__(self) -> None:
        self.lock, self.running = Lock(), 0
        self.before: list[tuple[Any, int]] = []

    def begin(self) -> None:
        with self.lock:
            if not self.running:
                self.before = [(library, library.get_num_threads()) for library in _libraries().per_process]
                for library, _ in self.before:
                    _set(library, 1)
            self.running += 1

    def end(self) -> None:
        with self.lock:
            self.running -= 1
            if not self.running:
                self._restore()

    def forked(self) -> None:
        """Restore the settings in a child process, where the threads that ran blocks do not exist."""
        self.lock, self.running = Lock(), 0
        self._restore()

    def _restore(self) -> None:
        for library, threads in self.before:
            # A setting that was changed meanwhile is kept.
            if library.get_num_threads() == 1:
                _set(library, threads)
        self.before = []


def _set(library: Any, threads: int) -> None:
    library.set_num_threads(threads)
    # Since threadpoolctl 3.8, a thread that sets the number excludes all others until it releases control.
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread()


_blocks = _Blocks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blocks.forked)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Run a block, or as a decorator a function, with BLAS libraries on one thread."""
    _blocks.begin()
    try:
        with _libraries().per_thread.limit(limits=1):
            yield
    finally:
        _blocks.end()


Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(task: Callable[[Item, int], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """Yield ``task(item, n_threads)`` for each item, in order.

    After the first item, several are worked on at a time, each with one thread, while results are used: what a task
    computes when first needed, such as tables of logarithms, is there before other threads begin.

    >>> list(map_in_order(lambda item, n_threads: (item, n_threads), "abc", 2))
    [('a', 2), ('b', 1), ('c', 1)]
    """
    items = iter(items)
    for item in items if n_threads == 1 else islice(items, 1):
        result = task(item, n_threads)
        del item  # not kept in memory while the result is used
        yield result
        del result
    if n_threads == 1:
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(task, item, 1))
                del item
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


class Kernels(CountingKernels, ScoringKernels, LeftOutKernels, DependenceKernels, TokenKernels, TokenBinKernels):
    """The native kernels with a number of threads; results do not depend on that number.

    Missing cells are NaN (codes: below 0); classes are positions of type int32. Results are allocated here. The native
    module checks shapes and types of all arrays, releases the interpreter lock, and reports infinite and negative
    cells, which become errors here.

    Parameters
    ----------
    n_threads : int or None, default=None
        None takes ``CANDIDE_NUM_THREADS``, else one thread per available core.
    """

    __slots__ = ("n_threads",)

    def __init__(self, n_threads: int | None = None) -> None:
        self.n_threads = resolve_n_threads(n_threads)

    def map_chunks(self, data: Rows, scores: Callable[[Rows, Kernels], Floats], size: int) -> Floats:
        """Return the scores of all rows; several chunks of rows are scored at a time, each on one thread."""
        parts = [part for _, _, part in chunks(data, size)]
        if len(parts) < 3:
            found = [scores(part, self) for part in parts]
        else:
            found = list(map_in_order(lambda part, n_threads: scores(part, Kernels(n_threads)), parts, self.n_threads))
        return found[0] if len(found) == 1 else np.concatenate(found)
