"""What was learned so far, saved beside the model that is to be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from .session import Session

if TYPE_CHECKING:
    from ..learners.base import BaseNB
    from ..sources import Source
    from .progress import Pass


class Checkpoint:
    """A model file with all training rows that the model holds, and how many rows of the source are in it."""

    def __init__(self, model: Path, source: Source, learner: BaseNB, every: float) -> None:
        self.path = model.with_name(f"{model.name}.checkpoint")
        self.every = every
        # A checkpoint is of this source and these settings, or of no use.
        self.made_of = {
            "source": source.fingerprint,
            "n_bytes": source.n_bytes,
            "roles": [source.roles.label, source.roles.text, list(source.roles.columns)],
            "settings": _settings(learner),
        }
        self._last = time.monotonic()

    def is_due(self) -> bool:
        """Whether it is time for the next."""
        return time.monotonic() - self._last >= self.every

    def save(self, learner: BaseNB, passed: Pass, group_rows: int | None) -> None:
        """Replace the one before."""
        from ..learners.storing import save_unfinished

        counts = {"n_rows": passed.rows, "without_label": passed.without_label, "group_rows": group_rows}
        save_unfinished(learner, self.path, self.made_of | counts)
        self._last = time.monotonic()

    def resumed(self, learner: BaseNB, passed: Pass, session: Session) -> int | None:
        """Take over what was learned; how many rows were learned at a time."""
        from ..learners.storing import load, note_of

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
        vars(learner).update(vars(load(self.path)))
        session.say(f"going on after {note['n_rows']:,} rows")
        passed.rows, passed.without_label = int(note["n_rows"]), int(note["without_label"])
        return int(note["group_rows"])

    def remove(self) -> None:
        """The model is written; nobody needs it any more."""
        self.path.unlink(missing_ok=True)


def _settings(learner: BaseNB) -> str:
    # How many threads count makes no difference to what is counted.
    return repr(learner.unfitted().set_params(n_threads=None))
