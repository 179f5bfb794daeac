"""Rows of a table with texts, as a sample keeps them."""

from __future__ import annotations

from ..kernels.layouts import Dense, TextRows
from ..lazy_dataclass import dataclass


@dataclass(frozen=True)
class MixedRows:
    """``cells`` has all columns, those of texts as 0, or NaN where a text is missing; the texts are beside, by column.

    A column that held nothing but holes is none of texts yet.
    """

    cells: Dense
    texts: dict[int, TextRows]

    @property
    def n_rows(self) -> int:
        return self.cells.n_rows

    def text(self, j: int) -> TextRows:
        """The texts of a column."""
        return self.texts[j] if j in self.texts else TextRows.all_missing(self.n_rows)
