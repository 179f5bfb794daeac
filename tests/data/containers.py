"""One table of every kind of column, in every container that can hold it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from tiers import late

from candide.data.columns import Columns

pl = late("polars")

DAYS = [
    dt.date(2024, 2, 29),
    None,
    dt.date(1969, 12, 31),
    dt.date(2000, 1, 1),
    dt.date(1950, 7, 4),
    dt.date(2024, 3, 1),
]
CLOCKS = [dt.time(0, 0), None, dt.time(23, 59, 59, 500_000), dt.time(13, 30), dt.time(1, 0), dt.time(0, 0)]

# Every column as a list of plain Python objects, None where a cell is missing.
CELLS: dict[str, list[Any]] = {
    "measure": [1.5, None, -2.0, 1e300, 0.0, 3.25],
    "count": [1, 2, 3, 4, 5, 6],
    "count with holes": [1, None, 3, 4, 5, 6],
    "flag": [True, False, True, True, False, True],
    "flag with holes": [True, None, False, True, None, True],
    "text": ["x", "y", None, "x", "Ärger", "1"],
    "digits": ["10", "9", "10", None, "8", "9"],
    "day": DAYS,
    "moment": [
        None if d is None or t is None else dt.datetime.combine(d, t) for d, t in zip(DAYS, CLOCKS, strict=True)
    ],
    "duration": [dt.timedelta(hours=1), None, dt.timedelta(0), -dt.timedelta(days=2), dt.timedelta(seconds=0.5), None],
    "clock": CLOCKS,
    "nothing": [None] * 6,
    "decimal": [Decimal("0.25"), None, Decimal("1.50"), Decimal("-3.75"), Decimal("0.25"), Decimal(0)],
}
N_ROWS = 6


def arrow_table() -> Any:
    return pa.table({name: pa.array(cells) for name, cells in CELLS.items()})


def polars_frame() -> Any:
    return pl.DataFrame({name: pl.Series(cells) for name, cells in CELLS.items()})


def coded_polars_frame() -> Any:
    enum = pl.Enum(["y", "x", "unused", "1", "Ärger"])
    return polars_frame().with_columns(pl.col("text").cast(enum), pl.col("digits").cast(pl.Categorical))


def coded_pandas_frame() -> Any:
    kinds = {"text": pd.CategoricalDtype(["y", "x", "unused", "1", "Ärger"]), "digits": "category"}
    return pd.DataFrame(CELLS).astype(kinds)


def coded_arrow_table() -> Any:
    """In two chunks, whose dictionaries differ."""
    table = arrow_table()
    for name in ("text", "digits"):
        chunks = [pa.array(part).dictionary_encode() for part in (CELLS[name][:3], CELLS[name][3:])]
        table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks))
    return table


CONTAINERS: dict[str, Callable[[], Any]] = {
    "dict of lists": lambda: CELLS,
    "dict of arrays": lambda: {name: np.array(cells) for name, cells in CELLS.items()},
    "dict of series": lambda: {name: pd.Series(cells) for name, cells in CELLS.items()},
    "dict of polars series": lambda: {name: pl.Series(cells) for name, cells in CELLS.items()},
    "pandas": lambda: pd.DataFrame(CELLS),
    "pandas objects": lambda: pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in CELLS.items()}),
    "pandas nullable": lambda: pd.DataFrame(CELLS).convert_dtypes(),
    "pandas python strings": lambda: pd.DataFrame(CELLS).astype(dict.fromkeys(["text", "digits"], "string[python]")),
    "pandas arrow": lambda: arrow_table().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": coded_pandas_frame,
    "pandas index": lambda: pd.DataFrame(CELLS, index=[7, 7, 3, 3, 1, 0]),
    "polars": polars_frame,
    "polars categories": coded_polars_frame,
    "polars chunks": lambda: pl.concat([polars_frame()[:2], polars_frame()[2:]], rechunk=False),
    "pyarrow": arrow_table,
    "pyarrow dictionaries": coded_arrow_table,
    "pyarrow chunks": lambda: pa.concat_tables([arrow_table()[:2], arrow_table()[2:]]),
}


def plain(table: Columns) -> list[tuple[Any, str, list[Any]]]:
    """Name, kind and cells of each column; holes are None, numbers floats."""
    return [(c.name, c.kind, [_plain(cell) for cell in c.cells().tolist()]) for c in table.columns]


def _plain(cell: Any) -> Any:
    if isinstance(cell, (bool, int, float)):
        return None if cell != cell else float(cell)
    return cell
