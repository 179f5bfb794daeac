"""Models to files and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from candide.learners.storing import content_of as _content_of
from candide.learners.storing import learner_of
from candide.storage import Content, read_model, write_model


def content_of(model: Any, *, sample: bool, evaluate: bool = False) -> Content:
    """What is stored of a model, with its training rows or without; and with a report, which may take folds."""
    own = model._for_file()
    return _content_of(model, own if sample or own.state.sample is None else own.without_sample(evaluate=evaluate))


def estimator_of(content: Content) -> Any:
    """The model again."""
    return learner_of(content, "the content")


def stored(model: Any, path: Path, *, sample: bool, evaluate: bool = False) -> Any:
    """A model, written and read again."""
    write_model(path, content_of(model, sample=sample, evaluate=evaluate))
    return estimator_of(read_model(path))
