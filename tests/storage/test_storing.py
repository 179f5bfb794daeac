"""What save and load add to the model file."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline

import candide
from candide import diagnostics, exceptions
from candide.storage.encoder import Encoder
from candide.storage.models import content_of, write_model

MAIL = ["win cash now", "win a prize", "see you at noon", "lunch at noon"] * 5
LABELS = ["spam", "spam", "ham", "ham"] * 5
SECRET = "a zeppelin leaves for the south at nine in the morning"


def test_an_estimator_comes_back_as_one(tmp_path: Path) -> None:
    model = candide.TextNB().fit(MAIL, LABELS)
    model.save(tmp_path / "mail.candide")
    loaded = candide.load(tmp_path / "mail.candide")
    assert type(loaded) is candide.TextNB
    assert is_classifier(loaded)
    assert clone(loaded).get_params() == model.get_params()
    assert type(pickle.loads(pickle.dumps(loaded))) is candide.TextNB
    assert make_pipeline(loaded).predict(MAIL[:2]).tolist() == ["spam", "spam"]
    np.testing.assert_array_equal(loaded.predict_proba(MAIL), model.predict_proba(MAIL))
    assert loaded.loo_.accuracy == model.loo_.accuracy


def test_training_rows_stay_out_unless_asked_for(tmp_path: Path) -> None:
    model = candide.TextNB().fit([*MAIL, SECRET], [*LABELS, "spam"])
    model.save(tmp_path / "without.candide")
    model.save(tmp_path / "with.candide", sample=True)
    assert not candide.load(tmp_path / "without.candide").model_.has_training_rows
    assert candide.load(tmp_path / "with.candide").model_.has_training_rows
    assert SECRET.encode() not in (tmp_path / "without.candide").read_bytes()
    assert SECRET.encode() in (tmp_path / "with.candide").read_bytes()
    assert model.model_.has_training_rows


def test_parameters_that_nobody_gave_stay_so(tmp_path: Path) -> None:
    model = candide.MultinomialNB().fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    model.save(tmp_path / "m.candide")
    assert candide.load(tmp_path / "m.candide").set_params(estimate="mle").fit([[1.0, 0.0]], ["a"]).alpha is None
    assert repr(candide.load(tmp_path / "m.candide")) == "MultinomialNB()"


def test_none_that_somebody_gave_stays(tmp_path: Path) -> None:
    candide.TextNB(buckets=None).fit(MAIL, LABELS).save(tmp_path / "m.candide")
    assert candide.load(tmp_path / "m.candide").buckets is None


def test_frames_come_back_in_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 8.0, 9.0] * 5, "b": ["x", "y"] * 10})
    model = candide.NaiveBayes().fit(frame, ["low", "low", "high", "high"] * 5)
    model.save(tmp_path / "t.candide")
    drawn, _ = candide.load(tmp_path / "t.candide").sample(3, random_state=0)
    assert isinstance(drawn, pd.DataFrame)
    assert list(drawn.columns) == ["a", "b"]


def test_a_vocabulary_from_a_file_needs_the_file_no_more(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("win\nnoon\n")
    model = candide.TextNB("multinomial", vocabulary=words).fit(MAIL, LABELS)
    model.save(tmp_path / "m.candide")
    words.unlink()
    again = candide.load(tmp_path / "m.candide").partial_fit(["win noon"], ["spam"])
    assert again.vocabulary_ == {"win": 0, "noon": 1}


def test_given_parameters_stay_given(tmp_path: Path) -> None:
    model = candide.BernoulliNB.from_parameters([[0.2, 0.9], [0.7, 0.1]], classes=["a", "b"])
    model.save(tmp_path / "m.candide")
    loaded = candide.load(tmp_path / "m.candide")
    for one in (model, loaded):
        with pytest.raises(exceptions.ParameterError, match="given"):
            diagnostics.log_marginal_likelihood(one)


def test_a_setting_that_no_learner_has_is_refused(tmp_path: Path) -> None:
    model = candide.GaussianNB().fit([[1.0], [2.0]], ["a", "b"])
    content = content_of(model.model_)
    content.settings["colour"] = "red"
    write_model(tmp_path / "m.candide", content)
    with pytest.raises(exceptions.ModelFileError, match="'colour'"):
        candide.load(tmp_path / "m.candide")


def test_tokenizers_are_refused(tmp_path: Path) -> None:
    model = candide.TextNB("multinomial", tokenizer=str.split).fit(MAIL, LABELS)
    with pytest.raises(exceptions.ModelFileError, match="tokenizer"):
        model.save(tmp_path / "m.candide")
    assert not list(tmp_path.iterdir())


def test_sparse_tables_that_are_too_wide_are_refused_when_written() -> None:
    with pytest.raises(exceptions.ModelFileError, match="fewer buckets"):
        Encoder().tree(csr_array(([1.0], [0], [0, 1]), shape=(1, 1 << 28)), "counts")


def test_a_first_question_needs_no_tables_of_all_tokens_and_has_the_same_answer(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(3_000)]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 20)) for _ in range(400)]
    labels = rng.choice(["a", "b", "c"], 400)
    candide.TextNB().fit(texts, labels).save(tmp_path / "m.candide")
    loaded = candide.load(tmp_path / "m.candide")
    first, second = loaded.predict_proba(texts[:3]), loaded.predict_proba(texts[:3])
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first[0], first[1])
