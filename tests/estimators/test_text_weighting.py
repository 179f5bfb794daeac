"""What a token weighs, and which tokens take part: parity with scikit-learn's vectorisers, and the algebra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import naive_bayes
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from tiers import every

from candide import MultinomialNB, TextNB, merge
from candide.exceptions import MergeError, ParameterError
from candide.families.text import shared_out, token_by_token
from candide.kernels import Kernels

from .test_text import many_words


def corpus(n: int, seed: int) -> tuple[list[str], Any]:
    """Texts of frequent and of rare words, some again and again, with a few words of their class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    texts = []
    for label in labels:
        words = [f"w{int(i)}" for i in np.minimum(rng.zipf(1.4, rng.integers(1, 30)), 300)]
        texts.append(" ".join(rng.permutation([*words, *rng.choice([f"own{label}", f"kin{label}"], 2)])))
    return texts, np.array(["a", "b", "c"])[labels]


X, Y = corpus(200, 0)
Z, _ = corpus(50, 1)
CLASSIFIERS = {"multinomial": naive_bayes.MultinomialNB, "complement": naive_bayes.ComplementNB}
VECTORISERS: dict[str, dict[str, Any]] = {
    "count": {"use_idf": False},
    "binary": {"use_idf": False, "binary": True},
    "log": {"use_idf": False, "sublinear_tf": True},
    "tfidf": {},
}
# No two words are equally frequent at the limit of 40: scikit-learn does not say which of them stays.
LIMITS: list[dict[str, Any]] = [{}, {"min_df": 3}, {"max_features": 40}, {"min_df": 2, "max_features": 40}]
HOWS = [{"weighting": way, **limits} for way in VECTORISERS for limits in LIMITS[:1] + LIMITS[3:]]
every_how = pytest.mark.parametrize("how", HOWS, ids=str)


def vectoriser(weighting: str, **limits: Any) -> TfidfVectorizer:
    return TfidfVectorizer(norm=None, **VECTORISERS[weighting], **limits)


def assert_alike(a: TextNB, b: TextNB, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(a.predict_proba(Z), b.predict_proba(Z), rtol=0, atol=atol)


# With "log" the most frequent tokens are those of the largest sums, of logarithms: not so in scikit-learn.
COMPARED = [
    {"weighting": way, **limits}
    for way in VECTORISERS
    for limits in LIMITS
    if way != "log" or "max_features" not in limits
]


@pytest.mark.parametrize("model", CLASSIFIERS)
@every("how", COMPARED)
def test_equals_a_vectoriser_and_a_classifier(model: Any, how: dict[str, Any]) -> None:
    pipeline = make_pipeline(vectoriser(**how), CLASSIFIERS[model]()).fit(X, Y)
    mine = TextNB(model, **how).fit(X, Y)
    assert set(mine.vocabulary_) == set(pipeline[0].vocabulary_)
    np.testing.assert_allclose(mine.predict_proba(Z), pipeline.predict_proba(Z), rtol=0, atol=1e-9)


@pytest.mark.parametrize(("model", "weighting"), [("multinomial", "log"), ("complement", "tfidf")])
def test_tables_of_many_tokens_and_classes(model: Any, weighting: Any) -> None:
    texts, labels = many_words(3000, 60_000, 100, 0)
    new = many_words(20, 60_000, 2, 1)[0]
    pipeline = make_pipeline(vectoriser(weighting, min_df=2), CLASSIFIERS[model]()).fit(texts, labels)
    mine = TextNB(model, weighting=weighting, min_df=2, compute_loo=False).fit(texts, labels)
    assert not isinstance(mine.token_count_, np.ndarray)
    np.testing.assert_allclose(mine.predict_proba(new), pipeline.predict_proba(new), rtol=0, atol=1e-9)


def test_a_given_vocabulary_has_its_idf_too() -> None:
    words = ["w1", "w2", "never", "own1"]
    pipeline = make_pipeline(vectoriser("tfidf", vocabulary=words), naive_bayes.MultinomialNB()).fit(X, Y)
    mine = TextNB("multinomial", weighting="tfidf", vocabulary=words).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), pipeline.predict_proba(Z), rtol=0, atol=1e-9)


def test_limits_of_the_bernoulli_model() -> None:
    how: dict[str, Any] = {"min_df": 2, "max_features": 40}
    pipeline = make_pipeline(CountVectorizer(binary=True, **how), naive_bayes.BernoulliNB()).fit(X, Y)
    mine = TextNB("bernoulli", **how).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), pipeline.predict_proba(Z), rtol=0, atol=1e-9)
    assert mine.token_count_.shape == (3, 40)
    assert mine.n_parameters_ == 3 * 40 + 2


