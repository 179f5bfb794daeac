"""Training on a source batch by batch, with progress, interruption and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..exceptions import InputError
from .interrupt import Interrupts, Terminated
from .progress import Pass, watched
from .session import Session

if TYPE_CHECKING:
    from ..sources import Roles, Source
    from ..training import StreamTrainer
    from .checkpoint import Checkpoint

# Bytes of what goes back to the system at once; with less, asking for it again takes a quarter of the time.
_LARGE = 1 << 22
_DOING = {"learn": "learning", "forget": "forgetting"}


class Passed(NamedTuple):
    """What a pass over a source came to."""

    n_rows: int
    n_without_label: int
    megabytes: float
    seconds: float


def learn_source(
    trainer: StreamTrainer,
    source: Source,
    roles: Roles,
    session: Session,
    *,
    verb: Literal["learn", "forget"] = "learn",
    checkpoint: Checkpoint | None = None,
    resume: bool = False,
) -> Passed:
    """Learn, or forget, all rows of a source. A signal stops at once, or with a checkpoint between two batches."""
    from ..data.arrow_batches import Groups, needed
    from ..kernels._core import set_mmap_threshold
    from ..model.labels import LabelFilter

    set_mmap_threshold(_LARGE)
    groups = Groups(trainer.spec.group_bytes)
    signals = Interrupts(kept=checkpoint is not None)
    with signals.caught() as interrupts, watched(source, _DOING[verb], session) as passed:
        if checkpoint is not None and resume:
            groups.n_rows = checkpoint.resumed(trainer, passed, session)

        def kept() -> None:
            if checkpoint is not None and checkpoint.is_due():
                checkpoint.save(trainer, passed, groups.n_rows)

        def keep_all() -> None:
            if checkpoint is not None and not interrupts.cut:
                checkpoint.save(trainer, passed, groups.n_rows)

        batches = groups.of(source.batches(passed.rows, needed(roles)))
        try:
            learn = trainer.learn if verb == "learn" else trainer.forget
            _go_through(learn, LabelFilter(trainer.spec).add, batches, roles, passed, interrupts, kept)
        except (KeyboardInterrupt, Terminated) as stop:
            keep_all()
            raise type(stop)(_kept(passed, checkpoint)) from None
        with interrupts.step():
            if trainer.model is not None:
                trainer.flush()
            keep_all()
        done = Passed(passed.rows, passed.is_unlabeled, passed.megabytes, passed.seconds)
    if not done.n_rows:
        raise InputError(
            f"the source has the columns {', '.join(source.names)} and no rows; expected at least one labeled row; "
            "check the source"
        )
    if done.n_rows <= done.n_without_label:
        raise InputError(
            f"the source has {done.n_rows:,} rows and none of them has a label; expected at least one; "
            "check the source and --label"
        )
    if done.n_without_label:
        session.remark(f"{done.n_without_label:,} rows without a label were left out")
    return done


def _go_through(
    learn: Callable[..., Any], refuse_unlabeled: Callable[[int], None], batches: Iterator[Any], roles: Roles,
    passed: Pass, interrupts: Interrupts, checkpoint: Callable[[], None],
) -> None:  # fmt: skip
    from ..data.arrow_batches import labelled_cells
    from ..kernels._core import trim_heap

    for batch in batches:
        with interrupts.step():
            rows = labelled_cells(batch, roles)
            if rows.n_rows:
                learn(rows.X, rows.y, sample_weight=rows.weight)
            if rows.n_rows < batch.num_rows:
                refuse_unlabeled(batch.num_rows - rows.n_rows)
            passed.is_unlabeled += batch.num_rows - rows.n_rows
            passed.advance(batch.num_rows)
            del rows, batch
            # Otherwise the C library keeps freed memory, pieces of which lie between what is still in use.
            trim_heap()
            checkpoint()


def _kept(passed: Pass, checkpoint: Checkpoint | None) -> str:
    stopped = f"stopped after {passed.rows:,} rows"
    if checkpoint is None or checkpoint.n_rows is None:
        return f"{stopped}; nothing was written, and no file was touched"
    return (
        f"{stopped}; {checkpoint.n_rows:,} are kept in {checkpoint.path}; run the same command with --resume to go on"
    )
