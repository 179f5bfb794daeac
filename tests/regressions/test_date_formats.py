"""Dates of CSV files that are not in ISO format: which number is the day is never guessed, and the model keeps it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from cli.terminal import done, run
from tiers import every

import candide
from candide import NaiveBayes
from candide.exceptions import ParameterError, SourceError

PLAIN = {"stacking": None, "calibrate": None, "compute_loo": False}
DAYS = [dt.date(2022, 1 + i % 12, 1 + i % 28) for i in range(120)]
US, EUROPEAN = "%m/%d/%Y", "%d/%m/%Y"


def write(path: Path, format: str, days: list[dt.date] = DAYS) -> Path:
    """Rows whose label is whether the day is in the first half of the year."""
    lines = [f"{day.strftime(format)},{'early' if day.month < 7 else 'late'}" for day in days]
    path.write_text("\n".join(["signup,label", *lines]) + "\n")
    return path


def first_days(path: Path, format: str = US) -> Path:
    """Rows of which each day may be a month."""
    return write(path, format, [day for day in DAYS if day.day <= 12])


def dates(path: Path, **options: object) -> list[dt.date]:
    return [cell if type(cell) is dt.date else cell.date() for cell in
            candide.read(path, **options).to_table()["signup"].to_pylist()]  # fmt: skip


@pytest.fixture
def model(tmp_path: Path) -> NaiveBayes:
    """A model of dates as in the United States, as it is loaded from its file."""
    NaiveBayes(**PLAIN).fit(candide.read(write(tmp_path / "train.csv", US))).save(tmp_path / "us.candide")
    return candide.load(tmp_path / "us.candide")


def test_later_file_is_read_in_the_format_of_training(model: NaiveBayes, tmp_path: Path) -> None:
    later, iso = first_days(tmp_path / "later.csv"), first_days(tmp_path / "iso.csv", "%Y-%m-%d")
    assert model.evaluate(candide.read(later)).accuracy == 1.0
    assert model.predict_proba(candide.read(later)).tolist() == model.predict_proba(candide.read(iso)).tolist()
    assert model.predict({"signup": ["01/12/2022"]}).tolist() == ["early"]


def test_other_format_is_refused_with_line_cell_and_format(model: NaiveBayes, tmp_path: Path) -> None:
    path = write(tmp_path / "later.csv", EUROPEAN)
    told = r"later.csv, line 14: column 'signup' contains '13/01/2022'.*the format %m/%d/%Y.*such as 2022-01-13"
    with pytest.raises(SourceError, match=told):
        model.predict(candide.read(path))
    assert len(model.predict(candide.read(path, schema={"signup": f"date:{EUROPEAN}"}))) == len(DAYS)


def test_only_iso_dates_without_a_format(tmp_path: Path) -> None:
    model = NaiveBayes(**PLAIN).fit(candide.read(write(tmp_path / "train.csv", "%Y-%m-%d")))
    for name in ("unambiguous.csv", "ambiguous.csv"):
        path = (write if name == "unambiguous.csv" else first_days)(tmp_path / name, US)
        with pytest.raises(SourceError, match=r"line 2: column 'signup' contains '01/01/2022'.*dates in ISO format"):
            model.predict(candide.read(path))


def test_ambiguous_dates_are_refused_until_declared(tmp_path: Path) -> None:
    path = first_days(tmp_path / "a.csv")
    told = r"column 'signup' fit several formats \(%d/%m/%Y, %m/%d/%Y\).*schema=\{'signup': 'date:%m/%d/%Y'\}.*--type"
    for read in (lambda: NaiveBayes().fit(candide.read(path)), lambda: dates(path),
                 lambda: candide.read(path).first_rows(1)):  # fmt: skip
        with pytest.raises(SourceError, match=told):
            read()
    expected = [day for day in DAYS if day.day <= 12]
    assert dates(path, schema={"signup": f"date:{US}"}) == expected
    model = NaiveBayes(schema={"signup": f"date:{US}"}, **PLAIN).fit(candide.read(path))
    assert model.evaluate(candide.read(path)).accuracy == 1.0
    assert candide.read(path, schema={"signup": "category"}).first_rows(1)["signup"].to_pylist() == ["01/01/2022"]


def test_columns_that_are_not_read_may_be_ambiguous(model: NaiveBayes, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("exported,signup,label\n" + "01.02.2023,12/28/2022,late\n" * 20)
    assert run("predict", tmp_path / "us.candide", path).out.splitlines()[1].startswith('"01.02.2023",2022-12-28')
    assert len(candide.read(path, columns=["signup"], label="label").head(5).X) == 5


def test_another_column_or_file_decides(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("first,second\n05/03/2022,12/28/2022\n06/04/2022,06/04/2022\n")
    assert candide.read(path).first_rows(1).to_pylist() == [
        {"first": dt.date(2022, 5, 3), "second": dt.date(2022, 12, 28)}
    ]
    some, all_ = first_days(tmp_path / "some.csv"), write(tmp_path / "all.csv", US)
    for paths in ((some, all_), (all_, some)):
        days = candide.read(*paths).to_table()["signup"].to_pylist()
        assert sorted(days) == sorted([*DAYS, *(day for day in DAYS if day.day <= 12)])
    with pytest.raises(
        SourceError, match=r"other\.csv: the dates of column 'signup' fit %d/%m/%Y, but .* fit %m/%d/%Y"
    ):
        candide.read(all_, write(tmp_path / "other.csv", EUROPEAN))


@every(
    "format, cell, expected",
    [
        ("%d.%m.%Y", "28.12.2022", dt.datetime(2022, 12, 28)),
        ("%Y/%m/%d", "2022/12/28", dt.datetime(2022, 12, 28)),
        ("%m/%d/%y", "12/28/22", dt.datetime(2022, 12, 28)),
        ("%d/%m/%Y %H:%M", "28/12/2022 14:05", dt.datetime(2022, 12, 28, 14, 5)),
        ("%m/%d/%Y %I:%M:%S %p", "12/28/2022 02:05:10 PM", dt.datetime(2022, 12, 28, 14, 5, 10)),
    ],
)
def test_formats(tmp_path: Path, format: str, cell: str, expected: dt.datetime) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"n,day\n1,{cell}\n2,NA\n")
    source = candide.read(path)
    assert source.schema.field("day").metadata[b"candide.date_formats"].decode() == format
    found = source.to_table()["day"].to_pylist()
    assert found == [expected if ":" in cell else expected.date(), None]


@every("cell", ["1.2.20", "10 20 12", "13/13/2022", "28-Dec-2022", "1/2"])
def test_no_dates(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"n,day\n1,{cell}\n")
    assert candide.read(path).to_table()["day"].to_pylist() == [cell]


def test_year_of_two_digits_is_not_the_year_22(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("n,day\n1,13/05/22\n")
    with pytest.raises(SourceError, match=r"fit several formats \(%d/%m/%y, %y/%m/%d\)"):
        candide.read(path).to_table()
    path.write_text("n,day\n" + "1,2022-05-13\n" * 30_000 + "1,05-13-22\n")
    with pytest.raises(SourceError, match="line 30002: column 'day' contains '05-13-22'"):
        candide.read(path).to_table()


@every("format", ["date:", "date:dd/mm/yyyy", "date:%d/%m", "date:%d/%m/%Y %j", "date:%Y-%d-%m", "number:%d/%m/%Y"])
def test_formats_that_are_not_allowed(format: str) -> None:
    with pytest.raises(ParameterError, match=r"schema declares 'signup' as .*such as 'date:%m/%d/%Y'"):
        NaiveBayes(schema={"signup": format}).fit({"signup": ["a"]}, [0])


def test_declared_format_of_texts_in_memory() -> None:
    table = {"signup": ["12/28/2022", "01/02/2022"] * 10}
    model = NaiveBayes(schema={"signup": f"date:{US}"}, **PLAIN).fit(table, ["late", "early"] * 10)
    assert model.schema_["kind"].tolist()[0] == "date"
    assert model.predict({"signup": ["11/30/2022", "2022-01-30"]}).tolist() == ["late", "early"]


def test_commands(tmp_path: Path) -> None:
    path, model = first_days(tmp_path / "a.csv"), tmp_path / "a.candide"
    assert "--type 'signup=date:%m/%d/%Y'" in run("train", path).err
    done("train", path, "--type", f"signup=date:{US}", "-q")
    done("update", model, path, "-q")
    assert done("classify", model, '{"signup": "12/28/2022"}').out.startswith("late")
    assert done("classify", model, '{"signup": "2022-12-28"}').out.startswith("late")
    told = run("explain", model, '{"signup": "28/12/2022"}').err
    assert "'28/12/2022', which is not a date in the format %m/%d/%Y; write dates such as 2022-12-28" in told
    done("train", write(tmp_path / "iso.csv", "%Y-%m-%d"), "-q")
    told = run("explain", tmp_path / "iso.candide", '{"signup": "12/28/2022"}').err
    assert "'12/28/2022', which is not a date in ISO format; write dates such as 2022-12-28" in told
