"""What is stored of a model."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..lazy_dataclass import dataclass
from .encoder import Encoder


class Provenance(NamedTuple):
    """Where a model comes from."""

    rows: float  # weight of the training rows
    date: str  # ISO 8601, UTC
    candide: str  # version
    fingerprint: str  # of the columns: models with the same can be asked about the same tables

    @classmethod
    def now(cls, rows: float, columns: Any) -> Provenance:
        """Of a model that is stored now; ``columns`` is what is known of them, in any form that can be stored.

        >>> Provenance.now(150, ("age", "job")).fingerprint
        '0142edcdd29c959b'
        """
        # Models are read far more often than written, and this import takes longer than many a question.
        from importlib.metadata import version

        date = datetime.now(UTC).isoformat(timespec="seconds")
        tree = json.dumps(Encoder().tree(columns, "columns"), sort_keys=True)
        return cls(float(rows), date, version("candide"), hashlib.sha256(tree.encode()).hexdigest()[:16])


@dataclass(frozen=True)
class Content:
    """A model, taken apart.

    ``kind`` is the name of its learner, ``settings`` are the parameters that someone gave, and ``parts`` by name what
    was learned: those of a ``Classifier``, and what the learner knows beside.
    """

    kind: str
    settings: dict[str, Any]
    parts: dict[str, Any]
    provenance: Provenance
