"""Every type of column in every format and engine: the tables of docs/reference/column_types.md are what happens.

In each cell the model with the type declared is that of pandas. Without a declaration, the column has the type that the
page lists. The model of a pandas frame predicts the rows as they are elsewhere like its own, or refuses them.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.type_matrix import (
    CASES,
    FORMATS,
    LABELS,
    PLAIN,
    mysql_rows,
    outcome,
    pandas_frame,
    postgres_rows,
    read_tables,
    table_of,
)
from tiers import fast

from candide import NaiveBayes
from candide.exceptions import InputError

PAGE = read_tables((Path(__file__).parents[2] / "docs" / "reference" / "column_types.md").read_text())
FAST = ("pandas", "polars", "pyarrow", "NumPy", "Parquet", "Arrow", "SQLite", "SQLite (fit_sql)")
# Readers of these start an engine for each file; some columns tell whether they work at all.
SLOW = ("CSV", "CSV.gz", "JSON Lines", "DuckDB", "DuckDB (fit_sql)")
SOME = ("integers as strings", "booleans", "dates", "null in the first half", "strings in the first half")


def check(format: str, name: str, folder: Path) -> None:
    folder.mkdir()
    assert outcome(name, partial(FORMATS[format], folder=folder)) == PAGE[format][name], name


@pytest.mark.parametrize("format", fast(["pandas", "Parquet", "SQLite (fit_sql)"], FAST))
def test_all_columns(format: str, tmp_path: Path) -> None:
    for number, name in enumerate(CASES):
        check(format, name, tmp_path / str(number))


@pytest.mark.parametrize("format", ["CSV", "JSON Lines"])
def test_some_columns(format: str, tmp_path: Path) -> None:
    for number, name in enumerate(SOME):
        check(format, name, tmp_path / str(number))


@pytest.mark.slow
@pytest.mark.parametrize("format", SLOW)
def test_all_columns_of_engines(format: str, tmp_path: Path) -> None:
    for number, name in enumerate(CASES):
        check(format, name, tmp_path / str(number))


@pytest.mark.dask
def test_dask(tmp_path: Path) -> None:
    for number, name in enumerate(CASES):
        check("Dask", name, tmp_path / str(number))


@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    for name in CASES:
        assert outcome(name, partial(postgres_rows, address=postgres)) == PAGE["PostgreSQL (fit_sql)"][name], name


@pytest.mark.mysql
def test_mysql(mysql: str) -> None:
    for name in CASES:
        assert outcome(name, partial(mysql_rows, socket=mysql)) == PAGE["MySQL (fit_sql)"][name], name


def test_page_lists_all_formats() -> None:
    assert set(PAGE) == {*FORMATS, "PostgreSQL (fit_sql)", "MySQL (fit_sql)", "Spark"}


# Labels.


def labels_of(name: str) -> list[Any]:
    return table_of("names", name)["y"]


@pytest.mark.parametrize("learned", LABELS)
@pytest.mark.parametrize("given", LABELS)
def test_labels(learned: str, given: str) -> None:
    """Integers, their texts and booleans are converted to the labels learned; anything else is refused."""
    frame = pandas_frame(table_of("names", learned), CASES["names"])
    X, y = frame.drop(columns="y"), labels_of(given)
    model = NaiveBayes(**PLAIN).fit(X, labels_of(learned))
    if {learned, given} == {"strings", "names"}:
        return  # texts both: other classes
    expected = {("names", "names"), *((a, b) for a in ("integers", "strings") for b in ("integers", "strings"))}
    expected |= {("integers", "booleans"), ("booleans", "integers"), ("booleans", "strings"), ("booleans", "booleans")}
    if (learned, given) not in expected:
        for call in (model.score, model.partial_fit, model.evaluate):
            with pytest.raises(InputError, match=r"y contains .* at row .*pass labels of the same type"):
                call(X, y)
        return
    assert model.score(X, y) == model.score(X, labels_of(learned))
    before = model.classes_
    assert model.partial_fit(X, y).classes_.tolist() == before.tolist()
    assert model.classes_.dtype == before.dtype


@pytest.mark.parametrize("given", ["integers", "strings"])
def test_declared_labels(given: str, tmp_path: Path) -> None:
    """They are texts, whatever holds them."""
    table = table_of("names", given)
    X = pd.DataFrame(table).drop(columns="y")
    for format in ("pandas", "pyarrow", "Parquet", "SQLite", "SQLite (fit_sql)", "DuckDB (fit_sql)"):
        folder = tmp_path / f"{format}"
        folder.mkdir()
        rows = FORMATS[format](table, CASES["names"], folder)
        model = rows.fit(NaiveBayes(schema={"y": "str"}, **PLAIN))
        assert model.classes_.tolist() == ["0", "1"], format
        assert set(model.predict(X)) <= {"0", "1"}
        assert model.schema_["kind"].tolist()[-1] == "str"


def test_labels_of_text_formats_are_texts(tmp_path: Path) -> None:
    rows = FORMATS["CSV"](table_of("names", "integers"), CASES["names"], tmp_path)
    assert rows.fit(NaiveBayes(**PLAIN)).classes_.tolist() == ["0", "1"]


# Later data.


def learned(cells: list[Any], **settings: Any) -> Any:
    y = np.arange(len(cells)) % 2
    return NaiveBayes(**{**PLAIN, **settings}).fit({"c": cells}, y)


CONVERTED = {
    "number texts": ([1.5, 2, 3, 4], ["1.5", " 2", "3.0", "4e0"]),
    "booleans as numbers": ([1, 0, 2, 0], [True, False, 2, False]),
    "numbers as booleans": ([True, False, True], [1, 0.0, 1]),
    "words as booleans": ([True, False, True], ["true", "False", "TRUE"]),
    "integers as text categories": (["1", "2", "1"], [1, 2.0, "1"]),
    "texts as number categories": ([1, 2, 1], ["1", "2.0", 1]),
    "booleans as text categories": (["True", "False", "True"], [True, False, "True"]),
    "texts as dates": (pd.to_datetime(["2024-02-29", "2024-03-01"]), ["2024-02-29", "2024-03-01T00:00:00Z"]),
}
REFUSED = {
    "a word": ([1.5, 2, 3], ["1.5", "old", "3"], "'old' at row 1, but it is a column of numbers"),
    "an identifier": ([1, 2, 3], ["001", "2", "3"], "'001' at row 0, but it is a column of numbers"),
    "a count": ([True, False, True], [0, 1, 2], "2 at row 2, but it is a column of booleans"),
    "yes": ([True, False], ["yes", "no"], "'yes' at row 0, but it is a column of booleans"),
    "an integer for a code": (["007", "012"], [7, 12], "7 at row 0, but it is a column of categories such as '007'"),
    "a number for a name": (["red", "blue"], [1, 2], "1 at row 0, but it is a column of categories such as 'blue'"),
    "a date for a number": ([1, 2], pd.to_datetime(["2024-02-29", "2024-03-01"]), "but it is a column of numbers"),
    "a number for a date": (pd.to_datetime(["2024-02-29", "2024-03-01"]), [19782, 19783], "is a column of dates"),
}


@pytest.mark.parametrize("case", CONVERTED)
def test_later_cells_are_converted(case: str) -> None:
    cells, later = CONVERTED[case]
    family = {"columns": {"c": "categorical"}} if "number categories" in case else {}
    model = learned(cells, **family)
    expected = model.predict_proba({"c": cells})
    np.testing.assert_array_equal(model.predict_proba({"c": np.array(later, dtype=object)}), expected)


@pytest.mark.parametrize("case", REFUSED)
def test_later_cells_are_refused(case: str) -> None:
    """With the row, and what to do; also when they are learned, in a chunk whose number the error tells."""
    cells, later, words = REFUSED[case]
    with pytest.raises(InputError, match=f"column 'c' contains .*{words}.*schema="):
        learned(cells).predict({"c": later})
    y = np.arange(len(cells)) % 2
    with pytest.raises(InputError, match=f"chunk 1: .*{words}"):
        NaiveBayes(**PLAIN).fit(iter([({"c": cells}, y), ({"c": later}, y)]))


def test_first_values_that_come_late() -> None:
    """They decide the type of a column; those of another type in the same rows are refused."""
    chunks = [({"c": [None, None]}, [0, 1]), ({"c": ["1", "2"]}, [0, 1]), ({"c": [1, 2]}, [0, 1])]
    assert NaiveBayes(**PLAIN).fit(iter(chunks[:2])).schema_["kind"].tolist()[0] == "category"
    with pytest.raises(
        InputError,
        match=r"contains categories in one part of the data and numbers in another.*schema=\{'c': 'category'\}",
    ):
        NaiveBayes(**PLAIN).fit(iter(chunks))
    model = NaiveBayes(schema={"c": "category"}, **PLAIN).fit(iter(chunks))
    assert model.model_.state.statistics.categories.labels[0].tolist() == ["1", "2"]
