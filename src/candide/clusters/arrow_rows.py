"""First rows that come as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .rows import Chunk, FirstRows


class ArrowRows(FirstRows):
    """Tables, columns of texts, or matrices that were made of a table."""

    def _empty(self, X: Any) -> list[str]:
        import pyarrow as pa

        names = X.column_names if isinstance(X, pa.Table) else []
        return [name for name in names if X.column(name).null_count == X.num_rows]

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (_concatenate_labeled([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight


def _concatenate_labeled(pieces: list[Any]) -> Any:
    import pyarrow as pa

    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if any(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate([np.asarray(piece) for piece in pieces])
    return pa.concat_tables(pieces) if isinstance(pieces[0], pa.Table) else pa.concat_arrays(pieces)
