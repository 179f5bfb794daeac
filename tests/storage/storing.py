"""Save models to files and load them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from candide.estimators import from_model
from candide.statistics.base import Deferred
from candide.storage.content import Content
from candide.storage.decoder import Decoder
from candide.storage.encoder import Encoder
from candide.storage.models import content_of as _content_of
from candide.storage.models import model_of, read_model, write_model


def content_of(model: Any, *, sample: bool, compute_loo: bool = False) -> Content:
    """What is stored of a model, with its training rows or without; and with a report, which may take folds."""
    own = model._for_file()
    if sample or not own.has_training_rows:
        return _content_of(own)
    return _content_of(replace(own, classifier=own.classifier.without_sample(compute_loo=compute_loo)))


def estimator_of(content: Content) -> Any:
    """The model again."""
    return from_model(model_of(content, "the content"))


def stored(model: Any, path: Path, *, sample: bool, compute_loo: bool = False) -> Any:
    """A model, written and read again."""
    write_model(path, content_of(model, sample=sample, compute_loo=compute_loo))
    return estimator_of(read_model(path))


def decoded(value: Any) -> Any:
    """A part of a model, as a file would hold it and give it back."""
    encoder = Encoder()
    tree = encoder.tree(value, "part")
    value = Decoder(encoder.arrays).value(tree, "part")
    if isinstance(value, Deferred):
        value.load()
    return value
