"""Texts in onnxruntime, which come as tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from storage.example_models import PROSE, TOPICS

from candide import TextNB
from candide.exceptions import ParameterError
from candide.kernels.layouts import Array

from .running import assert_agree, session_of

pytestmark = pytest.mark.onnx

TEXTS = [f"{text} {'again ' * (i % 4)}" for i, text in enumerate(PROSE * 4)]
ASKED = [*TEXTS, "win quux lunch lunch lunch", "", "quux"]


def padded(texts: list[str], cut: Any) -> Array:
    tokens = [cut(text) for text in texts]
    width = max(map(len, tokens))
    return np.array([row + [""] * (width - len(row)) for row in tokens], dtype=object)


@pytest.mark.parametrize(
    ("settings", "cutting"),
    [
        ({"family": "multinomial"}, {}),
        ({"family": "multinomial", "ngrams": 2}, {"ngram_range": (1, 2)}),
        ({"family": "multinomial", "weighting": "binary"}, {}),
        ({"family": "multinomial", "weighting": "log", "calibrate": "platt"}, {}),
        ({"family": "multinomial", "weighting": "tfidf", "min_df": 2, "max_features": 20}, {}),
        ({"family": "multinomial", "alpha": 0}, {}),
        ({"family": "bernoulli"}, {}),
        (
            {"family": "complement", "analyzer": "char_wb", "ngrams": (2, 3)},
            {"analyzer": "char_wb", "ngram_range": (2, 3)},
        ),
        ({"family": "complement", "calibrate": "isotonic"}, {}),
        ({"family": "polya"}, {}),
    ],
    ids=lambda part: "-".join(map(str, part.values())) or None,
)
def test_textbook_models_take_tokens(settings: dict[str, Any], cutting: dict[str, Any]) -> None:
    model = TextNB(**settings).fit(TEXTS, TOPICS * 4)
    cut = CountVectorizer(**cutting).build_analyzer()
    label, probabilities = session_of(model.to_onnx()).run(None, {"tokens": padded(ASKED, cut)})
    assert_agree(model, ASKED, label, probabilities)


@pytest.mark.parametrize("settings", [{"family": "multinomial"}, {"family": "bernoulli"}, {"family": "polya"}])
def test_texts_without_tokens(settings: dict[str, Any]) -> None:
    model = TextNB(**settings).fit(TEXTS, TOPICS * 4)
    _, probabilities = session_of(model.to_onnx()).run(None, {"tokens": np.empty((2, 0), dtype=object)})
    np.testing.assert_allclose(probabilities, model.predict_proba(["", ""]))


def test_what_has_no_graph_is_refused() -> None:
    with pytest.raises(ParameterError, match="stacks several feature sets"):
        TextNB().fit(TEXTS, TOPICS * 4).to_onnx()
    with pytest.raises(ParameterError, match="buckets=None"):
        TextNB("multinomial", buckets=10).fit(TEXTS, TOPICS * 4).to_onnx()
