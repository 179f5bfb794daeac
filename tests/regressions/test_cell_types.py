"""Column types that depended on the container, or that models could not read or save."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every

from candide import NaiveBayes

N = 60
PLAIN: dict[str, Any] = {"stacking": None, "calibrate": None, "compute_loo": False}
Y = np.arange(N) % 2
NUMBERS = np.random.default_rng(0).normal(size=N)


def _kind(column: Any) -> tuple[str, str]:
    model = NaiveBayes(**PLAIN).fit({"c": column, "x": NUMBERS}, Y)
    table = model.schema_
    return table["kind"].tolist()[0], table["decided"].tolist()[0]


@every(
    "column",
    [
        pd.Categorical(np.arange(N) % 5),
        pd.CategoricalIndex(np.arange(N) % 5),
        pa.array((np.arange(N) % 5).tolist()).dictionary_encode(),
    ],
)
def test_categoricals_of_integers_in_a_dict_are_categories(column: Any) -> None:
    kind, decided = _kind(column)
    assert kind == "category"
    assert "int64" not in decided or "dictionary" in decided
    X = {"c": column, "x": NUMBERS}
    in_series = {"c": pd.Series(pd.Categorical(np.arange(N) % 5)), "x": NUMBERS}
    model = NaiveBayes(**PLAIN).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(in_series))


@every("blank", ["", "  ", "\n"])
def test_blank_strings_do_not_hide_a_column_of_texts(blank: str) -> None:
    texts = [blank if i % 4 == 0 else f"the room was clean and quiet, number {i}" for i in range(N)]
    assert _kind(texts)[0] == _kind(pd.Series(texts))[0] == _kind(pa.array(texts))[0] == "text"
    # Names that repeat are categories, whatever else is blank.
    names = [blank if i % 4 == 0 else f"house of the number {i % 30}" for i in range(N)]
    assert _kind(names)[0] == "category"
