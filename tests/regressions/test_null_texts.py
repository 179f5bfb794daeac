"""Texts such as NA mark missing cells of a CSV file in columns of numbers, dates and booleans, not of words."""

from __future__ import annotations

import warnings
from pathlib import Path

import duckdb
import numpy as np
import pytest
from cli.terminal import done
from tiers import every

import candide
from candide import NaiveBayes
from candide.exceptions import ParameterError

PLAIN = {"stacking": None, "calibrate": None, "compute_loo": False}
NULLS = ["NA", "N/A", "n/a", "null", "NULL", "None", "#N/A", "<NA>"]
HEAD = "whole,real,day,open,country,label\n"
ROWS = ["1,0.5,2022-01-31,true,US,a", "2,1e3,2022-02-28,false,NA,b"]


def write(path: Path, *rows: str) -> Path:
    path.write_text(HEAD + "".join(f"{row}\n" for row in rows))
    return path


@every("null", NULLS)
def test_missing_except_among_words(tmp_path: Path, null: str) -> None:
    path = write(tmp_path / "a.csv", *ROWS, ",".join([null] * 6))
    table = candide.read(path).to_table()
    assert [str(kind) for kind in table.schema.types] == ["int64", "double", "date32[day]", "bool", "string", "string"]
    assert table.slice(2).to_pylist()[0] == dict.fromkeys(["whole", "real", "day", "open"]) | {
        "country": null,
        "label": null,
    }


def test_after_the_rows_that_types_are_detected_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.sources.csv_dialect._TYPE_ROWS", 500)
    path = write(tmp_path / "a.csv", *ROWS * 2_000, "NA,NA,NA,NA,NA,NA", "soon,1,2022-01-31,true,US,a")
    source = candide.read(path, on_bad_row="skip")
    assert source.to_table().slice(4_000).to_pylist() == [
        dict.fromkeys(["whole", "real", "day", "open"]) | {"country": "NA", "label": "NA"}
    ]
    assert [bad.line for bad in source.bad_rows] == [4_003]


def test_later_files_in_any_order(tmp_path: Path) -> None:
    model = NaiveBayes(**PLAIN).fit(candide.read(write(tmp_path / "train.csv", *ROWS * 20)))
    full, empty = write(tmp_path / "full.csv", *ROWS), write(tmp_path / "empty.csv", *["NA,NA,NA,NA,NA,a"] * 2)
    blank = write(tmp_path / "blank.csv", *[",,,,NA,a"] * 2)
    one, other, expected = (
        model.predict_proba(candide.read(*paths)).tolist() for paths in ((full, empty), (empty, full), (full, blank))
    )
    assert one == other[2:] + other[:2] == expected
    assert candide.read(empty, full).to_table()["whole"].to_pylist() == [None, None, 1, 2]


def test_categories_that_are_numbers(tmp_path: Path) -> None:
    rows = [f"{i % 3 if i % 5 else 'NA'},1,2022-01-31,true,US,{'ab'[i % 2]}" for i in range(60)]
    source = candide.read(write(tmp_path / "train.csv", *rows))
    model = NaiveBayes({"whole": "categorical"}, **PLAIN).fit(source)
    assert model.predict(candide.read(write(tmp_path / "later.csv", *rows[:5]))).shape == (5,)
    assert model.predict(candide.read(write(tmp_path / "null.csv", rows[0]))).shape == (1,)


def column(path: Path, cells: list[str]) -> Path:
    path.write_text("x,label\n" + "".join(f'"{cell}",{"ab"[i % 2]}\n' for i, cell in enumerate(cells)))
    return path


NUMBERS = [str(i / 2) for i in range(38)]


@every(
    "cells, told",
    [
        (
            [*NUMBERS, "?", "-"],
            r"'x' is read as categories, because 5.0% of its cells .*: '-', '\?'; .*missing=\['-', '\?'\]",
        ),
        (
            ["999.5", "18,042.99", "1,000", "7,250.00"],
            r"75.0% .*'1,000', '18,042.99', '7,250.00'; write numbers without",
        ),
        (
            ["-", *(f"{day:02}.03.2024" for day in range(1, 20))],
            r"'x' is read as categories, because 5.0% of its cells are not dates: '-'; .*missing=\['-'\]",
        ),
    ],
)
def test_numbers_and_dates_that_are_categories_cause_one_warning(tmp_path: Path, cells: list[str], told: str) -> None:
    path = column(tmp_path / "a.csv", cells * 3)
    with pytest.warns(UserWarning, match=told) as caught:
        model = NaiveBayes(**PLAIN).fit(candide.read(path))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(candide.read(path))
        NaiveBayes(schema={"x": "category"}, **PLAIN).fit(candide.read(path))
        if "?" in cells:
            assert NaiveBayes(**PLAIN).fit(candide.read(path, missing=["?", "-"])).schema_["kind"][0] == "number"


@every("cells", [["007", *NUMBERS], ["1", "2", "red", "blue"], ["US", "NA"], ["1", "2", "3"]])
def test_no_warning(tmp_path: Path, cells: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        NaiveBayes(**PLAIN).fit(candide.read(column(tmp_path / "a.csv", cells * 3)))


def test_warning_of_a_command(tmp_path: Path) -> None:
    told = done("train", column(tmp_path / "a.csv", [*NUMBERS, "?"] * 3)).err
    assert told.count("--missing '?'") == 1


def test_missing_cells_of_a_query() -> None:
    with pytest.raises(ParameterError, match=r"missing=\['-'\] applies to CSV files.*NULLIF\(column, '-'\)"):
        candide.read(sql="SELECT 1 AS x", missing=["-"])


def test_queries_know_the_marks_of_missing_cells(tmp_path: Path) -> None:
    rows = [
        f"{place},{i},{kind}" for i in range(20) for place, kind in (("x", "a"), ("y", "b"), ("-", "ba"[i % 3 > 0]))
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["place,number,kind", *rows]))
    source = candide.read(path, label="kind", missing=["-"])
    model = NaiveBayes(order=0).fit(source)
    with duckdb.connect() as database:
        found = database.sql(model.to_sql("duckdb", f"(FROM '{path}')", keep=False)).fetchall()
    np.testing.assert_allclose([row[1:] for row in found], model.predict_proba(source), rtol=1e-9)
