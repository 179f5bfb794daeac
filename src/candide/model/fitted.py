"""Parameters fitted on the sample of training rows: pseudo-counts by leave-one-out, views and weights, calibration.

Each row of the sample is scored by a model without it. The sample only depends on the set of rows, so a model trained
in memory, by merging or on a cluster has the same parameters. They are fitted when rows are learned, and refitted after
a tenth of the weight was learned or forgotten. Until then, the sums in the views are updated, while cuts, weights and
curves stay the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.columns import Columns
from ..data.index import Index
from ..exceptions import InputError, ParameterError, warn
from ..families import Batch, Family
from ..families.base import is_table
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from ..lazy import dataclass
from ..specs import BoundSpec
from ..stacking.calibration import Calibration, Scaling, calibrate, log_softmax
from ..stacking.refinement import Refinement, fit_refinement, out_of_fold_scores
from ..stacking.token_views import StackedTokenViews, fit_stacked_token_views
from ..stacking.training_rows import N_FOLDS, TrainingRows, group_folds, make_folds, rows_by_fold
from .state import State

if TYPE_CHECKING:
    from ..families.table import HeldOut
    from ..stacking.stacked_views import StackedViews
    from ..statistics import Sample
    from ..statistics.table import TableStatistics
    from .classifier import Classifier

# Maximum number of blocks of rows that are left out in turn.
_MOST_BLOCKS = 50
# If not all training rows are kept, a warning is given below this number of kept rows.
_FEW_ROWS = 500
# Share of the weight that may be learned or forgotten before a refit.
_CHANGED = 0.1


@dataclass(frozen=True)
class Fitted:
    """The parameters fitted on the sample, their bound spec, and the total weight of the rows at that time."""

    bound_spec: BoundSpec
    classes: Index
    weight: float
    alpha: float | Floats | None = None
    calibration: Calibration | None = None
    views: StackedViews | StackedTokenViews | None = None
    refinement: Refinement | None = None
    changed: float = 0.0  # weight of the rows learned and forgotten since the fit
    # Whether all parameters but a refinement are fixed, because unlabeled rows were added to the sums with predicted
    # labels.
    frozen: bool = False

    @property
    def age(self) -> float:
        """The weight learned and forgotten since the fit, as a share of the weight at the fit."""
        return self.changed / self.weight if self.weight > 0 else float(self.changed > 0)

    def suits(self, bound_spec: BoundSpec, state: State) -> bool:
        """Return whether these parameters are valid: same choices and classes, and no refit is due."""
        return (state.sample is None or not self.is_due) and self.fits(bound_spec, state)

    @property
    def is_due(self) -> bool:
        """Whether enough weight was learned or forgotten for a refit."""
        stays = self.frozen and self.refinement is None
        return self.age > _CHANGED and not stays

    def weights_frozen_for(self, bound_spec: BoundSpec, state: State) -> bool:
        """Return whether the weights cannot be refitted, although a refit of the refinement is due."""
        return self.frozen and self.fits(bound_spec, state)

    def fits(self, bound_spec: BoundSpec, state: State) -> bool:
        """Return whether they were fitted for an equivalent bound spec and the same classes."""
        return self.classes == state.classes and self.bound_spec.chooses_like(bound_spec)

    def later(self, weight: float) -> Fitted:
        """Return the parameters after rows of this weight were learned or forgotten."""
        return replace(self, changed=self.changed + weight)

    def discounted(self, factor: float) -> Fitted:
        """Return the parameters after all weights were multiplied by a factor."""
        views = self.views
        if not (views is None or isinstance(views, StackedTokenViews)):
            views = views.discounted(factor)
        return replace(self, weight=self.weight * factor, changed=self.changed * factor, views=views)

    def among(self, classes: Index) -> Fitted:
        """Return the parameters for other classes without a refit; a new class has no bias."""
        if classes == self.classes:
            return self
        if self.views is not None:
            other = "" if isinstance(self.views, StackedTokenViews) else ", or with stacking=None"
            raise InputError(
                f"the stacking weights were fitted for the classes {self.classes.labels.tolist()} and cannot be "
                f"refitted for {classes.labels.tolist()}, because this model keeps no training rows; construct it with "
                f"subsample=100_000{other}"
            )
        calibration, places = self.calibration, self.classes.positions_in(classes)
        if isinstance(calibration, Scaling) and calibration.bias is not None:
            bias = np.zeros(len(classes))
            bias[places[places >= 0]] = calibration.bias[places >= 0]
            calibration = replace(calibration, bias=bias)
        elif not (calibration is None or isinstance(calibration, Scaling)):
            raise InputError(
                f"the calibration (calibrate={self.bound_spec.calibrate!r}) was fitted for the classes "
                f"{self.classes.labels.tolist()} and cannot be refitted for {classes.labels.tolist()}, because this "
                "model keeps no training rows; construct it with subsample=100_000, or with calibrate='platt'"
            )
        return replace(self, classes=classes, calibration=calibration)


def fit_on_sample(model: Classifier, kernels: Kernels) -> Fitted:
    """Fit everything that the bound spec requires."""
    bound_spec, state = model.bound_spec, model.state
    if not state.rows.any():
        return Fitted(bound_spec, state.classes, 0.0)  # after discount(0)
    seen, alpha = seen_rows(bound_spec, state, fitted_setting(bound_spec)), None
    if not len(seen.case_weight) and state.rows.any():
        warn(
            f"{fitted_setting(bound_spec)} needs training rows, but each row is larger than the limit for kept rows "
            f"({state.sample.budget if state.sample else 0}); it was not fitted, and loo_ is not available; pass "
            "shorter rows, such as parts of a text"
        )
    if bound_spec.order is not None:
        _warn_of_few_rows(bound_spec, state, len(seen.case_weight))
    if bound_spec.alpha == "loo":
        alpha = alphas(bound_spec, state, seen, [np.arange(len(seen.case_weight))], kernels)[0]
    calibration, views, refinement = None, None, None
    if bound_spec.order is not None:
        everything = seen
        seen, views, scores = _stacked(model, seen, kernels)
        if bound_spec.refine and isinstance(views, StackedTokenViews):
            refinement = _refined(model, views, everything, kernels)
    elif bound_spec.calibrate is not None:
        scores, _ = scores_left_out(bound_spec, state, seen, alpha, kernels)
    if bound_spec.calibrate is not None:
        amount = bound_spec.family.amount(seen.batch.data)
        calibration = calibrate(
            bound_spec.calibrate, scores, seen.batch.classes, seen.case_weight, amount, seen.multiplicity
        )
    return Fitted(bound_spec, state.classes, float(state.rows.sum()), alpha, calibration, views, refinement)


def _warn_of_few_rows(bound_spec: BoundSpec, state: State, n_rows: int) -> None:
    """Warn if the user keeps so few rows that weights fitted on them are inaccurate."""
    assert state.sample is not None
    if 0 < n_rows < _FEW_ROWS and state.sample.budget.unit == "rows" and not state.sample.is_complete:
        warn(
            f"{fitted_setting(bound_spec)} is fitted on the {n_rows:,} training rows that the model keeps, and loo_ "
            f"is computed on them; both are inaccurate; keep at least {_FEW_ROWS:,} rows, or pass subsample=0, which "
            "fits on more rows and drops them afterwards"
        )


def with_refinement(model: Classifier, fitted: Fitted, kernels: Kernels) -> Fitted:
    """Return the parameters with a new refinement fitted on the sample; weights stay the same."""
    assert isinstance(fitted.views, StackedTokenViews)
    seen, weight = seen_rows(model.bound_spec, model.state, "refine=True"), float(model.state.rows.sum())
    return replace(fitted, refinement=_refined(model, fitted.views, seen, kernels), weight=weight, changed=0.0)


def _refined(model: Classifier, views: StackedTokenViews, seen: TrainingRows, kernels: Kernels) -> Refinement:
    begun = out_of_fold_scores(model.likelihood, views, seen, kernels)
    return fit_refinement(model.likelihood, seen, begun, kernels)


def fitted_setting(bound_spec: BoundSpec) -> str:
    """Return the parameter setting that is fitted on training rows, for messages."""
    if bound_spec.order is not None:
        return "stacking='auto'"
    return "alpha='loo'" if bound_spec.calibrate is None else f"calibrate={bound_spec.calibrate!r}"


def _stacked(
    model: Classifier, seen: TrainingRows, kernels: Kernels
) -> tuple[TrainingRows, StackedViews | StackedTokenViews, Floats]:
    """Return the rows that weights were fitted on, the views with weights, and the rows' left-out log posteriors."""
    views: StackedViews | StackedTokenViews
    if isinstance(model.likelihood, TextLikelihood):
        views, scores, rows = fit_stacked_token_views(model.likelihood, seen, kernels)
    else:
        from ..stacking.stacked_views import fit_stacked_views

        bound_spec = model.bound_spec
        stacked, scores, rows = fit_stacked_views(
            model.likelihood, seen, bound_spec.order or 0, bound_spec.refine, kernels
        )
        views = _with_bounds(stacked, model.state)
    if len(rows) < len(seen.case_weight):
        seen = seen.take(rows, seen.multiplicity[rows])
    return seen, views, log_softmax(views.combine(scores))


