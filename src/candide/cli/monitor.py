"""Following a training: a progress bar, checkpoints, and signals that wait for the end of a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import InputError
from ..kernels._core import set_mmap_threshold, trim_heap
from ..model.source import Chunk, Source
from ..model.train import Checkpoint, Monitor, Training
from ..remote import fingerprint, is_remote, local_path
from .interrupt import Interrupts, Terminated
from .progress import Pass, watched
from .session import Session

if TYPE_CHECKING:
    from ..data.column_selection import Roles
    from ..sources import ArrowSource
    from ..specs import Spec
    from .records import UnseenNotes

# Blocks of at least this many bytes are returned to the system; with fewer, allocation takes a quarter of the time.
_LARGE = 1 << 22


class CommandMonitor(Monitor):
    """Shows the progress of a command, and saves checkpoints."""

    def __init__(
        self, passed: Pass, session: Session, interrupts: Interrupts, display: ExitStack,
        checkpoint: CheckpointFile | None, resume: bool,
    ) -> None:  # fmt: skip
        self.passed = passed
        self.tells_unlabeled = True
        self._session, self._interrupts, self._display = session, interrupts, display
        self._checkpoint, self._resume = checkpoint, resume
        self._training: Training | None = None

    def resume(self) -> Checkpoint | None:
        found = self._checkpoint.load(self._session) if self._checkpoint is not None and self._resume else None
        if found is not None:
            self.passed.rows, self.passed.n_unlabeled = found.n_rows, found.n_unlabeled
        return found

    def step(self) -> AbstractContextManager[Any]:
        return self._interrupts.step()

    def advance(self, training: Training) -> None:
        self._training = training
        self.passed.update(training.n_rows, training.n_unlabeled)
        # Otherwise the C library keeps freed memory that is fragmented between blocks in use.
        trim_heap()
        if self._checkpoint is not None and self._checkpoint.is_due():
            self._checkpoint.save(training)

    @contextmanager
    def finishing(self, training: Training) -> Iterator[None]:
        with self._interrupts.step():
            self.save()
        self._display.close()
        with self._session.status("fitting weights on held-out rows"):
            yield

    def unlabeled(self, n_rows: int) -> None:
        if self.tells_unlabeled:
            self._session.note(f"skipped {n_rows:,} row{'' if n_rows == 1 else 's'} without a label")

    def save(self) -> None:
        """Save a checkpoint of all rows so far, unless a step was interrupted before its end."""
        if self._checkpoint is not None and self._training is not None and not self._interrupts.cut:
            self._checkpoint.save(self._training)

    def stopped(self) -> str:
        """Return the message of a training that was interrupted."""
        stopped = f"stopped after {self.passed.rows:,} rows"
        saved = None if self._checkpoint is None else self._checkpoint.n_rows
        if self._checkpoint is None or saved is None:
            return f"{stopped}; nothing was written"
        return (
            f"{stopped}; {saved:,} are saved in {self._checkpoint.path}; to continue, repeat the command with --resume"
        )


@contextmanager
def monitored(
    source: Source, what: str, session: Session, checkpoint: CheckpointFile | None = None, resume: bool = False
) -> Iterator[CommandMonitor]:
    """Follow a training. A signal stops it at once, or with a checkpoint between two states."""
    set_mmap_threshold(_LARGE)
    signals = Interrupts(kept=checkpoint is not None)
    with signals.caught() as interrupts, ExitStack() as display:
        passed = display.enter_context(watched(source, what, session))
        monitor = CommandMonitor(passed, session, interrupts, display, checkpoint, resume)
        try:
            yield monitor
        except (KeyboardInterrupt, Terminated) as stop:
            monitor.save()
            raise type(stop)(monitor.stopped()) from None


class FollowedSource(Source):
    """A source whose batches show progress, and categories that no training row has."""

    def __init__(self, source: Source, passed: Pass, unseen: UnseenNotes) -> None:
        self._source, self._passed, self._unseen = source, passed, unseen
        self.names, self.requested = source.names, source.requested

    @property
    def roles(self) -> Roles | None:  # type: ignore[override]
        return self._source.roles

    def with_roles(self, roles: Roles) -> FollowedSource:
        return FollowedSource(self._source.with_roles(roles), self._passed, self._unseen)

    def with_types(
        self, schema: Mapping[Any, str], *, of_texts: bool = False, missing: tuple[str, ...] = ()
    ) -> FollowedSource:
        source = self._source.with_types(schema, of_texts=of_texts, missing=missing)
        return FollowedSource(source, self._passed, self._unseen)

    def head(self, n: int) -> Chunk:
        return self._source.head(n)

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        for chunk in self._source.batches(n_bytes, start):
            self._unseen.note(chunk.X)
            yield chunk
            n_unlabeled = self._passed.n_unlabeled + chunk.n_unlabeled
            self._passed.update(self._passed.rows + len(chunk.y) + chunk.n_unlabeled, n_unlabeled)

    def map(self, task: Callable[[Chunk], Any]) -> Iterator[Any]:
        # Workers of a cluster do not see the progress.
        return super().map(task) if self._source.is_read_here else self._source.map(task)


class CheckpointFile:
    """A model file with all training rows that the model keeps, and the number of source rows it covers."""

    def __init__(self, model: Path, source: ArrowSource, spec: Spec, every: float, requested: dict[str, Any]) -> None:
        self.path = model.with_name(f"{model.name}.checkpoint")
        self.every = every
        # A checkpoint can be used only with the same source and settings.
        self.made_of: dict[str, Any] = {
            "source": source.fingerprint,
            "files": [_fingerprint(path) for path in requested.pop("sources") or []],
            "reading": requested,
            "roles": list(source.roles),
            "settings": _settings(spec),
        }
        # Number of rows in the last checkpoint.
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
            session.note(f"no checkpoint {self.path} found; starting with the first row")
            return None
        note: dict[str, Any] = note_of(self.path)
        for what, mine in self.made_of.items():
            if note.get(what) != mine:
                raise InputError(
                    f"{self.path} is a checkpoint of a run with different {what}: {note.get(what)!r}, not {mine!r}; "
                    "continue with the same source and settings, or omit --resume to start again"
                )
        self.n_rows = int(note["n_rows"])
        session.say(f"continuing after {self.n_rows:,} rows")
        return Checkpoint(load_model(self.path), self.n_rows, int(note["n_unlabeled"]))

    def remove(self) -> None:
        """Remove the file, once the model is written."""
        self.path.unlink(missing_ok=True)


def _settings(spec: Spec) -> str:
    # The number of threads does not affect the result.
    return repr(replace(spec, n_threads=None))


def _fingerprint(path: str) -> list[Any]:
    """Return a source with a hash of its files' names, sizes and times, which changes when a file is written to."""
    if is_remote(path):
        return [path, sha256(fingerprint(path).encode()).hexdigest()]
    path = local_path(path)
    files = [Path(path)] if Path(path).is_file() else [Path(name) for name in sorted(glob(path, recursive=True))]
    inside = [each for file in files for each in ([file] if file.is_file() else sorted(file.rglob("*")))]
    told = (f"{each} {each.stat().st_size} {each.stat().st_mtime_ns}" for each in inside)
    return [path, sha256("\n".join(told).encode()).hexdigest()]
