"""What a model of texts is made of, look by look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..families.text import TextFamily, TextLikelihood
from ..kernels.data import Array
from ..statistics.texts import n_seen
from .table import Table

if TYPE_CHECKING:
    from .classifier import Classifier


def text_summary(model: Classifier) -> Table:
    """One row per look, and where bands are weighed one per band."""
    family, looks = model.family, model.state.statistics.looks
    assert isinstance(family, TextFamily)
    views = None if model.blend is None else model.blend.views
    tokens = {look.name: n_seen(sums.counts) for look, sums in zip(family.looks, looks, strict=True)}
    if views is None:
        return Table({"look": _objects(list(tokens)), "tokens": np.array(list(tokens.values()))})
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    names = likelihood.band_names
    return Table(
        {
            "look": _objects([name.look for name in names]),
            "tokens": np.array([tokens[name.look] for name in names]),
            "by": _objects([name.by for name in names]),
            "band": np.array([name.band for name in names]),
            "weight": views.mixture.weight.mean(axis=1),
        }
    )


def _objects(values: list[str]) -> Array:
    return np.array(values, dtype=object)
