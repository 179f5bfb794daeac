"""A trained model on encoded rows: the bound spec, the state, the parameters fitted on the sample, and the scorer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..data.index import Index
from ..exceptions import ParameterError, warn
from ..families import Family
from ..families.base import is_table
from ..kernels import Kernels
from ..kernels.counting import Hashes
from ..kernels.layouts import Array, Floats, Positions
from ..lazy import cached
from ..specs import BoundSpec, ClassPrior
from ..stacking.calibration import log_softmax
from ..stacking.token_views import StackedTokenViews
from ..statistics.hashing import ABOVE_ALL
from .fitted import Fitted, fit_on_sample, held_out, seen_rows, with_refinement
from .given import log_posterior, nothing_given
from .scorer import Scorer, log_likelihood, log_sum, plus_base
from .state import State
from .table import Table, named

if TYPE_CHECKING:
    from ..families.table import TableFamily
    from ..kernels.tokens import Names
    from ..stacking.stacked_views import StackedViews
    from .evaluation import Evaluation
    from .out_of_fold import OutOfFoldScores


class Classifier:
    """A trained model on encoded rows. Immutable: learning returns a new object, and threads may share it."""

    def __init__(
        self,
        bound_spec: BoundSpec,
        state: State,
        fitted: Fitted | None = None,
        report: Evaluation | None = None,
        token_names: Names | None = None,
        importance: Table | None = None,
        choices: Family | None = None,
    ) -> None:
        # An invalid prior raises an error here rather than in predict.
        bound_spec.prior.check(state.classes, state.rows)
        if bound_spec.target is not None:
            ClassPrior(bound_spec.target).check(state.classes, state.rows)
        self.bound_spec = bound_spec
        self.state = state
        self._earlier_fitted = fitted
        # The families of columns that were chosen when ``fitted`` was computed.
        self._earlier_choices = choices
        # Computed before the training rows were dropped.
        self._report = report
        self.token_names = token_names or {}
        self.importance = importance  # of columns, computed when first used (explain/importance.py)

    def __getstate__(self) -> dict[str, Any]:
        kept = {
            "bound_spec": self.bound_spec,
            "state": self.state,
            "_report": self._report,
            "token_names": self.token_names,
        }
        made = {"_earlier_fitted": _consolidated(self.latest_fitted), "_earlier_choices": self.latest_choices}
        return {**kept, **made, "importance": self.importance}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_earlier_choices": None, **state})

    def parts(self) -> dict[str, Any]:
        """Return the arguments of the constructor by name; ``fitted`` is None if nothing has been fitted."""
        made = {"fitted": _consolidated(self.latest_fitted), "report": self._report, "token_names": self.token_names}
        return {"bound_spec": self.bound_spec, "state": self.state, **made, "importance": self.importance}

    @property
    def classes(self) -> Index:
        return self.state.classes

    @cached
    def family(self) -> Family:
        """Return the family with the quantities that are shared by all classes fixed at their current values."""
        family = self.bound_spec.family
        if self.bound_spec.alpha == "evidence":
            from .smoothing import by_marginal_likelihood

            family = family.with_alpha(by_marginal_likelihood(family, self.state.statistics))
        elif self.bound_spec.alpha == "loo" and self.current is not None and self.current.alpha is not None:
            family = family.with_alpha(self.current.alpha)
        earlier = self._kept_choices
        if earlier is not None:
            return earlier.for_sums(self.statistics)
        if is_table(family) and self.state.sample is not None and self.state.sample.grouped:
            held = held_out(self.bound_spec, self.state, self.statistics, Kernels(self.bound_spec.n_threads))
            return family.resolve(self.statistics, held)
        return family.resolve(self.statistics)

    @cached
    def statistics(self) -> Any:
        """Return the statistics of the state; a row has the weight of all copies that are detected among kept rows.

        Choices depend on these weights, which stay fixed until the next refit.
        """
        return self.state.statistics_with_copies() if self._kept_choices is None else self.state.statistics

    @property
    def _kept_choices(self) -> TableFamily | None:
        """Families of columns that were chosen before, if the parameters fitted with them are still in use."""
        choices, kept = self._earlier_choices, self.kept_fitted
        return choices if is_table(choices) and kept is not None and kept is self._earlier_fitted else None

    @property
    def latest_choices(self) -> Family | None:
        """The families chosen for columns, which stay fixed as long as the stacking weights fitted with them.

        None without a sample: a refit is not possible, so families are chosen from the current sums.
        """
        follows = self.state.sample is None or not self.bound_spec.looks_back or self.latest_fitted is None
        return None if follows or not is_table(self.bound_spec.family) else self.family

    def complete(self) -> Classifier:
        """Fit everything that the bound spec requires, and return the classifier.

        Estimators call this after every change, so that predictions only read the model, and fitted parameters do not
        depend on when predictions were made.
        """
        _ = self.current
        if self.bound_spec.alpha is not None or is_table(self.bound_spec.family):
            _ = self.family  # chooses pseudo-counts and families of columns
        return self

    @property
    def staleness(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit."""
        fitted = self.latest_fitted
        return 0.0 if fitted is None or not self.bound_spec.looks_back else fitted.age

    @property
    def can_refit(self) -> bool:
        """Whether kept rows allow the fitted parameters to be refitted."""
        lasts = (fitted := self.latest_fitted) is not None and fitted.frozen and fitted.refinement is None
        return self.bound_spec.looks_back and self.state.sample is not None and not lasts

    @cached
    def fitted(self) -> Fitted | None:
        """Return the parameters fitted in a second pass over rows, with later changes applied to the views."""
        return _consolidated(self.current)

    @cached
    def fitted_without_rows(self) -> Fitted | None:
        """Return the fitted parameters, including those that require training rows, for files, exports and workers.

        The latter are the weights for rows with absent columns. If training rows are kept, most such rows are scored by
        models of the given columns (``given.py``), so these weights are fitted when they are first needed.
        """
        fitted = self.fitted
        if fitted is None or not _lacks_partial_weights(fitted.views) or self.state.sample is None:
            return fitted
        seen = seen_rows(self.bound_spec, self.state, "stacking='auto'")
        views = fitted.views.with_partial_weights(self.likelihood, seen, Kernels(self.bound_spec.n_threads))
        return replace(fitted, views=views)

    @cached
    def current(self) -> Fitted | None:
        """Fitted parameters for the current state: the earlier ones if few rows have changed since, else new ones."""
        if not self.bound_spec.looks_back:
            return None
        earlier, kernels = self._earlier_fitted, Kernels(self.bound_spec.n_threads)
        if earlier is not None and earlier.suits(self.bound_spec, self.state):
            return earlier
        if earlier is not None and earlier.weights_frozen_for(self.bound_spec, self.state):
            return with_refinement(self, earlier, kernels)
        return fit_on_sample(self, kernels)

    @property
    def latest_fitted(self) -> Fitted | None:
        """The latest fitted parameters, without fitting anything."""
        return vars(self).get("current", self._earlier_fitted)

    @property
    def kept_fitted(self) -> Fitted | None:
        """The latest fitted parameters if they are still valid for the current state, without fitting anything."""
        if "current" in vars(self):
            return self.current
        fitted = self.latest_fitted
        return fitted if fitted is not None and fitted.suits(self.bound_spec, self.state) else None

    @cached
    def out_of_fold(self) -> OutOfFoldScores:
        """Return the scores of training rows by models trained without them."""
        from .out_of_fold import OutOfFoldScores, score_out_of_fold

        result = score_out_of_fold(self, Kernels(self.bound_spec.n_threads))
        scores, optimistic = (self._retargeted(part) for part in (result.log_probability, result.optimistic))
        plain = None if result.plain is None else self._retargeted(result.plain)
        if self.bound_spec.target is None:
            return OutOfFoldScores(result.seen, scores, optimistic, plain)
        # The class frequencies of the state differ from those of the kept rows.
        trained = self.bound_spec.prior.as_in_training.probability(self.classes, self.state.rows)
        share = np.divide(self.bound_spec.target, trained, out=np.zeros_like(trained), where=trained > 0)
        weight = result.seen.case_weight * share[result.seen.batch.classes]
        return OutOfFoldScores(result.seen._replace(case_weight=weight), scores, optimistic, plain)

    @property
    def can_report(self) -> bool:
        """Whether training rows or an earlier report are available."""
        return self._report is not None or (self.state.sample is not None and not self.state.sample.is_empty)

    @property
    def report(self) -> Evaluation:
        """Out-of-sample evaluation of the model on training rows."""
        if self._report is not None:
            return self._report
        from .out_of_fold import report

        return report(self.out_of_fold, self.classes.labels)

    @cached
    def likelihood(self) -> Any:
        return self.family.likelihood(self.statistics)

    @cached
    def class_prior(self) -> Floats:
        """Return p(class), fitted or given, including class weights."""
        if self.bound_spec.target is not None:
            return self.bound_spec.target
        return self.bound_spec.prior.probability(self.classes, self.state.rows)

    @cached
    def log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior)

    @cached
    def scorer(self) -> Scorer:
        return Scorer(self.likelihood, self.offset_for(self.state.rows))

    def offset_for(self, rows: Floats) -> Floats:
        """Return the log prior added to the scores for these class sizes, if the family uses one."""
        prior = self.prior_in_score
        with np.errstate(divide="ignore"):
            if self.bound_spec.prior_in_score or len(self.classes) == 1:
                return np.log(prior.probability(self.classes, rows))
            return np.log(prior.weight(self.classes, rows))

    @property
    def prior_in_score(self) -> ClassPrior:
        """The class prior that scores include.

        Scores to be calibrated include the class frequencies of training. A given prior is applied after calibration,
        which would otherwise undo it.
        """
        if self.bound_spec.corrects:
            return self.bound_spec.prior.as_in_training
        return self.bound_spec.prior if self.bound_spec.target is None else ClassPrior(self.bound_spec.target)

    def learn(self, batch: State, bound_spec: BoundSpec, *, in_place: bool = False) -> Classifier:
        """Return the classifier after further rows, with the current settings; ``in_place`` invalidates this one."""
        from .changes import after_rows

        return after_rows(self, self.state.learn(batch, in_place=in_place), bound_spec, batch, 1.0)

    def forget(self, batch: State) -> Classifier:
        """Return the classifier without rows that it was trained on."""
        from .changes import forgotten

        return forgotten(self, batch)

    def merge(self, other: Classifier) -> Classifier:
        """Return the classifier of both sets of rows."""
        from .changes import merged

        return merged(self, other)

    def kept_below(self, classes: Index) -> Hashes | None:
        """Return the hashes below which rows of these classes are used by the sample, or by views of an earlier one."""
        below, fitted = self.state.kept_below(classes), self.latest_fitted
        views = None if fitted is None else fitted.views
        if below is not None and _are_of_table(views) and views.hash_bound is not None:
            earlier = np.append(views.hash_bound, ABOVE_ALL)[classes.positions_in(self.classes)]
            below = np.maximum(below, earlier)
        return below

    def discount(self, factor: float) -> Classifier:
        """Return the classifier with all weights multiplied by a factor."""
        fitted, state = self.latest_fitted, self.state.discount(factor)
        if fitted is not None and factor == 0 and state.sample is not None:
            fitted = None  # none of the rows it was fitted on remain
        fitted = None if fitted is None else fitted.discounted(factor)
        return Classifier(self.bound_spec, state, fitted, token_names=self.token_names, choices=self.latest_choices)

    def refitted(self, bound_spec: BoundSpec) -> Classifier:
        """Return the classifier with all parameters refitted on kept rows; raise an error if there are none."""
        if bound_spec.looks_back:
            seen_rows(bound_spec, self.state, "refit")
        fitted = self.latest_fitted
        if fitted is not None and fitted.refinement is not None and fitted.weights_frozen_for(bound_spec, self.state):
            refined = with_refinement(self, fitted, Kernels(bound_spec.n_threads))
            return Classifier(bound_spec, self.state, refined, token_names=self.token_names)
        if fitted is not None and fitted.frozen:
            raise ParameterError(
                "refit is not available for models trained on unlabeled texts: their estimates already depend on the "
                "labels of the training texts; call fit with all texts"
            )
        from .changes import with_fine_grid

        state = with_fine_grid(bound_spec, self.state)
        anew = Classifier(bound_spec, state)
        return Classifier(bound_spec, state, anew.current, token_names=self.token_names, choices=anew.latest_choices)

    def without_sample(self, *, compute_loo: bool) -> Classifier:
        """Return the classifier without training rows, after computing everything that needs them."""
        from .top_features import top_token_names

        made = self.report if compute_loo and self.can_report else None
        # Views without fitted weights can only be fitted on training rows.
        fitted = self.fitted_without_rows
        if fitted is not None and fitted.views is not None:
            views: Any = fitted.views.without_unused()
            fitted = replace(fitted, views=views.without_row_scores() if is_table(self.family) else views)
        names = (
            self.token_names if self.state.sample is None else top_token_names(self, Kernels(self.bound_spec.n_threads))
        )
        return Classifier(*self._parts_without_rows(fitted), made, names, self.importance)

    def for_workers(self) -> Classifier:
        """Return the classifier without training rows, for workers that score rows."""
        return Classifier(*self._parts_without_rows(self.fitted_without_rows), choices=self.family)

    def _parts_without_rows(self, fitted: Fitted | None) -> tuple[BoundSpec, State, Fitted | None]:
        """Return the bound spec, state and fitted parameters without training rows, with the choices based on them."""
        bound_spec, chosen = self.bound_spec, self.family
        if is_table(bound_spec.family) and is_table(chosen):
            bound_spec = replace(bound_spec, family=bound_spec.family.with_held_out_losses(chosen))
        state = replace(self.state, statistics=self.statistics, sample=None)
        return bound_spec, state, None if fitted is None else replace(fitted, bound_spec=bound_spec)

    def for_export(self, *, approximate: bool) -> Classifier:
        """Return the model for exports: without a regression on grids if it may be approximate."""
        fitted = self.fitted
        views: Any = None if fitted is None else fitted.views
        if fitted is None or getattr(views, "weights_without_grids", None) is None:
            return self
        loss = f"raises the log-loss of left-out rows by {views.loss_without_grids:.4f}"
        if not approximate:
            raise ParameterError(
                "this model uses random grids of columns, which exports cannot express; pass approximate=True to "
                f"export the model without them, which {loss}, or fit it with refine=False"
            )
        warn(f"the export omits the random grids of columns; this {loss}")
        return Classifier(self.bound_spec, self.state, replace(fitted, views=views.without_grids()))

    def resolved(self, *, compute_loo: bool) -> Classifier:
        """Return the classifier with all parameters fitted; the slow evaluation is computed later."""
        known = self._report is not None or (self.can_report and not self.staleness)
        made = self.report if compute_loo and known else None
        return Classifier(self.bound_spec, self.state, self.fitted, made, self.token_names, self.importance)

    def for_file(self, *, forgot: bool = False) -> Classifier:
        """Return the classifier to store: refitted if the file would be incomplete or would contain forgotten rows.

        A file contains sums, from which families of columns are chosen again. A refinement may contain forgotten words.
        """
        untold = self.latest_choices or (forgot and getattr(self.latest_fitted, "refinement", None) is not None)
        return self.refitted(self.bound_spec) if self.staleness and self.can_refit and untold else self

    def pruned(self, bound_spec: BoundSpec, state: State, fitted: Fitted) -> Classifier:
        """Return the classifier without data that predictions do not need."""
        return Classifier(bound_spec, state, fitted, self._report, self.token_names, self.importance)

    def with_class_prior(self, prior: Floats) -> Classifier:
        """Return the classifier for rows with other class frequencies than in training.

        A calibration was fitted with the class frequencies of training, so the new prior is applied after it. Choices
        stay the same.
        """
        bound_spec, choices = replace(self.bound_spec, target=prior), self.latest_choices
        return Classifier(bound_spec, self.state, self.current, token_names=self.token_names, choices=choices)

    @property
    def prior_change(self) -> Floats:
        """Change of calibrated log posteriors by another class prior; -inf if one of the priors rules out a class."""
        if not self.bound_spec.corrects or (self.bound_spec.target is None and self.bound_spec.prior.is_as_in_training):
            return np.zeros(len(self.classes))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(self.class_prior) - np.log(self.prior_in_score.probability(self.classes, self.state.rows))
        return np.where(np.isfinite(change), change, -np.inf)

    def _retargeted(self, scores: Floats) -> Floats:
        change = self.prior_change
        return log_softmax(scores + change) if change.any() else scores

    def predict(self, data: Any, kernels: Kernels) -> Array:
        """Return the predicted label of each row."""
        if not self.bound_spec.corrects:
            return self.classes.labels[self.scorer.best(data, kernels)]
        best = self.posterior(data, kernels, logarithm=True).argmax(axis=1)
        return np.asarray(self.classes.labels[best])

    def posterior(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """Return p(class | x), or its logarithm, with calibration if the bound spec has one."""
        if not self.bound_spec.corrects:
            return self.scorer.posterior(data, kernels, logarithm=logarithm)
        scores = log_posterior(self, data, kernels)
        return scores if logarithm else np.exp(scores)

    def uncalibrated(self, data: Any, kernels: Kernels) -> Floats:
        """Return log posteriors before calibration, from the weighted views if there are any."""
        views = self.views_for(data)
        if views is None:
            return self.scorer.posterior(data, kernels, logarithm=True)
        prior = (self.scorer.offset,) if _are_of_table(views) else ()
        scores: Floats = views.scores(self.likelihood, data, *prior, kernels)  # type: ignore[call-arg]
        if self.current is not None and self.current.refinement is not None:
            scores += self.current.refinement.scores(data, kernels)
        scores[:, np.isneginf(self.scorer.offset)] = -np.inf
        kernels.normalize(scores, logarithm=True)
        return scores

    def views_for(self, data: Any) -> StackedViews | StackedTokenViews | None:
        """Return the views that score these rows, with other weights if columns are absent."""
        fitted = self.current
        if fitted is not None and _lacks_partial_weights(fitted.views):
            fitted = fitted if fitted.views.absent(self.likelihood, data) is None else self.fitted_without_rows
        return None if fitted is None else fitted.views

    def calibrated(self, scores: Floats, data: Any) -> Floats:
        """Return calibrated log posteriors with the class prior of prediction."""
        return self._retargeted(self.as_in_training(scores, data))

    def as_in_training(self, scores: Floats, data: Any) -> Floats:
        """Return calibrated log posteriors with the class frequencies of training."""
        fitted = self.current
        if fitted is None or fitted.calibration is None:
            return scores
        out = fitted.calibration.apply(scores, self.bound_spec.family.amount(data))
        out = np.where(nothing_given(self, data), scores, out)
        impossible = np.isneginf(scores)
        # Calibration curves do not preserve impossible classes.
        return log_softmax(np.where(impossible, -np.inf, out)) if impossible.any() else out

    def log_density(self, data: Any, kernels: Kernels) -> Floats:
        """Return log p(x) of each row."""
        return plus_base(log_sum(self.scorer.joint(data, kernels)), self.likelihood.log_base(data))

    def log_likelihood(self, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
        """Return Σ log p(x, class) over rows."""
        return log_likelihood(self, data, classes, weight, kernels)

    def sample(self, n: int, rng: np.random.Generator, **options: Any) -> tuple[Any, Array]:
        """Return rows drawn from the model, and their labels."""
        classes = rng.choice(len(self.classes), size=n, p=self.class_prior).astype(np.int32)
        return self.likelihood.sample(classes, rng, **options), self.classes.labels[classes]

    def parameters(self, column_names: Array) -> Table:
        """Return the parameters of p(x | class) with their counts."""
        # Copies, so that changes of the table do not affect the model.
        columns = {name: np.array(column) for name, column in self.likelihood.parameters().items()}
        columns["class"] = named(columns["class"], self.classes.labels)
        columns["column"] = named(columns["column"], column_names)
        return Table(columns)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of p(x | class) and p(class)."""
        prior = len(self.classes) - 1 if self.bound_spec.prior_in_score else 0
        return int(self.family.n_parameters(self.state.statistics)) + prior


def _are_of_table(views: StackedViews | StackedTokenViews | None) -> TypeGuard[StackedViews]:
    """Return whether views are ``StackedViews``, without importing its module."""
    return not (views is None or isinstance(views, StackedTokenViews))


def _lacks_partial_weights(views: StackedViews | StackedTokenViews | None) -> TypeGuard[StackedViews]:
    return _are_of_table(views) and views.partial is None


def _consolidated(old: Fitted | None) -> Fitted | None:
    """Return the fitted parameters with all changes applied to the tables of the views."""
    return replace(old, views=old.views.consolidated()) if old and _are_of_table(old.views) else old
