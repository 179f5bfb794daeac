"""A small table with a readable repr, which can be converted to data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from ..printable import printable

_SHOWN = 20


class Table(dict[str, Array]):
    """Named columns of equal length.

    A dict of arrays, so ``table["column"]``, ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` work.

    Examples
    --------
    >>> Table({"class": np.array(["a", "b"]), "probability": np.array([0.25, 0.75])})
    class  probability
    a             0.25
    b             0.75
    """

    # Notes below the table, one line each, such as the meaning of its columns.
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Iterate over the rows as tuples."""
        return zip(*(column.tolist() for column in self.values()), strict=True)

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(dict(self))

    def to_polars(self) -> Any:
        """Return the table as a polars data frame."""
        import polars as pl

        return pl.DataFrame({name: column.tolist() for name, column in self.items()})

    def _cells(self) -> tuple[list[list[str]], int]:
        shown = {name: column[:_SHOWN] for name, column in self.items()}
        cells = [[printable(name), *(_text(value) for value in column.tolist())] for name, column in shown.items()]
        return cells, self.n_rows - min(self.n_rows, _SHOWN)

    def __repr__(self) -> str:
        cells, hidden = self._cells()
        numeric = [column.dtype.kind in "iuf" for column in self.values()]
        widths = [max(map(len, column)) for column in cells]
        lines = [
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, numeric, strict=True)
            ).rstrip()
            for line in zip(*cells, strict=True)
        ]
        return "\n".join([*lines, *([f"… {hidden} more rows"] if hidden else []), *self.notes])

    def _repr_html_(self) -> str:
        import html

        cells, hidden = self._cells()
        head, *body = zip(*cells, strict=True)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in line)}</tr>" for line in body)
        more = f"<p>… {hidden} more rows</p>" if hidden else ""
        more += "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        names = "".join(f"<th>{html.escape(name)}</th>" for name in head)
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>{more}"


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable(value)


def objects(values: Iterable[Any]) -> Array:
    """Return an array of objects; sequences are kept as single objects."""
    every = list(values)
    out = np.empty(len(every), dtype=object)
    out[:] = every
    return out


def named(positions: Array, names: Array) -> Array:
    """Return names for positions."""
    return np.asarray(names, dtype=object)[positions] if len(names) else positions
