"""A table without a blend: every column counts once."""

from __future__ import annotations

import numpy as np

from ...families.columns import CodedColumn
from ...families.table_likelihood import TableLikelihood
from ...kernels.layouts import Floats
from .cells import Cells
from .codes import Codes
from .columns import kind_of, picked_column, smooth_column
from .expressions import total
from .likelihoods import family_scores


def table_scores(likelihood: TableLikelihood, offset: Floats, cells: Cells, codes: Codes) -> list[str]:
    """The scores of each class: the terms of all columns and blocks, added up."""
    terms = column_terms(likelihood, cells, codes)
    return [total([cells.dialect.first_number(o), *(own[k] for own in terms)]) for k, o in enumerate(offset.tolist())]


def column_terms(likelihood: TableLikelihood, cells: Cells, codes: Codes) -> list[list[str]]:
    """What each column and each block says, class by class."""
    out = []
    for j in likelihood.shown:
        model = likelihood.models[j]
        if isinstance(model, CodedColumn):
            column = picked_column(model, j, kind_of(likelihood, j), cells, codes)
            out.append(column.terms(column.table, cells))
        else:
            out.append(smooth_column(model, j, cells, codes))
    return out + block_terms(likelihood, cells, codes)


def block_terms(likelihood: TableLikelihood, cells: Cells, codes: Codes) -> list[list[str]]:
    """What each block says."""
    none = np.zeros(len(likelihood.statistics.rows))
    pairs = zip(likelihood.family.blocks, likelihood.blocks, strict=True)
    return [family_scores(own, none, block.columns, cells, codes).finite for block, own in pairs]
