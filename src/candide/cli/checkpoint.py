"""What was learned so far, saved beside the model that is to be."""

from __future__ import annotations

import time
from dataclasses import replace
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from ..model.train import Checkpoint
from .session import Session

if TYPE_CHECKING:
    from ..model.train import Training
    from ..sources import ArrowSource
    from ..specs import Spec


class CheckpointFile:
    """A model file with all training rows that the model holds, and how many rows of the source are in it."""

    def __init__(self, model: Path, source: ArrowSource, spec: Spec, every: float, asked: dict[str, Any]) -> None:
        self.path = model.with_name(f"{model.name}.checkpoint")
        self.every = every
        # A checkpoint is of this source and these settings, or of no use.
        self.made_of: dict[str, Any] = {
            "source": source.fingerprint,
            "places": [_place(path) for path in asked.pop("sources") or []],
            "reading": asked,
            "roles": list(source.roles),
            "settings": _settings(spec),
        }
        # Rows in the one that was saved last.
        self.n_rows: int | None = None
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Return whether it is time for the next."""
        return time.monotonic() - self._last >= self.every

    def save(self, training: Training) -> None:
        """Replace the one before."""
        from ..storage.models import save_checkpoint

        counts = {"n_rows": training.n_rows, "n_unlabeled": training.n_unlabeled}
        save_checkpoint(training.model(), self.path, self.made_of | counts)
        self.n_rows = training.n_rows
        self._last = time.monotonic()

    def load(self, session: Session) -> Checkpoint | None:
        """Return what was learned, or None if there is no checkpoint."""
        from ..storage.models import load_model, note_of

        if not self.path.exists():
            session.remark(f"there is no checkpoint {self.path}; beginning with the first row")
            return None
        note: dict[str, Any] = note_of(self.path)
        for what, mine in self.made_of.items():
            if note.get(what) != mine:
                raise InputError(
                    f"{self.path} is a checkpoint of other {what}: {note.get(what)!r}, not {mine!r}; go on with the "
                    "same source and settings, or leave --resume out to begin anew"
                )
        self.n_rows = int(note["n_rows"])
        session.say(f"going on after {self.n_rows:,} rows")
        return Checkpoint(load_model(self.path), self.n_rows, int(note["n_unlabeled"]))

    def remove(self) -> None:
        """Remove the file, once the model is written."""
        self.path.unlink(missing_ok=True)


def _settings(spec: Spec) -> str:
    # How many threads count makes no difference to what is counted.
    return repr(replace(spec, n_threads=None))


def _place(path: str) -> list[Any]:
    """A source as it is now: what was written to since is another. A folder or a glob is all that is in it."""
    files = [Path(path)] if Path(path).is_file() else [Path(name) for name in sorted(glob(path, recursive=True))]
    inside = [each for file in files for each in ([file] if file.is_file() else sorted(file.rglob("*")))]
    told = (f"{each} {each.stat().st_size} {each.stat().st_mtime_ns}" for each in inside)
    return [path, sha256("\n".join(told).encode()).hexdigest()]
