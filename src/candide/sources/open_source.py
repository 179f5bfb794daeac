"""Anything that ``fit`` takes as a source of rows."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..exceptions import InputError
from ..model.source import MemorySource, Source
from .chunks import ChunkSource, are_chunks

# Modules of sources whose rows are elsewhere, by the package of what is passed.
_ENGINES = {"dask": ".dask", "pyspark": ".spark"}


def open_source(
    X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, *, chunks: bool = False
) -> Source:
    """Return rows, labels, weights and groups as a source.

    Parameters
    ----------
    X : array, data frame, list, source of ``candide.read``, or data of Dask or Spark
        The rows.
    y, sample_weight, groups
        As in ``fit``.
    chunks : bool, default False
        Whether an iterator without ``y`` yields chunks.
    """
    if isinstance(X, Source):
        if y is not None or sample_weight is not None or groups is not None:
            raise InputError(
                "labels, weights or groups are given beside a source of candide.read, which has its own; leave them "
                "out, and name the columns in read(…, label=…, weight=…)"
            )
        return X
    engine = _engine(X)
    if engine is not None:
        if groups is not None:
            raise InputError(
                "groups is given for rows on a cluster; expected rows in memory or chunks; collect the rows, or leave "
                "groups out"
            )
        source: Source = import_module(engine, __package__).open_frame(X, y, sample_weight)
        return source
    if chunks and y is None and are_chunks(X):
        if sample_weight is not None or groups is not None:
            raise InputError(
                "sample_weight or groups are given beside chunks; let each chunk be (X, y, sample_weight) or "
                "(X, y, sample_weight, groups) instead"
            )
        return ChunkSource(X)
    return MemorySource(X, y, sample_weight, groups)


def is_elsewhere(X: Any) -> bool:
    """Return whether rows are not in memory: a source, or data of Dask or Spark."""
    return isinstance(X, Source) or _engine(X) is not None


def _engine(X: Any) -> str | None:
    """Return the module for the engine that holds the rows, without importing anything for rows in memory."""
    module = type(X).__module__
    # Mostly NumPy's, pandas' or none: a test of the first letter is enough.
    return _ENGINES.get(module.partition(".")[0]) if module[:1] in "dp" else None
