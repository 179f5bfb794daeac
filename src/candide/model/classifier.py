"""A trained model without scikit-learn: a plan, a state, what was fitted to rows left out, and the scorer made from
them when first needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.index import Index
from ..exceptions import ParameterError
from ..families import Family
from ..families.base import is_table
from ..kernels import Kernels
from ..kernels.hashing import Hashes
from ..kernels.layouts import Array, Floats, Positions
from ..specs import BoundSpec, ClassPrior
from ..stacking.calibration import log_softmax
from ..stacking.token_views import StackedTokenViews
from ..statistics.hashing import ABOVE_ALL
from .blend import Blend, fit_blend, held_out, seen_rows, with_refinement
from .cached import cached
from .given import log_posterior, nothing_given
from .log_likelihood import log_likelihood, plus_base
from .scorer import Scorer, log_sum
from .state import State
from .table import Table, named

if TYPE_CHECKING:
    from ..families.table import TableFamily
    from .evaluation import Report
    from .honest import Honest
    from .token_names import Names


class Classifier:
    """Immutable: learning gives a new one. Predicting only reads, so threads may share it."""

    def __init__(
        self,
        plan: BoundSpec,
        state: State,
        blend: Blend | None = None,
        report: Report | None = None,
        token_names: Names | None = None,
        importance: Table | None = None,
        choices: Family | None = None,
    ) -> None:
        # An impossible prior is an error now, not at predict.
        plan.prior.probability(state.classes, state.rows)
        if plan.target is not None:
            ClassPrior(plan.target).check(state.classes)
        self.plan = plan
        self.state = state
        self._earlier_blend = blend
        # The families of columns that were chosen when the blend was fitted.
        self._earlier_choices = choices
        # Made before the training rows went.
        self._report = report
        self.token_names = token_names or {}
        self.importance = importance  # of columns, once somebody asked (explain/importance.py)

    def __getstate__(self) -> dict[str, Any]:
        kept = {"plan": self.plan, "state": self.state, "_report": self._report, "token_names": self.token_names}
        made = {"_earlier_blend": _consolidated(self.latest_blend), "_earlier_choices": self.latest_choices}
        return {**kept, **made, "importance": self.importance}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({"_earlier_choices": None, **state})

    def parts(self) -> dict[str, Any]:
        """What it is made of, by the names that the constructor has for them; the blend if it was made already."""
        made = {"blend": _consolidated(self.latest_blend), "report": self._report, "token_names": self.token_names}
        return {"plan": self.plan, "state": self.state, **made, "importance": self.importance}

    @property
    def classes(self) -> Index:
        return self.state.classes

    @cached
    def family(self) -> Family:
        """The family with all that it takes from the classes together fixed at what they say now."""
        family = self.plan.family
        if self.plan.alpha == "evidence":
            from .smoothing import by_evidence

            family = family.with_alpha(by_evidence(family, self.state.statistics))
        elif self.plan.alpha == "loo" and self.current is not None and self.current.alpha is not None:
            family = family.with_alpha(self.current.alpha)
        earlier = self._kept_choices
        if earlier is not None:
            return earlier.for_sums(self.statistics)
        if is_table(family) and self.state.sample is not None and self.state.sample.grouped:
            held = held_out(self.plan, self.state, self.statistics, Kernels(self.plan.n_threads))
            return family.settle(self.statistics, held)
        return family.settle(self.statistics)

    @cached
    def statistics(self) -> Any:
        """The sums of the state; where the rows kept tell copies, a row weighs as much as all of its copies.

        What a row weighs matters to choices, and these stay until the next refit.
        """
        return self.state.statistics_with_copies() if self._kept_choices is None else self.state.statistics

    @property
    def _kept_choices(self) -> TableFamily | None:
        """Families of columns that were chosen before, if what was fitted with them is still in use."""
        choices, kept = self._earlier_choices, self.kept_blend
        return choices if is_table(choices) and kept is not None and kept is self._earlier_blend else None

    @property
    def latest_choices(self) -> Family | None:
        """Families of columns, which stay as long as the blend that weighs them; without rows there is no refit that
        would choose them again, so that they follow the sums.
        """
        follows = self.state.sample is None or not self.plan.looks_back or self.latest_blend is None
        return None if follows or not is_table(self.plan.family) else self.family

    def complete(self) -> Classifier:
        """The same model, with everything fitted that the plan asks for.

        Estimators complete a model whenever it has changed, so that predicting only reads it: what is fitted depends on
        the rows learned, and never on when somebody predicted.
        """
        _ = self.current
        if self.plan.alpha is not None or is_table(self.plan.family):
            _ = self.family  # pseudo-counts and families of columns are chosen
        return self

    @property
    def staleness(self) -> float:
        """The weight learned and forgotten since the last refit, as a share of the weight at that refit."""
        blend = self.latest_blend
        return 0.0 if blend is None or not self.plan.looks_back else blend.age

    @property
    def can_refit(self) -> bool:
        """Whether there are rows to refit on, and they can tell again what was fitted."""
        lasts = (blend := self.latest_blend) is not None and blend.lasting and blend.refinement is None
        return self.plan.looks_back and self.state.sample is not None and not lasts

    @cached
    def blend(self) -> Blend | None:
        """What was chosen by looking at rows again, with all changes since in the sums of its views."""
        return _consolidated(self.current)

    @cached
    def current(self) -> Blend | None:
        """The same as it is scored: the earlier one while little has changed since, else a new one."""
        if not self.plan.looks_back:
            return None
        earlier, kernels = self._earlier_blend, Kernels(self.plan.n_threads)
        if earlier is not None and earlier.suits(self.plan, self.state):
            return earlier
        if earlier is not None and earlier.lasts_for(self.plan, self.state):
            return with_refinement(self, earlier, kernels)
        return fit_blend(self, kernels)

    @property
    def latest_blend(self) -> Blend | None:
        """The blend if it was made already."""
        return vars(self).get("current", self._earlier_blend)

    @property
    def kept_blend(self) -> Blend | None:
        """The blend while it may be used; an outdated one must not be mistaken for that of the rows of now."""
        if "current" in vars(self):
            return self.current
        blend = self.latest_blend
        return blend if blend is not None and blend.suits(self.plan, self.state) else None

    @cached
    def honest(self) -> Honest:
        """Training rows scored by models that never saw them."""
        from .honest import Honest, honest

        result = honest(self, Kernels(self.plan.n_threads))
        scores = (self._retargeted(part) for part in (result.log_probability, result.optimistic))
        if self.plan.target is None:
            return Honest(result.seen, *scores)
        # Where the model is used, the classes have other shares than among the rows that were kept.
        trained = self.plan.prior.as_in_training.probability(self.classes, self.state.rows)
        share = np.divide(self.plan.target, trained, out=np.zeros_like(trained), where=trained > 0)
        weight = result.seen.case_weight * share[result.seen.batch.classes]
        return Honest(result.seen._replace(case_weight=weight), *scores)

    @property
    def can_report(self) -> bool:
        """Whether there are rows to report on, or a report from when there were."""
        return self._report is not None or (self.state.sample is not None and not self.state.sample.is_empty)

    @property
    def report(self) -> Report:
        """How good the model honestly is."""
        if self._report is not None:
            return self._report
        from .honest import report

        return report(self.honest, self.classes.labels)

    @cached
    def likelihood(self) -> Any:
        return self.family.likelihood(self.statistics)

    @cached
    def class_prior(self) -> Floats:
        """p(class), fitted or given, class weights included."""
        if self.plan.target is not None:
            return self.plan.target
        return self.plan.prior.probability(self.classes, self.state.rows)

    @cached
    def log_prior(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior)

    @cached
    def scorer(self) -> Scorer:
        return Scorer(self.likelihood, self.offset_for(self.state.rows))

    def offset_for(self, rows: Floats) -> Floats:
        """What the classes add to every score if they have so many rows: their log prior, where it has a place."""
        prior = self.prior_in_score
        with np.errstate(divide="ignore"):
            if self.plan.prior_in_score or len(self.classes) == 1:
                return np.log(prior.probability(self.classes, rows))
            return np.log(prior.weight(self.classes, rows))

    @property
    def prior_in_score(self) -> ClassPrior:
        """The class prior that scores hold. Calibrated scores hold the shares of training, whatever was given: the
        calibration would undo what is given, so that comes after it.
        """
        if self.plan.corrects:
            return self.plan.prior.as_in_training
        return self.plan.prior if self.plan.target is None else ClassPrior(self.plan.target)

    def learn(self, batch: State, plan: BoundSpec, *, in_place: bool = False) -> Classifier:
        """After further rows, with the settings of now. ``in_place``: this model is used up."""
        from .changes import after_rows

        return after_rows(self, self.state.learn(batch, in_place=in_place), plan, batch, 1.0)

    def forget(self, batch: State) -> Classifier:
        """Without rows that were learned."""
        from .changes import forgotten

        return forgotten(self, batch)

    def merge(self, other: Classifier) -> Classifier:
        """The model of both sets of rows."""
        from .changes import merged

        return merged(self, other)

    def kept_below(self, classes: Index) -> Hashes | None:
        """Hashes below which rows of these classes matter: to the sample, or to views made of an earlier one."""
        below, views = self.state.kept_below(classes), self.latest_blend and self.latest_blend.views
        bound = getattr(views, "hash_bound", None)
        if below is not None and bound is not None:
            earlier = np.append(bound, ABOVE_ALL)[classes.positions_in(self.classes)]
            below = np.maximum(below, earlier)
        return below

    def discount(self, factor: float) -> Classifier:
        """With all weights multiplied."""
        blend, state = self.latest_blend, self.state.discount(factor)
        if blend is not None and factor == 0 and state.sample is not None:
            blend = None  # nothing is left of what it was fitted on
        blend = None if blend is None else blend.discounted(factor)
        return Classifier(self.plan, state, blend, token_names=self.token_names, choices=self.latest_choices)

    def refitted(self, plan: BoundSpec) -> Classifier:
        """With everything that looks at rows again made anew; without rows to look at, an error."""
        if plan.looks_back:
            seen_rows(plan, self.state, "refit")
        blend = self.latest_blend
        if blend is not None and blend.refinement is not None and blend.lasts_for(plan, self.state):
            refined = with_refinement(self, blend, Kernels(plan.n_threads))
            return Classifier(plan, self.state, refined, token_names=self.token_names)
        if blend is not None and blend.lasting:
            raise ParameterError(
                "refit would judge training texts by sums that know their labels, by way of the texts without labels; "
                "fit again, with all texts"
            )
        anew = Classifier(plan, self.state)
        return Classifier(plan, self.state, anew.current, token_names=self.token_names, choices=anew.latest_choices)

    def without_sample(self, *, compute_loo: bool) -> Classifier:
        """Without training rows; what needs them is made before they go."""
        from .telling import heavy_names

        made = self.report if compute_loo and self.can_report else None
        # Views that no weight was found for are weighed again only with rows.
        blend = self.blend
        if blend is not None and blend.views is not None:
            blend = replace(blend, views=blend.views.without_unused())
        names = self.token_names if self.state.sample is None else heavy_names(self, Kernels(self.plan.n_threads))
        state = replace(self.state, statistics=self.statistics, sample=None)
        return Classifier(self.plan, state, blend, made, names, self.importance)

    def resolved(self, *, compute_loo: bool) -> Classifier:
        """With all that looks at rows again made already; after changes the report, slow as a refit, waits."""
        known = self._report is not None or (self.can_report and not self.staleness)
        made = self.report if compute_loo and known else None
        return Classifier(self.plan, self.state, self.blend, made, self.token_names, self.importance)

    def for_file(self, *, forgot: bool = False) -> Classifier:
        """The same model, or refitted where a file could not tell all of it, or would tell what was forgotten.

        A file holds the sums, not the families of columns, which are chosen again; a refinement holds forgotten words.
        """
        untold = self.latest_choices or (forgot and getattr(self.latest_blend, "refinement", None) is not None)
        return self.refitted(self.plan) if self.staleness and self.can_refit and untold else self

    def smaller(self, plan: BoundSpec, state: State, blend: Blend) -> Classifier:
        """Without something that predicting never asks."""
        return Classifier(plan, state, blend, self._report, self.token_names, self.importance)

    def with_class_prior(self, prior: Floats) -> Classifier:
        """For rows among which the classes have other shares than in training.

        A calibration was fitted with the shares of training, so the change comes after it. What was chosen stays.
        """
        plan, choices = replace(self.plan, target=prior), self.latest_choices
        return Classifier(plan, self.state, self.current, token_names=self.token_names, choices=choices)

    @property
    def prior_change(self) -> Floats:
        """What another class prior adds to calibrated log posteriors; -inf where one of the two rules a class out."""
        if not self.plan.corrects or (self.plan.target is None and self.plan.prior.is_as_in_training):
            return np.zeros(len(self.classes))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(self.class_prior) - np.log(self.prior_in_score.probability(self.classes, self.state.rows))
        return np.where(np.isfinite(change), change, -np.inf)

    def _retargeted(self, scores: Floats) -> Floats:
        change = self.prior_change
        return log_softmax(scores + change) if change.any() else scores

    def predict(self, data: Any, kernels: Kernels) -> Array:
        """The label of each row."""
        if not self.plan.corrects:
            return self.classes.labels[self.scorer.best(data, kernels)]
        best = self.posterior(data, kernels, logarithm=True).argmax(axis=1)
        return np.asarray(self.classes.labels[best])

    def posterior(self, data: Any, kernels: Kernels, *, logarithm: bool) -> Floats:
        """p(class | x), or its logarithm, calibrated if the plan says so."""
        if not self.plan.corrects:
            return self.scorer.posterior(data, kernels, logarithm=logarithm)
        scores = log_posterior(self, data, kernels)
        return scores if logarithm else np.exp(scores)

    def uncalibrated(self, data: Any, kernels: Kernels) -> Floats:
        """Log posteriors before they are calibrated: of the views with their weights, if there are any."""
        views = None if self.current is None else self.current.views
        if views is None:
            return self.scorer.posterior(data, kernels, logarithm=True)
        prior = () if isinstance(views, StackedTokenViews) else (self.scorer.offset,)
        scores: Floats = views.scores(self.likelihood, data, *prior, kernels)  # type: ignore[call-arg]
        if self.current is not None and self.current.refinement is not None:
            scores += self.current.refinement.scores(data, kernels)
        scores[:, np.isneginf(self.scorer.offset)] = -np.inf
        kernels.normalize(scores, logarithm=True)
        return scores

    def calibrated(self, scores: Floats, data: Any) -> Floats:
        """Log posteriors as the calibration corrects them, under the class prior of where the model is used."""
        return self._retargeted(self.as_in_training(scores, data))

    def as_in_training(self, scores: Floats, data: Any) -> Floats:
        """Log posteriors as the calibration corrects them, under the class prior that it was fitted with."""
        blend = self.current
        if blend is None or blend.calibration is None:
            return scores
        out = blend.calibration.apply(scores, self.plan.family.amount(data))
        out = np.where(nothing_given(self, data), scores, out)
        impossible = np.isneginf(scores)
        # Curves know nothing of what cannot be.
        return log_softmax(np.where(impossible, -np.inf, out)) if impossible.any() else out

    def log_density(self, data: Any, kernels: Kernels) -> Floats:
        """log p(x), row by row."""
        return plus_base(log_sum(self.scorer.joint(data, kernels)), self.likelihood.log_base(data))

    def log_likelihood(self, data: Any, classes: Positions, weight: Floats | None, kernels: Kernels) -> float:
        """Σ log p(x, class) over rows."""
        return log_likelihood(self, data, classes, weight, kernels)

    def sample(self, n: int, rng: np.random.Generator, **options: Any) -> tuple[Any, Array]:
        """Rows drawn from the model, and their labels."""
        classes = rng.choice(len(self.classes), size=n, p=self.class_prior).astype(np.int32)
        return self.likelihood.sample(classes, rng, **options), self.classes.labels[classes]

    def parameters(self, column_names: Array) -> Table:
        """Every parameter of p(x | class) with the count behind it."""
        # Copies: what a reader does to the table must not reach the model.
        columns = {name: np.array(column) for name, column in self.likelihood.parameters().items()}
        columns["class"] = named(columns["class"], self.classes.labels)
        columns["column"] = named(columns["column"], column_names)
        return Table(columns)

    @property
    def n_parameters(self) -> int:
        """Free parameters: those of p(x | class) and of p(class)."""
        prior = len(self.classes) - 1 if self.plan.prior_in_score else 0
        return int(self.family.n_parameters(self.state.statistics)) + prior


def _consolidated(old: Blend | None) -> Blend | None:
    """With all changes in the tables of its views."""
    if old is None or old.views is None or isinstance(old.views, StackedTokenViews):
        return old
    return replace(old, views=old.views.consolidated())
