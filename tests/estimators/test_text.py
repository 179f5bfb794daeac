"""Texts: parity with scikit-learn's pipelines, the algebra, and what may come as a text."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from tiers import every, late

from candide import TextNB, diagnostics, merge
from candide.exceptions import CandideError, ForgetError, InputError, MergeError, NotADensity, ParameterError

pl = late("polars")

WORDS = {
    "sport": ["match", "goal", "team", "player", "win", "score", "league", "cup", "ball", "coach"],
    "food": ["bread", "soup", "oven", "salt", "taste", "dinner", "recipe", "sauce", "cook", "lunch"],
    "money": ["bank", "loan", "rate", "pay", "cash", "price", "market", "share", "tax", "win"],
}
COMMON = ["the", "a", "is", "it", "we", "you", "and", "Ärger", "über", "Straße", "日本", "naïve", "3", "2024"]


def corpus(n: int = 240, seed: int = 0) -> tuple[list[str], Any]:
    """Texts whose words come mostly from those of their class."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(list(WORDS), n, p=[0.5, 0.3, 0.2])
    texts = []
    for label in labels:
        own = rng.choice(WORDS[label], rng.integers(0, 8))
        others = rng.choice([*COMMON, *WORDS["food"], *WORDS["money"]], rng.integers(0, 8))
        words = rng.permutation([*own, *others])
        texts.append(" ".join(word.title() if rng.random() < 0.2 else word for word in words))
    return texts, labels


X, Y = corpus()
Z, _ = corpus(60, seed=1)
MODELS = {
    "multinomial": naive_bayes.MultinomialNB,
    "bernoulli": naive_bayes.BernoulliNB,
    "complement": naive_bayes.ComplementNB,
}
RULES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"ngrams": 2}, {"ngram_range": (1, 2)}),
    ({"ngrams": (2, 3)}, {"ngram_range": (2, 3)}),
    ({"analyzer": "char", "ngrams": (2, 4)}, {"analyzer": "char", "ngram_range": (2, 4)}),
    ({"analyzer": "char_wb", "ngrams": (3, 3)}, {"analyzer": "char_wb", "ngram_range": (3, 3)}),
    ({"weighting": "binary"}, {"binary": True}),
    ({"lowercase": False, "stop_words": ["the", "it"]}, {"lowercase": False, "stop_words": ["the", "it"]}),
    ({"strip_accents": "unicode"}, {"strip_accents": "unicode"}),
    ({"pattern": r"[a-z]+"}, {"token_pattern": r"[a-z]+"}),
    ({"tokenizer": str.split}, {"tokenizer": str.split, "token_pattern": None}),
    ({"vocabulary": ["win", "bread", "never"]}, {"vocabulary": ["win", "bread", "never"]}),
]


def assert_alike(a: TextNB, b: TextNB, atol: float = 1e-10) -> None:
    np.testing.assert_allclose(a.predict_proba(Z), b.predict_proba(Z), rtol=0, atol=atol)


@every("model", MODELS)
@every("ours,theirs", RULES)
def test_equals_a_vectoriser_and_a_classifier(model: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    mine = TextNB(model, **ours).fit(X, Y)  # type: ignore[arg-type]
    pipeline = make_pipeline(CountVectorizer(**theirs), MODELS[model]()).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), pipeline.predict_proba(Z), atol=1e-9)
    expected = pipeline[0].transform(X).toarray()
    vocabulary = mine.vocabulary_
    columns = [vocabulary[token] for token in pipeline[0].get_feature_names_out()]
    total = np.asarray(mine.token_count_[:, columns])
    for k, label in enumerate(mine.classes_):
        counts = expected[label == Y] > 0 if model == "bernoulli" else expected[label == Y]
        np.testing.assert_array_equal(total[k], counts.sum(axis=0))


