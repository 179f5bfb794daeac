"""What a model of texts is made of, look by look."""

from __future__ import annotations

from collections.abc import Iterable
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
        return Table({"look": _objects(tokens), "tokens": np.array(list(tokens.values()))})
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    weights = views.mixture.weight.mean(axis=1)
    rows = [
        (*name[:1], tokens[name.look], *name[1:], weight)
        for name, weight in zip(likelihood.band_names, weights, strict=True)
    ]
    if model.blend is not None and model.blend.refinement is not None:
        # Its tokens have a weight each, not one together.
        rows += [(look.name, len(look.coding), "a regression", 0, np.nan) for look in model.blend.refinement.looks]
    look, n_tokens, by, band, weight = zip(*rows, strict=True)
    columns = {"look": _objects(look), "tokens": np.array(n_tokens), "by": _objects(by), "band": np.array(band)}
    return Table(columns | {"weight": np.array(weight)})


def _objects(values: Iterable[str]) -> Array:
    return np.array(list(values), dtype=object)
