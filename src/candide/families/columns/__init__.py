"""Models of single columns of a table, made from what one pass keeps; chosen by leaving every row out."""

from .base import CodedColumn, ColumnModel
from .choose import candidates_for_categories, candidates_for_numbers, choose
from .named import named_column

__all__ = [
    "CodedColumn",
    "ColumnModel",
    "candidates_for_categories",
    "candidates_for_numbers",
    "choose",
    "named_column",
]
