"""Tables with all kinds of columns."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
from properties.models import as_texts


def numbers(n: int = 200, seed: int = 0) -> pa.Table:
    """Columns a and b of numbers 0 to 4 with holes, y, and weights w, some 0."""
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 5, (n, 2)).astype(float)
    cells[rng.random((n, 2)) < 0.1] = np.nan
    columns = {name: pa.array(cells[:, j], from_pandas=True) for j, name in enumerate("ab")}
    words = {f"{name}_word": as_texts(cells)[:, j].tolist() for j, name in enumerate("ab")}
    labels = rng.choice(["u", "v", "w"], n).tolist()
    return pa.table({**columns, **words, "y": labels, "w": rng.integers(0, 4, n)})


def plain(n: int = 300, seed: int = 1) -> pa.Table:
    """A table of numbers, whole numbers, names, and nothing."""
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 3, n)
    age = rng.normal(30 + 5 * which, 4).round(1)
    age[rng.random(n) < 0.1] = np.nan
    job = np.array(["cook", "smith", "nurse", None], dtype=object)[(which + rng.integers(0, 2, n)) % 4]
    columns = {
        "age": pa.array(age, from_pandas=True),
        "visits": rng.poisson(1 + which),
        "job": pa.array(job.tolist(), pa.string()),
        "nothing": pa.array([None] * n, pa.float64()),
    }
    return pa.table({**columns, "y": np.array(["u", "v", "w"])[which].tolist(), "w": rng.integers(0, 4, n)})


def typed(n: int = 300, seed: int = 2) -> pa.Table:
    """Booleans, dates, times, decimals, short floats."""
    rng = np.random.default_rng(seed)
    days = np.datetime64("2024-01-01") + rng.integers(0, 400, n)
    moments = np.datetime64("2024-01-01T00:00:00", "us") + rng.integers(0, 10**12, n)
    price = [None, *(Decimal(cents) / 100 for cents in rng.integers(0, 10**5, n - 1).tolist())]
    columns = {
        "member": pa.array(np.where(rng.random(n) < 0.1, None, rng.random(n) < 0.5).tolist(), pa.bool_()),
        "day": pa.array(days),
        "moment": pa.array(moments),
        "price": pa.array(price, pa.decimal128(8, 2)),
        "short": pa.array(rng.normal(size=n).astype(np.float32)),
    }
    return pa.table({**columns, "y": rng.random(n) < 0.5, "w": rng.integers(1, 4, n)})


def continuous(n: int = 6000, seed: int = 3) -> pa.Table:
    """Columns of more numbers than are fetched: with an offset, of all sizes, rounded, around 0, whole."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=n)
    normal[:9] = [0.0, -0.0, 5e-324, -5e-324, np.nan, np.nan, 1.0, -1.0, 2.0**-1022]
    columns = {
        "normal": pa.array(normal),
        "even": rng.uniform(1, 2, n),
        "offset": 1.7e9 + rng.uniform(0, 1e4, n),
        "tails": np.exp(rng.normal(0, 30, n)) * rng.choice([-1.0, 1.0], n),
        "rounded": rng.uniform(0, 100, n).round(2),
        "steps": rng.integers(0, 10**6, n),
    }
    return pa.table({**columns, "y": rng.choice(["u", "v"], n).tolist(), "w": rng.integers(0, 3, n)})
