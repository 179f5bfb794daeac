"""Toy tables, small enough to calculate by hand.

Each function returns a ``Toy``, which prints as a table and unpacks into rows and labels:

>>> from candide import CategoricalNB, NaiveBayes, datasets
>>> toy = datasets.ferry()
>>> X, y = toy
>>> CategoricalNB(alpha=0).fit(X, y).predict_proba([["breeze", "fog"]]).round(3)        # 4/7 and 3/7
array([[0.571, 0.429]])
>>> NaiveBayes().fit(toy.table, y=toy.label).predict({"wind": ["storm"], "sight": ["fog"]}).tolist()
['stayed']
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .exceptions import ParameterError
from .kernels.layouts import Array
from .model.table import Table

__all__ = ["Toy", "bird_table", "ferry", "mails", "orchard", "pebbles", "switches"]


@dataclass(frozen=True, repr=False)
class Toy:
    """A small table with labels. ``X, y = toy`` gives its rows and labels as arrays.

    Attributes
    ----------
    table : Table
        All columns by name, the label last; ``table.to_pandas()`` and ``table.to_polars()`` make data frames of it.
    label : str
        Name of the label column.

    Examples
    --------
    >>> toy = pebbles()
    >>> toy.feature_names, toy.X.shape, toy.label
    (['length', 'width'], (6, 2), 'found')
    """

    table: Table
    label: str

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of ``X``."""
        return [name for name in self.table if name != self.label]

    @property
    def X(self) -> Array:
        """Rows without labels, as an array of floats, or of objects if a column contains strings."""
        columns = [self.table[name] for name in self.feature_names]
        numbers = all(column.dtype.kind == "f" for column in columns)
        return np.column_stack([column if numbers else column.astype(object) for column in columns])

    @property
    def y(self) -> Array:
        """Labels."""
        return self.table[self.label]

    def __iter__(self) -> Iterator[Array]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        return repr(self.table)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def ferry() -> Toy:
    """Return twelve days with wind, visibility and whether the ferry sailed: categories.

    Sailed: calm 4, breeze 4, storm 0 of 8 days; clear 6, fog 2. Stayed: calm 0, breeze 1, storm 3 of 4; clear 1, fog 3.

    Examples
    --------
    >>> ferry().table["wind"][:4].tolist()
    ['calm', 'calm', 'calm', 'calm']
    >>> from candide import CategoricalNB
    >>> CategoricalNB(alpha=1).fit(*ferry()).predict_proba([["storm", "clear"]]).round(4)
    array([[0.4005, 0.5995]])
    """
    wind = ["calm"] * 4 + ["breeze"] * 4 + ["breeze"] + ["storm"] * 3
    sight = ["clear", "clear", "clear", "fog", "clear", "clear", "clear", "fog", "clear", "fog", "fog", "fog"]
    return _toy(ferry=["sailed"] * 8 + ["stayed"] * 4, wind=wind, sight=sight)


def pebbles() -> Toy:
    """Return six pebbles from two places, measured in millimeters: normal distributions.

    Creek: means 2 and 4, variances 2/3 and 8/3. Beach: means 8 and 6, variances 8/3 and 2 (sums divided by n).

    Examples
    --------
    >>> from candide import GaussianNB
    >>> model = GaussianNB(var_smoothing=0).fit(*pebbles())
    >>> model.theta_
    array([[8., 6.],
           [2., 4.]])
    >>> model.predict_proba([[4.0, 5.0]]).round(4)                       # beach, creek
    array([[0.3516, 0.6484]])
    """
    length, width = [1.0, 2.0, 3.0, 6.0, 8.0, 10.0], [2.0, 4.0, 6.0, 5.0, 5.0, 8.0]
    return _toy(found=["creek"] * 3 + ["beach"] * 3, length=length, width=width)


