"""One function per verb, for rows in memory, chunks, sources, clusters and databases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..clusters import cluster_of
from ..data.arrays import as_array
from ..data.labeled_rows import is_unlabeled, read_weights
from ..exceptions import InputError
from ..families import Batch
from ..kernels.layouts import Array
from ..model.evaluation import Evaluation
from ..model.labels import LabelFilter, NoLabels
from ..model.model import Model, completed
from ..model.unlabeled import Unread, learn_unlabeled
from ..specs import Spec
from ..statistics.hashing import group_hashes, group_of, in_groups, row_hashes
from .chunks import are_chunks, chunk_parts, train_chunks
from .distributed import count_distributed, rows_of, train_distributed
from .roles import cells_of, check_alone, chunks_of, is_source, roles_for


def train(
    spec: Spec, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, *, classes: Any = None,
    more_to_come: bool = False,
) -> Model:  # fmt: skip
    """Train a model on rows, wherever they are."""
    cluster = cluster_of(X)
    if cluster is not None:
        return train_distributed(spec, cluster, X, y, sample_weight, groups)
    if y is None and classes is None and not more_to_come and are_chunks(X):
        return train_chunks(spec, X, sample_weight, groups)
    if not more_to_come and spec.unlabeled_choice() in ("em", "sfe") and y is not None:
        missing = is_unlabeled(y)
        if missing.any() and not missing.all():
            return train_semi_supervised(spec, X, y, sample_weight, groups, missing)
    return Model.train(spec, X, y, sample_weight, groups, classes=classes, more_to_come=more_to_come)


def learn(model: Model, spec: Spec, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Model:
    """Return the model after further rows."""
    cluster = cluster_of(X)
    if cluster is None:
        return model.learn(X, y, sample_weight, groups, spec=spec)
    schema, bound, state, counts = count_distributed(model, spec, cluster, X, y, sample_weight, groups)
    return replace(model.with_state(spec, schema, bound, state), row_counts=counts)


def forget(model: Model, spec: Spec, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Model:
    """Return the model without rows that were learned."""
    cluster = cluster_of(X)
    if cluster is None:
        return model.forget(X, y, sample_weight, groups, spec=spec)
    schema, _, state, counts = count_distributed(model, spec, cluster, X, y, sample_weight, groups)
    return replace(model.without_state(spec, schema, state), row_counts=counts)


def predict(model: Model, method: str, X: Any) -> Any:
    """Return what a method of the model predicts for each row.

    Rows of a cluster are predicted where they are, lazily, and returned in the type that they came in; a source is
    predicted in batches.
    """
    if is_source(X):
        return np.concatenate([getattr(model, method)(cells) for cells in cells_of(model, X)])
    cluster = cluster_of(X)
    if cluster is None:
        return getattr(model, method)(X)
    return cluster.answers(model.for_workers(), method, X)


def score(model: Model, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Return the share of rows that are predicted right."""
    cluster = cluster_of(X)
    if cluster is not None:
        return rows_of(model, cluster, X, y, sample_weight).score(model.for_workers())
    if is_source(X):
        check_alone(y, sample_weight)
        return _score_source(model, X)
    return model.score(X, y, sample_weight)


def _score_source(model: Model, source: Any) -> float:
    right = total = 0.0
    labeled = LabelFilter(model.spec, learning=False)
    for X, y, weight in chunks_of(model.spec, source, roles_for(model, source, labelled=True), labeled):
        found: Array = model.predict(X) == as_array(y, "y").ravel()
        own = read_weights(weight, len(found))
        own = np.ones(len(found)) if own is None else own
        right, total = right + float(own[found].sum()), total + float(own.sum())
    labeled.warn()
    if not total:
        raise InputError("the source has no rows with a label; expected at least one; pass a source with labeled rows")
    return right / total


def evaluate(model: Model, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Evaluation:
    """Return accuracy, log-loss, calibration and more on rows with labels."""
    parts = _labeled_parts(model, X, y, sample_weight, groups)
    return Evaluation.from_row_scores((model.scored_rows(*part) for part in parts), model.classes)


def labeled_batches(model: Model, X: Any, y: Any, sample_weight: Any) -> Iterator[Batch]:
    """Return rows with labels that the model knows, chunk by chunk if they come in chunks."""
    return (model.batch(*part[:3]) for part in _labeled_parts(model, X, y, sample_weight, None))


def _labeled_parts(model: Model, X: Any, y: Any, sample_weight: Any, groups: Any) -> Iterator[tuple[Any, ...]]:
    """Return rows, labels, weights and groups of the rows that have a label."""
    labeled = LabelFilter(model.spec, learning=False)
    if is_source(X):
        check_alone(y, sample_weight, groups)
        X = chunks_of(model.spec, X, roles_for(model, X, labelled=True), labeled)
    in_chunks = y is None and are_chunks(X)
    try:
        for number, item in enumerate(X if in_chunks else [(X, y, sample_weight, groups)]):
            X, y, *others = chunk_parts(item, number)
            given = model.spec.split_label(X, y)
            try:
                part = labeled.drop(*given, *others)
            except NoLabels as found:
                if not in_chunks:
                    raise
                labeled.add(found.n_rows)
            else:
                yield part
    finally:
        labeled.warn()


def train_semi_supervised(spec: Spec, X: Any, y: Any, sample_weight: Any, groups: Any, missing: Array) -> Model:
    """Train a model on texts, by EM or SFE on those without a label if that helps; ``missing``: which have none."""
    _, data = spec.open(X)
    weight = read_weights(sample_weight, len(missing))
    if data.n_rows != len(missing):
        raise InputError(f"there are {data.n_rows} texts and {len(missing)} labels; give each text one, or None")
    labeled, others = np.flatnonzero(~missing), np.flatnonzero(missing)
    labels = as_array(y, "y")[labeled]
    own, rest = (None if weight is None else weight[rows] for rows in (labeled, others))
    hashes = group_hashes(groups, data.n_rows)
    blocks = None if hashes is None else group_of(in_groups(row_hashes(data), hashes))[labeled]
    names = labels if labels.dtype.kind == "f" else labels.tolist()
    texts = data.take(labeled).texts
    model = Model.train(spec, texts, names, own, blocks)
    unread = Unread(data.take(others), rest, "em" if spec.unlabeled_choice() == "em" else "sfe")
    batch = model.batch(texts, labels, own)
    classifier, result = learn_unlabeled(model.classifier, batch, unread, model.kernels, blocks)
    return replace(model, classifier=completed(spec, classifier), unlabeled=result)
