"""Whole numbers are read as they are written, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from tiers import every

import candide
from candide.exceptions import SourceError
from candide.sources.csv_dialect import is_integer, parse_integers

from .files import json_lines, write

# More than ``short_sample``, and more than the engine reads at once.
MANY = 2_500
WHOLE = {
    "0": 0,
    "12": 12,
    "-5": -5,
    "+5": 5,
    " 7\t": 7,
    "9223372036854775807": 2**63 - 1,
    "-9223372036854775808": -(2**63),
}
ODD = [
    "1.5",
    "0.4",
    "2.0",
    "007",
    "-007",
    "0x10",
    "1_000",
    "1e3",
    "9223372036854775808",
    "-",
    "1-2",
    "+-5",
    "",
    "٣",
    "n/a",
]


@every("among", [[], ["n/a"], ["12", None]])
def test_cells(among: list[str | None]) -> None:
    for cell in [*WHOLE, *ODD]:
        assert is_integer(cell) == (cell in WHOLE)
        assert parse_integers(pa.array([*among, cell], pa.string()))[-1].as_py() == WHOLE.get(cell)


def test_a_stretch_of_an_array() -> None:
    cells = pa.array(["007", None, "12", "3", "1.5"])
    assert parse_integers(cells.slice(1, 3)).to_pylist() == [None, 12, 3]
    assert parse_integers(cells.slice(0, 0)).to_pylist() == []
    assert parse_integers(pa.nulls(2, pa.string())).to_pylist() == [None, None]


@pytest.mark.parametrize(
    ("cell", "newline"),
    [
        pytest.param("1.5", "\n", id="decimal"),
        pytest.param("007", "\r\n", id="zeros-crlf"),
        pytest.param("0x10", "\r", id="hexadecimal-cr"),
    ],
)
@pytest.mark.usefixtures("short_sample")
def test_late_in_csv(tmp_path: Path, cell: str, newline: str) -> None:
    good = f'1,"two{newline}lines",3{newline}'
    path = write(tmp_path / "a.csv", f"a,b,c{newline}{newline}{good * MANY}{cell},x,4{newline}{good}")
    line = 3 + 2 * MANY
    with pytest.raises(SourceError) as error:
        candide.read(path).to_table()
    assert f"a.csv, line {line}: column 'a' contains {cell!r}, but the preceding rows contain integers" in str(
        error.value
    )
    assert "write a number like this one in the first rows" in str(error.value)
    source = candide.read(path, on_bad_row="skip")
    assert source.to_table()["a"].to_pylist() == [1] * (MANY + 1)
    assert [(bad.line, bad.row) for bad in source.bad_rows] == [(line, f"{cell},x,4")]
    # Other columns do not mind.
    assert sum(len(batch) for batch in candide.read(path).to_batches(columns=["b", "c"])) == MANY + 2


@pytest.mark.usefixtures("short_sample")
def test_bad_rows_of_both_readers_come_in_order_and_once(tmp_path: Path) -> None:
    bad = ["1.5,2020-01-01\n", "1,2020-01-01,x\n", "2.5,soon\n", "1,soon\n", "0x1,2020-01-01\n"]
    path = write(tmp_path / "a.csv", "n,day\n" + "1,2020-01-01\n" * MANY + "".join(bad))
    source = candide.read(path, on_bad_row="skip")
    assert source.to_table().num_rows == MANY
    assert [row.line for row in source.bad_rows] == [MANY + 2 + i for i in range(5)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        pytest.param(["1", "00123"], "string", id="zeros"),
        pytest.param(["1.5", "00123"], "string", id="zeros-and-decimals"),
        pytest.param(["1", "0x10"], "string", id="hexadecimal"),
        pytest.param(["1", "1_000"], "string", id="underscore"),
        pytest.param(["1", "1.5"], "double", id="decimals"),
        pytest.param(["1", "1e3"], "double", id="exponent"),
        pytest.param(["1", "", " -2"], "int64", id="whole"),
    ],
)
def test_early_in_csv(tmp_path: Path, cells: list[str], kind: str) -> None:
    source = candide.read(write(tmp_path / "a.csv", "n,x\n" + "".join(f"{cell},x\n" for cell in cells)))
    assert str(source.schema.field("n").type) == kind
    if kind == "string":
        assert source.to_table()["n"].to_pylist() == cells


@pytest.mark.usefixtures("short_sample")
def test_missing_marks_among_whole_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "n,x\n" + "1,x\n" * MANY + "NA,x\n,x\n")
    assert candide.read(path, missing=["NA"]).to_table()["n"].to_pylist()[MANY:] == [None, None]


LATE = {
    "decimal": (1, 1.5),
    "truth": (1, True),
    "truth-for-a-decimal": (1.5, True),
    "number-for-a-truth": (True, 5),
    "zeros": (1, "007"),
    "too-large": (1, 2**63),
}


@pytest.mark.parametrize(("first", "late"), list(LATE.values()), ids=list(LATE))
@pytest.mark.usefixtures("short_sample")
def test_late_in_json(tmp_path: Path, first: object, late: object) -> None:
    records = [*[{"n": first}] * MANY, {"n": late}, {"n": first}]
    path = write(tmp_path / "a.jsonl", json_lines(*records))
    with pytest.raises(SourceError, match=rf"line {MANY + 1}: 'n' contains .* whose type differs from"):
        candide.read(path).to_table()
    assert candide.read(path, on_bad_row="skip").to_table()["n"].to_pylist() == [first] * (MANY + 1)


@pytest.mark.parametrize("kind", ["truth", "truth-for-a-decimal", "number-for-a-truth"])
def test_late_in_a_json_array(tmp_path: Path, kind: str) -> None:
    """The engine infers the types of an array from its first 20,480 records."""
    first, late = (json.dumps({"n": value}) for value in LATE[kind])
    path = write(tmp_path / "a.json", "[" + f"{first}," * 21_000 + f"{late},{first}]")
    with pytest.raises(SourceError, match=r"a\.json: .*'n' has a type that differs from the first records"):
        candide.read(path).to_table()
