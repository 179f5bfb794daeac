"""A model that never stops learning: predict, look at the label, learn; forget slowly; warn when the world has changed.

Run it with ``python examples/stream.py``: it makes messages to a shop, whose words change their meaning halfway. Or
give it messages as JSON Lines, ``{"text": …, "label": …}`` on each line, and a checkpoint to go on from::

    python examples/stream.py messages.jsonl --checkpoint messages.json
    python examples/stream.py messages.jsonl --checkpoint messages.json --follow    # waits for further lines
    some_program | python examples/stream.py -

- Every message is predicted before it is learned, so the accuracy and the log-loss are those of messages that the model
  had not seen: of all of them, and "lately", by fading means.
- What was learned fades too (``discount``): it counts half after ``--half-life`` messages.
- The test of Page and Hinkley watches the log-loss. Once it has risen, what was learned counts a tenth.
- A checkpoint holds the model and all that is known beside it. After a kill, a run goes on from there as if nothing had
  been. (Of a pipe, what came since the checkpoint is lost.)
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import candide
from candide import TextNB

Message = tuple[str, str]  # text, label

# A label that nobody could foresee costs as much as one that had a chance of one in a thousand.
WORST = float(np.log(1000))
# Messages after which one counts half in what is printed as "lately", and in what is usual to the test.
WINDOW = 500
# What the past counts once the world has changed.
AFTER_DRIFT = 0.1
# Words whose weight has faded still take room; the heaviest stay.
MOST_WORDS = 100_000


@dataclass
class Fading:
    """Mean and variance of numbers that count less and less; with ``keep=1`` all count alike."""

    keep: float
    weight: float = 0.0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, number: float) -> None:
        self.weight = self.keep * self.weight + 1
        share, step = 1 / self.weight, number - self.mean
        self.mean += share * step
        self.variance = (1 - share) * (self.variance + share * step**2)


def recent() -> Fading:
    return Fading(0.5 ** (1 / WINDOW))


@dataclass
class PageHinkley:
    """Whether the mean of a series has risen (Page 1954, Hinkley 1971), in units of the series' own deviation.

    Adds up by how many deviations each number is above the usual, less ``slack``; below 0, it begins anew. A sum above
    ``limit`` is a warning: with 0.1 and 50, a rise by one deviation is seen after some 55 numbers, and by half of one
    after 125. However far one number is off, it counts no more than ``most``.
    """

    slack: float = 0.1
    limit: float = 50.0
    most: float = 4.0
    warm_up: int = 300  # numbers that tell what is usual, before any is judged
    usual: Fading = field(default_factory=recent)
    n_seen: int = 0
    total: float = 0.0
    n_above: int = 0  # numbers since the sum was 0: for so long the mean has been higher

    def add(self, number: float) -> bool:
        """Whether the mean has risen."""
        if self.n_seen >= self.warm_up:
            above = (number - self.usual.mean) / max(self.usual.variance**0.5, 1e-9)
            self.total = max(0.0, self.total + min(above, self.most) - self.slack)
            self.n_above = self.n_above + 1 if self.total else 0
        self.usual.add(number)
        self.n_seen += 1
        return self.total > self.limit


@dataclass
class Course:
    """How a run went so far: all that it knows beside the model."""

    n_messages: int = 0
    right: Fading = field(default_factory=lambda: Fading(1.0))
    loss: Fading = field(default_factory=lambda: Fading(1.0))
    right_lately: Fading = field(default_factory=recent)
    loss_lately: Fading = field(default_factory=recent)
    test: PageHinkley = field(default_factory=PageHinkley)

    @classmethod
    def restored(cls, parts: dict[str, Any]) -> Course:
        """From what ``asdict`` gives."""
        test = parts.pop("test")
        test = PageHinkley(**test | {"usual": Fading(**test["usual"])})
        return cls(parts.pop("n_messages"), test=test, **{name: Fading(**part) for name, part in parts.items()})

    def judge(self, right: bool, loss: float) -> bool:
        """Another message; whether the world has changed."""
        self.n_messages += 1
        for mean in (self.right, self.right_lately):
            mean.add(right)
        for mean in (self.loss, self.loss_lately):
            mean.add(loss)
        return self.test.add(loss)

    def line(self, model: Any) -> str:
        return (
            f"{self.n_messages:>7,} messages: accuracy {self.right.mean:.3f}, lately {self.right_lately.mean:.3f}; "
            f"log-loss {self.loss.mean:.3f}, lately {self.loss_lately.mean:.3f}; {len(model.vocabulary_):,} words"
        )


class Checkpoint:
    """A file of JSON, which names the file of its model: both are new, or both are old, whenever the run is killed."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self) -> tuple[Any, Course]:
        """What was saved last; else a model that knows nothing."""
        if self.path is None or not self.path.exists():
            return TextNB("multinomial", compute_loo=False), Course()
        parts = json.loads(self.path.read_text("utf-8"))
        return candide.load(self.path.with_name(parts["model"])), Course.restored(parts["course"])

    def save(self, model: Any, course: Course) -> None:
        if self.path is None:
            return
        name = f"{self.path.name}.{course.n_messages}.candide"
        model.save(self.path.with_name(name))
        aside = self.path.with_name(f"{self.path.name}.part")
        aside.write_text(json.dumps({"model": name, "course": asdict(course)}), "utf-8")
        aside.replace(self.path)  # until here there was the old checkpoint, from here on there is the new one
        for old in self.path.parent.glob(f"{self.path.name}.*.candide"):
            if old.name != name:
                old.unlink()


