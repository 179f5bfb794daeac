"""All kernels in one class."""

from __future__ import annotations

from .counting import CountingKernels
from .dependence import DependenceKernels
from .scoring import LeftOutKernels, ScoringKernels
from .threads import resolve_n_threads
from .token_bins import TokenBinKernels
from .tokens import TokenKernels


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
