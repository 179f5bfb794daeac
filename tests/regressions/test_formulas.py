"""Cells that a spreadsheet would run: written as text by default."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.terminal import done

import candide

RUN = [
    "=1+1",
    "+49 151 2",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "-x",
    '=HYPERLINK("http://a","b")',
]
KEPT = ["-5", "+3.25", "-1.5e-3", "-1.234,56", "a=b", "- ".strip() + "1", "prize\n=1+1", ""]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.candide"
    texts = ["free prize", "free money", "lunch at noon", "lunch with tea"]
    candide.TextNB("multinomial").fit(texts, ["=cmd|' /C calc'!A0"] * 2 + ["@ham"] * 2).save(path)
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path, cells = tmp_path / "rows.parquet", [*RUN, *KEPT]
    columns = {
        "text": pa.array(cells),
        "=name": pa.array(cells, pa.large_string()),
        "code": pa.array(cells).dictionary_encode(),
        "number": pa.array([-1.5] * len(cells)),
    }
    pq.write_table(pa.table(columns), path)
    return path


def written(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


@pytest.mark.parametrize(("ending", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_formulas_are_written_as_text(model: Path, rows: Path, tmp_path: Path, ending: str, delimiter: str) -> None:
    ran = done("predict", model, rows, "--text", "text", "-o", tmp_path / f"out.{ending}")
    found = written(tmp_path / f"out.{ending}", delimiter)
    expected = ["'" + cell for cell in RUN] + KEPT
    for name in ("text", "'=name", "code"):
        assert [row[name] for row in found] == expected
    assert {row["prediction"] for row in found} <= {"'=cmd|' /C calc'!A0", "'@ham"}
    assert {row["number"] for row in found} == {"-1.5"}
    assert "texts that a spreadsheet would run as formulas" in ran.err
    assert "--keep-formulas" in ran.err


def test_formulas_are_kept_if_asked_for(model: Path, rows: Path, tmp_path: Path) -> None:
    ran = done("predict", model, rows, "--text", "text", "-o", tmp_path / "out.csv", "--keep-formulas")
    found = written(tmp_path / "out.csv")
    assert [row["=name"] for row in found] == [*RUN, *KEPT]
    assert {row["prediction"] for row in found} <= {"=cmd|' /C calc'!A0", "@ham"}
    assert "apostrophe" not in ran.err


def test_stdout_is_as_safe_as_a_file_and_other_formats_are_exact(model: Path, rows: Path, tmp_path: Path) -> None:
    done("predict", model, rows, "--text", "text", "-o", tmp_path / "out.csv", "-q")
    shown = done("predict", model, rows, "--text", "text", "-q").out
    assert shown == (tmp_path / "out.csv").read_bytes().decode()
    assert "'=1+1" in shown
    done("predict", model, rows, "--text", "text", "-o", tmp_path / "out.parquet", "-q")
    assert pq.read_table(tmp_path / "out.parquet")["=name"].to_pylist() == [*RUN, *KEPT]


@pytest.mark.parametrize("name", ['x"; DROP TABLE people; --', "x` UNION SELECT 1", '"a" CROSS JOIN "b"', "a..b", ""])
def test_a_table_that_is_no_name_never_reaches_the_query(name: str) -> None:
    model = candide.GaussianNB().fit([[1.0], [9.0]], ["low", "high"])
    with pytest.raises(candide.exceptions.ParameterError, match=r"table is .*in double quotes"):
        model.to_sql(table=name, keep=False)


def test_names_of_tables_are_quoted() -> None:
    model = candide.GaussianNB().fit([[1.0], [9.0]], ["low", "high"])
    for name, quoted in {
        "people; DROP TABLE x": '"people; DROP TABLE x"',
        "main.my rows": '"main"."my rows"',
        'main."a.b"': '"main"."a.b"',
        '"we""ird"': '"we""ird"',
        "`a`.b": '"a"."b"',
        "(SELECT 1 AS x0)": "(SELECT 1 AS x0)",
    }.items():
        assert f"FROM {quoted} AS" in model.to_sql(table=name, keep=False)
