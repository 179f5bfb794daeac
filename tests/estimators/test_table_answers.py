"""Rows drawn and holes filled: tables that look like those of training."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

from candide import NaiveBayes, diagnostics

pl = late("polars")

N = 60
RNG = np.random.default_rng(3)
Y = RNG.integers(0, 2, N)


def holey(cells: list[Any]) -> list[Any]:
    return [None if RNG.random() < 0.2 else cell for cell in cells]


DAYS = RNG.integers(0, 900, N).tolist()
CELLS: dict[str, list[Any]] = {
    "age": holey(RNG.integers(18, 80, N).tolist()),
    "height": holey(RNG.normal(size=N).tolist()),
    "member": holey((RNG.random(N) < 0.4).tolist()),
    "city": holey(RNG.choice(["Rome", "Paris"], N).tolist()),
    "when": holey([datetime(2020, 1, 1, 3) + timedelta(days=day) for day in DAYS]),
    "there": holey([datetime(2020, 1, 1, tzinfo=ZoneInfo("Europe/Paris")) + timedelta(days=day) for day in DAYS]),
    "day": holey([date(2020, 1, 1) + timedelta(days=day) for day in DAYS]),
    "wait": holey([timedelta(seconds=day) for day in DAYS]),
    "clock": holey([time(day % 24) for day in DAYS]),
}


def polars_table() -> pl.DataFrame:
    types = {"small": pl.col("age").cast(pl.Int8), "single": pl.col("height").cast(pl.Float32)}
    labels = {"label": pl.col("city").cast(pl.Categorical), "either": pl.col("city").cast(pl.Enum(["Rome", "Paris"]))}
    return pl.DataFrame(CELLS).with_columns(**types, **labels)


def pandas_table() -> pd.DataFrame:
    whole, flags = pd.array(CELLS["age"], dtype="Int64"), pd.array(CELLS["member"], dtype="boolean")
    frame = pd.DataFrame(CELLS).assign(whole=whole, flags=flags, label=pd.Categorical(CELLS["city"]))
    return frame.set_index(pd.Index(range(100, 100 + N)))


def arrow_table() -> pa.Table:
    return pa.table(CELLS).append_column("label", pa.array(CELLS["city"]).dictionary_encode())


TABLES = {"polars": polars_table, "pandas": pandas_table, "pyarrow": arrow_table, "dict": lambda: CELLS}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Any:
    return TABLES[request.param]()


def types(table: Any) -> Any:
    if isinstance(table, dict):
        return {name: type(values) for name, values in table.items()}
    return table.dtypes.to_dict() if isinstance(table, pd.DataFrame) else table.schema


def rows(table: Any) -> dict[str, list[Any]]:
    if isinstance(table, pd.DataFrame):
        table = {name: [None if pd.isna(cell) else cell for cell in table[name]] for name in table}
    return table if isinstance(table, dict) else {name: table[name].to_pylist() for name in table.column_names}


def fitted(table: Any) -> NaiveBayes:
    return NaiveBayes(order=0, compute_loo=False, n_threads=1).fit(table, Y)


def test_filled_tables_are_what_they_were(table: Any) -> None:
    model = fitted(table)
    full = diagnostics.impute(model, table)
    assert type(full) is type(table)
    assert types(full) == types(table)
    if isinstance(table, pd.DataFrame):
        assert full.index.equals(table.index)
    assert model.predict(full).shape == (N,)


def test_only_holes_are_filled(table: Any) -> None:
    full = diagnostics.impute(fitted(table), table)
    before, after = (rows(t.to_dict(as_series=False) if isinstance(t, pl.DataFrame) else t) for t in (table, full))
    for name, cells in before.items():
        pairs = list(zip(cells, after[name], strict=True))
        assert all(new == old for old, new in pairs if old is not None), name
        assert all(new is not None for _, new in pairs), name


def test_arrays_stay_of_their_type() -> None:
    X = RNG.normal(size=(N, 2)).astype(np.float32)
    X[::5, 1] = np.nan
    full = diagnostics.impute(fitted(X), X)
    assert full.dtype == np.float32
    assert np.isfinite(full).all()
    objects = X.astype(object)
    assert diagnostics.impute(fitted(objects), objects).dtype == object


def plain() -> dict[str, list[Any]]:
    """Without holes; some columns that tell nothing."""
    cells = {name: [next(c for c in column if c is not None) if cell is None else cell for cell in column]
             for name, column in CELLS.items()}  # fmt: skip
    return {**cells, "ward": [7] * N, "unit": ["A"] * N, "ticket": list(range(N))}


@every("make", [late("polars", "DataFrame"), pd.DataFrame, pa.table])
def test_drawn_tables_look_like_those_of_training(make: Any) -> None:
    table = make(plain())
    model = fitted(table)
    drawn, y = model.sample(200, random_state=0)
    assert type(drawn) is type(table)
    keep = [name for name in plain() if name != "ticket"]
    if isinstance(table, pa.Table):
        assert types(drawn.select(keep)) == types(table.select(keep))
    else:
        assert types(drawn[keep]) == types(table[keep])
    assert model.predict(drawn).shape == y.shape


@every("family", ["auto", "gaussian", "kernel"])
def test_whole_numbers_stay_whole_and_within_what_was_seen(family: str) -> None:
    visits = RNG.poisson(1.5, N)
    X, _ = NaiveBayes({"visits": family}, order=0, compute_loo=False).fit({"visits": visits}, Y).sample(300, 0)
    assert X["visits"].dtype.kind == "i"
    assert set(X["visits"].tolist()) <= set(range(visits.min(), visits.max() + 1))


def test_constants_are_drawn_and_identifiers_are_not() -> None:
    X, _ = fitted(pd.DataFrame(plain())).sample(9, random_state=0)
    assert X["ward"].tolist() == [7] * 9
    assert X["unit"].tolist() == ["A"] * 9
    assert X["ticket"].isna().all()


def test_fractions_that_came_later_are_drawn_too() -> None:
    model = fitted({"size": RNG.integers(0, 9, N)}).partial_fit({"size": RNG.uniform(0, 9, N)}, Y)
    X, _ = model.sample(50, random_state=0)
    assert X["size"].dtype == np.float64
    assert (X["size"] != X["size"].round()).any()