@pytest.mark.parametrize("weighting", ["log", "tfidf"])
def test_polya_hears_the_same_weights(weighting: Any) -> None:
    rows = vectoriser(weighting)
    other = MultinomialNB(estimate="predictive", alpha=0.5).fit(rows.fit_transform(X), Y)
    mine = TextNB("polya", weighting=weighting, alpha=0.5).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), other.predict_proba(rows.transform(Z)), atol=1e-9)


@every_how
def test_parts_add_up_and_leave(how: dict[str, Any]) -> None:
    whole = TextNB("multinomial", **how).fit(X, Y)
    assert_alike(merge([TextNB("multinomial", **how).fit(X[i::3], Y[i::3]) for i in range(3)]), whole)
    stream = TextNB("multinomial", **how)
    for begin in range(0, len(X), 30):
        stream.partial_fit(X[begin : begin + 30], Y[begin : begin + 30])
    assert_alike(stream, whole)
    assert set(stream.vocabulary_) == set(whole.vocabulary_)
    assert_alike(stream.forget(X[90:], Y[90:]), TextNB("multinomial", **how).fit(X[:90], Y[:90]))


@every_how
def test_a_text_of_weight_two_is_two_texts(how: dict[str, Any]) -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    twice = TextNB("multinomial", **how).fit([X[i] for i in rows], Y[rows])
    assert_alike(TextNB("multinomial", **how).fit(X, Y, weight), twice)


@pytest.mark.parametrize("model", CLASSIFIERS)
@every_how
def test_leaving_one_out_is_a_refit_with_the_same_tokens_and_weights(model: Any, how: dict[str, Any]) -> None:
    """While a text is out, idf and the list of tokens stay those of all texts."""
    mine = TextNB(model, **how).fit(X, Y)
    tokens = sorted(mine.vocabulary_)
    rows = vectoriser(how["weighting"], vocabulary=tokens).fit(X).transform(X)
    left = mine.leave_one_out(X, Y)
    for i in range(0, len(X), 20):
        rest = np.delete(np.arange(len(X)), i)
        refit = CLASSIFIERS[model]().fit(rows[rest], Y[rest])
        np.testing.assert_allclose(left[i], refit.predict_log_proba(rows[[i]])[0], atol=1e-9)


def test_folds_keep_tokens_and_weights_too() -> None:
    mine = TextNB("multinomial", weighting="tfidf", min_df=2).fit(X, Y)
    rows = vectoriser("tfidf", vocabulary=sorted(mine.vocabulary_)).fit(X).transform(X)
    got, fold = mine.cross_val_log_proba(X, Y, n_folds=4), slice(0, 50)
    refit = naive_bayes.MultinomialNB().fit(rows[50:], Y[50:])
    np.testing.assert_allclose(got[fold], refit.predict_log_proba(rows[:50]), atol=1e-9)


@pytest.mark.parametrize("weighting", ["log", "tfidf"])
def test_texts_without_labels_hold_tokens_too(weighting: Any) -> None:
    """Whatever class they are given: one text that holds a token is one text."""
    model, kernels = TextNB("multinomial", weighting=weighting, min_df=2).fit(X, Y), Kernels()
    family, statistics, data = (
        model.model_.classifier.bound_spec.family,
        model.model_.classifier.state.statistics,
        model.model_.spec.encode(Z),
    )
    by_share = shared_out(family, data, np.tile([0.5, 0.2, 0.3], (len(Z), 1)), kernels)
    by_token = token_by_token(family, statistics, data, None, kernels)
    vectors = CountVectorizer(binary=True).fit(Z)
    for more in (by_share.feature_sets[0], by_token.feature_sets[0]):
        known = [token for token in vectors.get_feature_names_out() if token in more.coding.tokens()]
        expected = vectors.transform(Z)[:, [vectors.vocabulary_[token] for token in known]].sum(axis=0)
        assert len(known) > 20
        np.testing.assert_allclose(more.held.total[0, more.coding.codes(known)], np.asarray(expected).ravel())
        assert more.held.rows.sum() == pytest.approx(len(Z))
        assert statistics.feature_sets[0].merge(more).held.rows.sum() == pytest.approx(len(X) + len(Z))


def test_among_equally_frequent_tokens_the_first_in_order_stay() -> None:
    """Whoever came first."""
    for texts in (["zz yy", "ää xx", "xx bb"], ["xx bb ää", "zz xx yy", ""]):
        model = TextNB("multinomial", max_features=3).fit(texts, ["a", "b", "a"])
        assert set(model.vocabulary_) == {"xx", "bb", "yy"}


