"""A trained model on raw tables and texts, without scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from ..data.arrays import as_array
from ..data.column_selection import Roles
from ..data.labeled_rows import read_labels, read_weights, warn_if_continuous
from ..exceptions import InputError, MergeError, ParameterError
from ..families import Batch, Family
from ..kernels import Kernels
from ..kernels.kernels import map_in_order
from ..kernels.layouts import Array, Floats
from ..priors.base import generator
from ..specs import BoundSpec, Spec
from ..specs.parameters import flag, number, whole_number
from ..specs.schema import Schema
from ..statistics.hashing import group_hashes
from .accumulator import RowCounts
from .classifier import Classifier
from .decisions import adapt_prior, conformal_threshold, label_set, least_cost, read_costs, read_shares
from .labels import drop_unlabeled, like_classes
from .leave_one_out import check_prior, read_folds
from .source import roles_in
from .state import State
from .table import Table

if TYPE_CHECKING:
    from ..statistics.table import TableStatistics
    from .evaluation import Evaluation, RowScores
    from .unlabeled import Unlabeled

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A trained model: the parameters, the schema, the statistics and the fitted parameters. Immutable.

    All functions of estimators on tables and texts, without scikit-learn. Learning returns a new model. Predictions do
    not change a model, so threads may share it.

    Attributes
    ----------
    spec : Spec
        The parameters.
    schema : Schema
        The columns of training.
    classifier : Classifier
        The bound spec, the state and the fitted parameters, on encoded rows.
    unlabeled : Unlabeled, optional
        Result of learning from texts without labels.
    has_given_parameters : bool
        Whether the parameters were given, not learned from rows.
    forgot_rows : bool
        Whether rows were forgotten, before or after the last refit.
    provenance : dict, optional
        Rows, date and version of a model that was loaded from a file and is unchanged.
    row_counts : RowCounts, optional
        Rows and partitions of the last training on a cluster or database.
    """

    spec: Spec
    schema: Schema
    classifier: Classifier
    unlabeled: Unlabeled | None = None
    has_given_parameters: bool = False
    forgot_rows: bool = False
    provenance: dict[str, Any] | None = None
    row_counts: RowCounts | None = None

    def __repr__(self) -> str:
        return f"<Model {self.spec!r}>"

    # Training.

    def learn(self, batch: State, spec: Spec, schema: Schema, bound: BoundSpec) -> Model:
        """Return the model after adding a state that was counted for it, with the current parameters."""
        after = self._finished(self.classifier.learn(batch, bound), spec=spec, schema=schema)
        if len(after.classes) > len(self.classes):
            warn_if_continuous(after.classes)
        return after

    def forget(self, batch: State, spec: Spec, schema: Schema) -> Model:
        """Return the model after removing a state that was counted for it."""
        return replace(self._finished(self.classifier.forget(batch), spec=spec, schema=schema), forgot_rows=True)

    def bind(self, spec: Spec) -> tuple[Schema, BoundSpec]:
        """Bind parameters to the columns of training. Parameters that change what is counted raise an error."""
        schema = spec.resolved(self.schema, self.classifier)
        bound = spec.bind(schema, self.classifier)
        spec.check_counting(self.classifier.bound_spec.family, bound.family)
        return schema, bound

    def merge(self, other: Model) -> Model:
        """Return the model of the rows of both models."""
        if self.spec.name != other.spec.name:
            raise MergeError(
                f"a {other.spec.name} cannot be merged into a {self.spec.name}; merge models of the same type"
            )
        self.spec.check_mergeable((self.schema, other.schema), (self.classifier, other.classifier))
        merged = self._finished(self.classifier.merge(other.classifier))
        return replace(merged, forgot_rows=self.forgot_rows or other.forgot_rows)

    def discount(self, factor: float) -> Model:
        """Return the model with all weights multiplied by ``factor``, from 0 to 1."""
        return self._finished(self.classifier.discount(number(factor, "factor", most=1.0)))

    def refit(self, spec: Spec | None = None) -> Model:
        """Return the model with all parameters refitted on the kept training rows."""
        spec = spec or self.spec
        schema = spec.resolved(self.schema, self.classifier)
        bound = replace(spec.bind(schema, self.classifier), target=self.classifier.bound_spec.target)
        return self._changed(self.classifier.refitted(bound).complete(), spec=spec, schema=schema)

    def with_class_prior(self, class_prior: Any) -> Model:
        """Return the model for rows with other class frequencies than in training."""
        classifier = self.classifier
        if not classifier.bound_spec.prior_in_score and classifier.bound_spec.calibrate is None:
            raise ParameterError(
                f"the scores of {self.spec.name} do not include a class prior that could be changed; convert them to "
                "probabilities with calibrate='temperature' or 'platt' first"
            )
        return self._changed(classifier.with_class_prior(read_shares(class_prior, self.classes)))

    def adapt_class_prior(self, X: Any) -> Model:
        """Return the model with the class prior of unlabeled rows, estimated by the EM algorithm of Saerens et al."""
        return self.with_class_prior(adapt_prior(self.predict_proba(X), self.classifier.class_prior))

    def _finished(self, classifier: Classifier, **changes: Any) -> Model:
        """Return the model of an updated classifier, refitted if a refit is due."""
        after = self._changed(classifier, **changes)
        return replace(after, classifier=completed(after.spec, classifier))

    def _changed(self, classifier: Classifier, **changes: Any) -> Model:
        given = self.has_given_parameters and classifier.state is self.state
        changes = {"has_given_parameters": given, "provenance": None, "row_counts": None, **changes}
        return replace(self, classifier=classifier, **changes)

    # Reading rows.

    @property
    def kernels(self) -> Kernels:
        return Kernels(self.spec.n_threads)

    def read(self, X: Any) -> Any:
        """Return encoded rows after checking their columns."""
        return self.spec.read(X, self.schema, self.classifier)

    def read_columns(self, X: Any) -> tuple[Any, Family]:
        """Return some of the columns, encoded, and the family that counts them."""
        return self.spec.read_columns(X, self.schema, self.classifier)

    def batch(self, X: Any, y: Any, sample_weight: Any = None) -> Batch:
        """Return encoded rows with labels, which must be classes of the model."""
        X, y = self.spec.split_label(X, y)
        data, known = self.read(X), self.classifier.classes
        classes, positions = read_labels(like_classes(y, known), data.n_rows, self.kernels)
        places = classes.positions_in(known)
        if (places < 0).any():
            raise InputError(
                f"class {classes.labels[places < 0].tolist()[0]!r} in y is unknown to the model; expected one of "
                f"{known.labels.tolist()}; drop its rows, or add it with partial_fit"
            )
        weight = read_weights(sample_weight, data.n_rows)
        return Batch(data, places[positions].astype(np.int32), weight, len(known))

    def labeled_batch(self, X: Any, y: Any, sample_weight: Any = None) -> Batch:
        """Return encoded rows with labels, which must be classes of the model; warn of rows without a label."""
        return self.batch(*drop_unlabeled(self.spec, X, y, sample_weight))

    def column_names(self) -> Array:
        """Return the names of the columns, as in tables of parameters, or of the tokens of texts."""
        return self.spec.column_names(self.schema, self.classifier)

    @property
    def feature_names(self) -> Array:
        """Names of the columns; none if rows are texts."""
        return np.zeros(0) if self.spec.reads_texts else self.column_names()

    def text_types(self) -> dict[Any, str]:
        """Return the column types of training, for reading text formats, which have no types."""
        from ..specs.table_schema import TableSchema

        return self.schema.text_types(self.state.statistics) if isinstance(self.schema, TableSchema) else {}

    def schema_table(self) -> Table:
        """Return the name, type and role of each column of training, and how its type was determined."""
        from ..data.column_types import label_kind

        roles, labels = self.schema.roles, self.classes.tolist()
        columns = [(name, kind, "text" if self.spec.reads_texts else "feature", decided)
                   for name, kind, decided in self.spec.column_types(self.schema, self.classifier)]  # fmt: skip
        label = roles.label if roles and roles.label else "y"
        declared = getattr(self.spec, "schema", None) or {}
        given = {name for name, *_ in columns}
        decided = "declared" if any(name not in given for name in declared) else "the labels in training"
        columns.append((label, label_kind(labels) or type(labels[0]).__name__, "label", decided))
        if roles and roles.weight:
            columns.append((roles.weight, "number", "weight", "weights are numbers"))
        if roles and roles.groups:
            columns.append((roles.groups, "category", "groups", "groups are compared, not modeled"))
        parts = zip(*columns, strict=True)
        titles = ("name", "kind", "role", "decided")
        return Table({title: np.array(part, dtype=object) for title, part in zip(titles, parts, strict=True)})

    def unseen_categories(self, X: Any) -> dict[Any, dict[Any, int]]:
        """Return the categories of ``X`` that do not occur in training, by column, with their numbers of rows."""
        from ..specs.table_schema import TableSchema

        if not isinstance(self.schema, TableSchema):
            return {}
        return self.unseen_in(self.spec.read(X, self.schema, self.classifier, learning=True))

    def unseen_in(self, data: Any) -> dict[Any, dict[Any, int]]:
        """Return the same for rows that were read."""
        from ..specs.table_schema import TableSchema

        return self.schema.unseen(data, self.state.statistics) if isinstance(self.schema, TableSchema) else {}

    def roles_in(self, names: list[str], text: str | None = None, label: str | None = None) -> Roles:
        """Return the roles of the named columns; ``label`` is the column of labels, if not that of training."""
        return roles_in(self.spec, self.schema, names, text, label)

    # Learned parameters.

    @property
    def classes(self) -> Array:
        """The labels of the classes, in sorted order."""
        return self.classifier.classes.labels

    @property
    def state(self) -> State:
        return self.classifier.state

    @property
    def class_count(self) -> Floats:
        """The weight of the rows of each class."""
        return self.state.rows

    @property
    def has_training_rows(self) -> bool:
        """Whether the model keeps training rows."""
        return self.state.sample is not None

    @property
    def staleness(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit."""
        return self.classifier.staleness

    @property
    def can_refit(self) -> bool:
        """Whether parameters were fitted, and training rows are kept to refit them."""
        return self.classifier.can_refit

    @property
    def has_loo(self) -> bool:
        """Whether leave-one-out metrics were or can be computed."""
        return self.spec.compute_loo is not False and self.classifier.can_report

    @property
    def loo(self) -> Evaluation:
        """Leave-one-out metrics of the model.

        Each training row is scored by a model without it. Choices and parameters fitted on such scores are evaluated by
        five-fold cross-validation.
        """
        if self.spec.compute_loo is False:
            raise AttributeError(f"{self.spec.name} was constructed with compute_loo=False, so loo_ is not available")
        classifier = self.classifier
        if not classifier.can_report and classifier.state.sample is not None:
            raise AttributeError(
                "loo_ needs training rows, but each row is larger than the limit for kept rows "
                f"({classifier.state.sample.budget}); fit again with shorter rows"
            )
        if not classifier.can_report:
            raise AttributeError(
                "loo_ needs training rows, but this model does not keep a sample of all rows it was trained on; "
                "construct it with compute_loo=True and fit again"
            )
        return classifier.report

    @property
    def calibration(self) -> dict[str, Any]:
        """Parameters of the calibration by name; empty without one."""
        fitted = self.classifier.fitted
        return {} if fitted is None or fitted.calibration is None else fitted.calibration.describe()

    def parameters(self) -> Table:
        """Return the parameters of p(x | class), one per row, with the counts that they are estimated from."""
        return self.classifier.parameters(self.column_names())

    # Prediction.

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, the first one in case of ties."""
        return self.classifier.predict(self.read(X), self.kernels)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes, ``(n_rows, n_classes)``."""
        return self.classifier.posterior(self.read(X), self.kernels, logarithm=False)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of ``predict_proba``."""
        return self.classifier.posterior(self.read(X), self.kernels, logarithm=True)

    def map_in_order(self, task: Callable[[Model, Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``task(model, item)`` for each item, in order; several items at a time, each on one thread."""

        def apply(item: Item, n_threads: int) -> Result:
            return task(replace(self, spec=replace(self.spec, n_threads=n_threads)), item)

        return map_in_order(apply, items, self.kernels.n_threads)

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log p(x, class), up to a term that all classes share; never calibrated."""
        return self.classifier.scorer.joint(self.read(X), self.kernels)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy."""
        X, y, sample_weight = drop_unlabeled(self.spec, X, y, sample_weight)
        right = self.predict(X) == as_array(like_classes(y, self.classifier.classes), "y").ravel()
        return float(np.average(right, weights=read_weights(sample_weight, len(right))))

    def decide(self, X: Any, costs: Any = None, abstain: float | None = None, unsure: Any = "unsure") -> Array:
        """Return the decision with the lowest expected cost for each row, or ``unsure``."""
        chosen = least_cost(self.predict_proba(X), read_costs(costs, self.classes), abstain)
        if abstain is None:
            return np.asarray(self.classes[chosen])
        if unsure in self.classes.tolist():
            raise ParameterError(f"unsure is {unsure!r}, which is a class of this model; pass a different string")
        answers = np.empty(len(self.classes) + 1, dtype=object)
        answers[:-1], answers[-1] = self.classes, unsure
        return np.asarray(answers[chosen])

    def predict_set(self, X: Any, coverage: float = 0.9, by_class: bool = False) -> Array:
        """Return sets of classes that contain the true class in about ``coverage`` of all rows."""
        by_class, share = flag(by_class, "by_class"), number(coverage, "coverage", most=1.0)
        result = self.classifier.out_of_fold
        classes, weight = result.seen.batch.classes, result.seen.case_weight
        own = result.log_probability[np.arange(len(classes)), classes]
        thresholds = conformal_threshold(
            own, classes, weight, share, by_class, len(self.classes), result.seen.multiplicity
        )
        return label_set(self.predict_log_proba(X), thresholds)

    def sample(self, n: int = 1, random_state: Any = None, **options: Any) -> tuple[Any, Array]:
        """Draw ``n`` rows from the model: ``(X, y)``."""
        from ..specs.table_schema import TableSchema

        X, y = self.classifier.sample(whole_number(n, "n"), generator(random_state), **options)
        schema = self.schema
        if not isinstance(schema, TableSchema):
            return X, y
        columns = [
            as_seen(cells, self.state.statistics, j, whole=name in schema.whole, bounded=name in schema.examples)
            for j, (name, cells) in enumerate(zip(schema.names, X, strict=True))
        ]
        return schema.table(columns), y

    # Leave-one-out.

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, class_prior: Literal["removed", "fixed"] = "removed"
    ) -> Floats:
        """Return log probabilities of training rows, each by the model without this row."""
        from .out_of_fold import left_out_posterior

        batch = self.batch(X, y, sample_weight)
        return left_out_posterior(self.classifier, batch, self.kernels, check_prior(class_prior))

    def cross_val_log_proba(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        n_folds: int | None = None,
        sample_weight: Any = None,
        class_prior: Literal["removed", "fixed"] = "removed",
    ) -> Floats:
        """Return log probabilities of training rows, each fold by the model without this fold."""
        from .out_of_fold import folds_left_out

        batch = self.batch(X, y, sample_weight)
        folds = read_folds(groups, n_folds, batch.data.n_rows)
        return folds_left_out(self.classifier, batch, folds, self.kernels, check_prior(class_prior))

    def scored_rows(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> RowScores:
        """Return the scores of labeled rows for an evaluation."""
        from .evaluation import RowScores

        batch = self.batch(X, y, sample_weight)
        classifier, n_rows = self.classifier, batch.data.n_rows
        weight = np.ones(n_rows) if batch.weight is None else batch.weight

        def scored(by: Any) -> RowScores:
            scores = by.posterior(batch.data, self.kernels, logarithm=True)
            return RowScores.of(scores, batch.classes, weight, groups=group_hashes(groups, n_rows))

        return scored(classifier)._replace(plain=scored(classifier.scorer) if classifier.bound_spec.corrects else None)

    # Files and workers.

    def for_file(self) -> Model:
        """Return the model for a file, refitted if the file would be incomplete or would contain forgotten rows."""
        written = self.classifier.for_file(forgot=self.forgot_rows)
        return self if written is self.classifier else self._changed(written.complete())

    def for_workers(self) -> Model:
        """Return the model without training rows and with one thread, for workers that process a partition per core."""
        sent = self.classifier.for_workers()
        return replace(self, spec=replace(self.spec, n_threads=1), classifier=sent, provenance=None)


def completed(spec: Spec, classifier: Classifier) -> Classifier:
    """Return the classifier after fitting everything that is due, without training rows if none are kept."""
    spec.check_classes(classifier.bound_spec, len(classifier.classes))
    if spec.subsample == 0 and classifier.state.sample is not None:
        classifier = classifier.without_sample(compute_loo=bool(spec.compute_loo))
    return classifier.complete()


def as_seen(cells: Array, statistics: TableStatistics, j: int, *, whole: bool, bounded: bool) -> Array:
    """Return sampled cells of column ``j``, rounded and clipped to values like those of training.

    ``whole``: the first rows contained only integers. ``bounded``: numbers are clipped to the range of training.
    """
    if statistics.kinds[j] in ("missing", "text"):
        return cells
    place = statistics.place(j)
    if statistics.kinds[j] == "category":
        labels = statistics.categories.labels[place]
        return np.repeat(labels, len(cells)) if len(labels) == 1 else cells
    seen = statistics.grid.column(place)
    single = seen.low == seen.high
    if len(single) == 1 and single[0]:
        return np.full(len(cells), seen.low[0])
    # Later rows may contain fractions, which cannot be detected if several numbers share a cell.
    whole = whole and bool((seen.low[single] == np.trunc(seen.low[single])).all())
    if whole:
        return np.clip(np.round(cells.astype(np.float64)), np.ceil(seen.low[0]), np.floor(seen.high[-1]))
    return np.clip(cells, seen.low[0], seen.high[-1]) if bounded else cells