def mails() -> Toy:
    """Return ten messages as counts of five words. Spam: 12 words in 3 messages; ham: 20 words in 7.

    Examples
    --------
    >>> X, y = mails()
    >>> X[y == "spam"].sum(axis=0), X[y == "ham"].sum(axis=0)
    (array([5., 4., 3., 0., 0.]), array([0., 1., 6., 6., 7.]))
    >>> from candide import MultinomialNB
    >>> MultinomialNB(alpha=1).fit(X, y).predict_proba([[2, 0, 1, 0, 0]]).round(4)       # "hello prize prize"
    array([[0.0344, 0.9656]])
    """
    spam = [[2, 1, 1, 0, 0], [2, 2, 1, 0, 0], [1, 1, 1, 0, 0]]
    ham = [[0, 0, 1, 1, 1]] * 5 + [[0, 0, 1, 0, 1], [0, 1, 0, 1, 1]]
    columns = dict(zip(("prize", "click", "hello", "lunch", "report"), np.transpose(spam + ham), strict=True))
    return _toy(mail=["spam"] * 3 + ["ham"] * 7, **columns)


def bird_table() -> Toy:
    """Return the visits of tits and sparrows to a bird table on eight mornings, by season: counts of events.

    Summer: on average 3 tits and 1 sparrow per morning; winter: 6 and 2.

    Examples
    --------
    >>> from candide import PoissonNB
    >>> PoissonNB(alpha=0, beta=0).fit(*bird_table()).rate_
    array([[3., 1.],
           [6., 2.]])
    """
    tits, sparrows = [2.0, 3.0, 4.0, 3.0, 5.0, 8.0, 6.0, 5.0], [1.0, 0.0, 2.0, 1.0, 3.0, 1.0, 2.0, 2.0]
    return _toy(season=["summer"] * 4 + ["winter"] * 4, tits=tits, sparrows=sparrows)


def switches(copies: int = 1) -> Toy:
    """Return the positions of two switches on a staircase and the state of a lamp: exclusive or.

    The lamp is on when exactly one switch is up. A single switch contains no information about the lamp, but both
    together determine it, so plain naive Bayes cannot learn this table. ``copies`` is the number of rows for each of
    the four cases.

    Examples
    --------
    >>> switches()
    upstairs  downstairs  lamp
    down      down        dark
    down      up          lit
    up        down        lit
    up        up          dark
    >>> from candide import CategoricalNB
    >>> CategoricalNB().fit(*switches(25)).predict_proba(switches().X)[:, 0].tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    if not isinstance(copies, int) or copies < 1:
        raise ParameterError(f"copies is {copies!r}; expected a positive integer")
    up = np.array([["down", "down"], ["down", "up"], ["up", "down"], ["up", "up"]] * copies, dtype=object)
    lamp = np.where(up[:, 0] == up[:, 1], "dark", "lit")
    return _toy(lamp=lamp, upstairs=up[:, 0], downstairs=up[:, 1])


def orchard() -> Toy:
    """Return twelve fruits with weight in grams, color and number of seeds, three cells missing: mixed columns.

    Examples
    --------
    >>> from candide import NaiveBayes
    >>> model = NaiveBayes(stacking=None).fit(orchard().table, y="fruit")
    >>> model.predict({"grams": [210.0], "color": ["green"], "seeds": [None]}).tolist()
    ['pear']
    """
    grams = [150.0, 170.0, None, 160.0, 140.0, 155.0, 200.0, 190.0, 180.0, 220.0, 210.0, 195.0]
    color = ["red", "red", "green", "red", None, "green", "green", "yellow", "green", "green", "yellow", "green"]
    seeds = [5.0, 6.0, 5.0, 8.0, 7.0, 5.0, 4.0, None, 3.0, 5.0, 4.0, 2.0]
    return _toy(fruit=["apple"] * 6 + ["pear"] * 6, grams=grams, color=color, seeds=seeds)


def _toy(**columns: Any) -> Toy:
    """Return a toy table; the label is the first argument and the last column."""
    label, *names = columns
    return Toy(Table({name: _column(columns[name]) for name in (*names, label)}), label)


def _column(values: Any) -> Array:
    """Return an array of numbers with NaN for None, or of objects."""
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        return np.array(values, dtype=object)
