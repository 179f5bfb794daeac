"""Texts as rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ._core import Texts
from .layouts import Array, Sparse
from .tokens import Look


@dataclass(frozen=True, slots=True)
class TextRows:
    """A text for each row, where it lies in memory, or none; the one column of a table without others."""

    texts: Texts
    first_row: int = 0  # where a stretch of rows begins in the whole, for messages
    asked_again: bool = False  # whether somebody will soon want the rows of tokens once more
    # Rows of tokens that were counted, for whoever looks at the texts next.
    counted: list[tuple[Look, Sparse]] = field(default_factory=list, repr=False, compare=False)

    n_columns: ClassVar[int] = 1

    @classmethod
    def packed(cls, utf8: Array, offsets: Array, missing: Array) -> TextRows:
        """From Arrow's layout of strings."""
        return cls(Texts.of_buffers(utf8, offsets, ~missing))

    @classmethod
    def holes(cls, n_rows: int) -> TextRows:
        """Rows without any text."""
        return cls(Texts.of_list([None] * n_rows)[0])

    @property
    def n_rows(self) -> int:
        return len(self.texts)

    def rows(self, begin: int, end: int) -> TextRows:
        """Rows ``begin`` to ``end``, without a copy of their texts."""
        return TextRows(self.texts.rows(begin, end), self.first_row + begin)

    def take(self, rows: Array) -> TextRows:
        """Some rows, without a copy of their texts."""
        counted = [(look, tokens.take(rows)) for look, tokens in self.counted]
        return TextRows(self.texts.take(np.ascontiguousarray(rows, dtype=np.int64)), counted=counted)

    def counted_by(self, looks: list[Look]) -> list[Sparse] | None:
        """The rows of tokens, if just these looks were counted."""
        return [tokens for _, tokens in self.counted] if looks == [look for look, _ in self.counted] else None

    def arrays(self) -> dict[str, Array]:
        """All texts as valid UTF-8, as ``packed`` takes them: a copy."""
        utf8, offsets = self.texts.packed()
        return {"utf8": utf8, "offsets": offsets, "missing": self.texts.missing()}

    def stored(self, rows: Array) -> TextRows:
        """A copy of some rows, which needs nothing that they were read from."""
        some = self.take(rows)
        return replace(TextRows.packed(**some.arrays()), counted=some.counted)

    def sizes(self) -> Array:
        """Bytes of each text."""
        return self.texts.sizes(_THREADS)

    def hashes(self) -> Array:
        """A hash of each text, of 63 bits, the same on all machines."""
        return self.texts.hashes(_THREADS)

    def __getstate__(self) -> Any:
        return self.arrays(), self.first_row

    def __setstate__(self, state: Any) -> None:
        arrays, first_row = state
        object.__setattr__(self, "texts", TextRows.packed(**arrays).texts)
        object.__setattr__(self, "first_row", first_row)
        object.__setattr__(self, "asked_again", False)
        object.__setattr__(self, "counted", [])


# Hashing costs less than the threads for it on all but the largest texts.
_THREADS = 2
