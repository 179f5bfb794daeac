"""Rows of a table as JSON objects, with the columns that each row contains, and warnings about unseen categories."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any

from ..data.column_selection import did_you_mean, quote_names
from ..data.columns import Records as OmittingRecords
from ..exceptions import InputError
from .session import Session, as_json

if TYPE_CHECKING:
    from ..data.column_types import ColumnType
    from ..kernels.layouts import Floats
    from ..model.model import Model

# Maximum number of unseen categories that are reported one by one.
_NOTED = 20


class Records:
    """Converts JSON rows for a model. A row may omit columns; an unknown column name raises an error."""

    def __init__(self, model: Model, session: Session) -> None:
        self._omits = hasattr(model.spec, "absent")
        # A JSON object contains the column names.
        self.model = replace(model, spec=model.spec.with_parameters(absent="missing")) if self._omits else model
        known = model.schema.feature_names
        self._names: list[str] | None = None if known is None else list(known)
        roles = model.schema.roles
        self._others = set() if roles is None else roles.others
        self._unseen = UnseenNotes(self.model, session)

    def probabilities(self, lines: list[str]) -> Floats:
        """Return the class probabilities of each row."""
        import numpy as np

        model = self.model
        if self._names is None:
            return self._unnamed([self._read_cells(line) for line in lines])
        table = self._given([self._read(line) for line in lines], self._names)
        self._unseen.note(table)
        return np.asarray(model.predict_proba(table))

    def _given(self, rows: list[dict[str, Any]], names: list[str]) -> Any:
        """Return rows for a model with column names; absent columns become missing cells if the model requires them."""
        import numpy as np

        table = self._table(names, rows)
        if not self._omits:
            return table
        return OmittingRecords(table, {name: np.array([name not in row for row in rows], dtype=bool) for name in names})

    def _unnamed(self, rows: list[dict[str, Any] | list[Any]]) -> Floats:
        """Return the probabilities of rows without column names: lists of all cells, or objects."""
        import numpy as np

        out = np.tile(np.asarray(self.model.classifier.class_prior, dtype=np.float64), (len(rows), 1))
        lists = [place for place, row in enumerate(rows) if isinstance(row, list)]
        if lists:
            out[lists] = self.model.predict_proba([rows[place] for place in lists])
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, row in enumerate(rows):
            if isinstance(row, dict) and row:
                groups.setdefault(tuple(row), []).append(place)
        for names, places in groups.items():
            table = self._table(list(names), [dict(rows[place]) for place in places])
            self._unseen.note(table)
            out[places] = self.model.predict_proba(table)
        return out

    def table(self, line: str) -> Any:
        """Return one row as a table of its columns."""
        if self._names is None and isinstance(cells := self._read_cells(line), list):
            return [cells]
        row = self._read(line)
        # For models that cannot omit columns, an absent cell is the same as a missing one.
        names = list(row) if self._names is None else [name for name in self._names if name in row or not self._omits]
        if not names:
            raise InputError(
                "the row has none of the columns of the model, so its prediction is the class prior; pass at least one "
                "column"
            )
        table = self._table(names, [row])
        self._unseen.note(table)
        return table

    def _read_cells(self, line: str) -> dict[str, Any] | list[Any]:
        """Return a row for a model without column names."""
        row = _parsed(line)
        n_columns = self.model.schema.n_features
        such_as = f"a list of {n_columns} cells, such as [{', '.join(map(str, range(1, min(n_columns, 3) + 1)))}"
        such_as += ", …]" if n_columns > 3 else "]"
        if isinstance(row, list) and len(row) != n_columns:
            raise InputError(f"the row {as_json(row):.60} has {len(row)} cells; this model needs {such_as}")
        if not isinstance(row, list) and not isinstance(row, dict):
            raise InputError(
                f"{line!r:.60} is not a row: this model was trained on a table without column names; expected "
                f"{such_as}; for files use candide predict"
            )
        # NaiveBayes reads columns in their order; other models read only arrays.
        if isinstance(row, dict) and row and not self._omits:
            raise InputError(
                f"the row {as_json(row):.60} has column names, but this model was trained without them; pass {such_as}"
            )
        return row

    def _read(self, line: str) -> dict[str, Any]:
        row = _parsed(line)
        if not isinstance(row, dict):
            raise InputError(
                f"{line!r:.60} is not a row: this model was trained on a table; expected a JSON object such as "
                '{"age": 40, "job": "smith"}; for files use candide predict'
            )
        names = list(row) if self._names is None else self._names
        for name in row:
            if name not in names and name not in self._others:
                hint = did_you_mean(name, names, "use one of these, or omit it")
                raise InputError(
                    f"the row {as_json(row):.60} has {name!r}, which is not a column of the model; its columns are "
                    f"{quote_names(names)}; {hint}"
                )
        return row

    def _table(self, names: list[str], rows: list[dict[str, Any]]) -> Any:
        """Return columns by name, or rows for a model whose columns have one type."""
        if not self._omits:
            return [[row.get(name) for name in names] for row in rows]
        return {name: _as_learned(self.model, name, [row.get(name) for row in rows]) for name in names}


def _parsed(line: str) -> Any:
    """Return the value of a line of JSON, or None if it is not valid JSON."""
    try:
        return json.loads(line)
    except ValueError:
        return None


class UnseenNotes:
    """Notes about categories that do not occur in the training rows, each reported once."""

    def __init__(self, model: Model, session: Session) -> None:
        self._model, self._session = model, session
        self._noted: set[tuple[Any, Any]] = set()

    @property
    def are_wanted(self) -> bool:
        """Whether further notes will be shown."""
        return not self._session.quiet and len(self._noted) < _NOTED

    def note(self, table: Any) -> None:
        """Note the unseen categories of a table."""
        if self.are_wanted:
            self.note_unseen(self._model.unseen_categories(table))

    def note_unseen(self, unseen: dict[Any, dict[Any, int]]) -> None:
        """Note unseen categories by column."""
        for name, counts in unseen.items():
            for label in counts:
                if (name, label) in self._noted or len(self._noted) >= _NOTED:
                    continue
                self._noted.add((name, label))
                self._session.note(f"column {name!r} contains {label!r}, which does not occur in the training rows")
                if len(self._noted) == _NOTED:
                    self._session.note(f"{_NOTED} new categories were found; further ones are not reported")


def _dates(name: str, cells: list[Any], column_type: ColumnType | None) -> Any:
    import numpy as np

    from ..data.dates import as_iso, describe_format, to_date

    format = None if column_type is None else column_type.format
    dates = [None if cell is None else to_date(cell, format) for cell in cells]
    for cell, moment in zip(cells, dates, strict=True):
        if moment is None and cell is not None:
            raise InputError(
                f"column {name!r} contains {cell!r}, which is not a date in {describe_format(format)}; write "
                f"dates such as {as_iso(str(cell))}"
            )
    return np.array(dates, dtype="datetime64[us]")


def _as_learned(model: Model, name: str, cells: list[Any]) -> Any:
    """Return JSON values in the type used in training: JSON has no dates, and files may store booleans as strings."""
    import numpy as np

    example = getattr(model.schema, "examples", {}).get(name)
    if isinstance(example, np.datetime64 | date) and getattr(example, "tzinfo", None) is None:
        return _dates(name, cells, getattr(model.schema, "types", {}).get(name))
    if any(isinstance(cell, bool) for cell in cells) and not isinstance(example, bool):
        return [str(cell).lower() if isinstance(cell, bool) else cell for cell in cells]
    return cells
