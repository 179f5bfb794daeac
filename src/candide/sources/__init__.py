"""Sources of rows: memory, chunks, files, folders, mailboxes, databases, Dask and Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .databases import fit_sql
    from .opening import read
    from .reader import BadRow, BadRows
    from .source import ArrowSource

__all__ = ["ArrowSource", "BadRow", "BadRows", "fit_sql", "read"]

# Readers import pyarrow, which takes longer than to fit a small table in memory.
__getattr__ = lazy_names(
    __name__,
    {
        "ArrowSource": "source",
        "BadRow": "reader",
        "BadRows": "reader",
        "fit_sql": "databases",
        "read": "opening",
    },
)