def test_polya_is_the_predictive_multinomial() -> None:
    from candide import MultinomialNB

    vectoriser = CountVectorizer()
    counts = vectoriser.fit_transform(X)
    other = MultinomialNB(estimate="predictive", alpha=0.5).fit(counts, Y)
    mine = TextNB("polya", alpha=0.5).fit(X, Y)
    np.testing.assert_allclose(mine.predict_proba(Z), other.predict_proba(vectoriser.transform(Z)), atol=1e-9)


KINDS: list[dict[str, Any]] = [
    {"buckets": 14},
    {"family": "multinomial", "ngrams": 2},
    {"family": "bernoulli"},
    {"family": "complement"},
    {"family": "multinomial", "buckets": 12},
    {"family": "multinomial", "vocabulary": ["win", "bread", "never"]},
]
every_kind = pytest.mark.parametrize("how", KINDS, ids=str)


@every_kind
def test_parts_add_up(how: dict[str, Any]) -> None:
    whole = TextNB(**how).fit(X, Y)
    parts = [TextNB(**how).fit(X[i::3], Y[i::3]) for i in range(3)]
    assert_alike(merge(parts), whole, 1e-7)
    stream = TextNB(**how)
    for begin in range(0, len(X), 50):
        stream.partial_fit(X[begin : begin + 50], Y[begin : begin + 50])
    assert_alike(stream.refit(), whole, 1e-7)


@every_kind
def test_forgotten_texts_were_never_there(how: dict[str, Any]) -> None:
    model = TextNB(**how).fit(X, Y).forget(X[100:], Y[100:])
    expected = TextNB(**how).fit(X[:100], Y[:100])
    assert_alike(model.refit(), expected, 1e-7)
    if "buckets" not in how:
        assert set(model.vocabulary_) == set(expected.vocabulary_)


@every_kind
def test_the_order_of_texts_does_not_matter(how: dict[str, Any]) -> None:
    order = np.random.default_rng(5).permutation(len(X))
    shuffled = TextNB(**how).fit([X[i] for i in order], Y[order])
    assert_alike(shuffled, TextNB(**how).fit(X, Y), 1e-7)


@every_kind
def test_threads_change_nothing(how: dict[str, Any]) -> None:
    one, two = (TextNB(n_threads=n, **how).fit(X, Y).predict_proba(Z) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("how", [{"family": "multinomial"}, {"family": "bernoulli"}], ids=str)
def test_weights_and_discounts(how: dict[str, Any]) -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    assert_alike(TextNB(**how).fit(X, Y, weight), TextNB(**how).fit([X[i] for i in rows], Y[rows]))
    assert_alike(TextNB(**how).fit(X, Y).discount(0.5), TextNB(**how).fit(X, Y, np.full(len(X), 0.5)))


def test_leaving_one_out_is_a_refit_with_the_same_vocabulary() -> None:
    model = TextNB("multinomial").fit(X, Y)
    vocabulary = list(model.vocabulary_)
    left = model.leave_one_out(X, Y)
    for i in range(0, len(X), 40):
        rest = [j for j in range(len(X)) if j != i]
        refit = TextNB("multinomial", vocabulary=vocabulary).fit([X[j] for j in rest], Y[rest])
        np.testing.assert_allclose(left[i], refit.predict_log_proba([X[i]])[0], atol=1e-9)


def many_words(n: int, n_words: int, n_classes: int, seed: int) -> tuple[list[str], Any]:
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"w{i}" for i in rng.integers(0, n_words, 30)) for _ in range(n)]
    return texts, np.array([f"c{i % n_classes}" for i in range(n)])


@pytest.mark.parametrize("model", ["multinomial", "bernoulli", "complement"])
def test_few_words_and_many_add_up(model: Any) -> None:
    """Tables that are dense, and sparse; and a model that was merged into another is as it was."""
    few, many = many_words(50, 200, 3, 0), many_words(4000, 60_000, 100, 1)
    small, large = (TextNB(model, compute_loo=False).fit(*part) for part in (few, many))
    assert isinstance(small.token_count_, np.ndarray)
    assert not isinstance(large.token_count_, np.ndarray)
    new = many_words(10, 60_000, 2, 2)[0]
    whole = (
        TextNB(model, compute_loo=False).fit(few[0] + many[0], np.concatenate([few[1], many[1]])).predict_log_proba(new)
    )
    for one, other in ((small, large), (large, small)):
        both = copy.deepcopy(one).merge(other)
        np.testing.assert_allclose(both.predict_log_proba(new), whole, rtol=1e-9)
        both.forget(*few)
        np.testing.assert_allclose(both.predict_log_proba(new), large.predict_log_proba(new), rtol=1e-9)


