"""Base class of specs: how parameters become a bound spec, and how rows are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np

from ..data.arrays import read_numbers
from ..data.column_selection import did_you_mean
from ..exceptions import MergeError, ParameterError
from ..families import Family
from ..kernels.layouts import Array, Floats
from ..stacking.calibration import METHODS
from ..statistics.base import Budget
from .class_prior import ClassPrior
from .parameters import check_height, choice, class_prior_of, flag, is_whole
from .schema import Schema

# Number of training rows, or bytes of texts, that suffice for the few parameters of a calibration.
_FEW_ROWS, _FEW_BYTES = 15_000, 3 << 21
_SHOWN = 80


@dataclass(frozen=True)
class BoundSpec:
    """The family of the columns, the class prior, and the parameters that are fitted on left-out rows."""

    family: Family
    prior: ClassPrior = ClassPrior()  # noqa: RUF009, it is frozen
    prior_in_score: bool = True  # False: scores are not log p(x, class) and do not include the prior
    alpha: Literal["evidence", "loo"] | None = None  # how pseudo-counts are chosen; None: those of the family
    calibrate: str | None = None
    order: int | None = None  # stacking: number of columns that a column may depend on in a view; None: no stacking
    # Whether a regression is fitted: for texts to the stacked scores, for tables as an additional view.
    refine: bool | Literal["auto"] = False  # "auto": if it improves the model
    budget: Budget | None = None  # limit of the kept training rows; None: none are kept
    target: Floats | None = None  # p(class) in prediction, if it differs from the class frequencies of training
    n_threads: int | None = None  # None: all cores

    def chooses_like(self, other: BoundSpec) -> bool:
        """Return whether another bound spec has the same settings of everything that is chosen or fitted."""
        return _are_equal(self._choices, other._choices)

    @property
    def _choices(self) -> tuple[Any, ...]:
        return self.family, self.prior, self.alpha, self.calibrate, self.order, self.refine

    @property
    def looks_back(self) -> bool:
        """Whether anything is chosen or fitted in a second pass over training rows."""
        return self.corrects or self.alpha == "loo"

    @property
    def corrects(self) -> bool:
        """Return whether scores are corrected with weights or a calibration fitted on left-out rows."""
        return self.calibrate is not None or self.order is not None


class Previous(Protocol):
    """Protocol of earlier classifiers: the part that a spec needs when it is bound again."""

    @property
    def bound_spec(self) -> BoundSpec: ...
    @property
    def state(self) -> Any: ...


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Spec(ABC):
    """The parameters of an estimator.

    A subclass has one field for each parameter of its estimator. ``bind`` checks them and resolves them to columns.
    """

    #: Name of the estimator.
    name: ClassVar[str]
    reads_texts: ClassVar[bool] = False
    #: The type of all columns, unless a type is declared for a column.
    column_type: ClassVar[str] = "number"
    #: Whether training rows are kept even if nothing needs them.
    keeps_rows: ClassVar[bool] = False
    #: Parameters that change what is counted, with the attributes of the family that hold them. Models that differ in
    #: them cannot be merged.
    counting: ClassVar[Mapping[str, str]] = {}
    class_prior_name: ClassVar[str] = "class_prior"
    unlabeled_choices: ClassVar[tuple[str, ...]] = ("drop", "error")
    #: Bytes of the training rows that are kept by ``subsample="auto"``.
    sample_bytes: ClassVar[int] = 3 << 23
    #: Bytes of rows that are counted at once in a stream. Adding two states takes as long as counting megabytes, and
    #: counting takes many times the memory of the rows.
    group_bytes: ClassVar[int] = 1 << 24

    class_weight: Any = None
    calibrate: Any = None
    compute_loo: bool | None = None
    subsample: Literal["auto"] | int = "auto"
    unlabeled: str = "drop"
    n_threads: int | None = None

    # Parameters.

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def given(self) -> dict[str, Any]:
        """The parameters that differ from their defaults."""
        return {
            field.name: value
            for field in fields(self)
            if not _is_default(value := getattr(self, field.name), field.default)
        }

    def with_parameters(self, **changes: Any) -> Self:
        """Return the spec with other parameters, whose names are checked."""
        known = [field.name for field in fields(self)]
        for name in changes:
            if name not in known:
                hint = did_you_mean(name, known, "pass one of these")
                raise ParameterError(
                    f"{self.name} has no parameter {name!r}; its parameters are {', '.join(known)}; {hint}"
                )
        return replace(self, **changes)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    # Binding.

    def bind(self, schema: Schema, previous: Previous | None = None) -> BoundSpec:
        """Check the parameters and resolve them to the columns of a schema.

        ``previous``: the classifier learned so far. Kept rows stay until a new fit, even if no parameter needs them
        anymore, because choices and weights depend on them.
        """
        calibrate, order, alpha = self._calibration(), self._order(), self._alpha_choice()
        compute_loo = None if self.compute_loo is None else flag(self.compute_loo, "compute_loo")
        kept = previous is not None and previous.state.sample is not None
        by_default = self.keeps_rows and compute_loo is not False
        looks_back = calibrate is not None or order is not None or alpha == "loo"
        needed = looks_back or bool(compute_loo) or kept
        n_rows = self._subsample()
        keeps = needed and previous is None if n_rows == 0 else needed or n_rows is not None or by_default
        budget = None
        if keeps and n_rows:
            budget = Budget(n_rows, "rows")
        elif keeps:
            limit = self.sample_bytes
            if alpha != "loo" and order is None and not (compute_loo or by_default):
                limit = min(limit, _FEW_BYTES if self.reads_texts else _FEW_ROWS * 8 * schema.n_features)
            budget = Budget(limit)
        return BoundSpec(
            self._family(schema), self._class_prior(), self._prior_in_score(), alpha, calibrate, order,
            budget=budget, n_threads=self.n_threads,
        )  # fmt: skip

    def _subsample(self) -> int | None:
        """Return the number of training rows to keep, as set by the user; None for "auto"."""
        if isinstance(self.subsample, str) and self.subsample == "auto":
            return None
        if not is_whole(self.subsample) or self.subsample < 0:
            raise ParameterError(
                f"subsample is {self.subsample!r}; expected 'auto', the number of training rows to keep, or 0 for none"
            )
        return int(self.subsample)

    def resolved(self, schema: Schema, previous: Previous | None) -> Schema:
        """Return the schema for these parameters, which may have changed since ``previous`` was fitted."""
        return schema

    @abstractmethod
    def _family(self, schema: Schema) -> Family:
        """Return the family of the columns."""

    def _class_prior(self) -> ClassPrior:
        return class_prior_of(getattr(self, "class_prior", None), getattr(self, "fit_prior", True), self.class_weight)

    def _prior_in_score(self) -> bool:
        """Return whether scores are log p(x, class), which include the class prior."""
        return True

    def _alpha_choice(self) -> Literal["evidence", "loo"] | None:
        """Return how pseudo-counts are chosen; None if they are given."""
        return None

    def _calibration(self) -> str | None:
        if self.calibrate is not None and self.calibrate not in METHODS:
            raise ParameterError(f"calibrate is {self.calibrate!r}; expected None or one of {', '.join(METHODS)}")
        chosen: str | None = self.calibrate
        return chosen

    def _order(self) -> int | None:
        """Return the number of columns that a column may depend on in a view; None without stacking."""
        return None

    def check_other_parameters(self) -> None:
        """Check the parameters that are not part of the bound spec."""
        self.unlabeled_choice()

    def unlabeled_choice(self) -> str:
        """Return how rows without a label are treated."""
        return choice(self.unlabeled, "unlabeled", self.unlabeled_choices)

    def check_classes(self, bound: BoundSpec, n_classes: int) -> None:
        """Raise an error if a parameter with one row per class has another number of rows."""
        check_height(bound.family.prior, n_classes)

    # Reading.

    def open(self, X: Any) -> tuple[Schema, Any]:
        """Return the schema of the first rows, and the rows encoded."""
        data = self.encode(X)
        return Schema.of(data), data

    def encode(self, X: Any) -> Any:
        """Return encoded rows."""
        return read_numbers(X)

    def read(self, X: Any, schema: Schema, previous: Previous, *, learning: bool = False) -> Any:
        """Return further rows, encoded, after a check of their columns."""
        data = self.encode(X)
        schema.check(data, self.name)
        return data

    def read_columns(self, X: Any, schema: Schema, previous: Previous) -> tuple[Any, Family]:
        """Return some of the columns, encoded, and the family that counts them."""
        return self.encode(X), previous.bound_spec.family

    def split_label(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return rows and labels, where ``y`` may be the name of a column of ``X``."""
        return X, y

    def declared_types(self) -> dict[Any, str]:
        """Return the declared types of columns and of the label, by name."""
        return {}

    def label_type(self, X: Any) -> str | None:
        """Return the declared type of the labels of rows ``X``; None if there is none."""
        return None

    def column_names(self, schema: Schema, previous: Previous) -> Array:
        """Return the names of the columns in tables of parameters."""
        return schema.column_names()

    def column_types(self, schema: Schema, previous: Previous) -> list[tuple[Any, str, str]]:
        """Return the name of each column, its type, and how the type was determined."""
        names = [schema.roles.text if schema.roles else "text"] if self.reads_texts else schema.column_names().tolist()
        return [(name, self.column_type, f"{self.name} expects such columns") for name in names]

    def table_columns(self, schema: Schema) -> tuple[list[str], dict[str, Any]]:
        """Return the names of the columns in a database, and examples of cells that are booleans or times."""
        return schema.column_names().tolist(), {}

    # Compatibility with other models.

    def check_counting(self, old: Family, new: Family) -> None:
        """Raise an error if parameters changed what is counted after rows were counted."""
        found = first_difference(self.counting, old, new)
        if found is not None:
            raise ParameterError(
                f"{found.what} was {found.one} when the model was fitted and is {found.other} now, which changes what "
                "is counted; restore the old value, or fit again"
            )

    def check_mergeable(self, schemas: tuple[Schema, Schema], models: tuple[Previous, Previous]) -> None:
        """Raise an error if two models did not count the same things."""
        mine, other = schemas
        names = [list(schema.feature_names or ()) for schema in schemas]
        if mine.n_features != other.n_features or (all(names) and names[0] != names[1]):
            raise MergeError(
                f"the models have different columns: {names[0] or mine.n_features} and "
                f"{names[1] or other.n_features}; only models with the same columns can be merged"
            )
        found = first_difference(self.counting, models[0].bound_spec.family, models[1].bound_spec.family)
        if found is not None:
            raise MergeError(
                f"{found.what} is {found.one} in one model and {found.other} in the other, so their counts cannot be "
                "added; train both with the same settings"
            )


