"""Parameters of naive Bayes for tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from ..data.arrays import as_2d_array
from ..data.column_selection import did_you_mean, quote_names, similar_name, split_label
from ..data.column_types import check_declared, check_label_type
from ..data.columns import Columns
from ..data.containers import column_names, declared_types, records_to_columns, time_zones
from ..exceptions import InputError, MergeError, ParameterError
from ..families import Family
from ..families.table import TableFamily
from ..kernels.layouts import Array
from ..statistics.table import join_kinds
from .base import BoundSpec, Previous, Spec
from .parameters import choice, number
from .schema import Schema
from .table_schema import TableSchema
from .text import auto_family


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableSpec(Spec):
    """Parameters of ``NaiveBayes``."""

    name: ClassVar[str] = "NaiveBayes"
    keeps_rows: ClassVar[bool] = True
    sample_bytes: ClassVar[int] = 3 << 24

    columns: Any = "auto"
    schema: Any = None
    alpha: float | None = None
    stacking: str | None = "auto"
    calibrate: Any = "auto"
    order: Any = "auto"
    refine: Any = "auto"
    missing: str = "auto"
    unseen: str = "ignore"
    absent: str = "error"
    fit_prior: bool = True
    class_prior: Any = None

    def _family(self, schema: Schema) -> Family:
        assert isinstance(schema, TableSchema)
        alpha = None if self.alpha is None else number(self.alpha, "alpha", otherwise=" or None")
        if alpha == 0:
            raise ParameterError(
                "alpha is 0, but NaiveBayes requires smoothing; pass a positive number, or use CategoricalNB(alpha=0)"
            )
        missing = choice(self.missing, "missing", ("auto", "ignore", "category", "error"))
        unseen = choice(self.unseen, "unseen", ("ignore", "smooth"))
        return TableFamily(schema.names, schema.column_specs, schema.blocks, missing, unseen, alpha, auto_family())

    def resolved(self, schema: Schema, previous: Previous | None) -> Schema:
        """Return the schema with the families that ``columns`` currently sets."""
        assert isinstance(schema, TableSchema)
        return schema if previous is None else schema.again(self.columns, previous.state.statistics.kinds)

    def _calibration(self) -> str | None:
        if self.calibrate == "auto":
            return "platt" if self._order() is None else None
        return super()._calibration()

    def _order(self) -> int | None:
        if self.stacking not in ("auto", None):
            raise ParameterError(f"stacking is {self.stacking!r}; expected 'auto' or None")
        if self.order not in ("auto", 0, 1, 2) or isinstance(self.order, bool):
            raise ParameterError(f"order is {self.order!r}; expected 'auto', 0, 1 or 2")
        if self.stacking is None:
            if self.order not in ("auto", 0):
                raise ParameterError(f"order={self.order!r} adds views, which require stacking; pass stacking='auto'")
            return None
        return 2 if self.order == "auto" else int(self.order)

    def bind(self, schema: Schema, previous: Previous | None = None) -> BoundSpec:
        bound = super().bind(schema, previous)
        family: Any = bound.family
        known: Any = None if previous is None else previous.bound_spec.family
        if known is not None and known.names == family.names:
            family = replace(family, held_out_losses=known.held_out_losses)
        return replace(bound, family=family, refine=self._refine(bound.order))

    def _refine(self, order: int | None) -> bool | Literal["auto"]:
        if self.refine not in ("auto", True, False):
            raise ParameterError(f"refine is {self.refine!r}; expected 'auto', True or False")
        if order == 2:
            return "auto" if self.refine == "auto" else bool(self.refine)
        if self.refine is True:
            raise ParameterError(
                "refine=True needs stacking='auto' and order='auto' or 2; pass these, or refine='auto'"
            )
        return False

    def check_other_parameters(self) -> None:
        super().check_other_parameters()
        self._refine(self._order())
        self._absent()
        check_declared(self.schema)

    def _absent(self) -> str:
        return choice(self.absent, "absent", ("error", "missing"))

    # Reading.

    def split_label(self, X: Any, y: Any) -> tuple[Any, Any]:
        return split_label(records_to_columns(X), y)

    def open(self, X: Any) -> tuple[Schema, Columns]:
        self._absent()
        if self.schema is None:
            return TableSchema.of_table(X, self.columns, declared_types(X))
        declared, given = self._declared(X)
        unknown = [name for name in declared if name not in given]
        if len(unknown) > 1 or any(similar_name(name, given) is not None for name in unknown):
            hint = did_you_mean(unknown[0], given, "pass columns of X or the label column")
            raise ParameterError(
                f"schema declares {unknown[0]!r}, but X has no such column; its columns are {quote_names(given)}; "
                f"{hint}"
            )
        here = {name: kind for name, kind in declared.items() if name in given}
        return TableSchema.of_table(X, self.columns, declared_types(X) | here)

    def _declared(self, X: Any) -> tuple[dict[Any, str], tuple[Any, ...]]:
        """Return the declared types, and the columns of ``X``."""
        names = column_names(X)
        return check_declared(self.schema), tuple(range(as_2d_array(X).shape[1])) if names is None else names

    def declared_types(self) -> dict[Any, str]:
        return check_declared(self.schema)

    def label_type(self, X: Any) -> str | None:
        """Return the declared type of the label, which is the only name that is not a column of ``X``."""
        if not self.schema:
            return None
        declared, given = self._declared(X)
        unknown = [name for name in declared if name not in given]
        if len(unknown) != 1:
            return None
        return check_label_type(unknown[0], declared[unknown[0]])

    def read(self, X: Any, schema: Schema, previous: Previous, *, learning: bool = False) -> Columns:
        assert isinstance(schema, TableSchema)
        statistics = previous.state.statistics
        data = schema.read(records_to_columns(X), statistics, self._absent())
        if not learning:
            schema.warn_of_unseen_categories(data, statistics)
        return data

    def read_columns(self, X: Any, schema: Schema, previous: Previous) -> tuple[Columns, Family]:
        assert isinstance(schema, TableSchema)
        data = schema.read_some(records_to_columns(X), previous.state.statistics)
        family: Any = previous.bound_spec.family
        return data, family.among(data.names)

    def column_names(self, schema: Schema, previous: Previous) -> Array:
        assert isinstance(schema, TableSchema)
        return np.array([str(name) for name in schema.names], dtype=object)

    def column_types(self, schema: Schema, previous: Previous) -> list[tuple[Any, str, str]]:
        assert isinstance(schema, TableSchema)
        types = schema.column_types(previous.state.statistics)
        return [(name, column_type.kind, column_type.decided) for name, column_type in types.items()]

    def table_columns(self, schema: Schema) -> tuple[list[str], dict[str, Any]]:
        assert isinstance(schema, TableSchema)
        before = "x" if schema.given is None else ""
        examples = {f"{before}{name}": cell for name, cell in schema.examples.items()}
        return [f"{before}{name}" for name in schema.names], examples

    def check_mergeable(self, schemas: tuple[Schema, Schema], models: tuple[Previous, Previous]) -> None:
        super().check_mergeable(schemas, models)
        mine, theirs = schemas
        assert isinstance(mine, TableSchema)
        assert isinstance(theirs, TableSchema)
        if mine.names != theirs.names:
            listed = ", ".join(sorted(map(str, set(mine.names) ^ set(theirs.names))))
            raise MergeError(
                f"only one of the models has the columns {listed}; pass dates with times to both models, or to neither"
            )
        zones = [{name: str(zone) for name, zone in time_zones(one.examples).items()} for one in (mine, theirs)]
        odd = [name for name in zones[0].keys() | zones[1].keys() if zones[0].get(name) != zones[1].get(name)]
        if odd:
            found = " and ".join(one.get(odd[0], "no time zone") for one in zones)
            raise MergeError(
                f"the dates of column {odd[0]!r} are read in different time zones, {found}; train both models with the "
                "same zone"
            )
        if mine.blocks != theirs.blocks:
            raise MergeError(
                "the models have different blocks of columns, so their counts cannot be added; train "
                "both with the same settings"
            )
        try:
            join_kinds(mine.names, *(model.state.statistics.kinds for model in models))
        except InputError as error:
            raise MergeError(f"the counts of the models cannot be added: {error}") from None
