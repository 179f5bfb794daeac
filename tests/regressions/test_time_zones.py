"""Dates with a time zone are read in the zone of training, in whatever zone and container they come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from cli.terminal import run
from export.scoring import Score, assert_same_answers, score, scored_by
from tiers import every, fitted_once, late

import candide
from candide import NaiveBayes, diagnostics
from candide.data.conversion import time_zone
from candide.exceptions import InputError, MergeError, ParameterError

__all__ = ["score"]

duckdb = late("duckdb")
pl = late("polars")
NEW_YORK = "America/New_York"
# One zone with daylight saving time, and offsets.
ZONES = [NEW_YORK, "UTC", "+05:30"]


def _rows(zone: str = NEW_YORK, n: int = 400) -> tuple[pd.DataFrame, Any]:
    """Instants of which the local hour decides the class."""
    rng = np.random.default_rng(0)
    utc = pd.Series(pd.Timestamp("2023-01-01", tz="UTC") + pd.to_timedelta(rng.integers(0, 7000, n), unit="h"))
    when = utc.dt.tz_convert(zone)
    y = np.where((when.dt.hour >= 9) & (when.dt.hour < 17), "open", "closed")
    return pd.DataFrame({"when": when, "x": rng.normal(size=n)}), y


@fitted_once
def _model(zone: str = NEW_YORK, **settings: Any) -> NaiveBayes:
    return NaiveBayes(order=0, compute_loo=False, **settings).fit(*_rows(zone))


def _elsewhere(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the same instants in other zones and containers."""
    utc = frame.assign(when=frame["when"].dt.tz_convert("UTC"))
    kolkata = frame.assign(when=frame["when"].dt.tz_convert("Asia/Kolkata"))
    objects = [moment.to_pydatetime() for moment in kolkata["when"]]
    x = frame["x"].to_numpy()
    return {
        "UTC": utc,
        "fixed offset": frame.assign(when=frame["when"].dt.tz_convert("+03:00")),
        "Arrow in pandas": utc.astype({"when": pd.ArrowDtype(pa.timestamp("us", tz="Asia/Kolkata"))}),
        "polars": pl.from_pandas(kolkata),
        "pyarrow": pa.Table.from_pandas(utc, preserve_index=False),
        "DuckDB": duckdb.from_arrow(pa.Table.from_pandas(kolkata, preserve_index=False)),
        "dict of series": {"when": utc["when"], "x": x},
        "dict of an index": {"when": pd.DatetimeIndex(utc["when"]), "x": x},
        "dict of polars series": {"when": pl.from_pandas(utc)["when"], "x": x},
        "dict of an Arrow array": {"when": pa.array(utc["when"]), "x": x},
        "Python objects": {"when": objects, "x": x},
        "array of objects": np.array([objects, x.tolist()], dtype=object).T,
        "strings": {"when": [moment.isoformat() for moment in objects], "x": x},
        "naive local time": frame.assign(when=_naive(frame["when"])),
        "naive strings": {"when": [str(moment) for moment in _naive(frame["when"])], "x": x},
    }


def _naive(when: Any) -> Any:
    return when.dt.tz_localize(None)


@every("zone", ZONES)
def test_the_same_instants_give_the_same_probabilities(zone: str) -> None:
    frame, y = _rows(zone)
    # The second hour of one that occurs twice has no naive local time.
    once = ~frame["when"].dt.tz_localize(None).isin(pd.date_range("2023-11-05 01:00", periods=2, freq="h")).to_numpy()
    frame, y = frame[once].reset_index(drop=True), y[once]
    model = NaiveBayes(order=0, compute_loo=False).fit(frame, y)
    assert model.score(frame, y) > 0.8
    expected = model.predict_proba(frame)
    for where, X in _elsewhere(frame).items():
        np.testing.assert_array_equal(model.predict_proba(X), expected, err_msg=where)


@every("container", ["polars", "pyarrow", "DuckDB", "Arrow in pandas", "Python objects", "dict of polars series"])
def test_every_container_has_a_zone_in_training(container: str) -> None:
    frame, y = _rows()
    X = _elsewhere(frame)[container]
    if container == "DuckDB":
        X = duckdb.from_arrow(X.to_arrow_table().append_column("y", pa.array(y.tolist())))
        model = NaiveBayes(order=0, compute_loo=False).fit(X, "y")
        X = X.project('"when", x')
    else:
        model = NaiveBayes(order=0, compute_loo=False).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(frame))


def test_declared_dates_keep_their_zone(tmp_path: Path) -> None:
    frame, y = _rows()
    model = NaiveBayes(order=0, compute_loo=False, schema={"when": "date"}).fit(frame, y)
    utc = _elsewhere(frame)["UTC"]
    np.testing.assert_array_equal(model.predict_proba(utc), model.predict_proba(frame))
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    of_file = model.fit(candide.read(tmp_path / "rows.parquet", label="y", schema={"when": "date"}))
    np.testing.assert_array_equal(of_file.predict_proba(utc), model.predict_proba(frame))


def test_updates_are_read_in_the_zone_of_the_first_rows() -> None:
    frame, y = _rows()
    utc = _elsewhere(frame)["UTC"]
    model = _model()
    model.partial_fit(utc, y)
    again = NaiveBayes(order=0, compute_loo=False).fit(pd.concat([frame, frame]), np.concatenate([y, y]))
    np.testing.assert_allclose(model.refit().predict_proba(utc), again.predict_proba(frame), rtol=0, atol=1e-9)
    # A first batch without values has a zone too.
    frame["when"] = frame["when"].where(np.zeros(len(y), dtype=bool))
    empty = NaiveBayes(order=0, compute_loo=False).fit(frame, y).partial_fit(utc, y)
    np.testing.assert_array_equal(empty.predict_proba(utc), empty.predict_proba(_rows()[0]))


