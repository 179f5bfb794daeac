"""The tokens that speak for a class: as the model itself scores them, by name."""

import pickle

import numpy as np
import pytest
from tiers import every

from candide import TextNB
from candide.exceptions import ParameterError

SPAM = ["win a free prize now", "free entry, win cash", "claim your free cash prize", "win win win cash now"]
HAM = ["see you at lunch", "lunch is at noon", "are you home at noon", "call me when you are home"]
TEXTS, LABELS = SPAM * 3 + HAM * 3, ["spam"] * 12 + ["ham"] * 12


@every("kind", ["auto", "multinomial", "bernoulli", "complement", "polya"])
def test_each_class_by_its_own_words(kind: str) -> None:
    table = TextNB(kind).fit(TEXTS, LABELS).top_features(3, "words")
    of = {label: set(table["token"][table["class"] == label]) for label in ("ham", "spam")}
    assert of["spam"] <= {"win", "free", "cash", "prize", "now", "a", ",", "claim", "your", "entry"}
    assert of["ham"] <= {"you", "at", "lunch", "noon", "home", "are", "is", "see"}
    assert (table["bits"] > 0).all()


def test_bits_are_what_the_token_adds_to_the_log_odds() -> None:
    model = TextNB("multinomial").fit(TEXTS, LABELS)
    table = model.top_features(5)
    for label, token, bits in zip(table["class"], table["token"], table["bits"], strict=True):
        with_it, without = model.predict_joint_log_proba([token, ""])
        added = with_it - without
        own = (added - added.mean())[model.classes_.tolist().index(label)]
        assert own / np.log(2) == pytest.approx(bits)


def test_bits_of_auto_are_those_of_a_text_of_one_token() -> None:
    model = TextNB().fit(TEXTS, LABELS)
    table = model.top_features(3, "words")
    for label, token, bits in zip(table["class"], table["token"], table["bits"], strict=True):
        rows = model.model_.spec.encode([token, ""])
        by_feature_set = model.model_.classifier.likelihood.token_bin_scores(rows, model.model_.kernels, ("words",))
        views = [i for i, name in enumerate(model.model_.classifier.fitted.views.names) if name.feature_set == "words"]
        added = (
            model.model_.classifier.fitted.views.weights.take(views).scores(by_feature_set)[0]
            - model.model_.classifier.fitted.views.weights.bias
        )
        own = (added - added.mean())[model.classes_.tolist().index(label)] * np.sqrt(2.0) / np.log(2.0)
        assert own == pytest.approx(bits)


def test_hashed_tokens_have_names_while_there_are_texts_and_after() -> None:
    model, small = TextNB().fit(TEXTS, LABELS), TextNB(subsample=0).fit(TEXTS, LABELS)
    table = model.top_features(30)
    assert {"pairs of words", "4 or 5 characters"} <= set(table["feature_set"])
    assert not any(str(token).startswith("bucket") for token in table["token"])
    assert "free" in set(table["token"]) or "win " in set(table["token"])
    for other in (small, pickle.loads(pickle.dumps(small))):
        again = other.top_features(20)
        assert not any(str(token).startswith("bucket") for token in again["token"])
    assert small.prune(max_tokens=100_000).top_features(20)["token"].tolist() == again["token"].tolist()
    # What came later has none.
    small.partial_fit(["zebra crossing"] * 2, ["ham"] * 2).discount(0.5)
    assert "zebra" in small.top_features(30, "words")["token"]
    assert any(str(token).startswith("bucket") for token in small.top_features(30, "pairs of words")["token"])


def test_names_equal_those_of_a_model_that_keeps_them() -> None:
    hashed = TextNB("multinomial", buckets=20, ngrams=2).fit(TEXTS, LABELS).top_features(5)
    exact = TextNB("multinomial", ngrams=2).fit(TEXTS, LABELS).top_features(5)
    assert set(hashed["token"]) <= set(TextNB("multinomial", ngrams=2).fit(TEXTS, LABELS).vocabulary_)
    assert hashed["count"].tolist() == exact["count"].tolist()


def test_one_class_no_tokens_and_strange_looks() -> None:
    assert TextNB("multinomial").fit(TEXTS[:3], LABELS[:3]).top_features().n_rows == 0
    assert TextNB().fit(["", "...", ""], ["a", "b", "b"]).top_features().n_rows >= 0
    with pytest.raises(ParameterError, match="feature_set is 'verbs'; expected one of 'words'"):
        TextNB().fit(TEXTS, LABELS).top_features(feature_set="verbs")
    with pytest.raises(ParameterError, match="n is 0"):
        TextNB().fit(TEXTS, LABELS).top_features(0)


def test_looks_can_be_pinned() -> None:
    model = TextNB(feature_sets=["4 or 5 characters", "words"]).fit(TEXTS, LABELS)
    assert list(dict.fromkeys(model.summary()["feature_set"])) == ["words", "4 or 5 characters"]
    assert TextNB(feature_sets=["places"]).fit(TEXTS, LABELS).predict(["win cash"]).tolist() == ["spam"]
    for wrong in ("words", [], ["verbs"]):
        with pytest.raises(ParameterError, match=r"expected None \(all of them\) or a list of 'words'"):
            TextNB(feature_sets=wrong).fit(TEXTS, LABELS)
    with pytest.raises(ParameterError, match="omit feature_sets, or pass family='auto'"):
        TextNB("multinomial", feature_sets=["words"]).fit(TEXTS, LABELS)
