"""Naive Bayes for tables as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from ..model.table import Table
from ..specs.table import TableSpec
from .base import BaseNB


class NaiveBayes(BaseNB):
    """Naive Bayes for tables: numbers, categories, counts, dates and texts, with missing values, from a data frame.

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
    schema : dict, optional
        Types of columns by name, or by position where they have no names, and that of the label: "number", "category",
        "boolean", "date", "text" or "str" (texts, be they categories or free text). Columns that it leaves out have the
        type that the first rows tell, as ``schema_`` says. A type says how cells are read, and ``columns`` how they are
        modelled. Categories and labels that are declared are texts, whatever holds them, so that tables of all formats
        and engines give the same model.
    alpha : float, optional
        Pseudo-count of every category; by default chosen by leave-one-out, column by column.
    stacking : {"auto", None}, default "auto"
        Whether columns and views get weights. None: every column counts once, which is plain naive Bayes.
    calibrate : {"auto", "temperature", "platt", "beta", "isotonic", None}, default "auto"
        A correction of the probabilities on top. "auto": none with stacking, else "platt".
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
    compute_loo : bool, optional
        As in ``MultinomialNB``.
    keep_sample : bool, optional
        Whether training rows are kept, which ``refit`` and ``loo_`` need. By default they are.
    unlabeled : {"drop", "error"}, default "drop"
        What becomes of rows whose label is None, NaN or a null, wherever rows come from: they are left out, with one
        warning that counts them, or they are an error. Rows of which none has a label are an error.
    n_threads : int, optional
        Threads; by default all there are.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        As in all classifiers.
    schema_ : Table
        Name, kind and role of each column, and how its kind was decided. It is fixed: further rows are converted if no
        value changes its meaning by that, and refused otherwise.
    loo_ : Evaluation
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

    _spec_type = TableSpec
    _checks_names: ClassVar[bool] = False
    _input_tags: ClassVar[dict[str, bool]] = {"categorical": True, "string": True}

    def __init__(
        self,
        columns: Any = "auto",
        *,
        schema: Mapping[Any, Literal["number", "category", "boolean", "date", "text", "str"]] | None = None,
        alpha: float | None = None,
        stacking: Literal["auto"] | None = "auto",
        calibrate: Literal["auto", "temperature", "platt", "beta", "isotonic"] | None = "auto",
        order: Literal["auto", 0, 1, 2] = "auto",
        missing: Literal["auto", "ignore", "category", "error"] = "auto",
        unseen: Literal["ignore", "smooth"] = "ignore",
        absent: Literal["error", "missing"] = "error",
        fit_prior: bool = True,
        class_prior: Any = None,
        class_weight: Any = None,
        compute_loo: bool | None = None,
        keep_sample: bool | None = None,
        unlabeled: Literal["drop", "error"] = "drop",
        n_threads: int | None = None,
    ) -> None:
        self.columns = columns
        self.schema = schema
        self.alpha = alpha
        self.stacking = stacking
        self.calibrate = calibrate
        self.order = order
        self.missing = missing
        self.unseen = unseen
        self.absent = absent
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.compute_loo = compute_loo
        self.keep_sample = keep_sample
        self.unlabeled = unlabeled
        self.n_threads = n_threads

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from a table ``X`` with labels ``y``, forgetting what was learned before.

        Parameters
        ----------
        X : data frame, dict of columns, array, lists of rows or sparse matrix; or an iterator of chunks
            As it is; None, NaN and nulls are missing values. Without ``y``, an iterator that yields ``(X, y)``,
            ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``: rows of which few are in memory at once.
        y : array of shape (n_rows,), or the name of the column of ``X`` that holds the labels
            Here as in ``partial_fit``, ``forget``, ``score``, ``leave_one_out`` and ``cross_val_log_proba``.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it; where rows are left out, to weigh columns and views, it leaves
            as a whole.
        groups : array of shape (n_rows,), optional
            Rows of one group (a customer, a thread, a patient) leave together wherever rows are left out: in ``loo_``,
            in the choice of column models, in stacking weights and calibration. None and NaN: a row of its own.
        """
        super().fit(X, y, sample_weight, groups)
        return self

    @property
    def schema_(self) -> Table:
        """Name, kind and role of each column of training, and how its kind was decided.

        Examples
        --------
        >>> from candide import NaiveBayes
        >>> table = {"age": [31, 58], "zip": [101, 102], "pay": [0, 1]}
        >>> NaiveBayes(schema={"zip": "category"}).fit(table, "pay").schema_
        name  kind      role     decided
        age   number    feature  storage type int64
        zip   category  feature  declared
        y     number    label    the labels of training
        """
        return self._fitted().schema_table()

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

        model = self._fitted()
        return summary_with_importance(model.classifier, model.column_names(), model.kernels)
