"""What a model of texts is made of, look by look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families.text import TextFamily
from ..families.text_likelihood import TextLikelihood
from ..kernels.layouts import Array
from ..statistics.token_counts import TokenCounts, n_seen
from .table import Table, objects

if TYPE_CHECKING:
    from .classifier import Classifier


def text_summary(model: Classifier) -> Table:
    """One row per look, and where bands are weighed one per band; with what was pruned, if anything was."""
    columns = _columns(model)
    pruned = _by_look(model, lambda sums: sums.dropped.tokens)
    if any(pruned.values()):
        columns["pruned"] = np.array([pruned[look] for look in columns["look"]])
    return Table(columns)


def _by_look(model: Classifier, tell: Callable[[TokenCounts], int]) -> dict[str, int]:
    """Something about the tokens of each look that take part."""
    family, (words, *others) = model.family, model.state.statistics.looks
    assert isinstance(family, TextFamily)
    looks = family.terms_of(model.state.statistics).within(words), *others
    return {look.name: tell(sums) for look, sums in zip(family.looks, looks, strict=True)}


def _columns(model: Classifier) -> dict[str, Array]:
    views, tokens = (
        None if model.fitted is None else model.fitted.views,
        _by_look(model, lambda sums: n_seen(sums.counts)),
    )
    if views is None:
        return {"look": objects(tokens), "tokens": np.array(list(tokens.values()))}
    likelihood: Any = model.likelihood
    assert isinstance(likelihood, TextLikelihood)
    weights = dict(zip(views.names, views.weights.weight.mean(axis=1), strict=True))
    # A look that is not heard has no weight.
    rows = [(*name[:1], tokens[name.look], *name[1:], weights.get(name, 0.0)) for name in likelihood.band_names]
    if model.fitted is not None and model.fitted.refinement is not None:
        # Its tokens have a weight each, not one together.
        rows += [(look.name, len(look.coding), "a regression", 0, np.nan) for look in model.fitted.refinement.looks]
    look, n_tokens, by, band, weight = zip(*rows, strict=True)
    columns = {"look": objects(look), "tokens": np.array(n_tokens), "by": objects(by), "band": np.array(band)}
    return columns | {"weight": np.array(weight)}


def by_look(summary: Table) -> Table:
    """A line for each look at the texts, with the weights of all its bands together."""
    looks = list(dict.fromkeys(summary["look"].tolist()))
    places = [np.flatnonzero(summary["look"] == look) for look in looks]
    found = {"look": objects(looks), "tokens": np.array([summary["tokens"][rows[0]] for rows in places])}
    if "weight" in summary:
        found["weight"] = np.array([summary["weight"][rows].sum() for rows in places])
    return Table(found)
