"""Which words are listed for a class, in which order, and which of them are called leaks."""

from __future__ import annotations

import numpy as np
import pytest

from candide import CategoricalNB, TextNB, diagnostics

# Intents of a bank's customers: eight are about cards. Each has a word of its own, in some of its texts.
CARDS = ["arrival", "blocked", "stolen", "expired", "swallowed", "linking", "virtual", "spare"]
OTHERS = ["loan", "salary", "mortgage", "fee", "limit", "age", "tax", "rate", "cheque", "branch", "app", "name"]
FILLER = ["please", "can", "you", "tell", "me", "about", "now", "today", "where", "is", "it", "help"]


def _texts(own_share: float = 0.3, per_class: int = 30) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for place, own in enumerate([*CARDS, *OTHERS]):
        for _ in range(per_class):
            words = ["my", "card"] if place < len(CARDS) else ["my"]
            words += rng.choice(FILLER, 3).tolist()
            words += [own] if rng.random() < own_share else []
            # Half of the classes mostly ask, the others mostly do not.
            asks = rng.random() < (0.9 if place % 2 else 0.4)
            texts.append(" ".join(words) + ("?" if asks else " don't"))
            labels.append(f"{own}_question")
    return texts, labels


@pytest.fixture(scope="module")
def model() -> TextNB:
    return TextNB().fit(*_texts())


def test_a_word_of_many_classes_does_not_lead() -> None:
    model = TextNB().fit(*_texts(0.15, per_class=60))
    found = model.top_features(3, "words")
    first = {label: found["token"][found["class"] == label][0] for label in model.classes_.tolist()}
    assert first == {label: label.removesuffix("_question") for label in first}


def test_punctuation_is_not_listed(model: TextNB) -> None:
    assert not {"?", "'"} & set(model.top_features(20, "words")["token"].tolist())


def test_punctuation_that_tells_the_class_is_listed() -> None:
    texts, labels = _texts()
    texts = [f"{text} £" if label == "fee_question" else text for text, label in zip(texts, labels, strict=True)]
    found = TextNB().fit(texts, labels).top_features(2, "words")
    assert "£" in found["token"][found["class"] == "fee_question"].tolist()


@pytest.mark.parametrize("family", ["auto", "multinomial", "bernoulli"])
def test_the_order_is_that_of_the_number_shown(family: str) -> None:
    found = TextNB(family).fit(*_texts()).top_features(8)
    for label in set(found["class"].tolist()):
        scores = found["score"][found["class"] == label]
        assert (np.diff(scores) <= 0).all()
        assert (scores > 0).all()
        assert (scores <= 1).all()


def test_values_of_columns_are_ordered_alike() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 6, 600)
    common = np.where(y < 5, "usual", "other").astype(object)
    own = np.where(rng.random(600) < 0.5, np.array(list("abcdef"), dtype=object)[y], "none")
    found = diagnostics.top_features(CategoricalNB().fit(np.column_stack([common, own]), y), 4)
    for k in range(5):
        rows = found["class"] == k
        assert (np.diff(found["score"][rows]) <= 0).all()
        assert found["value"][rows][0] == "abcdef"[k]


def test_the_report_shows_the_number_that_orders(model: TextNB) -> None:
    found = model.report()
    assert found.features.top_features is not None
    scores = found.as_dict()["top_features"]
    assert "score" in str(scores)
    best = model.top_features(1, "words")["score"][0]
    assert f">{100 * best:.1f}" in found.html()


def test_honest_key_words_are_no_leak() -> None:
    """Each class has a word of its own, in about six of ten of its texts."""
    found = TextNB().fit(*_texts(0.6)).report()
    assert [concern for concern in found.warnings if concern.topic == "leakage"] == []


def test_a_word_that_decides_a_whole_class_is_one() -> None:
    texts, labels = _texts()
    texts = [
        f"{text} zzspare" if label == "spare_question" else text for text, label in zip(texts, labels, strict=True)
    ]
    leaks = [one for one in TextNB().fit(texts, labels).report().warnings if one.topic == "leakage"]
    assert [one.names for one in leaks] == [("zzspare",)]
