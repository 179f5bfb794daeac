"""``candide.spark``: stages of pipelines of Spark's ML library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from properties.tables import mixed

import candide
from candide import GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.exceptions import ParameterError

pytestmark = pytest.mark.spark

FRAME, LABELS = mixed(90)
TEXTS = ["win cash now", "see you at noon", "free prize, win", "lunch at noon?"] * 6
KINDS = ["spam", "ham"] * 12


def numbers() -> pd.DataFrame:
    """Whole numbers whose labels are 0.0, 1.0 and 2.0, as MLlib wants them."""
    rng = np.random.default_rng(0)
    label = np.arange(120) % 3
    return pd.DataFrame({"a": rng.poisson(1 + label), "b": rng.poisson(3 - label), "label": label.astype(float)})


def test_a_table(spark: Any, tmp_path: Path) -> None:
    """Columns of all types, labels that are names, and the same after a model was stored."""
    from candide.spark import CandideClassifier, CandideClassifierModel

    table = spark.createDataFrame(FRAME.assign(pay=LABELS, weight=1.0 + np.arange(90) % 2))
    classifier = CandideClassifier(labelCol="pay", weightCol="weight", predictionCol="guess")
    model = classifier.fit(table)
    whole = NaiveBayes().fit(FRAME, LABELS, 1.0 + np.arange(90) % 2)
    model.write().save(str(tmp_path / "model"))
    for one in (model, CandideClassifierModel.load(str(tmp_path / "model"))):
        found = one.transform(table)
        assert found.columns == [*table.columns, "guess", "probability"]
        rows = found.collect()
        assert [row.guess for row in rows] == whole.predict(FRAME).tolist()
        np.testing.assert_allclose([row.probability.toArray() for row in rows], whole.predict_proba(FRAME), atol=1e-7)
        assert one.classes_.tolist() == ["u", "v", "w"]
    assert one.uid == model.uid
    assert isinstance(one.estimator, NaiveBayes)
    assert one.transform(table, {one.predictionCol: "", one.probabilityCol: ""}).columns == table.columns


def test_a_pipeline_of_texts(spark: Any, tmp_path: Path) -> None:
    """Vectors of another stage and texts; a pipeline that is stored, fitted or not."""
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import HashingTF, Tokenizer

    from candide.spark import CandideClassifier

    mail = spark.createDataFrame(list(zip(TEXTS, KINDS, strict=True)), ["text", "label"])
    words = [Tokenizer(inputCol="text", outputCol="words"), HashingTF(inputCol="words", outputCol="counts")]
    stages = [
        *words,
        CandideClassifier(estimator=MultinomialNB(alpha=0.5), featuresCol="counts"),
        CandideClassifier(estimator=TextNB("multinomial", ngrams=(1, 2)), featuresCol="text", predictionCol="second",
                          probabilityCol=""),
    ]  # fmt: skip
    Pipeline(stages=stages).write().overwrite().save(str(tmp_path / "stages"))
    pipeline = Pipeline.load(str(tmp_path / "stages"))
    assert repr(pipeline.getStages()[-1].getEstimator()) == "TextNB(family='multinomial', ngrams=[1, 2])"
    pipeline.fit(mail).write().save(str(tmp_path / "fitted"))
    rows = PipelineModel.load(str(tmp_path / "fitted")).transform(mail).collect()
    assert [row.prediction for row in rows] == [row.second for row in rows] == KINDS
    texts = TextNB("multinomial", ngrams=(1, 2)).fit(TEXTS, KINDS)
    assert [row.second for row in rows] == texts.predict(TEXTS).tolist()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a pool that MLlib leaves open
def test_cross_validation(spark: Any, tmp_path: Path) -> None:
    """Folds by MLlib, which adds a column of random numbers; among estimators and their parameters."""
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

    from candide.spark import CandideClassifier

    table = spark.createDataFrame(numbers()).coalesce(1)
    classifier = CandideClassifier()
    grid = ParamGridBuilder().addGrid(classifier.estimator, [GaussianNB(), MultinomialNB(alpha=1e6)]).build()
    found = CrossValidator(
        estimator=classifier, estimatorParamMaps=grid, numFolds=2, seed=0,
        evaluator=MulticlassClassificationEvaluator(metricName="logLoss"),
    ).fit(table)  # fmt: skip
    found.write().save(str(tmp_path / "found"))
    assert found.avgMetrics[0] < found.avgMetrics[1] < 1.2
    best = CrossValidatorModel.load(str(tmp_path / "found")).bestModel
    assert isinstance(best.estimator, GaussianNB)
    assert best.estimator.feature_names_in_.tolist() == ["a", "b"]
    X = numbers()[["a", "b"]]
    assert [row.prediction for row in best.transform(table).collect()] == GaussianNB().fit(
        X, numbers()["label"]
    ).predict(X).tolist()
    fold = CrossValidator(estimator=classifier, estimatorParamMaps=grid, numFolds=2, seed=0)._kFold(table)[0][0]
    assert classifier.fit(fold).estimator.feature_names_in_.tolist() == ["a", "b"]


def test_what_is_refused(spark: Any, tmp_path: Path) -> None:
    from pyspark.ml.classification import NaiveBayes as Mllib

    from candide.spark import CandideClassifier

    for given in (Mllib(), "NaiveBayes", {"DecisionTree": {}}, NaiveBayes):
        with pytest.raises((ParameterError, TypeError), match="expected an estimator of candide"):
            CandideClassifier(estimator=given)
    special = CandideClassifier(estimator=MultinomialNB(alpha=np.array([1.0, 2.0])))
    assert special.getEstimator().alpha.tolist() == [1.0, 2.0]
    with pytest.raises(ParameterError, match="cannot be stored, because MLlib stores parameters as JSON"):
        special.write()


def test_it_is_imported_when_it_is_used() -> None:
    import subprocess
    import sys

    code = "import candide, sys; assert 'pyspark' not in sys.modules; print(candide.spark.__all__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "['CandideClassifier', 'CandideClassifierModel']"
    assert candide.spark.CandideClassifier is not None