def _is_default(value: Any, default: Any) -> bool:
    """Return whether a value is the default; arrays are not compared."""
    plain = isinstance(value, (str, int, float)) and type(value) is type(default)
    return value is default or (plain and bool(value == default))


class Difference(NamedTuple):
    """A parameter in which two models differ, and its values."""

    what: str
    one: str
    other: str


def first_difference(names: Mapping[str, str], one: Any, other: Any) -> Difference | None:
    """Return the first of some attributes in which two families differ; ``names``: parameters by attribute."""
    for what, name in names.items():
        mine, theirs = getattr(one, name), getattr(other, name)
        if mine != theirs:
            return Difference(what, *differing(mine, theirs))
    return None


def differing(one: Any, other: Any) -> tuple[str, str]:
    """Return only the parts of two values that differ, because a tokenizer has twenty settings.

    >>> from candide.kernels.tokenizer import TokenizerConfig
    >>> differing((TokenizerConfig(), "count"), (TokenizerConfig(ngrams=(1, 2), lowercase=False), "count"))
    ('ngrams=(1, 1), lowercase=True', 'ngrams=(1, 2), lowercase=False')
    >>> differing(0.5, None)
    ('0.5', 'None')
    """
    # A difference that occurs in several token features is listed once.
    parts = dict.fromkeys(_parts(one, other, ""))
    mine, theirs = ([f"{part.what}={text}" if part.what else text for part in parts for text in [part[side]]]
                    for side in (1, 2))  # fmt: skip
    return ", ".join(mine), ", ".join(theirs)


def _parts(one: Any, other: Any, name: str) -> list[Difference]:
    if one == other:
        return []
    if type(one) is type(other) and is_dataclass(one):
        names = [field.name for field in fields(one)]
        return _all((getattr(one, each), getattr(other, each), each) for each in names)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) and not _is_plain(one):
        return _all(zip(one, other, getattr(one, "_fields", [name] * len(one)), strict=True))
    return [Difference(name, _short(one), _short(other))]


def _is_plain(values: tuple[Any, ...]) -> bool:
    return all(isinstance(value, (int, str)) for value in values)


def _all(pairs: Iterable[tuple[Any, Any, str]]) -> list[Difference]:
    return [part for one, other, name in pairs for part in _parts(one, other, name)]


def _short(value: Any) -> str:
    if isinstance(value, tuple) and value and all(hasattr(item, "name") for item in value):
        return " and ".join(repr(item.name) for item in value)
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _are_equal(a: Any, b: Any) -> bool:
    """Return whether settings that may contain arrays are equal."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    if type(a) is type(b) and is_dataclass(a):
        return all(_are_equal(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))
    if type(a) is type(b) and isinstance(a, tuple):
        return len(a) == len(b) and all(map(_are_equal, a, b))
    return bool(a == b)
