"""Models by themselves, without scikit-learn, and the estimators over them."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from tiers import every

import candide
from candide import exceptions
from candide.data.arrow_batches import Groups
from candide.model.source import MemorySource
from candide.model.train import train
from candide.specs import SPECS, spec_class

ROWS, LABELS = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]


@every("name", SPECS)
def test_a_spec_has_the_parameters_of_its_estimator(name: str) -> None:
    """The same names and defaults."""
    spec = spec_class(name)().parameters
    parameters = getattr(candide, name)().get_params()
    assert spec.items() >= parameters.items()
    assert spec.keys() - parameters.keys() <= {"force_alpha"}


@every("name", SPECS)
def test_not_fitted(name: str) -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(candide, name)().predict(ROWS)


def test_parameters_by_name() -> None:
    spec = spec_class("GaussianNB")(variance="shared")
    assert repr(spec) == "GaussianNB(variance='shared')"
    assert spec.with_parameters(variance="class").variance == "class"
    with pytest.raises(exceptions.ParameterError, match="no parameter 'sigma'; its parameters are"):
        spec.with_parameters(sigma=1)


def test_columns_are_known_by_name() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    model = train(spec_class("GaussianNB")(), MemorySource(frame, ["x", "y"]))
    assert model.schema.feature_names == ("a", "b")
    with pytest.raises(exceptions.InputError, match=r"trained on \['a', 'b'\]; pass the training columns in the"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(exceptions.InputError, match="3 features"):
        model.predict(np.ones((1, 3)))
    estimator = candide.GaussianNB().fit(frame, ["x", "y"])
    assert estimator.feature_names_in_.tolist() == ["a", "b"]
    estimator.fit(frame.to_numpy(), ["x", "y"])
    assert not hasattr(estimator, "feature_names_in_")


def test_score_is_the_share_of_right_rows() -> None:
    model = candide.GaussianNB().fit(ROWS, LABELS)
    assert model.score(ROWS, ["low", "low", "high", "low"]) == 0.75
    assert model.score(ROWS, ["low", "low", "high", "low"], sample_weight=[1, 1, 1, 5]) == 0.375
    table = candide.NaiveBayes().fit({"a": [1.0, 2.0, 8.0, 9.0], "b": LABELS}, y="b")
    assert table.score({"a": [1.0, 9.0], "b": ["low", "low"]}, y="b") == 0.5


@every("copied", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies(copied) -> None:
    model = candide.MultinomialNB().fit([[1.0, 2.0], [2.0, 0.0]], ["a", "b"])
    again = copied(model)
    assert (again.predict_proba([[1.0, 1.0]]) == model.predict_proba([[1.0, 1.0]])).all()
    # alpha is not given, so estimate="mle" is allowed.
    assert again.set_params(estimate="mle").fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"]).predict([[3.0, 0.0]]) == "a"


def test_measure_is_the_same_whole_and_in_chunks() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 3, 300)
    model = candide.GaussianNB().fit(X[:100], y[:100])
    whole = model.evaluate(X[100:], y[100:], rng.uniform(size=200))
    assert 0 < whole.accuracy < 1
    assert whole.n_rows == 200
    weight = np.arange(200.0)
    parts = ((X[100:][i::3], y[100:][i::3], weight[i::3]) for i in range(3))
    whole, chunked = model.evaluate(X[100:], y[100:], weight).as_dict(), model.evaluate(parts).as_dict()
    for name in ("n_rows", "accuracy", "log_loss", "brier", "ece", "aurc", "confusion"):
        np.testing.assert_allclose(chunked[name], whole[name], rtol=1e-12)


def test_measure_of_nothing() -> None:
    model = candide.GaussianNB().fit(ROWS, LABELS)
    with pytest.raises(exceptions.InputError, match="no rows with a positive weight"):
        model.evaluate(iter([]))
    with pytest.raises(exceptions.InputError, match="'middle' in y is unknown"):
        model.evaluate(ROWS[:1], ["middle"])


@every("begin", [0, 1, 2, 5, 9])
def test_groups_end_at_the_same_rows_wherever_a_pass_begins(begin: int) -> None:
    """Also where rows become larger on the way, so that fewer of them make a group."""
    rng = np.random.default_rng(0)
    texts = ["x" * int(size) for size in np.concatenate([rng.integers(1, 30, 400), rng.integers(500, 900, 300)])]
    whole = pa.record_batch({"text": texts, "row": np.arange(700)})
    bounds = [0, 90, 91, 300, 480, 640, 700]
    batches = [whole.slice(low, high - low) for low, high in pairwise(bounds)]

    def ends(groups: Groups, skip: int) -> list[int]:
        left = [batch.slice(max(0, skip - low)) for batch, low in zip(batches, bounds, strict=False)]
        found = list(groups.of(batch for batch in left if batch.num_rows))
        assert pa.concat_batches(found).column("row").to_pylist() == list(range(skip, 700))
        return [group.column("row")[-1].as_py() for group in found]

    first = Groups(2_000)
    expected = ends(first, 0)
    assert 10 < len(expected) < 200
    assert ends(Groups(2_000, first.n_rows), 0 if not begin else expected[begin - 1] + 1) == expected[begin:]
