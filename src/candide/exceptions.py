"""What can go wrong, as a tree.

::

    CandideError
    ├── InputError (ValueError)      the data, labels or weights cannot be used as they are
    │   ├── CellTypeError (TypeError) a cell holds what is neither a number nor a text
    │   └── SourceError              a file, folder, mailbox or database cannot be read
    ├── ParameterError (ValueError)  a setting of a model is outside what it allows
    ├── MergeError (ValueError)      two models cannot be added
    ├── ForgetError (ValueError)     rows cannot be removed, because the model never learned them
    ├── ModelFileError (ValueError)  a file holds no sound model, or a model holds what no file can
    ├── LockTimeout (TimeoutError)   another process did not release a model file in time
    ├── NotADensity (AttributeError) the model gives scores, not probabilities of the data
    ├── MissingPackage (ImportError) what was asked for needs a package that is not installed
    └── NotFitted (ValueError, AttributeError)  the model is not fitted

Every message says what was found, what is allowed, and what to do. An error leaves a fitted model as it was.
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
    """Base of all errors that candide raises on purpose."""

    def __str__(self) -> str:
        # Names and labels come from data, and may hold what a terminal would obey.
        return printable(super().__str__(), lines=True)


class InputError(CandideError, ValueError):
    """The data, labels or weights cannot be used as they are."""


class CellTypeError(InputError, TypeError):
    """A cell holds what is neither a number nor a text."""


class SourceError(InputError):
    """A file, folder, mailbox or database cannot be read."""


class ParameterError(CandideError, ValueError):
    """A setting of a model is outside what it allows."""


class MergeError(CandideError, ValueError):
    """Two models cannot be added."""


class ForgetError(CandideError, ValueError):
    """Rows cannot be removed, because the model never learned them."""


class ModelFileError(CandideError, ValueError):
    """A file holds no model that can be trusted, or a model holds something that no file can."""


class LockTimeout(CandideError, TimeoutError):
    """Another process is changing a model file, and did not finish in time."""


class NotADensity(CandideError, AttributeError):
    """The model gives scores, not probabilities of the data."""


class MissingPackage(CandideError, ImportError):
    """What was asked for needs a package that is not installed."""


class NotFitted(CandideError, ValueError, AttributeError):
    """The model is not fitted."""


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the disk in this block name the file that the user asked for."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            error.filename, error.filename2 = os.fspath(path), None
        raise


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning that points at the line of the user's, however deep inside candide it arose."""
    home = os.path.dirname(__file__)
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(home):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(printable(message, lines=True), category, stacklevel=depth)
