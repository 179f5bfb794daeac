"""Errors about invalid model files: what is wrong, and what to do about it.

This module does not import NumPy: files are opened before NumPy is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import ModelFileError

_DAMAGED = "the file is damaged or was modified; download it again, or save the model again"
NOT_A_MODEL = (
    "expected a file written by save() or candide train; to train on rows, pass them to candide.read or candide train"
)


class InvalidContent(Exception):
    """Something in a model file is invalid. ``model_file_errors`` adds the name of the file."""

    def __init__(self, problem: str, remedy: str = _DAMAGED) -> None:
        super().__init__(problem)
        self.remedy = remedy


def require(condition: bool, problem: str, remedy: str = _DAMAGED) -> None:
    """Raise ``InvalidContent`` unless a condition is true."""
    if not condition:
        raise InvalidContent(problem, remedy)


@contextmanager
def model_file_errors(prefix: str, remedy: str | None = None) -> Iterator[None]:
    """Raise every error about the content of a file as a ``ModelFileError``: prefix, problem and remedy."""
    try:
        yield
    except InvalidContent as error:
        raise ModelFileError(f"{prefix}: {error}; {remedy or error.remedy}") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{prefix}: {type(error).__name__}, {error}; {remedy or _DAMAGED}") from error
