"""Naive Bayes for mixed tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from ..model.table import Table
from ..specs.table import TableSpec
from .base import BaseNB


@dataclass(kw_only=True, eq=False, repr=False)
class NaiveBayes(BaseNB):
    """Classifier for tables of numbers, categories, counts, dates and text, with missing values.

    Pass a data frame and the name of the label column to ``fit``, then call ``predict_proba``; nothing needs to be
    scaled, encoded or imputed. ``loo_`` contains the leave-one-out accuracy, ``explain`` shows the contributions to a
    prediction, and ``summary`` lists the importance of the columns.

    The model starts from naive Bayes: per class it counts how often each value of a column occurs, and adds up the log
    probabilities. The family of each column is chosen by leave-one-out. Because columns are not independent, it also
    scores pairs, triples and linear combinations of columns, and learns from left-out rows how much weight each score
    gets (stacking). ``stacking=None`` is plain naive Bayes. All statistics are sums over rows, so the model can be
    updated (``partial_fit``, ``forget``) and merged with other models (``merge``).

    Parameters
    ----------
    columns : "auto", a family, a dict or a list of pairs, default "auto"
        The family of each column: one family for all, or a dict (or list of pairs) from column names, tuples of names,
        regular expressions (``re.compile``), callables ``(name, kind)`` or the kinds "numbers", "categories" and
        "texts" to families, such as ``{"numbers": "gaussian", "age": "kernel"}``. Names take precedence over patterns
        and callables, and these over kinds. Other columns are "auto". Families of single columns are "gaussian",
        "student", "lognormal", "power", "kernel", "bins", "poisson", "bernoulli", "categorical", "text" and "ignore";
        "multinomial" and "multivariate_normal" are joint families of all columns of a key. Pass options in a tuple:
        ``("bins", {"method": "mdlp"})``.
    schema : dict, optional
        Types of columns and of the label by name, or by position if there are no names: "number", "category",
        "boolean", "date", "text" or "str" (a category or free text). Types of other columns are inferred from the first
        rows; see ``schema_``. The type decides how cells are read, ``columns`` how they are modeled. Declared
        categories and labels are read as strings, so that tables of all formats and engines give the same model.
    alpha : float, optional
        Pseudo-count of every category. None chooses it by leave-one-out for each column.
    stacking : {"auto", None}, default "auto"
        Whether columns and views are weighted. None gives every column the weight 1: plain naive Bayes, whose
        probabilities are calibrated unless ``calibrate=None``.
    calibrate : {"auto", "temperature", "platt", "beta", "isotonic", None}, default "auto"
        Calibration of the probabilities. "auto" is None with stacking, else "platt".
    order : {"auto", 0, 1, 2}, default "auto"
        Number of other columns that a column may depend on in the views: 0, 1 (which adds the covariance of all
        numbers), or 2 (which adds random Fourier features). "auto" is 2; views that do not help get no weight.
    refine : {"auto", True, False}, default "auto"
        Whether to add random grids, a view of the interactions of many columns. They need at least 4,000 rows and take
        most of the time of ``fit``. "auto" adds them if they lower the log-loss of left-out rows by more than a
        standard error and by about 1%, True always does, and False never does. Models with random grids are exported to
        SQL and ONNX only with ``approximate=True``.
    missing : {"auto", "ignore", "category", "error"}, default "auto"
        Ignore missing cells, treat them as a category, or raise an error. "auto" chooses the better option for each
        column.
    unseen : {"ignore", "smooth"}, default "ignore"
        Ignore categories that did not occur in training, or give them the probability that smoothing reserves.
    absent : {"error", "missing"}, default "error"
        What to do if a table lacks training columns: raise an error, or predict from the other
        columns as if the model had been trained on these alone. A table that lacks a column and has an unknown one
        always raises an error, because the name is probably misspelled.
    fit_prior, class_prior, class_weight
        As in ``MultinomialNB``.
    compute_loo : bool, optional
        As in ``MultinomialNB``.
    subsample : "auto" or int, default "auto"
        Maximum number of distinct training rows to keep in the model, for ``refit``, ``loo_``, ``predict_set`` and
        predictions without some columns. "auto": up to 48 MB, which is all rows of a smaller table. 0: none; rows are
        used in ``fit`` and dropped, ``refit`` raises an error, and a warning is given when a refit is due. Half
        of the maximum is divided equally among the classes.
    unlabeled : {"drop", "error"}, default "drop"
        What to do with rows whose label is None, NaN or null: drop them with a warning that states their number, or
        raise an error. At least one row must have a label.
    n_threads : int, optional
        Number of threads; by default ``CANDIDE_NUM_THREADS``, else all cores. Results do not depend on it.

    Attributes
    ----------
    classes_, class_count_, class_prior_
        Labels, weights and probabilities of the classes.
    schema_ : Table
        Name, kind and role of each column, and how the kind was decided. It is fixed after the first rows; later cells
        of another type are converted if that is lossless, and are an error otherwise.
    loo_ : Evaluation
        Leave-one-out accuracy, log-loss, calibration and other metrics.
    staleness_ : float
        Weight of the rows added and removed since the last refit, as a share of the weight at that refit: 0.0 after
        ``fit`` and ``refit``; once it exceeds 0.1, ``partial_fit``, ``forget`` and ``merge`` refit.

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

    columns: Any = field(default="auto", kw_only=False)
    schema: Mapping[Any, Literal["number", "category", "boolean", "date", "text", "str"]] | None = None
    alpha: float | None = None
    stacking: Literal["auto"] | None = "auto"
    calibrate: Literal["auto", "temperature", "platt", "beta", "isotonic"] | None = "auto"
    order: Literal["auto", 0, 1, 2] = "auto"
    refine: Literal["auto"] | bool = "auto"
    missing: Literal["auto", "ignore", "category", "error"] = "auto"
    unseen: Literal["ignore", "smooth"] = "ignore"
    absent: Literal["error", "missing"] = "error"
    fit_prior: bool = True
    class_prior: Any = None
    class_weight: Any = None
    compute_loo: bool | None = None
    subsample: Literal["auto"] | int = "auto"
    unlabeled: Literal["drop", "error"] = "drop"
    n_threads: int | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the model to a table ``X`` with labels ``y``. An earlier fit is discarded.

        Parameters
        ----------
        X : data frame, dict of columns, array, lists of rows or sparse matrix; or an iterator of chunks
            None, NaN and nulls are missing values. Without ``y``, an iterator that yields ``(X, y)``,
            ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``, for data larger than memory.
        y : array of shape (n_rows,), or the name of the column of ``X`` that contains the labels
            Class labels. ``partial_fit``, ``forget``, ``score``, ``leave_one_out`` and ``cross_val_log_proba`` accept a
            name too.
        sample_weight : array of shape (n_rows,), optional
            A row of weight k counts as k copies of it, which are left out together.
        groups : array of shape (n_rows,) or column name, optional
            Rows of one group (a customer, a thread, a patient) are left out together in ``loo_``, the choice of
            column models, stacking weights and calibration. A row with None or NaN is in no group.
        """
        super().fit(X, y, sample_weight, groups)
        return self

    @property
    def schema_(self) -> Table:
        """Name, kind and role of each training column, and how the kind was decided.

        Examples
        --------
        >>> from candide import NaiveBayes
        >>> table = {"age": [31, 58], "zip": [101, 102], "pay": [0, 1]}
        >>> NaiveBayes(schema={"zip": "category"}).fit(table, "pay").schema_
        name  kind      role     decided
        age   number    feature  storage type int64
        zip   category  feature  declared
        y     number    label    the labels in training
        """
        return self._fitted().schema_table()

    def summary(self) -> Table:
        """Return the family, importance and weight of each column, and the views of several columns.

        The table has one row for each column, then one for each joint family and each view:

        - ``family``, ``parameters``: a short description of the column's model.
        - ``contribution``: the mean absolute contribution to the log-odds of the predicted class against
          the second, in bits (a bit doubles the odds), over training rows, including its share of all views, as in
          ``explain``. Random Fourier features, which cannot be divided among columns, are not included.
        - ``loss_without``: increase of the leave-one-out log-loss, in nats, if the column is absent. Near 0 if other
          columns carry the same information. NaN for views.
        - ``own_weight``: weight of the column's own score, or of the view, in the sum of all scores. A column of weight
          0 may matter through views; see ``contribution``.
        - ``bits``: information about the class that the column has on its own, estimated on left-out rows.
        - ``missing``: share of missing cells. ``note``: why a column is not used; for a view, its columns.

        The first call reads some training rows, which takes about a second. With ``subsample=0`` there are none,
        and ``contribution`` and ``loss_without`` are NaN. ``save`` stores both in the file.
        """
        from ..explain.importance import summary_with_importance

        model = self._fitted()
        return summary_with_importance(model.classifier, model.column_names(), model.kernels)
