"""Stages of ``pyspark.ml`` that train, apply and store estimators of candide."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from . import estimators
from .estimators.base import BaseNB
from .estimators.functions import from_model
from .exceptions import MissingPackage, ParameterError
from .model.model import Model
from .sources.spark import open_frame
from .storage.models import load_bytes

try:
    from pyspark import keyword_only
    from pyspark.ml import base
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasProbabilityCol, HasWeightCol
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )  # fmt: skip
    from pyspark.sql import functions
except ImportError as error:
    raise MissingPackage(
        f"candide.spark needs PySpark, which cannot be imported ({error}); install it with pip install 'candide[spark]'"
    ) from error

__all__ = ["CandideClassifier", "CandideClassifierModel"]

# Columns by which MLlib divides rows at random, to choose among models.
_RANDOM_COLUMN = re.compile(r"(CrossValidator|TrainValidationSplit)_[0-9a-f]+_rand")
# Bytes of a model file in one row of Parquet.
_PIECE = 1 << 26


class _Columns(HasLabelCol, HasWeightCol, HasPredictionCol, HasProbabilityCol):  # type: ignore[misc]
    """The parameters of the estimator and of the model."""

    featuresCol = Param(  # noqa: N815  # as MLlib calls it
        Params._dummy(), "featuresCol", "column of vectors, arrays or texts; if not set, all other columns",
        typeConverter=TypeConverters.toString,
    )  # fmt: skip

    def getFeaturesCol(self) -> str | None:  # noqa: N802
        """Return the column of features; None for all other columns."""
        return self.getOrDefault("featuresCol") if self.isSet("featuresCol") else None


class CandideClassifier(base.Estimator, _Columns, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """Train an estimator of candide as a stage of a ``pyspark.ml`` pipeline.

    The model is that of ``estimator.fit(frame, labelCol)``: workers count the rows of their partitions, and the sums
    are added. Stages can be tuned with ``CrossValidator`` and stored with ``write().save(path)``.

    Parameters
    ----------
    estimator : estimator, default NaiveBayes()
        Any estimator of candide, with its parameters. In a ``ParamGridBuilder``, a list of estimators.
    featuresCol : str, optional
        A column of vectors (``VectorUDT``) or of arrays of equal length, or the column of texts of ``TextNB``. By
        default all columns but ``labelCol`` and ``weightCol`` are features, each with its type. Vectors of more than
        1,024 numbers are read as sparse rows.
    labelCol : str, default "label"
        The column of class labels of any type. Rows in which it is null are left out with a warning.
    weightCol : str, optional
        The column of row weights.
    predictionCol : str, default "prediction"
        The column that the model adds: a double if labels are numbers or booleans, as MLlib's evaluators require, and
        otherwise the label. An empty string omits it.
    probabilityCol : str, default "probability"
        The vector of class probabilities that the model adds, in the order of ``classes_``. An empty string omits it.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from candide import GaussianNB
    >>> from candide.spark import CandideClassifier
    >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
    >>> rows = spark.createDataFrame([(1.0, "low"), (2.0, "low"), (8.0, "high"), (9.0, "high")], ["size", "label"])
    >>> model = CandideClassifier(estimator=GaussianNB()).fit(rows)
    >>> model.transform(rows).select("size", "prediction").first()
    Row(size=1.0, prediction='low')
    """

    estimator = Param(
        Params._dummy(), "estimator", "estimator of candide that is trained", typeConverter=lambda given: _stored(given)
    )

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self, *, estimator: Any = None, featuresCol: str | None = None, labelCol: str = "label",
        weightCol: str | None = None, predictionCol: str = "prediction", probabilityCol: str = "probability",
    ) -> None:  # fmt: skip
        super().__init__()
        self._set(**{name: value for name, value in self._input_kwargs.items() if value is not None})

    def getEstimator(self) -> BaseNB:  # noqa: N802
        """Return the estimator that is trained, not fitted."""
        return _restored(self.getOrDefault("estimator") if self.isSet("estimator") else {"NaiveBayes": {}})

    def write(self) -> MLWriter:
        """Return a writer: ``classifier.write().save(path)``."""
        estimator = self.getOrDefault("estimator") if self.isSet("estimator") else None
        if isinstance(estimator, BaseNB):
            raise ParameterError(
                f"{estimator!r} cannot be stored, because MLlib stores parameters as JSON; store the fitted model "
                "instead, or use parameters that are numbers, strings, lists and dicts with strings as keys"
            )
        return super().write()

    def _fit(self, dataset: Any) -> CandideClassifierModel:
        label = self.getLabelCol()
        weight = self.getWeightCol() if self.isSet("weightCol") else None
        features = self.getFeaturesCol()
        names = [name for name in dataset.columns if name not in (label, weight) and not _RANDOM_COLUMN.fullmatch(name)]
        read = [*(names if features is None else [features]), label, *([] if weight is None else [weight])]
        frame = dataset.select(*map(_column, read))
        model = CandideClassifierModel(self.getEstimator().fit(frame, label, weight).model_)
        self._copyValues(model)
        return model


class CandideClassifierModel(base.Model, _Columns, MLReadable, MLWritable):  # type: ignore[misc]
    """Predict with a model of candide as a stage of a ``pyspark.ml`` pipeline; made by ``CandideClassifier.fit``.

    ``transform`` adds the columns ``predictionCol`` and ``probabilityCol``. Parameters are those of
    ``CandideClassifier``.
    """

    def __init__(self, model: Model | None = None) -> None:
        super().__init__()
        self._model = model

    @property
    def estimator(self) -> Any:
        """The fitted estimator, such as a ``NaiveBayes``: explanations, files, exports and everything else."""
        return from_model(self._fitted)

    @property
    def classes_(self) -> Any:
        """Class labels in the order of the probabilities."""
        return self._fitted.classes

    @property
    def _fitted(self) -> Model:
        if self._model is None:
            raise ParameterError("this CandideClassifierModel has no model; use CandideClassifier.fit or load")
        return self._model

    def _transform(self, dataset: Any) -> Any:
        import pyarrow as pa

        label, probability = self.getPredictionCol(), self.getProbabilityCol()
        kind = pa.array(_ml_labels(self._fitted.classes)).type
        kinds = {label: kind, probability: pa.list_(pa.float64())}
        added = pa.schema([(name, kind) for name, kind in kinds.items() if name])
        if not added.names:
            return dataset
        model = self._fitted.for_workers()
        found = open_frame(dataset).with_columns(self._fitted, _predicting(model, label, probability), added)
        return found.withColumn(probability, array_to_vector(_column(probability))) if probability else found

    def write(self) -> MLWriter:
        """Return a writer: ``model.write().overwrite().save(path)``."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader:
        """Return a reader: ``CandideClassifierModel.read().load(path)``."""
        return _Reader()


