"""The terms of log p(x | class) as data of a module."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...exceptions import ParameterError
from ...families.columns.transforms import BoxCox, Identity, Transform, YeoJohnson
from ...families.linear import LinearTerm
from ...families.score_terms import (
    CodeTable,
    JointNormal,
    LogGamma,
    LogQuadratic,
    Presence,
    Quadratic,
    RowTotal,
    Term,
    Transformed,
)
from ...kernels.layouts import Array, Floats
from .arrays import packed

# Of terms that are sums over the cells of numbers: their name, and their parameters.
_CELL_TERMS: dict[type[Term], tuple[str, ...]] = {
    Quadratic: ("quadratic", "constant", "spread", "center"),
    LogQuadratic: ("logQuadratic", "constant", "power", "spread", "center"),
    Presence: ("presence", "known", "missing"),
}


def written_terms(terms: Iterable[Term], columns: Array | None = None, column: int | None = None) -> list[Any]:
    """Return terms as data. ``columns``: some of their columns; ``column``: the only one that they belong to."""
    place = {} if column is None else {"column": column}
    return [{**_written(term, columns), **place} for term in terms]


def _written(term: Term, columns: Array | None) -> dict[str, Any]:
    if isinstance(term, LinearTerm):
        weights, absent = term.dense()
        made = {"weights": _by_column(weights, columns), "base": packed(term.base), "threshold": term.threshold}
        return {"kind": "linear", **made, "absent": None if absent is None else _by_column(absent, columns)}
    if type(term) in _CELL_TERMS:
        kind, *names = _CELL_TERMS[type(term)]
        return {"kind": kind, **{name: _by_column(getattr(term, name), columns) for name in names}}
    if isinstance(term, LogGamma):
        like = term.start.shape
        parts = {name: np.broadcast_to(getattr(term, name), like) for name in ("start", "slope", "constant")}
        return {"kind": "logGamma", **{name: _by_column(part, columns) for name, part in parts.items()}}
    if isinstance(term, RowTotal):
        return {"kind": "rowTotal", "start": packed(term.start)}
    if isinstance(term, CodeTable):
        return _codes(term)
    if isinstance(term, Transformed):
        inner = [_written(part, columns) for part in term.terms]
        return {"kind": "transformed", "transform": _transform(term.transform), "terms": inner}
    if isinstance(term, JointNormal):
        raise ParameterError(
            "'multivariate_normal' has a different distribution for each combination of missing cells and is not "
            "supported in JavaScript; model the columns separately, columns={'numbers': 'gaussian'}"
        )
    raise ParameterError(
        f"the term {type(term).__name__} is not supported in JavaScript; use to_json() or save() instead"
    )


def _by_column(parameters: Floats, columns: Array | None) -> Any:
    """Column by column, the classes of each side by side."""
    some = parameters if columns is None else parameters[:, columns]
    return packed(np.asarray(some).T)


def _codes(term: CodeTable) -> dict[str, Any]:
    made = {"kind": "codes", "table": packed(term.table), "missingCode": term.missing, "unseenCode": term.unseen}
    if term.cuts is not None:
        return {**made, "cuts": packed(term.cuts)}
    assert term.lookup is not None
    labels = None if term.lookup.direct else term.lookup.labels.tolist()
    return {**made, "labels": labels, "direct": bool(term.lookup.direct), "rangeEnd": int(term.lookup.range_end)}


def _transform(transform: Transform) -> dict[str, Any]:
    if isinstance(transform, Identity):
        return {"kind": "identity", "least": transform.least if np.isfinite(transform.least) else None}
    if isinstance(transform, BoxCox):
        return {"kind": "boxCox", "power": transform.power, "logUnit": transform.log_unit}
    assert isinstance(transform, YeoJohnson)
    return {"kind": "yeoJohnson", "power": transform.power, "center": transform.center, "unit": transform.unit}