def test_model_files_keep_the_zone(tmp_path: Path) -> None:
    frame, _ = _rows()
    for zone in ZONES:
        model = _model(zone)
        model.save(tmp_path / "m.candide")
        loaded = candide.load(tmp_path / "m.candide")
        X = _elsewhere(frame)["UTC"]
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(candide.from_json(model.to_json()).predict_proba(X), model.predict_proba(X))


def test_json_lines_with_offsets(tmp_path: Path) -> None:
    _model().save(tmp_path / "m.candide")
    lines = [f'{{"when": "2023-06-07T{time}", "x": 0.1}}' for time in ("16:00:00+00:00", "02:00:00+00:00", "12:00:00")]
    answer = run("classify", tmp_path / "m.candide", stdin="\n".join(lines) + "\n").out
    assert [line.partition("\t")[0] for line in answer.splitlines()] == ["open", "closed", "open"]


def test_models_of_different_zones_are_not_merged() -> None:
    frame, y = _rows()
    other = NaiveBayes(order=0, compute_loo=False).fit(_elsewhere(frame)["UTC"], y)
    with pytest.raises(MergeError, match="'when' are read in different time zones, America/New_York and UTC"):
        _model().merge(other)


def test_dates_with_a_zone_for_a_model_without() -> None:
    frame, y = _rows()
    model = NaiveBayes(order=0, compute_loo=False).fit(frame.assign(when=_naive(frame["when"])), y)
    with pytest.warns(UserWarning, match="'when' has the time zone America/New_York, but the model was trained on"):
        found = model.predict_proba(frame)
    np.testing.assert_array_equal(found, model.predict_proba(frame.assign(when=_naive(frame["when"]))))


def test_parts_with_and_without_a_zone(tmp_path: Path) -> None:
    """Arrow's casts take local time for UTC."""
    frame, y = _rows()
    frame = frame.assign(y=y)
    naive = frame.assign(when=_naive(frame["when"]))
    for i, (first, second) in enumerate([(frame, naive), (naive, frame)]):
        paths = [tmp_path / f"{i}a.parquet", tmp_path / f"{i}b.parquet"]
        first.to_parquet(paths[0])
        second.to_parquet(paths[1])
        table = candide.read(*paths, label="y").to_table()
        when = table["when"].to_pandas()
        when = when if when.dt.tz is None else _naive(when)
        half = len(when) // 2
        # One hour occurs twice.
        assert ((when[:half].to_numpy() - when[half:].to_numpy()) == np.timedelta64(0)).all()


@every("zone", ZONES)
def test_imputed_dates_are_in_the_zone_of_the_table(zone: str) -> None:
    frame, _ = _rows()
    model = NaiveBayes({"when": "gaussian"}, order=0, compute_loo=False).fit(*_rows(zone))
    here, there = frame.copy(), _elsewhere(frame)["UTC"].copy()
    here.loc[3, "when"] = there.loc[3, "when"] = pd.NaT
    one, other = diagnostics.impute(model, here)["when"], diagnostics.impute(model, there)["when"]
    assert abs(one[3] - other[3]) < pd.Timedelta("1s")
    for unit in ("ms", "us", "ns"):
        X = pl.from_pandas(there).with_columns(pl.col("when").cast(pl.Datetime(unit, "UTC")))
        assert abs(diagnostics.impute(model, X)["when"][3] - other[3].to_pydatetime()) < timedelta(seconds=1)


def test_sql_converts_to_the_zone(score: Score) -> None:
    frame, _ = _rows()
    model = _model()
    frame.loc[0, "when"] = pd.NaT
    if score.keywords["dialect"] == "sqlite":  # type: ignore[attr-defined]
        with pytest.raises(ParameterError, match=r"time zone America/New_York, .* SQLite .*tz_localize\(None\)"):
            model.to_sql("sqlite")
        return
    assert_same_answers(model, frame[:80], score)
    assert_same_answers(model, _elsewhere(frame)["UTC"][:80], score)
    assert_same_answers(model, frame.assign(when=_naive(frame["when"]))[:80], score)  # columns of type TIMESTAMP
    assert_same_answers(_model("+05:30"), frame[:80], score)


def test_sql_of_other_dialects() -> None:
    assert_same_answers(_model("UTC"), _elsewhere(_rows()[0])["naive local time"][:80], scored_by("sqlite"))
    for dialect in ("snowflake", "bigquery", "trino", "spark"):
        assert NEW_YORK in _model().to_sql(dialect, keep=["x"])
    with pytest.raises(ParameterError, match="the query for mysql cannot convert"):
        _model().to_sql("mysql", keep=["x"])


def test_time_zones_of_any_package() -> None:
    assert time_zone(None) is None
    assert time_zone(ZoneInfo(NEW_YORK)) == time_zone(NEW_YORK) == ZoneInfo(NEW_YORK)
    assert time_zone(timezone(timedelta(hours=-3))) == time_zone("-03:00")
    dateutil = pytest.importorskip("dateutil.tz")
    assert time_zone(dateutil.gettz(NEW_YORK)) == ZoneInfo(NEW_YORK)
    assert time_zone(dateutil.UTC) == UTC
    with pytest.raises(InputError, match=r"'Mars/Olympus' is not known on this computer; .*Europe/Paris"):
        time_zone("Mars/Olympus")


def test_the_ends_of_the_calendar() -> None:
    """Dates that stand for none, whose time in another zone does not exist."""
    end = [datetime(9999, 12, 31, 23, 59, tzinfo=UTC), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))]
    assert np.isfinite(_model().predict_proba({"when": end, "x": [0.0, 0.0]})).all()
