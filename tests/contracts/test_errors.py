"""Every error says what was found, what is allowed and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from tiers import every, late

import candide
from candide.exceptions import CandideError, InputError, ParameterError

pl = late("polars")
POLARS = late("polars", "DataFrame")

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
NUMERIC = [name for name in NAMES if name != "CategoricalNB"]
COUNTS = ["MultinomialNB", "ComplementNB", "PoissonNB"]
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 1.0]])
y = np.array([0, 1, 0, 1])
NAN, INF = float("nan"), float("inf")


def with_cell(value: float) -> np.ndarray:
    rows = X.copy()
    rows[2, 1] = value
    return rows


def refused(call: Callable[[], object], *said: str, error: type[Exception] = InputError) -> None:
    """The call stops with an error whose message says all this."""
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, CandideError)
    assert isinstance(caught.value, ValueError)
    missing = [part for part in said if part not in str(caught.value)]
    assert not missing, f"{missing} not in {caught.value}"


SHAPES = {
    "one dimension": (X[:, 0], ["got 1D array", "2D array", "X.reshape(-1, 1)"]),
    "three dimensions": (X[None], ["got 3D array", "2D array", "Reshape your data"]),
    "a number": (3.0, ["got scalar array", "2D array", "Reshape your data"]),
    "nothing": (None, ["got None", "2D array", "rows × columns"]),
    "a text": ("abc", ["got 'abc'", "2D array", "rows × columns"]),
    "no rows": (X[:0], ["0 sample(s)", "minimum of 1", "pass"]),
    "no columns": (X[:, :0], ["0 feature(s)", "minimum of 1", "pass"]),
    "an empty frame": (pd.DataFrame(X[:, :0]), ["0 feature(s)", "minimum of 1", "pass"]),
    "ragged rows": ([[1.0, 2.0], [3.0]], ["X is not an array", "inhomogeneous", "same length"]),
    "complex numbers": (X * 1j, ["complex128", "not supported", "pass real numbers"]),
}


@every("name", NAMES)
@every("case", SHAPES)
def test_shapes(name: str, case: str) -> None:
    rows, said = SHAPES[case]
    model = getattr(candide, name)()
    refused(lambda: model.fit(rows, y), *said)
    refused(lambda: model.fit(X, y).predict(rows), *said)


@every("name", NAMES)
def test_other_number_of_columns(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    for verb in (model.predict, lambda rows: model.partial_fit(rows, y), lambda rows: model.forget(rows, y)):
        refused(lambda verb=verb: verb(X[:, :1]), "has 1 features", "expecting 2", "pass the columns")


AGES = [1, 2, "n/a", 4]
TEXT: list[Callable[[], Any]] = [
    lambda: pd.DataFrame({"age": AGES}),
    lambda: pl.DataFrame({"age": list(map(str, AGES))}),
    lambda: pa.table({"age": list(map(str, AGES))}),
    lambda: [[age] for age in AGES],
    lambda: np.array(AGES, dtype=object)[:, None],
    lambda: np.array(AGES, dtype=str)[:, None],
]


@every("name", NUMERIC)
@every("make", TEXT)
def test_text_among_numbers(name: str, make: Callable[[], Any]) -> None:
    rows = make()
    column = "column 0 " if isinstance(rows, (list, np.ndarray)) else "column 'age'"
    refused(lambda: getattr(candide, name)().fit(rows, y), column, "'n/a' at row 2", "needs numbers", "CategoricalNB")


@every("name", NUMERIC)
@every("make", [np.asarray, lambda dates: pd.DataFrame({"d": dates[:, 0]})])
def test_dates(name: str, make: Callable[[np.ndarray], Any]) -> None:
    dates = make(np.array([["2020-01-01"]] * 4, dtype="datetime64[s]"))
    refused(lambda: getattr(candide, name)().fit(dates, y), "dates or times", "pass numbers", "days since")


@every("name", COUNTS)
@every("make", [np.asarray, csr_array, pd.DataFrame, POLARS])
def test_negative_counts(name: str, make: Callable[[np.ndarray], Any]) -> None:
    column = "column 'column_1'" if make is POLARS else "column 1"
    said = "Negative values", name, f"{column} is -3 at row 2", "expected counts of 0 or more", "alternate_sign=False"
    refused(lambda: getattr(candide, name)().fit(make(with_cell(-3.0)), y), *said)


def test_negative_codes() -> None:
    said = "Negative values", "column 1 contains -3", "codes start at 0", "use NaN"
    refused(lambda: candide.CategoricalNB().fit(with_cell(-3), y), *said)


FRAMES = [np.asarray, np.asfortranarray, pd.DataFrame, POLARS, lambda rows: rows.astype("f4"), csr_array]


@every("name", NAMES)
@every("make", FRAMES)
@every("value", [INF, -INF])
def test_infinity(name: str, make: Callable[[np.ndarray], Any], value: float) -> None:
    if name == "CategoricalNB" and make is csr_array:
        return  # which it does not take
    column = "column 'column_1'" if make is POLARS else "column 1"
    said = f"{column} is infinite at row 2", "or NaN for missing values", "replace the value or drop the row"
    rows, model = make(with_cell(value)), getattr(candide, name)().fit(X, y)
    refused(lambda: getattr(candide, name)().fit(rows, y), *said)
    if make is not POLARS:  # whose names of columns the model does not know, and says so
        refused(lambda: model.predict(rows), *said)


@every("name", NAMES)
def test_one_class_works(name: str) -> None:
    model = getattr(candide, name)().fit(X, np.zeros(4))
    np.testing.assert_array_equal(model.predict_proba(X), 1)
    np.testing.assert_array_equal(model.predict_log_proba(X), 0)


LABELS = {
    "nothing": (None, ["y is None", "requires y", "pass one label per row"]),
    "all NaN": ([NAN] * 4, ["y contains NaN", "4 rows has a label", "check y"]),
    "all None": ([None] * 4, ["y contains NaN", "4 rows has a label", "check y"]),
    "infinity": ([0, 1, INF, 1], ["y contains infinity", "every row needs a label", "drop the rows"]),
    "continuous": ([0.5, 1, 2, 1], ["0.5 at row 0", "continuous", "pass integers or strings"]),
    "two dimensions": (np.ones((4, 2)), ["shape (4, 2)", "1d array", "pass one label per row"]),
    "a number": (3, ["shape ()", "1d array", "pass one label per row"]),
    "too few": ([0, 1, 0], ["X has 4 rows, y has 3", "inconsistent", "pass one label"]),
    "too many": ([0, 1, 0, 1, 1], ["X has 4 rows, y has 5", "inconsistent", "pass one label"]),
    "mixed": ([0, "a", 0, "a"], ["0, 'a'", "different types", "same type"]),
    "mixed objects": (np.array([0, "a", 0, "a"], dtype=object), ["0, 'a'", "different types", "same type"]),
    "ragged": ([[0], [1, 2], [0], [1]], ["y is not an array", "inhomogeneous", "same length"]),
    "unhashable": (
        np.array([[0], [1, 2], [0], [1]], dtype=object),
        ["of type list", "numbers, strings or booleans", "use"],
    ),
    "complex": (np.array([0, 1j, 0, 1]), ["complex", "not supported", "pass class labels"]),
}


@every("name", ["GaussianNB", "MultinomialNB", "CategoricalNB"])
@every("case", LABELS)
def test_labels(name: str, case: str) -> None:
    labels, said = LABELS[case]
    refused(lambda: getattr(candide, name)().fit(X, labels), *said)
    refused(lambda: getattr(candide, name)().partial_fit(X, labels), *said)


@every("name", ["GaussianNB", "MultinomialNB", "CategoricalNB"])
@every("labels", [[0, 1, NAN, 1], ["a", "b", NAN, "b"], ["a", "b", None, "b"]])
def test_rows_without_a_label_where_every_row_needs_one(name: str, labels: list[Any]) -> None:
    model = getattr(candide, name)(unlabeled="error")
    said = "y contains NaN", "1 rows have no label (first at row 2)", "drop the rows", "unlabeled='drop'"
    refused(lambda: model.fit(X, labels), *said)
    refused(lambda: model.partial_fit(X, labels), *said)


def test_column_of_labels_warns() -> None:
    """As in scikit-learn."""
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert candide.GaussianNB().fit(X, y[:, None]).classes_.tolist() == [0, 1]


WEIGHTS = {
    "negative": ([1, 1, -2, 1], ["-2.0 at row 2", "negative, NaN or infinite", "use 0"]),
    "NaN": ([1, 1, NAN, 1], ["nan at row 2", "negative, NaN or infinite", "use 0"]),
    "infinite": ([1, 1, 1, INF], ["inf at row 3", "negative, NaN or infinite", "use 0"]),
    "zeros": (
        [0, 0, 0, 0],
        ["all sample weights are zero", "expected at least one positive weight", "pass a positive weight"],
    ),
    "texts": (list("abcd"), ["not numeric", "finite", "non-negative"]),
    "two dimensions": (np.ones((4, 2)), ["2D array", "1D array or scalar", "pass one weight per row"]),
    "too few": ([1, 1], ["(2,)", "expected (4,)", "one weight per row"]),
}


@every("name", NAMES)
@every("case", WEIGHTS)
def test_weights(name: str, case: str) -> None:
    weight, said = WEIGHTS[case]
    model = getattr(candide, name)().fit(X, y)
    for verb in (model.fit, model.partial_fit, model.forget):
        refused(lambda verb=verb: verb(X, y, sample_weight=weight), *said)


@every("name", NAMES)
def test_scalar_weight(name: str) -> None:
    """One number is the weight of every row, as in scikit-learn."""
    assert getattr(candide, name)().fit(X, y, 2.0).class_count_.tolist() == [4, 4]


PRIORS = {
    "sum": ([0.5, 0.4], ["[0.5, 0.4]", "sum of the priors should be 1", "divide them by their sum"]),
    "negative": ([-0.5, 1.5], ["[-0.5, 1.5]", "non-negative"]),
    "NaN": ([NAN, 1.0], ["nan", "non-negative"]),
    "length": ([0.2, 0.3, 0.5], ["got 3 priors for 2 classes", "must match", "one per class"]),
    "number": (0.5, ["got 1 priors for 2 classes", "must match", "one per class"]),
    "text": ("even", ["'even'", "one probability per class"]),
}


@every("name", NAMES)
@every("case", PRIORS)
def test_priors(name: str, case: str) -> None:
    prior, said = PRIORS[case]
    option = {"priors" if name == "GaussianNB" else "class_prior": prior}
    refused(lambda: getattr(candide, name)(**option).fit(X, y), *said, error=ParameterError)