def _with_bounds(views: StackedViews, state: State) -> StackedViews:
    """Return the views with the bounds and weights of the rows in them, which later updates need."""
    assert state.sample is not None
    represented = state.sample.represented()
    scale = np.divide(state.rows, represented, out=np.ones_like(represented), where=represented > 0)
    return replace(views, hash_bound=state.sample.threshold, scale=scale)


def seen_rows(bound_spec: BoundSpec, state: State, what: str) -> TrainingRows:
    """Return the sample as training rows, with copies as one row of their total weight; errors mention ``what``."""
    sample = state.sample
    if sample is None:
        raise ParameterError(
            f"{what} needs training rows, but this model keeps none; construct it with subsample=100_000 (for merged "
            "models, each of them) and fit again"
        )
    data = bound_spec.family.restored(sample.data, state.statistics)
    places, weight, multiplicity = sample.observations
    if len(places) < data.n_rows:
        data = data.take(places)
    batch = Batch(data, sample.classes[places], weight, len(state.classes))
    seen = TrainingRows(batch, sample.observed_weight(state.rows), multiplicity, _blocks(sample, batch))
    order = _order(bound_spec.family, batch)
    return seen if order is None else seen.take(order, multiplicity[order])


def _order(family: Family, batch: Batch) -> Array | None:
    """Return the order of rows in a sample without the columns that are not given; None if all are given.

    Rows are sorted by hash, and subsamples are evenly spaced, so they depend on the order.
    """
    out = family.not_given if is_table(family) else frozenset()
    if not out:
        return None
    from ..statistics.hashing import row_hashes

    columns = tuple(column for j, column in enumerate(batch.data.columns) if j not in out)
    return np.lexsort((row_hashes(Columns(columns, batch.data.n_rows)), batch.classes))


