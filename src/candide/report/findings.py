"""All that a report has to say, as numbers and names; the page is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from ..explain.contributions import explained
from ..explain.explanation import Explanation
from ..families import Batch
from ..model.table import Table
from .columns import Looks, looks_of
from .concerns import Concern, concerns_of
from .examples import Example
from .given import Given, go_through
from .subject import Subject
from .training import Trained, look_back


@dataclass(frozen=True)
class Shown:
    """An example with its explanation, by the model as it is."""

    example: Example
    explanation: Explanation
    of_training: bool


@dataclass(frozen=True)
class Findings:
    """What a model is, how good it is, what it looks at, which rows are odd, and what to be wary of.

    ``html()`` is the page, ``as_dict()`` its numbers.
    """

    subject: Subject
    title: str
    made: str  # when, ISO 8601
    trained: Trained | None
    given: Given | None
    looks: Looks
    concerns: list[Concern]
    examples: list[Shown]
    notes: dict[str, str]  # how it was trained, as far as someone knows

    def html(self) -> str:
        """One page that needs no other file and no network."""
        from .page import page

        return page(self)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and dicts, say, for JSON."""
        subject, given = self.subject, self.given
        return {
            "title": self.title,
            "kind": subject.kind,
            "made": self.made,
            "candide": version("candide"),
            "classes": dict(zip(subject.labels, subject.model.state.rows.tolist(), strict=True)),
            "leave_one_out": None if subject.honest is None else subject.honest.as_dict(),
            "plain": None if self.trained is None or self.trained.plain is None else self.trained.plain.as_dict(),
            "data": None if given is None else given.report.as_dict(),
            "concerns": [concern._asdict() for concern in self.concerns],
            "columns": None if self.looks.table is None else _plain(self.looks.table),
            "telling": None if self.looks.telling is None else _plain(self.looks.telling),
            "examples": [_example(shown, subject.labels) for shown in self.examples],
            "provenance": subject.provenance,
        }

    def __repr__(self) -> str:
        honest = self.subject.honest
        figure = "" if honest is None else f", honest accuracy {honest.accuracy:.4f}"
        return f"<report on {self.title!r}: {len(self.concerns)} warnings{figure}>"


def find(subject: Subject, batches: Iterable[Batch] | None, title: str | None, notes: dict[str, str]) -> Findings:
    """Look at everything there is: the model, training rows it keeps, and rows given."""
    given = None if batches is None else go_through(subject, batches)
    trained = look_back(subject)
    looks = looks_of(subject)
    return Findings(
        subject=subject,
        title=title or subject.kind,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        trained=trained,
        given=given,
        looks=looks,
        concerns=concerns_of(subject, looks, trained, given),
        examples=_explained(subject, trained, given),
        notes=notes,
    )


def _explained(subject: Subject, trained: Trained | None, given: Given | None) -> list[Shown]:
    """Of training rows where there are some: their labels are what the model believes."""
    lot = trained or given
    out = []
    for example in [] if lot is None else lot.examples:
        (explanation,) = explained(subject.model, example.row, subject.names, subject.kernels)
        out.append(Shown(example, explanation, trained is not None))
    return out


def _plain(table: Table) -> dict[str, Any]:
    return {name: column.tolist() for name, column in table.items()}


def _example(shown: Shown, labels: list[Any]) -> dict[str, Any]:
    example = shown.example
    probability = float(shown.example.log_probability.max())
    return {
        "kind": example.kind,
        "row": example.place,
        "label": labels[example.label],
        "answer": labels[example.answer],
        "log_probability": probability,
        "of_training": shown.of_training,
    }
