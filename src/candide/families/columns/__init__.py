"""Models of single columns of a table, computed from additive statistics and chosen by leave-one-out."""

from .base import CodedColumn, ColumnModel
from .choose import candidates_for_categories, candidates_for_numbers, choose, named_column

__all__ = [
    "CodedColumn",
    "ColumnModel",
    "candidates_for_categories",
    "candidates_for_numbers",
    "choose",
    "named_column",
]
