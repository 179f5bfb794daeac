"""The HTML report on a model: description, estimated quality, features, warnings and examples of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..families import Batch
    from ..kernels.counting import Hashes
    from ..model.model import Model
    from .model_report import ModelReport


def make_report(
    model: Model,
    rows: Iterator[tuple[Batch, Hashes | None]] | None = None,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    notes: dict[str, str] | None = None,
) -> ModelReport:
    """Return the report of a model, and write it to ``path`` if that is given.

    ``rows``: rows with labels that the model is evaluated on too, and the hashes of their groups.
    """
    from ..storage.atomic_write import write_atomically
    from .model_report import ReportedModel, build_report

    reported = ReportedModel(
        kind=model.spec.name,
        described=repr(model.spec),
        model=model.classifier,
        names=model.feature_names,
        kernels=model.kernels,
        evaluate=model.spec.compute_loo is not False,
        provenance=model.provenance,
        roles=model.schema.roles,
    )
    found = build_report(reported, rows, title, notes or {})
    if path is not None:
        write_atomically(path, [found.html().encode()])
    return found
