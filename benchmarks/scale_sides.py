"""What ``benchmarks.scale`` times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import candide

from .scale_data import Data
from .scale_engines import Engines, load

Make = Callable[..., Any]  # a learner, with settings
MLLIB = "Spark MLlib's NaiveBayes"
FLOOR = "Spark, mapInArrow that does nothing"
_FEW = 2  # rounds of what takes long


class Side(NamedTuple):
    """Something that learns; what it learned is judged by its log-loss on held-out rows."""

    label: str
    fit: Callable[[], Any]
    log_loss: Callable[[Any], float] | None = None
    most_rounds: int = 99


def text_sides(data: Data, engines: Engines) -> list[Side]:
    def multinomial(**how: Any) -> Any:
        return candide.TextNB("multinomial", compute_loo=False, **how)

    def calibrated(**how: Any) -> Any:
        return candide.TextNB("multinomial", calibrate="temperature", compute_loo=False, **how)

    places = dict(_places("texts", data, engines))
    sides = [Side(f"multinomial, {name}", _fit(fit, multinomial), judge(data)) for name, fit in places.items()]
    for name in ("two threads", "Spark"):
        if name in places:
            sides.append(Side(f"multinomial, calibrated, {name}", _fit(places[name], calibrated), judge(data)))
            sides.append(Side(f"TextNB(), {name}", _fit(places[name], candide.TextNB), judge(data), _FEW))
    return sides + (_mllib(data, engines.spark, text_stages()) if engines.spark else [])


def table_sides(data: Data, engines: Engines) -> list[Side]:
    def calibrated(**how: Any) -> Any:
        return candide.GaussianNB(calibrate="temperature", **how)

    places = dict(_places("rows", data, engines))
    sides = [Side(f"GaussianNB, {name}", _fit(fit, candide.GaussianNB), judge(data)) for name, fit in places.items()]
    if "Spark" in places:
        sides.append(Side("GaussianNB, calibrated, Spark", _fit(places["Spark"], calibrated), judge(data)))
    for name, fit in places.items():
        sides.append(Side(f"NaiveBayes(), {name}", _fit(fit, candide.NaiveBayes), judge(data), _FEW))
    if engines.dask and find_spec("dask_ml"):
        sides.append(_dask_ml(data))
    return sides + (_mllib(data, engines.spark, _table_stages(data.columns)) if engines.spark else [])


def _places(name: str, data: Data, engines: Engines) -> Iterator[tuple[str, Callable[[Make], Any]]]:
    """Where a learner can learn."""
    for n_threads, said in ((1, "one thread"), (2, "two threads")):
        yield said, lambda make, n=n_threads: make(n_threads=n).fit(candide.read(data.pattern, label="label"))
    if engines.dask:
        import dask.dataframe as dd

        yield "Dask", lambda make: make().fit(dd.read_parquet(data.folder), "label")
    if engines.spark:
        yield "Spark", lambda make: make().fit(engines.spark.read.parquet(str(data.folder)), "label")
    if engines.duckdb:
        yield "DuckDB", lambda make: _by_sql(make(), engines.duckdb, f"SELECT * FROM '{data.pattern}'")
    if engines.postgres:
        load(engines.postgres, name, data)
        yield "PostgreSQL", lambda make: _by_sql(make(), engines.postgres, f"SELECT * FROM {name}")


def _by_sql(learner: Any, connection: Any, query: str) -> Any:
    return candide.fit_sql(learner, connection, query, label="label")


def _fit(fit: Callable[[Make], Any], make: Make) -> Callable[[], Any]:
    return lambda: fit(make)


def judge(data: Data) -> Callable[[Any], float]:
    """The log-loss of a model of candide's."""
    frame = data.held_out.to_pandas()
    X = frame["text"] if data.columns == ["text"] else frame[data.columns]
    return lambda model: _log_loss(model.predict_proba(X), frame["label"].to_numpy())


def _log_loss(probability: Any, label: Any) -> float:
    """Classes are whole numbers from 0. A probability of 0 counts as 1e-15, as in most software."""
    return float(-np.log(np.maximum(probability[np.arange(len(label)), label], 1e-15)).mean())


# Others.


def _mllib(data: Data, session: Any, stages: list[Any]) -> list[Side]:
    """Spark's own, and what any way through Python costs at least."""
    from pyspark.ml import Pipeline

    def frame() -> Any:
        return session.read.parquet(str(data.folder))

    def floor() -> None:
        rows = frame()
        rows.mapInArrow(_unchanged, rows.schema).write.format("noop").mode("overwrite").save()

    judge_it = partial(mllib_log_loss, session=session, data=data)
    return [Side(MLLIB, lambda: Pipeline(stages=stages).fit(frame()), judge_it), Side(FLOOR, floor)]


def mllib_log_loss(model: Any, session: Any, data: Data) -> float:
    """The log-loss of a pipeline of MLlib's."""
    from pyspark.ml.functions import vector_to_array

    rows = model.transform(session.createDataFrame(data.held_out))
    found = rows.select("label", vector_to_array("probability").alias("probability")).toPandas()
    return _log_loss(np.stack(found["probability"]), found["label"].to_numpy())


def _unchanged(batches: Any) -> Any:
    return batches


def text_stages(counter: str = "HashingTF") -> list[Any]:
    """Of MLlib, with HashingTF or CountVectorizer."""
    from pyspark.ml import feature
    from pyspark.ml.classification import NaiveBayes

    words = feature.Tokenizer(inputCol="text", outputCol="words")
    counts = getattr(feature, counter)(inputCol="words", outputCol="features")
    return [words, counts, NaiveBayes(modelType="multinomial")]


def _table_stages(columns: list[str]) -> list[Any]:
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import VectorAssembler

    return [VectorAssembler(inputCols=columns, outputCol="features"), NaiveBayes(modelType="gaussian")]


def _dask_ml(data: Data) -> Side:
    import dask.dataframe as dd
    from dask_ml.naive_bayes import GaussianNB

    cells = dd.read_parquet(data.folder, columns=["label", *data.columns]).to_dask_array(lengths=True)
    X, y = cells[:, 1:], cells[:, 0]
    held_out = data.held_out.to_pandas()

    def log_loss(model: Any) -> float:
        probability = np.asarray(model.predict_proba(held_out[data.columns].to_numpy()))
        return _log_loss(probability, held_out["label"].to_numpy())

    return Side("dask-ml's GaussianNB", lambda: GaussianNB().fit(X, y), log_loss)
