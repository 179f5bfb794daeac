"""A loaded model predicts and learns as the saved one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiers import fast

from candide import CategoricalNB, TextNB, merge
from candide.exceptions import ModelFileError
from candide.storage.content import Content, EncodedContent
from candide.storage.json_form import from_json_lines, to_json_lines
from candide.storage.models import read_model, write_model

from .example_models import EXAMPLES, Case, texts
from .storing import content_of, estimator_of, stored

REFINED = pytest.param("text refined", marks=pytest.mark.slow)
CASES = pytest.mark.parametrize("name", [REFINED if "refined" in name else name for name in EXAMPLES])
# Texts without labels leave sums that no later text can be taken out of exactly.
LEARNING = pytest.mark.parametrize(
    "name",
    [
        REFINED if "refined" in name else name
        for name in EXAMPLES
        if "half labelled" not in name and "ignored" not in name
    ],
)


ALONE = ["gaussian beta", "multinomial loo", "categorical", "table order 1", "table of texts", "text", "text tfidf"]


@CASES
def test_predictions_are_the_same_bit_for_bit(name: str, tmp_path: Path) -> None:
    assert_predicts_the_same(name, tmp_path, sample=True)


@pytest.mark.parametrize("name", fast(ALONE, EXAMPLES))
def test_predictions_are_the_same_without_rows(name: str, tmp_path: Path) -> None:
    assert_predicts_the_same(name, tmp_path, sample=False)


def assert_predicts_the_same(name: str, tmp_path: Path, sample: bool) -> None:
    case = EXAMPLES[name]()
    again = stored(case.model, tmp_path / "model.candide", sample=sample)
    for rows in (case.X, case.more[0]):
        np.testing.assert_array_equal(again.predict_proba(rows), case.model.predict_proba(rows))
        np.testing.assert_array_equal(again.predict(rows), case.model.predict(rows))
    assert again.classes_.dtype == case.model.classes_.dtype
    assert again.get_params().keys() == case.model.get_params().keys()


# A default table and refined texts are long to write.
@pytest.mark.parametrize("name", fast([name for name in EXAMPLES if name not in ("table", "text refined")], EXAMPLES))
def test_text_is_the_same_model(name: str) -> None:
    case = EXAMPLES[name]()
    before = content_of(case.model, sample=True)
    lines = list(to_json_lines(before))
    after = from_json_lines("".join(lines).splitlines(keepends=True))
    assert_same(before, after)
    assert list(to_json_lines(after)) == lines
    np.testing.assert_array_equal(estimator_of(after).predict_proba(case.X), case.model.predict_proba(case.X))


@pytest.mark.parametrize("name", ["gaussian names", "categorical kept", "table", "text three classes"])
def test_a_file_is_written_again_as_it_was(name: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.candide", tmp_path / "second.candide"
    write_model(first, content_of(EXAMPLES[name]().model, sample=True))
    write_model(second, read_model(first))
    assert first.read_bytes() == second.read_bytes()


def assert_same(before: Content, after: Content) -> None:
    one, other = EncodedContent.of(before), EncodedContent.of(after)
    assert one._replace(arrays={}) == other._replace(arrays={})
    assert one.arrays.keys() == other.arrays.keys()
    for name, array in one.arrays.items():
        np.testing.assert_array_equal(other.arrays[name], array, err_msg=name, strict=True)


@LEARNING
def test_a_loaded_model_forgets_and_learns_as_the_saved_one(name: str, tmp_path: Path) -> None:
    case = EXAMPLES[name]()
    again = stored(case.model, tmp_path / "model.candide", sample=True)
    for model in (case.model, again):
        model.forget(case.X[:5], case.y[:5])
    np.testing.assert_array_equal(again.predict_proba(case.X), case.model.predict_proba(case.X))
    for model in (case.model, again):
        model.partial_fit(*case.more)
    np.testing.assert_array_equal(again.predict_proba(case.X), case.model.predict_proba(case.X))


@LEARNING
def test_loaded_models_are_merged_as_the_saved_ones(name: str, tmp_path: Path) -> None:
    case, path = EXAMPLES[name](), tmp_path / "model.candide"
    again, other = stored(case.model, path, sample=True), estimator_of(read_model(path))
    expected = merge([case.model, EXAMPLES[name]().model])
    np.testing.assert_array_equal(merge([again, other]).predict_proba(case.X), expected.predict_proba(case.X))


@pytest.mark.parametrize("name", ["gaussian names", "table", "text", REFINED])
def test_without_rows_there_is_a_report_and_no_row(name: str, tmp_path: Path) -> None:
    case = EXAMPLES[name]()
    path = tmp_path / "model.candide"
    again = stored(case.model, path, sample=False, compute_loo=True)
    assert again.model_.classifier.state.sample is None
    assert again.loo_.as_dict() == case.model.loo_.as_dict()


def test_texts_are_in_the_file_only_if_asked_for(tmp_path: Path) -> None:
    case = EXAMPLES["text few buckets"]()
    path = tmp_path / "model.candide"
    stored(case.model, path, sample=True)
    assert b"the meeting is moved to lunch" in path.read_bytes()
    stored(case.model, path, sample=False)
    assert b"the meeting is moved to lunch" not in path.read_bytes()


def test_names_of_hashed_tokens_stay(tmp_path: Path) -> None:
    case: Case = texts(TextNB())
    again = stored(case.model, tmp_path / "model.candide", sample=False)
    assert set(again.top_features(3)["token"]) == set(case.model.top_features(3)["token"])


def test_what_became_of_texts_without_labels_stays(tmp_path: Path) -> None:
    case = EXAMPLES["text half labelled"]()
    assert stored(case.model, tmp_path / "model.candide", sample=False).unlabeled_ == case.model.unlabeled_


def test_functions_cannot_be_stored(tmp_path: Path) -> None:
    case = texts(TextNB("multinomial", tokenizer=str.split))
    with pytest.raises(
        ModelFileError, match=r"settings.tokenizer is the function str.split, but model files cannot contain"
    ):
        write_model(tmp_path / "model.candide", content_of(case.model, sample=False))
    assert not list(tmp_path.iterdir())


def test_half_characters_cannot_be_stored(tmp_path: Path) -> None:
    model = CategoricalNB().fit(np.array([["a"], ["\ud800"]], dtype=object), [0, 1])
    with pytest.raises(ModelFileError, match="unpaired surrogate and"):
        write_model(tmp_path / "model.candide", content_of(model, sample=False))
