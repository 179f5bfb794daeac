"""Naive Bayes for tables as they are."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np

from ..data.column_selection import split_label
from ..data.columns import Columns
from ..exceptions import InputError, MergeError, ParameterError
from ..families import Family
from ..families.table import TableFamily
from ..kernels.layouts import Array
from ..model.plan import ClassPrior, Plan
from ..model.summary import summary
from ..model.table import Table
from ..statistics.table import join_kinds
from .base import BaseNB
from .beliefs import class_prior_of
from .draws import as_seen
from .guard import all_or_nothing
from .schema import Schema
from .settings import choice, number
from .text_settings import auto_family


class NaiveBayes(BaseNB):
    """Naive Bayes for any table: numbers, categories, counts, dates, texts, with holes, straight from a data frame.

    Each column is modelled by what suits it, chosen by exact leave-one-out. Views that look at pairs of columns, at
    triples, and at all numbers together are weighed against the columns in one convex problem on rows left out. That
    repairs the assumption of independence as far as it pays, and makes the probabilities mean what they say. All of it
    is made from summaries that add, so the model learns further rows, forgets, and merges.

    Parameters
    ----------
    columns : "auto", a family, a dict or a list of pairs, default "auto"
        How columns are modelled: a family for all, or a dict from names, tuples of names, regular expressions
        (``re.compile``), callables ``(name, kind)`` or "numbers", "categories" and "texts" to families. Names come
        before patterns and callables, and these before kinds: ``{"numbers": "gaussian", "age": "kernel"}``. Columns
        that it leaves out are "auto". A list of pairs does as well, and there a list of names too. Families:
        "gaussian", "student", "lognormal", "power", "kernel", "bins", "poisson", "bernoulli", "categorical", "text",
        "ignore", for each column by itself; "multinomial" and "multivariate_normal" for those of a key together. A
        tuple ``("bins", {"method": "mdlp"})`` gives options.
    alpha : float, optional
        Pseudo-count of every category; by default chosen by leave-one-out, column by column.
    blend : {"auto", None}, default "auto"
        Whether columns and views are weighed. None: every column counts once, as in the textbook.
    calibrate : {"auto", "temperature", "platt", "beta", "isotonic", None}, default "auto"
        A correction of the probabilities on top. "auto": none where they are blended, else "platt".
    order : {"auto", 0, 1, 2}, default "auto"
        On how many other columns a column may depend in the views: none, one (and all numbers together), or two.
        "auto" is 2; what does not pay gets no weight.
    missing : {"auto", "ignore", "category", "error"}, default "auto"
        A missing cell says nothing, or is a value of its own; "auto": whichever predicts better, column by column.
    unseen : {"ignore", "smooth"}, default "ignore"
        A category that was never seen says nothing, or has the share that smoothing leaves it.
    absent : {"error", "missing"}, default "error"
        Whether a table to predict may lack columns of training: an error, or they are not given, and rows are
        answered from the other columns, as if the model had been trained on these alone. A table that lacks a column
        and has one that is unknown is refused either way: it is most likely misspelt.
    fit_prior, class_prior, class_weight
        As in ``MultinomialNB``.
    evaluate : bool, default True
        Offer ``loo_``: how good the model honestly is, from its training rows alone.
    keep_sample : bool, optional
        Whether training rows are kept, which later changes of the blend and ``loo_`` need. By default they are.
    unlabeled : {"drop", "error"}, default "drop"
        What becomes of rows whose label is None, NaN or a null, wherever rows come from: they are left out, with one
        warning that counts them, or they are an error. Rows of which none has a label are an error.
    n_threads : int, optional
        Threads; by default all there are.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        As in all classifiers.
    loo_ : Report
        Accuracy, log-loss, calibration and more, each row judged by a model that never saw it.
    staleness_ : float
        The weight learned and forgotten since the last refit, as a share of the weight at that refit: 0.0 after ``fit``
        and ``refit``; once it exceeds 0.1, ``partial_fit``, ``forget`` and ``merge`` refit.

    Examples
    --------
    >>> age, job = [25, 38, 28, 44, 18, 34, 29, 63], ["cook", "smith", None, "smith", "cook", "cook", None, "smith"]
    >>> pay = ["low", "high", "low", "high", "low", "low", "low", "high"]
    >>> model = NaiveBayes().fit({"age": age, "job": job, "pay": pay}, y="pay")
    >>> model.predict({"age": [40, 20], "job": ["smith", "cook"]}).tolist()
    ['high', 'low']
    """

    _sample_bytes: ClassVar[int] = 1 << 24
    _schema: Schema
    estimate = None
    parameter_prior = None

    def __init__(
        self,
        columns: Any = "auto",
        *,
        alpha: float | None = None,
        blend: Literal["auto"] | None = "auto",
        calibrate: Literal["auto", "temperature", "platt", "beta", "isotonic"] | None = "auto",
        order: Literal["auto", 0, 1, 2] = "auto",
        missing: Literal["auto", "ignore", "category", "error"] = "auto",
        unseen: Literal["ignore", "smooth"] = "ignore",
        absent: Literal["error", "missing"] = "error",
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        evaluate: bool = True,
        keep_sample: bool | None = None,
        unlabeled: Literal["drop", "error"] = "drop",
        n_threads: int | None = None,
    ) -> None:
        self.columns = columns
        self.alpha = alpha
        self.blend = blend
        self.calibrate = calibrate
        self.order = order
        self.missing = missing
        self.unseen = unseen
        self.absent = absent
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.evaluate = evaluate
        self.keep_sample = keep_sample
        self.unlabeled = unlabeled
        self.n_threads = n_threads

    # Learning.

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from a table ``X`` with labels ``y``, forgetting what was learned before.

        Parameters
        ----------
        X : data frame, dict of columns, array, lists of rows or sparse matrix; or an iterator of chunks
            As it is; None, NaN and nulls are missing values. Without ``y``, an iterator that yields ``(X, y)``,
            ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``: rows of which few are in memory at once.
        y : array of shape (n_rows,), or the name of the column of ``X`` that holds the labels
            Here as in ``partial_fit``, ``forget``, ``score``, ``leave_one_out``, ``blocked_folds`` and
            ``log_likelihood``.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it; where rows are left out, to weigh columns and views, it leaves
            as a whole.
        groups : array of shape (n_rows,), optional
            Rows of one group (a customer, a thread, a patient) leave together wherever rows are left out: in ``loo_``,
            in the choice of column models, in stacking weights and calibration. None and NaN: a row of its own.
        """
        super().fit(X, y, sample_weight, groups)
        return self

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Any]:
        return split_label(X, y)

    def _family(self, n_features: int) -> Family:
        alpha = None if self.alpha is None else number(self.alpha, "alpha")
        if alpha == 0:
            raise ParameterError("alpha is 0, and a table needs smoothing; for none, use CategoricalNB(alpha=0)")
        missing = choice(self.missing, "missing", ("auto", "ignore", "category", "error"))
        unseen = choice(self.unseen, "unseen", ("ignore", "smooth"))
        schema = self._schema
        return TableFamily(schema.names, schema.wanted, schema.blocks, missing, unseen, alpha, auto_family())

    def _plan(self, n_features: int, *, first: bool) -> Plan:
        if not first:
            # What is asked of the columns may have changed since.
            self._schema = self._schema.again(self.columns, self._model.state.statistics.kinds)
        return super()._plan(n_features, first=first)

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(self.class_prior, self.fit_prior, self.class_weight)

    def _calibration(self) -> str | None:
        if self.calibrate == "auto":
            return "platt" if self._order() is None else None
        return super()._calibration()

    def _order(self) -> int | None:
        """On how many columns views look at once; None without a blend."""
        if self.blend not in ("auto", None):
            raise ParameterError(f"blend is {self.blend!r}; it must be 'auto' or None")
        if self.order not in ("auto", 0, 1, 2) or isinstance(self.order, bool):
            raise ParameterError(f"order is {self.order!r}; it must be 'auto', 0, 1 or 2")
        if self.blend is None:
            if self.order not in ("auto", 0):
                raise ParameterError(f"order={self.order!r} adds views that a blend must weigh; pass blend='auto'")
            return None
        return 2 if self.order == "auto" else int(self.order)

    # Reading.

    def _read(self, X: Any, reset: bool = False) -> Columns:
        data = self._read_to_learn(X, reset)
        if not reset:
            self._schema.warn_if_all_unseen(data, self._model.state.statistics)
        return data

    def _read_to_learn(self, X: Any, reset: bool) -> Columns:
        absent = self._absent()
        if reset:
            self._schema, data = Schema.of(X, self.columns)
            self._schema.describe(self)
            return data
        known = self._fitted().state.statistics.kinds
        return self._schema.read(X, known, absent)

    def unseen_categories(self, X: Any) -> dict[Any, dict[Any, int]]:
        """The categories in ``X`` that no training row has, by column, and in how many rows of ``X`` each is.

        Examples
        --------
        >>> model = NaiveBayes(order=0).fit({"job": ["cook", "smith", "cook", "smith"]}, ["low", "high", "low", "high"])
        >>> model.unseen_categories({"job": ["cook", "pilot"]})
        {'job': {'pilot': 1}}
        """
        return self._schema.unseen(self._read_to_learn(X, reset=False), self._model.state.statistics)

    def _read_some(self, X: Any) -> tuple[Columns, Family]:
        data = self._schema.read_some(X, self._fitted().state.statistics.kinds)
        family: Any = self._fitted().plan.family
        return data, family.among(data.names)

    def _absent(self) -> str:
        return choice(self.absent, "absent", ("error", "missing"))

    def _check_other_settings(self) -> None:
        super()._check_other_settings()
        self._absent()

    def _column_names(self) -> Array:
        return np.array([str(name) for name in self._schema.names], dtype=object)

    def _table_columns(self) -> tuple[list[str], dict[str, Any]]:
        before = "x" if self._schema.given is None else ""
        examples = {f"{before}{name}": cell for name, cell in self._schema.examples.items()}
        return [f"{before}{name}" for name in self._schema.names], examples

    # What was learned.

    def _check_mergeable(self, other: Self) -> None:
        super()._check_mergeable(other)
        mine, theirs = self._schema, other._schema
        if mine.names != theirs.names:
            odd = sorted(map(str, set(mine.names) ^ set(theirs.names)))
            listed = ", ".join(odd)
            raise MergeError(f"only one of the models has the columns {listed}; give both dates with times, or none")
        if mine.blocks != theirs.blocks:
            raise MergeError("the models take different columns together, so their counts differ; train both alike")
        kinds = [model._model.state.statistics.kinds for model in (self, other)]
        try:
            join_kinds(mine.names, *kinds)
        except InputError as error:
            raise MergeError(f"the models counted different things: {error}") from None

    def summary(self) -> Table:
        """How each column is modelled, how much it matters to the answers, and the views of several columns.

        A row for each column, then for each block of columns and each view (a score of several columns together):

        - ``family``, ``parameters``: the model of the column, in short.
        - ``contribution``: total importance. The mean over training rows of the absolute contribution to the log-odds
          of the answer against the runner-up, in bits (a bit doubles the odds), summed over the column's own score and
          all views, as in ``explain``. Random Fourier features are no part of it: they have no share for a single
          column.
        - ``loss_without``: the rise of the leave-one-out log-loss, in nats, when the column is not given. Near 0, or
          below, for a column that others replace. NaN for views.
        - ``own_weight``: the weight of the column's own score, or of the view, when all scores are added up. A column
          of weight 0 may matter through views; ``contribution`` says how much.
        - ``bits``: what the column alone tells about the class, by left-out rows.
        - ``missing``: the share of missing cells. ``note``: why a column is not used; of a view, its columns.

        The first call looks at some training rows, which takes about a second. ``fit`` does not wait for that: with
        ``keep_sample=False`` the rows are gone when somebody asks, and ``contribution`` and ``loss_without`` are NaN.
        A model with rows that is saved without them finds both before, and its file knows them.
        """
        from ..explain.importance import summary_with_importance

        return summary_with_importance(self._fitted(), self._column_names(), self._kernels())

    @property
    def example_cells_(self) -> dict[Any, Any]:
        """For columns of booleans, whole numbers and times, by name: a cell of their type, which nobody gave."""
        self._require_fitted()
        return dict(self._schema.examples)

    def information(self) -> Table:
        """How much each column tells of the class: bits, as left-out rows tell it, the most first."""
        table, n_columns = summary(self._fitted()), len(self._schema.names)
        order = np.argsort(-table["bits"][:n_columns], kind="stable")
        return Table({name: table[name][:n_columns][order] for name in ("column", "bits")})

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Draw ``n`` rows from the model: a table like that of training, and labels.

        Columns are drawn independently given the class, but for those of a block. Whole numbers stay whole and within
        what was seen, booleans, dates and constants what they were. Columns that were set aside otherwise
        (identifiers) are missing.
        """
        drawn, y = self._draw(n, random_state)
        schema, statistics = self._schema, self._model.state.statistics
        columns = [
            as_seen(cells, statistics, j, whole=name in schema.whole, bounded=name in schema.examples)
            for j, (name, cells) in enumerate(zip(schema.names, drawn, strict=True))
        ]
        return schema.table(columns), y

    def impute(self, X: Any) -> Any:
        """``X`` with its missing cells filled from p(cell | what is observed in the row).

        The mean of number columns (rounded in those that can hold whole numbers only), the most probable category. The
        table comes back as what it was, with all its columns and their types. A column that nobody observed in training
        stays empty.
        """
        model, data, kernels = self._fitted(), self._read(X), self._kernels()
        posterior = model.posterior(data, kernels, logarithm=False)
        return self._schema.fill_missing(X, data, model.likelihood.expected(data, posterior))