def held_out(bound_spec: BoundSpec, state: State, statistics: TableStatistics, kernels: Kernels) -> list[HeldOut]:
    """Return the sample in folds of whole groups, each with the statistics of all other rows; empty without groups."""
    seen = seen_rows(bound_spec, state, "selecting families by groups")
    if seen.blocks is None:
        return []
    from ..families.table import HeldOut

    batch = seen.with_all_copies()
    folds = (batch.take(rows) for rows in rows_by_fold(make_folds(batch.classes, seen.blocks, N_FOLDS)))
    family: Any = bound_spec.family
    return [HeldOut(fold, statistics.without(family.observe(fold, kernels))) for fold in folds]


def _blocks(sample: Sample, batch: Batch) -> Array | None:
    """Return the block of each row, which is left out as a whole; if there are many groups, a block has several."""
    groups = sample.groups
    if groups is None or groups.max(initial=0) == 0:
        return None  # without the only group, no rows would be left
    return groups if groups.max() < _MOST_BLOCKS else group_folds(batch.classes, groups, _MOST_BLOCKS)


def alphas(
    bound_spec: BoundSpec, state: State, seen: TrainingRows, subsets: list[Array], kernels: Kernels
) -> list[float | Floats]:
    from .smoothing import by_leave_one_out

    offset = _without_fitted_parts(bound_spec, state, None).offset_for(state.rows)
    if seen.blocks is not None:
        # Each block would be scored again for every α and column.
        seen = seen._replace(blocks=group_folds(seen.batch.classes, seen.blocks))
    return by_leave_one_out(bound_spec.family, state.statistics, seen, offset, subsets, kernels)


def scores_left_out(
    bound_spec: BoundSpec,
    state: State,
    seen: TrainingRows,
    alpha: float | Floats | None,
    kernels: Kernels,
) -> tuple[Floats, Floats | None]:
    """Return uncalibrated log posteriors with the row or its block left out, and the amount of evidence of rows."""
    from .leave_one_out import left_out_scores

    batch = seen.batch if seen.blocks is None else seen.with_all_copies()
    scores = left_out_scores(_without_fitted_parts(bound_spec, state, alpha), batch, seen.blocks, kernels)
    return scores, bound_spec.family.amount(seen.batch.data)


def _without_fitted_parts(bound_spec: BoundSpec, state: State, alpha: float | Floats | None) -> Classifier:
    from .classifier import Classifier

    family = bound_spec.family if alpha is None else bound_spec.family.with_alpha(alpha)
    how = None if alpha is not None or bound_spec.alpha == "loo" else bound_spec.alpha
    prior = bound_spec.prior.as_in_training if bound_spec.corrects else bound_spec.prior
    bare = replace(bound_spec, family=family, prior=prior, alpha=how, calibrate=None, order=None, target=None)
    return Classifier(bare, state)