class Run:
    """A model on its way through a stream; ``every`` so many messages it says how it goes, and saves."""

    def __init__(self, checkpoint: Checkpoint, half_life: float, batch_size: int, every: int) -> None:
        self.checkpoint, self.half_life, self.batch_size, self.every = checkpoint, half_life, batch_size, every
        self.model, self.course = checkpoint.load()

    def through(self, messages: Iterable[Message]) -> None:
        noted = self.course.n_messages
        for batch in batches(messages, self.batch_size):
            self.learn(*(list(part) for part in zip(*batch, strict=True)))
            if self.course.n_messages // self.every > noted // self.every:
                self.note()
                noted = self.course.n_messages
        if self.course.n_messages > noted:
            self.note()

    def learn(self, texts: list[str], labels: list[str]) -> None:
        if hasattr(self.model, "model_"):
            drift = judged(self.model, texts, labels, self.course)
            self.model.discount(0.5 ** (len(texts) / self.half_life) * (AFTER_DRIFT if drift else 1.0))
        else:
            self.course.n_messages += len(texts)  # who knows nothing cannot be judged
        self.model.partial_fit(texts, labels)

    def note(self) -> None:
        self.model.prune(max_tokens=MOST_WORDS)
        self.checkpoint.save(self.model, self.course)
        print(self.course.line(self.model), flush=True)


def judged(model: Any, texts: list[str], labels: list[str], course: Course) -> bool:
    """Predicts messages that the model has not seen; whether they show that the world has changed."""
    log_probability, drift = model.predict_log_proba(texts), False
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    for row, label in zip(log_probability, labels, strict=True):
        place = places.get(label)
        loss = WORST if place is None else min(WORST, -float(row[place]))
        if course.judge(place == row.argmax(), loss):
            drift = True
            since = course.n_messages - course.test.n_above
            print(f"{course.n_messages:>7,} messages: DRIFT, the log-loss has been higher since {since:,}", flush=True)
            course.test = PageHinkley()
    return drift


def batches(messages: Iterable[Message], size: int) -> Iterator[list[Message]]:
    stream = iter(messages)
    while batch := list(islice(stream, size)):
        yield batch


# Where messages come from.


def read(path: str, follow: bool) -> Iterator[Message]:
    """From JSON Lines; what is no message is left out, with a remark."""
    for number, line in enumerate(lines(path, follow), 1):
        try:
            found = json.loads(line)
            yield str(found["text"]), str(found["label"])
        except (ValueError, KeyError, TypeError):
            print(f"line {number:,} is no message with a text and a label: {line.strip()[:60]!r}", flush=True)


def lines(path: str, follow: bool) -> Iterator[str]:
    """The lines of a file, whole, also those that are still to be written."""
    if path == "-":
        yield from sys.stdin
        return
    with open(path, encoding="utf-8") as file:
        begun = ""
        while True:
            begun += file.readline()
            if begun.endswith("\n") or (begun and not follow):
                yield begun
                begun = ""
            elif follow:
                time.sleep(0.2)
            else:
                return


WORDS = {
    "account": ["password", "login", "account", "email", "reset", "locked", "profile", "code", "settings", "sign"],
    "invoice": ["invoice", "refund", "charged", "twice", "card", "payment", "amount", "bank", "receipt", "wrong"],
    "order": ["order", "delivery", "parcel", "late", "tracking", "address", "arrived", "courier", "box", "damaged"],
}
COMMON = [
    "hello", "please", "help", "me", "with", "my", "the", "it", "is", "not", "working", "thanks", "today", "and", "a",
    "for", "you", "now", "again", "still",
]  # fmt: skip


def made(n_messages: int, change: int, seed: int = 0) -> Iterator[Message]:
    """Messages to a shop. After the change, half the words of each desk are those of the next one."""
    rng, desks = np.random.default_rng(seed), list(WORDS)
    later = {desk: WORDS[desk][:5] + WORDS[desks[i - 1]][5:] for i, desk in enumerate(desks)}
    for number in range(n_messages):
        words = later if number >= change else WORDS
        desk, other = rng.choice(desks, 2)
        own, odd = rng.choice(words[desk], 3), rng.choice(words[other], 2)
        text = rng.permutation([*own, *odd, *rng.choice(COMMON, rng.integers(3, 12))])
        yield " ".join(text), str(desk)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Learns a stream of messages, and says how well it foresees them.")
    parser.add_argument(
        "source", nargs="?", help="a file of JSON Lines, or - for the standard input; else some are made"
    )
    parser.add_argument("--follow", action="store_true", help="at the end of the file, wait for what is still written")
    parser.add_argument("--checkpoint", type=Path, help="a file to save to, and to go on from")
    parser.add_argument("--half-life", type=float, default=2000.0, help="messages after which one counts half (2000)")
    parser.add_argument("--batch", type=int, default=50, help="messages that are learned together (50)")
    parser.add_argument(
        "--every", type=int, default=500, help="messages from one line and checkpoint to the next (500)"
    )
    parser.add_argument("--made", type=int, default=4000, help="how many are made, where none are given (4000)")
    given = parser.parse_args(arguments)
    messages = made(given.made, given.made // 2) if given.source is None else read(given.source, given.follow)
    run = Run(Checkpoint(given.checkpoint), given.half_life, given.batch, given.every)
    try:
        run.through(messages if given.source == "-" else islice(messages, run.course.n_messages, None))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
