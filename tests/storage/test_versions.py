"""Files of newer format versions are refused, and those of older versions are upgraded."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes
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
        match=rf"version is {CURRENT_VERSION + 1}, and this version of candide reads up to {CURRENT_VERSION}; install",
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

    new = upgrade(old, "0", {0: renamed, 1: lambda same: same, 2: lambda same: same})
    assert new.parts.keys() == document.parts.keys()
    assert new.decode().parts["plan"].family == document.decode().parts["plan"].family


def test_waves_of_version_1_take_columns_for_independent() -> None:
    rng = np.random.default_rng(0)
    X = {"x": rng.normal(size=200), "y": rng.normal(size=200), "z": rng.choice(["a", "b", "c"], 200)}
    model = NaiveBayes(compute_loo=False, keep_sample=False, absent="missing").fit(X, X["x"] * X["y"] > 0)
    document = EncodedContent.of(content_of(model, sample=False))
    old = document._replace(parts=deepcopy(document.parts), arrays=dict(document.arrays))
    for place, inputs in versions._fourier_inputs(old.parts, "model"):
        for name in ("covariance", "share"):
            del inputs[name], old.arrays[f"{place}.{name}"]
    again = estimator_of(upgrade(old, "1").decode())
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
