"""All loops over rows, in C++, and the layouts and tables that they read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .kernels import Kernels

__all__ = ["Kernels"]

# The native module can be used before NumPy is imported.
__getattr__ = lazy_names(__name__, {"Kernels": "kernels"})
