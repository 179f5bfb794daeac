"""What a model says of rows, as columns beside theirs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .rows import Answerer

_SAID = {"predict_proba": "p({})", "predict_log_proba": "log p({})"}


def column_names(model: Answerer, verb: str) -> list[str]:
    """``prediction``, or one column for each class. They take the place of columns that have their names."""
    return ["prediction"] if verb == "predict" else [_SAID[verb].format(label) for label in model.classes.tolist()]


def columns(model: Answerer, verb: str, X: Any, n_rows: int) -> dict[str, Array]:
    """By their names; of no rows too."""
    names = column_names(model, verb)
    if verb == "predict":
        return {names[0]: model.predict(X) if n_rows else model.classes[:0]}
    said = getattr(model, verb)(X) if n_rows else np.zeros((0, len(names)))
    return {name: np.ascontiguousarray(column) for name, column in zip(names, said.T, strict=True)}
