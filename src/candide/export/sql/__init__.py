"""A model as one query that scores a table where it is.

A query is a chain of steps: cells as numbers, labels and codes (``cells``), what columns and views
say of each class (``terms``, ``stacking``, ``views``), and from scores to probabilities (``posterior``).
It is thought out first, which tells what the first steps must make, and written then (``query``).
"""

from .export import to_sql

__all__ = ["to_sql"]
