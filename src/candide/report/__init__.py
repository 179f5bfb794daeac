"""The HTML report of a model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..families import Batch
    from ..model.model import Model
    from .findings import Findings


def make_report(
    model: Model,
    rows: Iterator[Batch] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    notes: dict[str, str] | None = None,
) -> Findings:
    """Return the report of a model, and write it to ``path`` if that is given.

    ``rows``: rows with labels that the model is evaluated on too.
    """
    from ..storage.atomic_write import write_atomically
    from .findings import find
    from .subject import Subject

    subject = Subject(
        kind=model.spec.name,
        described=repr(model.spec),
        model=model.classifier,
        names=model.feature_names,
        kernels=model.kernels,
        evaluate=model.spec.compute_loo is not False,
        provenance=model.provenance,
        roles=model.schema.roles,
    )
    found = find(subject, rows, title, notes or {})
    if path is not None:
        write_atomically(path, [found.html().encode()])
    return found
