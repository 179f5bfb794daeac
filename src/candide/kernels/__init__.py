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
    if n_threads is not None and (isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1):
        raise ParameterError(f"n_threads is {n_threads!r}; it must be None or a whole number above 0")
    return _native(int(n_threads or _usual_threads(os.environ.get("CANDIDE_NUM_THREADS"))))


@lru_cache(maxsize=64)
def _usual_threads(setting: str | None) -> int:
    if not setting:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not setting.isdecimal() or int(setting) < 1:
        raise ParameterError(f"CANDIDE_NUM_THREADS is {setting!r}; it must be a whole number above 0")
    return int(setting)


@lru_cache(maxsize=64)
def _native(n_threads: int) -> Kernels:
    from .native import Native

    return Native(n_threads)
