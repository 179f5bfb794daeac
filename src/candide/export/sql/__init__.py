"""A model as one query that scores a table where it is.

A query is a chain of steps: cells as numbers and labels (``cells``), what is looked up by them (``lookups``), the
scores of columns and views for each class (``terms``, ``stacking``, ``views``, ``fourier``, ``absent``), and from
scores to probabilities (``export``). It is planned first, which tells what the first steps must make, and written then
(``query``).
"""

from .export import to_sql

__all__ = ["to_sql"]