def test_tokens_beyond_the_limits_come_back() -> None:
    """The sums keep them: another limit needs no text again."""
    model = TextNB("multinomial", min_df=3).fit(X, Y)
    few = len(model.vocabulary_)
    model.set_params(min_df=2).partial_fit(Z[:1], ["a"])
    expected = TextNB("multinomial", min_df=2).fit(X + Z[:1], [*Y, "a"])
    assert len(model.vocabulary_) > few
    assert_alike(model, expected)


DENSITIES = [(model, alpha) for model in ("multinomial", "bernoulli", "polya") for alpha in (1.0, "evidence", "loo")]


@every("model,alpha", [*DENSITIES, ("complement", 1.0), ("complement", "loo")])
def test_nothing_within_the_limits_leaves_the_shares_of_the_classes(model: Any, alpha: Any) -> None:
    fitted = TextNB(model, alpha=alpha, min_df=999).fit(X, Y)
    expected = np.full(3, 1 / 3) if model == "complement" else fitted.class_prior_
    np.testing.assert_allclose(fitted.predict_proba(Z), np.tile(expected, (len(Z), 1)))
    assert fitted.loo_.log_loss == pytest.approx(-np.log(expected) @ fitted.class_prior_)
    assert fitted.n_parameters_ == (0 if model == "complement" else 2)


@pytest.mark.parametrize("alpha", ["evidence", "loo"])
def test_pseudo_counts_are_chosen_for_the_tokens_that_take_part(alpha: Any) -> None:
    how: dict[str, Any] = {"weighting": "tfidf", "min_df": 3}
    rows = vectoriser("tfidf", min_df=3)
    other = MultinomialNB(alpha=alpha).fit(rows.fit_transform(X), Y)
    mine = TextNB("multinomial", alpha=alpha, **how).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), other.predict_proba(rows.transform(Z)), atol=1e-6)


def test_what_was_counted_differently_does_not_add() -> None:
    model = TextNB("multinomial").fit(X, Y)
    with pytest.raises(MergeError, match="weighting is 'count' in one model and 'tfidf'"):
        model.merge(TextNB("multinomial", weighting="tfidf").fit(X, Y))
    with pytest.raises(MergeError, match="texts with a token"):
        model.merge(TextNB("multinomial", min_df=2).fit(X, Y))
    model.merge(TextNB("multinomial", max_features=5).fit(Z, Y[: len(Z)]))
    assert_alike(model, TextNB("multinomial").fit(X + Z, [*Y, *Y[: len(Z)]]))


@every(
    "settings,message",
    [
        ({"weighting": "bm25"}, "weighting is 'bm25'"),
        ({"family": "bernoulli", "weighting": "tfidf"}, "only records whether"),
        ({"min_df": 0.5}, "min_df is 0.5"),
        ({"max_features": 0}, "max_features is 0"),
        ({"min_df": 2, "buckets": 10}, "min_df=2 .* buckets"),
        ({"max_features": 2, "vocabulary": ["aa"]}, "max_features=2 .* vocabulary"),
        ({"family": "auto", "min_df": 2}, "min_df is 2"),
        ({"family": "auto", "weighting": "log"}, "weighting is 'log'"),
        ({"buckets": "many"}, "buckets is 'many'"),
        ({"family": "auto", "buckets": 2.5}, "buckets is 2.5"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TextNB(**{"family": "multinomial"} | settings).fit(X, Y)


def lengthy(n: int, seed: int) -> tuple[list[str], Any]:
    """Texts of 1 to 60 sayings, each of several words at once: the longer, the surer naive Bayes is beyond reason."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    texts = []
    for label in labels:
        mood = np.clip(rng.normal(0.5 + 0.1 * (2 * label - 1), 0.15), 0.05, 0.95)
        heads = rng.random(rng.integers(1, 61)) < mood
        texts.append(" ".join("up rise high tall" if head else "down fall low small" for head in heads))
    return texts, labels


def test_a_temperature_that_follows_the_length_of_texts() -> None:
    (texts, labels), (new, truth) = lengthy(1000, 0), lengthy(3000, 1)
    plain = TextNB("multinomial").fit(texts, labels)
    mine = TextNB("multinomial", calibrate="temperature").fit(texts, labels)

    def loss(log_probability: Any) -> float:
        return float(-log_probability[np.arange(len(truth)), truth].mean())

    calibration = mine.model_.classifier.fitted.calibration
    assert calibration.growth > 0.2
    scores = plain.predict_log_proba(new)
    even = min(loss(t - np.logaddexp.reduce(t, axis=1, keepdims=True)) for t in (scores / s for s in range(1, 60)))
    assert loss(mine.predict_log_proba(new)) < even < loss(scores)
