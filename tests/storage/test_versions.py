"""Files of newer format versions are refused, and those of older versions are upgraded."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from candide import GaussianNB, NaiveBayes
from candide.exceptions import ModelFileError
from candide.stacking.fourier_regression import FourierRegression
from candide.storage import content as versions
from candide.storage.container import CURRENT_VERSION
from candide.storage.content import EncodedContent, upgrade
from candide.storage.errors import InvalidContent
from candide.storage.models import read_model

from .example_models import EXAMPLES
from .storing import content_of, estimator_of
from .test_model_file import with_metadata
from .v1.make import FOLDER, MODELS, rows_of


@pytest.fixture(name="document")
def _document() -> EncodedContent:
    return EncodedContent.of(content_of(EXAMPLES["gaussian"]().model, sample=False))


def test_a_newer_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "model.candide"
    path.write_bytes((FOLDER / "gaussian.candide").read_bytes())
    with_metadata(path, version=str(CURRENT_VERSION + 1))
    with pytest.raises(
        ModelFileError,
        match=rf"version is {CURRENT_VERSION + 1}, but this version .* reads only up to {CURRENT_VERSION}; install",
    ):
        read_model(path)


@pytest.mark.parametrize("version", ["", "one", "-1", "1.5", "9" * 30, "١"])
def test_a_version_is_a_number(version: str, document: EncodedContent) -> None:
    with pytest.raises(InvalidContent, match="format version is"):
        upgrade(document, version)


def test_an_older_file_is_brought_to_the_version_of_now(document: EncodedContent) -> None:
    """Of a version 0 that never was, in which plans were called recipes."""
    parts = {("recipe" if name == "plan" else name): part for name, part in document.parts.items()}
    old = document._replace(parts=parts)

    def renamed(document: EncodedContent) -> EncodedContent:
        parts = {("plan" if name == "recipe" else name): part for name, part in document.parts.items()}
        return document._replace(parts=parts)

    new = upgrade(old, "0", {0: renamed} | dict.fromkeys(range(1, CURRENT_VERSION), lambda same: same))
    assert new.parts.keys() == document.parts.keys()
    assert new.decode().parts["plan"].family == document.decode().parts["plan"].family


def test_samples_of_version_3_had_a_budget_for_each_class() -> None:
    """Their thresholds become floors; below the lowest one, rows of all classes are there."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1_500, 3)), np.arange(1_500) % 5 // 3
    model = NaiveBayes(order=0, subsample=500, compute_loo=False).fit(X, y)
    document = EncodedContent.of(content_of(model, sample=True))
    old = document._replace(parts=deepcopy(document.parts), arrays=dict(document.arrays))
    sample, kept = old.parts["state"]["sample"], model.model_.state.sample
    assert kept is not None
    floor = sample.pop("thresholds")["floor"]
    old.arrays[floor["tensor"]] = kept.threshold + np.array([0, 9], dtype=np.uint64)
    sample |= {"threshold": floor, "budget": 1000}
    for plan in (old.parts["plan"], old.parts["blend"]["bound_spec"]):
        del plan["budget"]
        plan["sample_bytes"] = 1000
    again = upgrade(old, "3").decode().parts
    upgraded = again["state"].sample
    np.testing.assert_array_equal(upgraded.thresholds.floor, old.arrays[floor["tensor"]])
    assert upgraded.thresholds.overall == kept.threshold.min()
    assert upgraded.budget == again["plan"].budget == (3000, "bytes")
    assert upgraded.merge(kept).represented().tolist() == (2 * kept.represented()).tolist()


@pytest.mark.parametrize(
    ("old", "kind", "new"),
    [
        (True, "NaiveBayes", "auto"),
        (None, "NaiveBayes", "auto"),
        (False, "NaiveBayes", 0),
        (True, "GaussianNB", 100_000),
        (None, "GaussianNB", "auto"),
        (False, "GaussianNB", 0),
    ],
)
def test_keep_sample_became_subsample(old: bool | None, kind: str, new: object) -> None:
    model = (NaiveBayes() if kind == "NaiveBayes" else GaussianNB()).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    content = content_of(model, sample=False)
    content.settings.pop("subsample", None)
    content.settings["keep_sample"] = old
    assert estimator_of(content).subsample == new


def test_waves_of_version_1_take_columns_for_independent() -> None:
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=200), "y": rng.normal(size=200), "z": rng.choice(["a", "b", "c"], 200)}
    model = NaiveBayes(compute_loo=False, subsample=0, absent="missing").fit(X, X["x"] * X["y"] > 0)
    document = EncodedContent.of(content_of(model, sample=False))
    old = document._replace(parts=deepcopy(document.parts), arrays=dict(document.arrays))
    for place, inputs in versions._fourier_inputs(old.parts, "model"):
        for name in ("covariance", "share"):
            del inputs[name], old.arrays[f"{place}.{name}"]
    steps = {1: versions._from_1} | dict.fromkeys(range(2, CURRENT_VERSION), lambda same: same)
    again = estimator_of(upgrade(old, "1", steps).decode())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    some = again.predict_proba({"x": X["x"]})
    np.testing.assert_allclose(some.sum(axis=1), 1.0)
    views = [view for view in again.model_.classifier.fitted.views.views if isinstance(view, FourierRegression)]
    assert views
    for view in views:
        np.testing.assert_array_equal(view.features.inputs.covariance, 1.01 * np.eye(2))
        np.testing.assert_allclose(view.features.inputs.share, 1 / len(view.features.inputs.share))


def test_a_version_that_nobody_wrote_is_refused(document: EncodedContent) -> None:
    with pytest.raises(InvalidContent, match="which no version of candide writes"):
        upgrade(document, "0")


@pytest.mark.parametrize("name", list(MODELS))
def test_files_of_version_1_give_what_they_gave(name: str) -> None:
    content = read_model(FOLDER / f"{name}.candide")
    model, expected = estimator_of(content), json.loads((FOLDER / "expected.json").read_text("utf-8"))[name]
    answer = model.predict_proba(rows_of(name))
    np.testing.assert_allclose(answer, expected["probability"], rtol=1e-9, atol=1e-300)
    assert model.classes_.tolist() == expected["classes"]


@pytest.mark.parametrize("name", list(MODELS))
def test_stored_files_are_small(name: str) -> None:
    assert (FOLDER / f"{name}.candide").stat().st_size < 30_000