class _Writer(MLWriter):  # type: ignore[misc]
    """Writes the parameters as MLlib does, and the model file in pieces to Parquet."""

    def __init__(self, instance: CandideClassifierModel) -> None:
        super().__init__()
        self._instance = instance

    def saveImpl(self, path: str) -> None:  # noqa: N802
        """Write to a new folder."""
        file = BytesIO()
        self._instance.estimator.save(file)
        content = file.getbuffer()
        pieces = [(i, bytes(content[begin : begin + _PIECE])) for i, begin in enumerate(range(0, len(content), _PIECE))]
        DefaultParamsWriter.saveMetadata(self._instance, path, self.sparkSession)
        frame = self.sparkSession.createDataFrame(pieces, "piece int, content binary")
        frame.write.parquet(os.path.join(path, "model"))


class _Reader(MLReader):  # type: ignore[misc]
    """Reads what ``_Writer`` writes."""

    def load(self, path: str) -> CandideClassifierModel:
        """Read from a folder."""
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        pieces = self.sparkSession.read.parquet(os.path.join(path, "model")).orderBy("piece").collect()
        instance = CandideClassifierModel(load_bytes(b"".join(piece.content for piece in pieces), path))
        instance._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(instance, metadata)
        return instance


def _column(name: str) -> Any:
    return functions.col(f"`{name.replace('`', '``')}`")


def _stored(given: Any) -> Any:
    """Return an estimator in the form in which MLlib stores it, if its parameters are plain values."""
    if isinstance(given, BaseNB):
        parameters = given._spec().given
        return {type(given).__name__: parameters} if _is_plain(parameters) else given
    _restored(given)
    return given


def _is_plain(value: Any) -> bool:
    """Return whether a value is the same after it was written as JSON, apart from tuples."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _restored(stored: Any) -> BaseNB:
    """Return a new estimator."""
    if isinstance(stored, BaseNB):
        return type(stored)(**stored.get_params(deep=False))
    if isinstance(stored, dict) and len(stored) == 1:
        name, parameters = next(iter(stored.items()))
        kind = getattr(estimators, str(name), None)
        if isinstance(kind, type) and issubclass(kind, BaseNB):
            return kind(**parameters)
    raise ParameterError(f"estimator is {stored!r:.80}; expected an estimator of candide, such as candide.NaiveBayes()")


def _ml_labels(labels: Any) -> list[Any]:
    """Return labels in the type of a column of predictions."""
    return [float(label) for label in labels] if labels.dtype.kind in "biuf" else labels.tolist()


def _predicting(model: Model, label: str, probability: str) -> Callable[[Any, int], dict[str, Any]]:
    """Return a function that makes the columns of predictions, which workers run without ``pyspark.ml``."""
    labels = np.array(_ml_labels(model.classes))

    def columns(X: Any, n_rows: int) -> dict[str, Any]:
        found = model.predict_proba(X) if n_rows else np.zeros((0, len(labels)))
        return {label: labels[found.argmax(axis=1)].tolist(), probability: found.tolist()}

    return columns
