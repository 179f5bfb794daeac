"""A column of texts in a table: its bands of evidence, weighed among themselves, are one view of the row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..families import Batch
from ..families.table_likelihood import TableLikelihood, texts_at
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats, chunks
from ..lazy_dataclass import dataclass
from .folds import folds_of
from .token_views import TextBlended

if TYPE_CHECKING:
    from .training_rows import Seen

# Weights are fitted again without each of so many folds; of many texts without each half, which costs less.
_FOLDS, _HALVES, _MANY_ROWS = 5, 2, 2_000
# Texts whose scores under all bands are held at once.
_CHUNK = 1 << 11


@dataclass(frozen=True)
class TextView:
    """The bands of a column, without what they add for the classes alone: the table has a bias of its own."""

    column: int
    bands: TextBlended
    gain: float = 0.0  # log-loss of a row that it saves alone

    @classmethod
    def of(cls, likelihood: TableLikelihood, column: int) -> TextView:
        """Without weights yet."""
        return cls(column, TextBlended.unweighted(likelihood.texts[column]))

    def few(self, seen: Seen) -> Array:
        """The rows that weights are fitted on."""
        return self.bands.few(seen)

    def scores(self, likelihood: TableLikelihood, data: Any, kernels: Kernels) -> Floats:
        """``(rows, classes)`` of any rows."""
        own, absent = likelihood.texts[self.column], data.columns[self.column].absent
        scores = self.bands.scores(own, texts_at(data, self.column), kernels) - self.bands.mixture.bias
        return scores if absent is None else np.where(absent[:, None], 0.0, scores)

    def left_out(self, likelihood: TableLikelihood, batch: Batch, kernels: Kernels) -> Floats:
        """The same of learned rows, each as if it had not been there; weights stay."""
        out, own = np.empty((len(batch.classes), batch.n_classes)), likelihood.texts[self.column]
        for begin, end, texts in chunks(texts_at(batch.data, self.column), _CHUNK):
            weight = None if batch.weight is None else batch.weight[begin:end]
            part = Batch(texts, batch.classes[begin:end], weight, batch.n_classes)
            out[begin:end] = self._added_up(own.token_bin_left_out(part, kernels))
        return out

    def heard(self, likelihood: TableLikelihood, seen: Seen, kernels: Kernels) -> Floats:
        """Scores of rows under all bands, ``(bands, rows, classes)``, by sums without their fold."""
        texts = seen.batch._replace(data=texts_at(seen.batch.data, self.column))
        return self.bands.judged(likelihood.texts[self.column], seen._replace(batch=texts), kernels)

    def weighed(self, heard: Floats, seen: Seen) -> TextView:
        """With weights from such scores."""
        return replace(self, bands=self.bands.weighed(heard, seen))

    def judged(self, heard: Floats, seen: Seen) -> Floats:
        """``(rows, classes)``, each row by weights that it had no part in: else the view would seem too good."""
        classes = seen.batch.classes
        n_folds = _HALVES if len(classes) > _MANY_ROWS else _FOLDS
        folds, out = folds_of(classes, seen.blocks, n_folds), np.empty(heard.shape[1:])
        for fold in np.unique(folds):
            here, rest = np.flatnonzero(folds == fold), np.flatnonzero(folds != fold)
            without = self.weighed(heard[:, rest], seen.take(rest, seen.multiplicity[rest]))
            out[here] = without._added_up(heard[:, here])
        return out

    def _added_up(self, heard: Floats) -> Floats:
        return np.asarray(self.bands.left_out(heard) - self.bands.mixture.bias)