def test_new_classes_and_tokens_join() -> None:
    model = TextNB("multinomial").fit(X, Y)
    model.partial_fit(["zebra lion zoo"] * 3, ["animals"] * 3)
    assert model.predict(["a zebra"]).tolist() == ["animals"]
    assert "zebra" in model.vocabulary_


CONTAINERS = {
    "array": np.array,
    "objects": lambda texts: np.array(texts, dtype=object),
    "one column": lambda texts: np.array(texts, dtype=object)[:, None],
    "pandas": pd.Series,
    "arrow in pandas": lambda texts: pd.Series(texts, dtype="string[pyarrow]"),
    "polars": lambda texts: pl.Series("t", texts),
    "arrow": pa.array,
    "large arrow": lambda texts: pa.array(texts, pa.large_string()),
    "chunks": lambda texts: pa.chunked_array([texts[:10], texts[10:]]),
    "a generator": lambda texts: (text for text in texts),
    "a tuple": tuple,
}


@every("make", CONTAINERS.values())
def test_texts_from_anything(make: Any) -> None:
    np.testing.assert_array_equal(
        TextNB("multinomial").fit(make(X), Y).predict_proba(make(Z)), TextNB("multinomial").fit(X, Y).predict_proba(Z)
    )


@pytest.mark.parametrize("how", [{}, {"family": "multinomial"}], ids=str)
def test_odd_texts(how: dict[str, Any]) -> None:
    """Nothing to learn from them, and nothing breaks; where all is unknown, the classes' shares are predicted."""
    odd = ["", "   ", "?!...", "\0", "a\0b", "\ud800 half", "😀😀", None, np.nan, "x" * 100_000, "ſ ﬁ İ Σς"]
    labels = np.array(["sport", "food"] * 6)[: len(odd)]
    model = TextNB(**how).fit([*X, *odd], np.concatenate([Y, labels]))
    probability = model.predict_proba([*odd, "qqq"])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    if how:
        np.testing.assert_allclose(probability[[0, 1, 7, 8]], np.tile(model.class_prior_, (4, 1)), atol=1e-12)


@every(
    "texts,message",
    [
        ("one text", "single str"),
        (b"bytes", "single bytes"),
        ([b"bytes", "text"], "row 0 .* bytes"),
        (["text", 7], "row 1 .* int"),
        ({"a": ["x"]}, "dict"),
        (pd.DataFrame({"a": ["x", "y"]}), "DataFrame"),
        (np.zeros((2, 3)), "shape"),
        (5, "int"),
        (pa.array([1, 2]), "int64"),
    ],
)
def test_what_is_no_text_is_refused(texts: Any, message: str) -> None:
    model = TextNB("multinomial").fit(X, Y)
    before = model.predict_proba(Z)
    with pytest.raises(InputError, match=message):
        model.partial_fit(texts, ["sport", "food"])
    with pytest.raises(InputError, match=message):
        model.predict(texts)
    np.testing.assert_array_equal(model.predict_proba(Z), before)


