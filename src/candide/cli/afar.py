"""Sources on a cluster, ``spark:…`` and ``dask:…``, as far as ``train`` asks of a source."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..exceptions import ParameterError
from .learning import Passed
from .session import Session

if TYPE_CHECKING:
    from ..clusters.rows import Cluster
    from ..model.model import Model
    from ..sources import Roles
    from ..specs import Spec

# Rows that tell which column is the label.
_ROWS_FOR_ROLES = 10_000


class Afar:
    """A data frame of a cluster, with what its columns are for."""

    bad_rows: tuple[Any, ...] = ()  # the cluster reads, and tells nobody of them

    def __init__(self, cluster: Cluster, frame: Any, roles: Roles, *, text_labels: bool) -> None:
        self.roles = roles
        self.text_labels = text_labels  # whether labels are texts, as in all text formats
        self._frame = cluster.selected(frame, [*roles.columns, roles.label, *([roles.weight] if roles.weight else [])])

    def train(self, spec: Spec, session: Session) -> tuple[Model, Passed]:
        """Train a model on all rows, where they are."""
        from .. import training

        began = time.perf_counter()
        with session.status("counting, where the rows are"), warnings.catch_warnings():
            # Said once more below, as other sources say it.
            warnings.filterwarnings("ignore", "[0-9]+ rows without a label")
            model = training.train(spec, self._frame, self.roles.label, self.roles.weight)
        counted = model.row_counts
        assert counted is not None
        if counted.n_unlabeled:
            session.remark(f"{counted.n_unlabeled:,} rows without a label were left out")
        return model, Passed(counted.n_rows, counted.n_unlabeled, 0.0, time.perf_counter() - began)


@contextmanager
def opened_afar(
    engine: str, sources: list[str], reading: dict[str, Any], n_threads: int | None, **roles: Any
) -> Iterator[Afar]:
    """What the arguments of ``train`` speak of."""
    from ..clusters import cluster_named
    from ..clusters.opening import opened
    from ..clusters.places import places_of
    from ..sources.role_inference import RequestedRoles, check_names, infer_roles

    _refuse(engine, reading)
    places = places_of(sources, reading["format"], tables=engine == "spark")
    columns, declared = roles.pop("columns"), roles.pop("schema")
    asked = RequestedRoles(columns=None if columns is None else tuple(columns), **roles)
    with opened(engine, places, n_threads) as frame:
        cluster = cluster_named(engine)
        asked.check(list(frame.columns))
        check_names(declared or {}, list(frame.columns))
        roles_found = infer_roles(asked, cluster.head(frame, _ROWS_FOR_ROLES))
        yield Afar(cluster, frame, roles_found, text_labels=getattr(places, "format", None) == "csv")


def _refuse(engine: str, reading: dict[str, Any]) -> None:
    """Options that only what reads files itself can heed."""
    for name, ordinary in (("sql", None), ("encoding", None), ("on_bad_row", "error"), ("extensions", False)):
        if reading[name] != ordinary:
            raise ParameterError(
                f"--{name.replace('_', '-')} is given, and {engine}: reads in its own way; leave one of them out"
            )
