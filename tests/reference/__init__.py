"""NumPy implementations of all kernels, against which tests compare the native ones."""

from .kernels import ReferenceKernels

__all__ = ["ReferenceKernels"]
