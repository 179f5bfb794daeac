"""Training on rows that are elsewhere: on a Dask or Spark cluster, or in a database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..data.column_selection import Roles
from ..exceptions import InputError
from ..model.accumulator import PartialState, RowCounts
from ..model.classifier import Classifier
from ..model.labels import LabelFilter
from ..model.model import Model, finish, first_state
from ..model.state import State
from ..specs import BoundSpec, ClassPrior, Spec
from ..specs.schema import Schema
from .chunks import count_chunks

if TYPE_CHECKING:
    from ..clusters.rows import Cluster, SpreadRows

# First rows that define the schema: they tell columns of names from columns of texts. Few are enough where all are
# texts or numbers.
_HEAD, _SHORT_HEAD = 10_000, 100


@dataclass(frozen=True)
class PartitionCounter:
    """Counts partitions by the schema of a model. It is sent to workers."""

    model: Model
    group_bytes: int

    def count(self, chunks: Iterable[Any]) -> State | None:
        """Return the state of the rows; None if there are none."""
        return count_chunks(self.model, chunks, self.group_bytes)


def train_distributed(spec: Spec, cluster: Cluster, X: Any, y: Any, sample_weight: Any, groups: Any) -> Model:
    """Train a model on rows that are elsewhere."""
    _refuse_groups(groups)
    rows = cluster.rows(X, y, sample_weight, partial(_roles_to_learn, spec))
    n_first = _SHORT_HEAD if spec.reads_texts or rows.are_numbers else _HEAD
    schema, bound, state = first_state(spec, *rows.head(n_first))
    schema = replace(schema, roles=rows.roles)
    # The class prior may name classes that are in other rows.
    head = Model(spec, schema, Classifier(replace(bound, prior=ClassPrior()), state))
    part = _count(head, head.classifier.bound_spec, rows)
    assert part.state is not None
    learned = Classifier(head.classifier.bound_spec, part.state)
    # ``columns`` may name kinds of columns that only other rows showed.
    schema = spec.resolved(schema, learned)
    final = replace(spec.bind(schema, learned), sample_bytes=bound.sample_bytes)
    return finish(spec, schema, Classifier(final, part.state), row_counts=part.row_counts)


def count_distributed(
    model: Model, spec: Spec, cluster: Cluster, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[Schema, BoundSpec, State, RowCounts]:
    """Return the schema and spec of now, and the state of further rows that are elsewhere."""
    _refuse_groups(groups)
    rows = rows_of(model, cluster, X, y, sample_weight)
    schema, bound = model.bind(spec)
    part = _count(replace(model, spec=spec, schema=schema), bound, rows)
    assert part.state is not None
    return schema, bound, part.state, part.row_counts


def rows_of(model: Model, cluster: Cluster, X: Any, y: Any, sample_weight: Any) -> SpreadRows:
    """Return labeled rows that a model reads."""

    def roles(names: list[Any], label: str | None, weight: str | None) -> Roles:
        others = [name for name in names if name not in (label, weight)]
        return model.roles_in(others, label=label or "")._replace(weight=weight)

    return cluster.rows(X, y, sample_weight, roles)


def _roles_to_learn(spec: Spec, names: list[Any], label: str | None, weight: str | None) -> Roles:
    others = [name for name in names if name not in (label, weight)]
    if spec.reads_texts and len(others) != 1:
        raise InputError(
            f"{spec.name} learns from one column of texts, and beside the labels X has "
            f"{', '.join(map(str, others))}; select the column of texts and that of the labels"
        )
    return Roles(label or "", others[0] if spec.reads_texts else None, tuple(others), weight)


def _count(model: Model, bound: BoundSpec, rows: SpreadRows) -> PartialState:
    """Return the state of all rows, counted where they are."""
    sent = replace(
        model,
        spec=replace(model.spec, n_threads=1),
        classifier=Classifier(bound, replace(model.state, sample=None)),
        provenance=None,
    )
    # A worker has memory for larger groups, which are added up half as often.
    part = rows.count(PartitionCounter(sent, 2 * model.spec.group_bytes))
    labeled = LabelFilter(model.spec)
    if part.n_unlabeled:
        labeled.add(part.n_unlabeled)
    labeled.warn()
    if part.state is None:
        raise InputError("found no rows with a label and a weight; expected at least one")
    return part


def _refuse_groups(groups: Any) -> None:
    if groups is not None:
        raise InputError(
            "groups is given for rows on a cluster; expected rows in memory or chunks; collect the rows, or leave "
            "groups out"
        )
