"""The only loops over rows: a protocol, a native implementation, and a NumPy twin of every kernel."""

from __future__ import annotations

import os
from functools import lru_cache
from numbers import Integral

from ..exceptions import ParameterError
from .base import Kernels

__all__ = ["Kernels", "default"]


def default(n_threads: int | None = None) -> Kernels:
    """The native kernels with ``n_threads``, else ``CANDIDE_NUM_THREADS``, else one thread per available core."""
    return _native(_thread_count(n_threads, os.environ.get("CANDIDE_NUM_THREADS")))


@lru_cache(maxsize=64)
def _thread_count(n_threads: int | None, setting: str | None) -> int:
    if n_threads is None and setting:
        try:
            n_threads = int(setting)
        except ValueError:
            raise ParameterError(f"CANDIDE_NUM_THREADS is {setting!r}; it must be a whole number above 0") from None
    if n_threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ParameterError(f"n_threads is {n_threads!r}; it must be None or a whole number above 0")
    return int(n_threads)


@lru_cache(maxsize=64)
def _native(n_threads: int) -> Kernels:
    from .native import Native

    return Native(n_threads)
