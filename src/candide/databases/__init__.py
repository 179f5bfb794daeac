"""Rows in databases: counted where they are."""

from .fitting import fit_sql

__all__ = ["fit_sql"]
