"""Rows on other machines: Dask and Spark. Each part of them is counted where it is, and only sums travel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rows import Cluster

# Whose rows are not here, by the package of their type.
_PACKAGES = {"dask": "dask", "pyspark": "spark"}


class Settled:
    """Rows elsewhere that know all that a cluster would be asked about them."""


def cluster_of(X: Any) -> Cluster | None:
    """Where rows are, if they are not here; asked without importing anything for rows that are."""
    if isinstance(X, Settled):
        resolved: Any = X
        rows: Cluster = resolved
        return rows
    module = type(X).__module__
    # Mostly NumPy's, pandas' or none: a test of the first letter is enough.
    if module[:1] not in "dp" or module.partition(".")[0] not in _PACKAGES:
        return None
    return cluster_named(_PACKAGES[module.partition(".")[0]])


def cluster_named(name: str) -> Cluster:
    """That of Dask or that of Spark."""
    from importlib import import_module

    cluster: Cluster = import_module(f".{name}", __name__).CLUSTER
    return cluster
