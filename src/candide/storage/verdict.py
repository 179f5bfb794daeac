"""What is wrong with a file, and what to do about it.

It needs no NumPy: files are opened before that is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..exceptions import ModelFileError

_DAMAGED = "it was damaged or altered on the way; fetch it again, or save the model again"
NOT_A_MODEL = (
    "expected a file that save() or candide train wrote; to learn from rows, pass them to candide.read or candide train"
)


class Unsound(Exception):
    """Something in a file is not what it must be; whoever knows the file says the rest."""

    def __init__(self, found: str, remedy: str = _DAMAGED) -> None:
        super().__init__(found)
        self.remedy = remedy


def require(holds: bool, otherwise: str, remedy: str = _DAMAGED) -> None:
    """Raises ``Unsound`` where something does not hold."""
    if not holds:
        raise Unsound(otherwise, remedy)


@contextmanager
def judged(verdict: str, remedy: str | None = None) -> Iterator[None]:
    """Whatever is found wrong is one kind of error: the verdict, what was found, and what to do."""
    try:
        yield
    except Unsound as error:
        raise ModelFileError(f"{verdict}: {error}; {remedy or error.remedy}") from None
    except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ModelFileError(f"{verdict}: {type(error).__name__}, {error}; {remedy or _DAMAGED}") from error