@every(
    "settings,message",
    [
        ({"family": "poisson"}, "family is 'poisson'"),
        ({"family": "multinomial", "ngrams": (3, 2)}, "ngrams"),
        ({"family": "multinomial", "ngrams": "two"}, "ngrams"),
        ({"family": "multinomial", "analyzer": "line"}, "analyzer"),
        ({"family": "multinomial", "vocabulary": ["a"], "buckets": 10}, "vocabulary and buckets"),
        ({"family": "multinomial", "vocabulary": ["aa", "aa"]}, "twice"),
        ({"family": "multinomial", "buckets": 99}, "buckets is 99"),
        ({"family": "multinomial", "alpha": -1}, "alpha"),
        ({"family": "multinomial", "min_length": 0}, "min_length"),
        ({"family": "auto", "ngrams": 2}, "ngrams"),
        ({"family": "auto", "vocabulary": np.array(["win", "cash"])}, "vocabulary"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TextNB(**settings).fit(X, Y)


def test_labels_must_match() -> None:
    with pytest.raises((InputError, ValueError)):
        TextNB().fit(X, Y[:5])
    with pytest.raises(CandideError):
        TextNB().fit([], [])


def test_refusals_of_the_algebra() -> None:
    model = TextNB("multinomial").fit(X, Y)
    with pytest.raises(ForgetError):
        model.forget(["never seen words"], ["sport"])
    with pytest.raises(MergeError):
        model.merge(TextNB("multinomial", ngrams=2).fit(X, Y))
    with pytest.raises(MergeError):
        TextNB("multinomial", buckets=10).fit(X, Y).merge(TextNB("multinomial", buckets=11).fit(X, Y))


@every_kind
def test_copies_and_pickles(how: dict[str, Any]) -> None:
    model = TextNB(**how).fit(X, Y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_alike(twin, model, 0.0)
        twin.partial_fit(Z, ["new"] * len(Z))
    assert "new" not in model.classes_
    assert clone(model).get_params() == model.get_params()


def test_strange_texts_are_untypical() -> None:
    usual, strange = diagnostics.typicality(
        TextNB().fit(X, Y), ["match goal team player", "bread tax goal coach loan soup"]
    )
    assert usual > strange


def test_auto_is_honest_without_a_test_set() -> None:
    model = TextNB().fit(X, Y)
    assert model.loo_.accuracy == pytest.approx(model.score(*corpus(500, seed=9)), abs=0.07)
    assert model.loo_.log_loss < 0.6
    assert model.predict(["goal and league"]).tolist() == ["sport"]


@every("model", ["auto", "multinomial", "bernoulli", "polya"])
def test_texts_are_drawn(model: Any) -> None:
    fitted = TextNB(model).fit(X, Y)
    texts, labels = fitted.sample(40, random_state=0)
    known = set(fitted.vocabulary_)
    assert all(set(text.split()) <= known for text in texts)
    assert fitted.score(texts, labels) > 0.6


def test_nothing_is_drawn_without_names_or_a_density() -> None:
    with pytest.raises(ParameterError, match="buckets"):
        TextNB("multinomial", buckets=8).fit(X, Y).sample()
    with pytest.raises(NotADensity):
        TextNB("complement").fit(X, Y).sample()


def test_a_forgotten_text_leaves_the_weights_alone() -> None:
    """They hold no text; fitting them again for each message would cost more than all else."""
    model = TextNB().fit(X, Y)
    weights: Any = model.model_.classifier.fitted.views.weights.weight
    model.forget(X[:1], Y[:1])
    assert model.model_.classifier.fitted.views.weights.weight is weights
    assert model.staleness_ > 0


def test_auto_without_its_rows_predicts_the_same() -> None:
    model = TextNB().fit(X, Y)
    assert_alike(TextNB(subsample=0).fit(X, Y), model, 1e-12)


def test_the_textbooks_unseen_word() -> None:
    """Without smoothing "learning" has probability 0 in both classes, 0/0; Laplace's rule answers."""
    texts, labels = ["buy cheap pills", "cheap watches", "meeting at noon"], ["spam", "spam", "ham"]
    plain = TextNB(
        "multinomial", alpha=0, vocabulary=["buy", "cheap", "pills", "watches", "meeting", "at", "noon", "learning"]
    )
    probability = plain.fit(texts, labels).predict_proba(["learning"])
    assert np.isfinite(probability).all()
    smooth = TextNB("multinomial", vocabulary=list(plain.vocabulary_)).fit(texts, labels)
    joint = smooth.predict_joint_log_proba(["learning"])[0]
    np.testing.assert_allclose(np.exp(joint), [1 / 3 * 1 / (3 + 8), 2 / 3 * 1 / (5 + 8)])


def test_win_five_times_and_free_three_times() -> None:
    """Counts matter to the multinomial model, presence alone to the Bernoulli model."""
    texts, labels = ["win free win", "free lunch", "lunch with you", "win the match"], ["spam", "spam", "ham", "ham"]
    once, often = "win free", "win " * 5 + "free " * 3
    multinomial, bernoulli = (TextNB(model).fit(texts, labels) for model in ("multinomial", "bernoulli"))  # type: ignore[arg-type]
    assert multinomial.predict_proba([often])[0, 1] > multinomial.predict_proba([once])[0, 1]
    np.testing.assert_allclose(bernoulli.predict_proba([often]), bernoulli.predict_proba([once]))
    odds = np.log(multinomial.parameters()["probability"].reshape(2, -1))
    places = [multinomial.vocabulary_[word] for word in ("win", "free")]
    expected = (odds[1] - odds[0])[places] @ [5, 3]
    found = np.diff(multinomial.predict_joint_log_proba([often])[0])[0]
    assert found == pytest.approx(expected)


def test_few_texts_are_cut_once_and_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept from the first look changes nothing, and is gone when it was used."""
    texts = [f"{word} {word}{i % 3} and {i % 7}" for i in range(20) for word in ("spam", "ham", "eggs")]
    labels = ["a", "b", "c"] * 20
    few = TextNB().fit(texts, labels)
    assert few.model_.classifier.state.sample.data.counted == []
    monkeypatch.setattr("candide.kernels.tokens._FEW", -1)
    np.testing.assert_array_equal(TextNB().fit(texts, labels).predict_proba(texts), few.predict_proba(texts))


@pytest.mark.parametrize("settings", [{}, {"refine": True}, {"subsample": 0, "compute_loo": True}], ids=str)
@pytest.mark.parametrize("copies", [1, 10])
def test_one_text_of_one_class(settings: dict[str, Any], copies: int) -> None:
    model = TextNB(**settings).fit(["free entry"] * copies, ["spam"] * copies)
    assert model.predict(["lunch"]).tolist() == ["spam"]
    assert (model.loo_.accuracy, model.loo_.log_loss) == (1.0, 0.0)


@every(
    "settings,message",
    [
        ({"stop_words": "english"}, "stop_words is 'english'.*list of words"),
        ({"stop_words": ["the", 5]}, "stop_words is .*5"),
        ({"stop_words": 5}, "stop_words is 5"),
        ({"buckets": 0}, "buckets is 0.*from 1 to 30"),
        ({"buckets": 31}, "buckets is 31"),
        ({"pattern": "("}, "not a regular expression"),
        ({"pattern": 5}, "not a regular expression"),
        ({"pattern": "(a)(b)"}, "with 2 capturing groups"),
        ({"tokenizer": 5}, "tokenizer is 5"),
        ({"tokenizer": lambda _: None}, "tokenizer returned None"),
        ({"tokenizer": lambda _: [1]}, r"tokenizer returned \[1\]"),
        ({"alpha": None}, "alpha is None; expected a non-negative number, 'evidence' or 'loo'; the default is 1"),
        ({"family": "auto", "alpha": None}, "alpha is None, but family='auto' .* or omit alpha, whose default is 1.0"),
        ({"family": "complement", "alpha": "evidence"}, "alpha is 'evidence'.*alpha='loo'"),
    ],
)
def test_settings_that_mean_nothing(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CandideError, match=message):
        TextNB(**{"family": "multinomial", **settings}).fit(["win cash", "see you"], ["spam", "ham"])


def test_lists_of_words_are_no_texts() -> None:
    model = TextNB("multinomial").fit(["win cash", "see you"], ["spam", "ham"])
    with pytest.raises(InputError, match="Arrow values of type list"):
        model.predict(pa.array([["win", "cash"]]))
