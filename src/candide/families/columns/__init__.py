"""Models of single columns of a table, made from what one pass keeps; chosen by leaving every row out."""

from .base import CodedColumn, ColumnModel
from .choose import candidates_for_categories, candidates_for_numbers, choose

__all__ = ["CodedColumn", "ColumnModel", "candidates_for_categories", "candidates_for_numbers", "choose"]
