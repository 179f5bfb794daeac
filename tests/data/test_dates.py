"""Dates are numbers and parts of the calendar, by the clock of their own time zone."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

from candide.data.column_types import ColumnType
from candide.data.columns import Kind
from candide.data.table import read_table
from candide.exceptions import InputError

from .containers import plain

pl = late("polars")

SUMMER = dt.datetime(2024, 6, 30, 22, 30, tzinfo=dt.UTC)  # already Monday in Paris
DATE = {"w": ColumnType("date", "storage type")}
PARIS = pd.Timestamp(SUMMER).tz_convert("Europe/Paris")


def cells(X: Any, **options: Any) -> dict[Any, list[Any]]:
    return {name: values for name, _, values in plain(read_table(X, **options))}


ZONED: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame({"w": pd.Series([PARIS, None])}),
    "pandas objects": lambda: pd.DataFrame({"w": pd.Series([PARIS, None], dtype=object)}),
    "pandas arrow": lambda: pd.DataFrame(
        {"w": pd.Series([PARIS, None], dtype=pd.ArrowDtype(pa.timestamp("us", "Europe/Paris")))}
    ),
    "polars": lambda: pl.DataFrame({"w": pl.Series([SUMMER, None]).dt.convert_time_zone("Europe/Paris")}),
    "pyarrow": lambda: pa.table({"w": pa.array([SUMMER, None], pa.timestamp("ms", "Europe/Paris"))}),
    "dict": lambda: {"w": [PARIS.to_pydatetime(), None]},
}


@every("container", ZONED)
def test_time_zones_show_their_own_clock(container: str) -> None:
    found = cells(ZONED[container]())
    assert found["w"] == pytest.approx([19905 + 0.5 / 24, None])
    assert (found["w.month"], found["w.weekday"], found["w.hour"]) == ([7.0, None], ["Monday", None], [0.0, None])


@every("unit", ["Y", "M", "D", "h", "s", "ms", "us", "ns"])
def test_every_unit(unit: str) -> None:
    found = cells({"w": np.array(["1969-01-01", "NaT", "2001-01-01"], dtype=f"datetime64[{unit}]")})
    assert found == {
        "w": [-365.0, None, 11323.0],
        "w.month": [1.0, None, 1.0],
        "w.weekday": ["Wednesday", None, "Monday"],
    }


def test_the_calendar_of_a_century() -> None:
    """Against the standard library, a day and an hour at a time, before 1970 as after."""
    moments = [dt.datetime(1930, 1, 1) + n * dt.timedelta(days=17, hours=5, minutes=7) for n in range(2000)]
    found = cells({"w": np.array(moments, dtype="datetime64[us]")})
    assert found["w.month"] == [float(moment.month) for moment in moments]
    assert found["w.weekday"] == [moment.strftime("%A") for moment in moments]
    assert found["w.hour"] == [float(moment.hour) for moment in moments]
    epoch = dt.datetime(1970, 1, 1)
    assert found["w"] == pytest.approx([(moment - epoch) / dt.timedelta(days=1) for moment in moments], abs=1e-9)


def test_an_array_of_dates() -> None:
    found = cells(np.array([["2020-01-01", "2020-02-01"]], dtype="datetime64[D]"))
    assert list(found) == [0, "0.month", "0.weekday", 1, "1.month", "1.weekday"]


def test_dates_and_moments_mix() -> None:
    found = cells({"w": np.array([dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12), np.datetime64("2020-01-02")])})
    assert found["w"] == [18262.0, 18262.5, 18263.0]


def test_dates_without_any_are_missing() -> None:
    for X in (pd.DataFrame({"w": pd.to_datetime([None, None])}), pl.DataFrame({"w": pl.Series([None], dtype=pl.Date)})):
        table = read_table(X)
        assert table.names == ("w", "w.month", "w.weekday")
        assert table.kinds == ("missing",) * 3


class TestKinds:
    midnight = pd.DataFrame({"w": pd.to_datetime(["2020-01-01", None])})
    noon = pd.DataFrame({"w": pd.to_datetime(["2020-01-01 12:00"])})
    empty = pd.DataFrame({"w": pd.to_datetime([None])})

    def test_parts_that_were_learned_are_made_again(self) -> None:
        """Neither more nor fewer, whatever times a batch holds."""
        for learned in (self.midnight, self.noon):
            table = read_table(learned)
            kinds = dict(zip(table.names, table.kinds, strict=True))
            for batch in (self.midnight, self.noon, self.empty, {"w": [None]}, {"w": [np.nan]}, {"w": [dt.date.max]}):
                again = read_table(batch, kinds, DATE)
                assert (again.names, again.kinds) == (table.names, table.kinds)

    def test_texts_in_a_column_of_dates(self) -> None:
        """Those in ISO format are dates; others are refused."""
        kinds: dict[str, Kind] = {"w": "number", "w.month": "category"}
        expected = cells({"w": [dt.datetime(2020, 3, 1, 12), None]}, kinds=kinds)
        assert cells({"w": ["2020-03-01T12:00:00", None]}, kinds=kinds, types=DATE) == expected
        for odd in ("1.3.2020", "soon", "2020-13-01"):
            with pytest.raises(InputError, match=f"column 'w' contains '{odd}' at row 1, but it is a column of dates"):
                read_table({"w": ["2020-03-01", odd]}, kinds, DATE)
        with pytest.raises(InputError, match="column 'w' contains 18262 at row 0, but it is a column of dates"):
            read_table({"w": [18262]}, kinds, DATE)

    def test_only_days(self) -> None:
        assert cells(self.noon, kinds={"w": "number"}) == {"w": [18262.5]}
        assert cells({"w": [dt.date(2020, 1, 1)]}, kinds={"w": "number"}) == {"w": [18262.0]}

    def test_a_part_as_number(self) -> None:
        table = read_table(self.noon, {"w.hour": "number"})
        assert table.kinds == ("number", "category", "category", "number")
        assert table.columns[3].values.tolist() == [12.0]

    def test_dates_as_categories(self) -> None:
        """The text of a date does not depend on the dates beside it."""
        for X in (
            pd.concat([self.midnight, self.noon]),
            {"w": [dt.date(2020, 1, 1), None, dt.datetime(2020, 1, 1, 12)]},
        ):
            assert cells(X, kinds={"w": "category"}) == {"w": ["2020-01-01", None, "2020-01-01 12:00:00"]}
