"""The law of explanations: terms add up to the answer of the model, whatever the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
    diagnostics,
)
from candide.exceptions import ParameterError

N = 90
ESTIMATES = ("mle", "mean", "map", "predictive")
CALIBRATIONS = (None, "temperature", "platt", "beta", "isotonic")


def rows():
    rng = np.random.default_rng(7)
    y = np.array(list("abc"))[rng.integers(0, 3, N)]
    counts = rng.poisson(1.5, (N, 5)).astype(float)
    counts[:, 0] += 2 * (y == "a")
    numbers = rng.normal(size=(N, 4)) + (y == "a")[:, None]
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    holes = counts.copy()
    holes[rng.random(counts.shape) < 0.2] = np.nan
    values = rng.integers(0, 3, (N, 4)).astype(object)
    values[rng.random(values.shape) < 0.1] = None
    words = np.array(["win", "cash", "now", "lunch", "noon", "see", "you", "free", "prize", "tomorrow"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 9))) + (" alpha" if c == "a" else "") for c in y]
    table = {
        "size": numbers[:, 0],
        "age": numbers[:, 1],
        "weight": numbers[:, 2],
        "job": values[:, 0],
        "town": [None if v is None else f"t{v}" for v in values[:, 1]],
        "visits": holes[:, 1],
    }
    return y, counts, holes, numbers, values, texts, table


Y, COUNTS, HOLES, NUMBERS, VALUES, TEXTS, TABLE = rows()
WITH_TEXT = {**TABLE, "note": TEXTS}
MODELS = {
    **{f"gaussian {e} {c}": (GaussianNB(estimate=e, calibrate=c), NUMBERS) for e in ESTIMATES for c in CALIBRATIONS},
    **{f"gaussian shared {e}": (GaussianNB(estimate=e, variance="shared"), NUMBERS) for e in ESTIMATES},
    **{f"bernoulli {e} {c}": (BernoulliNB(estimate=e, calibrate=c), HOLES) for e in ESTIMATES for c in CALIBRATIONS},
    **{f"multinomial {e}": (MultinomialNB(estimate=e, calibrate="beta"), COUNTS) for e in ESTIMATES},
    **{f"poisson {e}": (PoissonNB(estimate=e), HOLES) for e in ESTIMATES},
    **{f"categorical {e}": (CategoricalNB(estimate=e), VALUES) for e in ESTIMATES},
    **{f"sparse bernoulli {a}": (BernoulliNB(alpha=a), csr_array(COUNTS > 2).astype(float)) for a in (0, 1)},
    "sparse gaussian": (GaussianNB(), csr_array(COUNTS)),
    "sparse poisson": (PoissonNB(), csr_array(COUNTS)),
    "balanced": (MultinomialNB(class_weight="balanced"), csr_array(COUNTS)),
    "complement": (ComplementNB(), COUNTS),
    "complement norm": (ComplementNB(norm=True, calibrate="temperature"), csr_array(COUNTS)),
    **{f"table {order}": (NaiveBayes(order=order), TABLE) for order in (0, 1, 2)},
    "table isotonic": (NaiveBayes(calibrate="isotonic"), TABLE),
    "table without blend": (NaiveBayes(stacking=None), WITH_TEXT),
    "table with text": (NaiveBayes(columns={"note": "text"}), WITH_TEXT),
    **{
        f"table with block {b}": (NaiveBayes(columns={("size", "age"): "multivariate_normal"}, stacking=b), TABLE)
        for b in ("auto", None)
    },
    "table with tokens": (
        NaiveBayes(columns={("win", "cash"): "multinomial"}),
        {**TABLE, "win": COUNTS[:, 0], "cash": COUNTS[:, 1]},
    ),
    **{f"text {m}": (TextNB(m), TEXTS) for m in ("auto", "multinomial", "bernoulli", "complement", "polya")},
    "text refined": (TextNB(refine=True), TEXTS),
    "text tfidf": (TextNB("multinomial", weighting="tfidf"), TEXTS),
    "text log": (TextNB("multinomial", weighting="log", calibrate="temperature"), TEXTS),
    "text few buckets": (TextNB("multinomial", buckets=4), TEXTS),
}


def some(X, n=12):
    return {name: column[:n] for name, column in X.items()} if isinstance(X, dict) else X[:n]


def check(model, X):
    found, answers = model.explain(X), model.predict_log_proba(X)
    assert len(found) == len(answers)
    for one, answer in zip(found, answers, strict=True):
        np.testing.assert_allclose(np.exp(one.total), np.exp(answer), rtol=0, atol=1e-9)
        possible = np.isfinite(answer)
        np.testing.assert_array_equal(np.isfinite(one.total), possible)
        np.testing.assert_allclose(one.total[possible], answer[possible], rtol=1e-9, atol=1e-9)
        assert not any(np.isnan(term.scores).any() for term in one.terms)
        for table in (one.contributions(), one.contributions(by="view"), one.contributions(by="word")):
            if np.isfinite(table["bits"]).all():
                assert table["bits"].sum() == pytest.approx(one.log_odds(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_terms_add_up_to_the_answer(name):
    model, X = MODELS[name]
    check(model.fit(X, Y), some(X))


@pytest.mark.parametrize("name", ["gaussian mle platt", "table 1", "text auto", "multinomial mean"])
def test_after_weights_another_prior_and_forgetting(name):
    model, X = MODELS[name]
    model.fit(X, Y, sample_weight=np.linspace(0.5, 2.0, N))
    check(model.with_class_prior({"a": 0.7, "b": 0.3, "c": 0.0}), some(X))
    model.forget(some(X, 5), Y[:5], sample_weight=np.linspace(0.5, 2.0, N)[:5])
    check(model, some(X))


def test_what_is_impossible_is_named():
    X = [["red"], ["red"], ["blue"], ["green"]]
    model = CategoricalNB(alpha=0).fit(X, ["a", "a", "b", "b"])
    found = model.explain([["red"]])[0]
    assert found.contributions("a", "b")["bits"].tolist() == [np.inf, 0.0]
    assert found.contributions("a", "b")["term"].tolist()[0] == "x0 = red"
    table = found.to_table()
    ruled_out = table["term"][table["nats"] == -np.inf].tolist()
    assert ruled_out == ["x0 = red"]
    check(model, [["red"], ["blue"]])


def test_rows_that_no_class_allows():
    model = BernoulliNB(alpha=0).fit([[1, 0], [1, 0], [0, 1], [0, 1]], ["a", "a", "b", "b"])
    check(model, [[1, 1], [0, 0], [1, 0]])


def test_points_without_variance():
    model = GaussianNB(var_smoothing=0).fit([[1.0, 5.0], [1.0, 6.0], [2.0, 5.0], [2.0, 7.0]], ["a", "a", "b", "b"])
    check(model, [[1.0, 5.0], [2.0, 5.5], [1.4, 6.0], [np.nan, 5.0]])


def test_very_many_classes():
    rng = np.random.default_rng(0)
    X = csr_array(rng.poisson(0.02, (400, 3000)).astype(float))
    model = MultinomialNB().fit(X, np.arange(400))
    check(model, X[:3])


def test_empty_rows_and_one_class():
    model = GaussianNB().fit([[1.0], [2.0]], ["only", "only"])
    found = model.explain([[np.nan], [1.0]])
    assert found[0].answer == "only"
    assert "no other class" in repr(found[0])
    text = TextNB().fit(["win cash", "see you"], ["spam", "ham"])
    check(text, ["", "?!", "nothing that is known"])


@pytest.mark.parametrize(
    "name",
    ["gaussian mle None", "gaussian mean None", "gaussian shared mle", "gaussian shared map", "bernoulli mean None",
     "poisson mean", "categorical mean", "text multinomial"],
)  # fmt: skip
def test_intervals_are_those_of_the_log_odds(name):
    """Terms of separate columns are independent, so that their variances add up to that of the whole."""
    model, X = MODELS[name]
    model.fit(X, Y)
    of, against = ["a"] * 2, ["b"] * 2
    whole = diagnostics.log_odds(model, some(X, 2), of[0], against[0]).std
    for one, std in zip(model.explain(some(X, 2)), whole, strict=True):
        table = one.contributions("a", "b", unit="nats", level=0.95)
        width = (table["high"] - table["low"]) / (2 * 1.959964)
        if name == "text multinomial":  # tokens share one simplex: their errors are not independent
            assert (width[table["kind"] == "token"] > 0).all()
        else:
            np.testing.assert_allclose(np.sqrt((width**2).sum()), std, rtol=1e-5)


def test_intervals_need_a_posterior():
    model = NaiveBayes().fit(TABLE, Y)
    with pytest.raises(ParameterError, match="stacked"):
        model.explain(some(TABLE, 1))[0].contributions(level=0.9)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        GaussianNB().fit(NUMBERS, Y).explain(NUMBERS[:1])[0].contributions(level=95)
