"""Rows in databases: counted where they are."""

from .fit_sql import fit_sql

__all__ = ["fit_sql"]
