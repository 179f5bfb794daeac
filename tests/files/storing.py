"""Models to files and back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from candide.estimators import from_model
from candide.storage import Content, read_model, write_model
from candide.storage.models import content_of as _content_of
from candide.storage.models import model_of


def content_of(model: Any, *, sample: bool) -> Content:
    """What is stored of a model, with its training rows or without."""
    own = model._for_file()
    if sample or not own.has_training_rows:
        return _content_of(own)
    return _content_of(replace(own, classifier=own.classifier.without_sample(compute_loo=True)))


def estimator_of(content: Content) -> Any:
    """The model again."""
    return from_model(model_of(content, "the content"))


def stored(model: Any, path: Path, *, sample: bool) -> Any:
    """A model, written and read again."""
    write_model(path, content_of(model, sample=sample))
    return estimator_of(read_model(path))
