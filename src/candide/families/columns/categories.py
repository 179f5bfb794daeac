"""Values that are names: a probability each."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...exceptions import ParameterError
from .base import CodedColumn
from .histogram import Categories, Numbers, Seen

ALPHAS = (0.05, 0.2, 0.5, 1.0, 2.0, 5.0)
# Pseudo-counts below this stand for 0, as elsewhere.
_LEAST_ALPHA = 1e-10

Unseen = Literal["ignore", "smooth"]


def categorical(seen: Seen, alpha: float, unseen: Unseen = "smooth", holes: bool = False) -> CodedColumn:
    """A share for every value seen, smoothed by ``alpha`` rows each.

    ``unseen``: a value that nobody saw says nothing, or has a share of its own as one more value. ``holes``: a missing
    cell is a value too.

    >>> seen = Categories(np.array(["cook", "smith"]), np.array([[3.0, 0.0], [0.0, 1.0]]), np.zeros(2))
    >>> np.exp(categorical(seen, alpha=1.0, unseen="ignore").table()).round(2)
    array([[0.8 , 0.33],
           [0.2 , 0.67]])
    """
    values = named_values(seen)
    n_values, n_classes = values.count.shape
    n_codes = n_values + holes + (unseen == "smooth")
    count = np.zeros((n_codes, n_classes))
    count[:n_values] = values.count
    ignored = values.missing
    if holes:
        count[n_values], ignored = values.missing, np.zeros(n_classes)
    if not n_codes:  # nobody observed anything: one code that nothing has
        count, n_codes = np.zeros((1, n_classes)), 1
    return CodedColumn(
        "categorical",
        f"{n_values} values, alpha {alpha:g}",
        count,
        np.full(n_codes, max(alpha, _LEAST_ALPHA)),
        ignored,
        labels=values.labels,
        missing=n_values if holes else None,
        unseen=n_codes - 1 if unseen == "smooth" else None,
    )


def named_values(seen: Seen) -> Categories:
    """Numbers as names, which needs cells that are single values."""
    if isinstance(seen, Categories):
        return seen
    assert isinstance(seen, Numbers)
    cells = seen.cells
    if not (cells.low == cells.high).all():
        raise ParameterError(
            "this column holds so many different numbers that they were not kept apart; a categorical column of "
            "numbers needs few of them; choose 'bins' or 'kernel', or pass the numbers as texts"
        )
    return Categories(cells.low, cells.count, seen.missing)
