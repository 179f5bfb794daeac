"""Estimators to files and back, by the functions of the storage room alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from candide import learners
from candide.learners.schema import Schema
from candide.learners.settings import DEFAULTS
from candide.model.classifier import Classifier
from candide.storage import Content, Provenance, read_model, write_model

LEARNED = ("plan", "state", "blend", "report", "token_names")


def content_of(model: Any, *, sample: bool) -> Content:
    """What is stored of an estimator."""
    own = model._model
    if not sample and own.state.sample is not None:
        own = own.without_sample(evaluate=True)
    names, schema = getattr(model, "feature_names_in_", None), getattr(model, "_schema", None)
    settings = {name: value for name, value in model.get_params().items() if value is not DEFAULTS.get(name, model)}
    parts = {
        **own.parts(),
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else tuple(names.tolist()),
        "schema": None if schema is None else vars(schema) | {"backend": schema.backend and schema.backend.value},
        "unlabelled": getattr(model, "unlabelled_", None),
    }
    columns = parts["feature_names"] or parts["n_features"]
    return Content(type(model).__name__, settings, parts, Provenance.now(own.state.rows.sum(), columns))


def estimator_of(content: Content) -> Any:
    """The estimator again."""
    import narwhals as nw
    import numpy as np

    model = getattr(learners, content.kind)(**content.settings)
    parts = dict(content.parts)
    model._model = Classifier(**{name: parts.pop(name) for name in LEARNED})
    model.n_features_in_ = parts["n_features"]
    if parts["feature_names"] is not None:
        model.feature_names_in_ = np.array(parts["feature_names"], dtype=object)
    if parts["schema"] is not None:
        backend = parts["schema"]["backend"]
        model._schema = Schema(**parts["schema"] | {"backend": backend and nw.Implementation(backend)})
    if parts["unlabelled"] is not None:
        model.unlabelled_ = parts["unlabelled"]
    return model


def stored(model: Any, path: Path, *, sample: bool) -> Any:
    """A model, written and read again."""
    write_model(path, content_of(model, sample=sample))
    return estimator_of(read_model(path))
