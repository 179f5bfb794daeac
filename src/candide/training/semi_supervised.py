"""Training on texts of which some have no label."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data.arrays import as_array
from ..data.labeled_rows import read_weights
from ..exceptions import InputError
from ..kernels.layouts import Array
from ..model.model import Model, completed
from ..model.unlabeled import Unread, learn_unlabeled
from ..specs import Spec
from ..statistics.hashing import group_hashes, group_of, in_groups, row_hashes


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
