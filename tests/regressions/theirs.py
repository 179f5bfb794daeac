"""What scikit-learn 1.9.1 does with the same rows: the reason why a trap is on the list."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import sklearn

MEASURED = "1.9.1"


def assert_trapped(falls_in: Callable[[], object]) -> None:
    """The measured version falls into the trap; another one may be mended, and is not asked."""
    if sklearn.__version__ != MEASURED:
        return
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert falls_in()


def raises(error: type[Exception], call: Callable[[], object]) -> bool:
    """Whether the call stops with that error."""
    try:
        call()
    except error:
        return True
    return False
