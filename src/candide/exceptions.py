"""Exceptions.

::

    CandideError
    ├── InputError (ValueError)      the data, labels or weights cannot be used as they are
    │   ├── CellTypeError (TypeError) a cell is neither a number nor a string
    │   └── SourceError              a file, folder, mailbox or database cannot be read
    ├── ParameterError (ValueError)  a parameter has a value that is not allowed
    ├── MergeError (ValueError)      two models cannot be merged
    ├── ForgetError (ValueError)     rows cannot be removed, because the model was not trained on them
    ├── ModelFileError (ValueError)  a model file is invalid, or a model cannot be written to a file
    ├── LockTimeout (TimeoutError)   another process did not release a model file in time
    ├── NotADensity (AttributeError) the model has scores, not probabilities of the data
    ├── MissingPackage (ImportError) an optional package is not installed
    └── NotFitted (ValueError, AttributeError)  the model is not fitted

Messages say what was found, what is expected, and what to do. An error leaves a fitted model unchanged.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from .printable import printable

__all__ = [
    "CandideError",
    "CellTypeError",
    "ForgetError",
    "InputError",
    "LockTimeout",
    "MergeError",
    "MissingPackage",
    "ModelFileError",
    "NotADensity",
    "NotFitted",
    "ParameterError",
    "SourceError",
    "naming",
    "warn",
]


class CandideError(Exception):
    """Base class of all errors that candide raises itself."""

    def __str__(self) -> str:
        # Names and labels come from data, and may contain terminal escape sequences.
        return printable(super().__str__(), lines=True)


class InputError(CandideError, ValueError):
    """The data, labels or weights cannot be used as they are."""


class CellTypeError(InputError, TypeError):
    """A cell is neither a number nor a string."""


class SourceError(InputError):
    """A file, folder, mailbox or database cannot be read."""


class ParameterError(CandideError, ValueError):
    """A parameter has a value that is not allowed."""


class MergeError(CandideError, ValueError):
    """Two models cannot be merged."""


class ForgetError(CandideError, ValueError):
    """Rows cannot be removed, because the model was not trained on them."""


class ModelFileError(CandideError, ValueError):
    """A model file is invalid, or a model cannot be written to a file."""


class LockTimeout(CandideError, TimeoutError):
    """Another process is changing a model file, and did not finish in time."""


class NotADensity(CandideError, AttributeError):
    """The model has scores, not probabilities of the data."""


class MissingPackage(CandideError, ImportError):
    """An optional package is not installed."""


class NotFitted(CandideError, ValueError, AttributeError):
    """The model is not fitted."""


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Set the file name of operating system errors in this block to the path that the user passed."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = os.fspath(path), None
        raise


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that refers to the line of the caller's code outside candide."""
    home = os.path.dirname(__file__)
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(home):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(printable(message, lines=True), category, stacklevel=depth)
