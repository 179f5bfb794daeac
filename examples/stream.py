"""Learn from a stream of messages, with drift detection and checkpoints.

Run it with ``python examples/stream.py``: it generates messages to a shop whose words change their meaning halfway. Or
pass messages as JSON Lines, ``{"text": …, "label": …}`` on each line, and a checkpoint file::

    python examples/stream.py messages.jsonl --checkpoint messages.json
    python examples/stream.py messages.jsonl --checkpoint messages.json --follow    # waits for further lines
    some_program | python examples/stream.py -

- Every message is predicted before the model is updated with it, so accuracy and log-loss are measured on new messages
  (prequential evaluation): the mean over all messages, and an exponentially weighted mean ("recent").
- The weight of earlier messages decreases (``discount``) with a half-life of ``--half-life`` messages.
- The Page-Hinkley test detects an increase of the log-loss. Then the weight of earlier messages is reduced to a tenth.
- A checkpoint contains the model and the state of the evaluation. A run that was killed continues from it with the same
  results. (Messages that a pipe delivered after the checkpoint are lost.)
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

# Largest log-loss of a message: an unknown label counts like one with a probability of 1/1000.
WORST = float(np.log(1000))
# Half-life, in messages, of the "recent" means and of the reference of the drift test.
WINDOW = 500
# Factor of the weight of earlier messages after drift.
AFTER_DRIFT = 0.1
# The most frequent words are kept; others use memory although their weight has decreased.
MOST_WORDS = 100_000


@dataclass
class ExponentialMean:
    """Exponentially weighted mean and variance; with ``keep=1``, all numbers have equal weight."""

    keep: float
    weight: float = 0.0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, number: float) -> None:
        self.weight = self.keep * self.weight + 1
        share, step = 1 / self.weight, number - self.mean
        self.mean += share * step
        self.variance = (1 - share) * (self.variance + share * step**2)


def recent() -> ExponentialMean:
    return ExponentialMean(0.5 ** (1 / WINDOW))


@dataclass
class PageHinkley:
    """Test for an increase of the mean of a series (Page 1954, Hinkley 1971).

    It adds up how many standard deviations each number is above the reference mean, minus ``slack``, and restarts at 0
    if the sum is negative. A sum above ``limit`` is a warning: with 0.1 and 50, an increase by one standard deviation
    is detected after about 55 numbers, and by half of one after 125. A single number adds at most ``most``.
    """

    slack: float = 0.1
    limit: float = 50.0
    most: float = 4.0
    warm_up: int = 300  # numbers that set the reference before the test starts
    reference: ExponentialMean = field(default_factory=recent)
    n_seen: int = 0
    total: float = 0.0
    n_above: int = 0  # numbers since the sum was 0, that is, since the mean increased

    def add(self, number: float) -> bool:
        """Add a number and return whether the mean has increased."""
        if self.n_seen >= self.warm_up:
            above = (number - self.reference.mean) / max(self.reference.variance**0.5, 1e-9)
            self.total = max(0.0, self.total + min(above, self.most) - self.slack)
            self.n_above = self.n_above + 1 if self.total else 0
        self.reference.add(number)
        self.n_seen += 1
        return self.total > self.limit


@dataclass
class Progress:
    """State of the evaluation and of the drift test."""

    n_messages: int = 0
    correct: ExponentialMean = field(default_factory=lambda: ExponentialMean(1.0))
    loss: ExponentialMean = field(default_factory=lambda: ExponentialMean(1.0))
    recent_correct: ExponentialMean = field(default_factory=recent)
    recent_loss: ExponentialMean = field(default_factory=recent)
    test: PageHinkley = field(default_factory=PageHinkley)

    @classmethod
    def restored(cls, parts: dict[str, Any]) -> Progress:
        """Return the object from the output of ``asdict``."""
        test = parts.pop("test")
        test = PageHinkley(**test | {"reference": ExponentialMean(**test["reference"])})
        return cls(
            parts.pop("n_messages"), test=test, **{name: ExponentialMean(**part) for name, part in parts.items()}
        )

    def add(self, correct: bool, loss: float) -> bool:
        """Add a message and return whether drift is detected."""
        self.n_messages += 1
        for mean in (self.correct, self.recent_correct):
            mean.add(correct)
        for mean in (self.loss, self.recent_loss):
            mean.add(loss)
        return self.test.add(loss)

    def line(self, model: Any) -> str:
        return (
            f"{self.n_messages:>7,} messages: accuracy {self.correct.mean:.3f}, recent {self.recent_correct.mean:.3f}; "
            f"log-loss {self.loss.mean:.3f}, recent {self.recent_loss.mean:.3f}; {len(model.vocabulary_):,} words"
        )


class Checkpoint:
    """A JSON file that names its model file. If the run is killed, both are old or both are new."""

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def load(self) -> tuple[Any, Progress]:
        """Return the last checkpoint, or a new model."""
        if self.path is None or not self.path.exists():
            return TextNB("multinomial", compute_loo=False), Progress()
        parts = json.loads(self.path.read_text("utf-8"))
        return candide.load(self.path.with_name(parts["model"])), Progress.restored(parts["progress"])

    def save(self, model: Any, progress: Progress) -> None:
        if self.path is None:
            return
        name = f"{self.path.name}.{progress.n_messages}.candide"
        model.save(self.path.with_name(name))
        temporary = self.path.with_name(f"{self.path.name}.part")
        temporary.write_text(json.dumps({"model": name, "progress": asdict(progress)}), "utf-8")
        temporary.replace(self.path)  # replaces the old checkpoint atomically
        for old in self.path.parent.glob(f"{self.path.name}.*.candide"):
            if old.name != name:
                old.unlink()


class Run:
    """Train a model on a stream; print a line and save a checkpoint after every ``every`` messages."""

    def __init__(self, checkpoint: Checkpoint, half_life: float, batch_size: int, every: int) -> None:
        self.checkpoint, self.half_life, self.batch_size, self.every = checkpoint, half_life, batch_size, every
        self.model, self.progress = checkpoint.load()

    def through(self, messages: Iterable[Message]) -> None:
        noted = self.progress.n_messages
        for batch in batches(messages, self.batch_size):
            self.learn(*(list(part) for part in zip(*batch, strict=True)))
            if self.progress.n_messages // self.every > noted // self.every:
                self.note()
                noted = self.progress.n_messages
        if self.progress.n_messages > noted:
            self.note()

    def learn(self, texts: list[str], labels: list[str]) -> None:
        if hasattr(self.model, "model_"):
            drift = evaluate(self.model, texts, labels, self.progress)
            self.model.discount(0.5 ** (len(texts) / self.half_life) * (AFTER_DRIFT if drift else 1.0))
        else:
            self.progress.n_messages += len(texts)  # a model that is not fitted cannot predict
        self.model.partial_fit(texts, labels)

    def note(self) -> None:
        self.model.prune(max_tokens=MOST_WORDS)
        self.checkpoint.save(self.model, self.progress)
        print(self.progress.line(self.model), flush=True)


def evaluate(model: Any, texts: list[str], labels: list[str], progress: Progress) -> bool:
    """Evaluate predictions of new messages and return whether drift is detected."""
    log_probability, drift = model.predict_log_proba(texts), False
    places = {label: place for place, label in enumerate(model.classes_.tolist())}
    for row, label in zip(log_probability, labels, strict=True):
        place = places.get(label)
        loss = WORST if place is None else min(WORST, -float(row[place]))
        if progress.add(place == row.argmax(), loss):
            drift = True
            since = progress.n_messages - progress.test.n_above
            print(
                f"{progress.n_messages:>7,} messages: DRIFT, the log-loss has been higher since {since:,}", flush=True
            )
            progress.test = PageHinkley()
    return drift


def batches(messages: Iterable[Message], size: int) -> Iterator[list[Message]]:
    stream = iter(messages)
    while batch := list(islice(stream, size)):
        yield batch


# Where messages come from.


def read(path: str, follow: bool) -> Iterator[Message]:
    """Yield messages from JSON Lines; invalid lines are reported and skipped."""
    for number, line in enumerate(lines(path, follow), 1):
        try:
            found = json.loads(line)
            yield str(found["text"]), str(found["label"])
        except (ValueError, KeyError, TypeError):
            print(f"line {number:,} is not a message with text and label: {line.strip()[:60]!r}", flush=True)


def lines(path: str, follow: bool) -> Iterator[str]:
    """Yield the complete lines of a file; with ``follow``, wait for lines that are appended."""
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


def generated(n_messages: int, change: int, seed: int = 0) -> Iterator[Message]:
    """Yield messages to a shop. After ``change`` messages, half of the words of each queue are those of another one."""
    rng, queues = np.random.default_rng(seed), list(WORDS)
    later = {queue: WORDS[queue][:5] + WORDS[queues[i - 1]][5:] for i, queue in enumerate(queues)}
    for number in range(n_messages):
        words = later if number >= change else WORDS
        queue, other = rng.choice(queues, 2)
        own, odd = rng.choice(words[queue], 3), rng.choice(words[other], 2)
        text = rng.permutation([*own, *odd, *rng.choice(COMMON, rng.integers(3, 12))])
        yield " ".join(text), str(queue)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Learn from a stream of messages, and evaluate each prediction before the update."
    )
    parser.add_argument(
        "source", nargs="?", help="a JSON Lines file, or - for standard input; by default messages are generated"
    )
    parser.add_argument("--follow", action="store_true", help="wait for lines that are appended to the file")
    parser.add_argument("--checkpoint", type=Path, help="file to save checkpoints to and to continue from")
    parser.add_argument(
        "--half-life", type=float, default=2000.0, help="half-life of the weight of a message, in messages (2000)"
    )
    parser.add_argument("--batch", type=int, default=50, help="messages per update (50)")
    parser.add_argument("--every", type=int, default=500, help="messages between checkpoints (500)")
    parser.add_argument("--generated", type=int, default=4000, help="number of generated messages (4000)")
    options = parser.parse_args(arguments)
    messages = (
        generated(options.generated, options.generated // 2)
        if options.source is None
        else read(options.source, options.follow)
    )
    run = Run(Checkpoint(options.checkpoint), options.half_life, options.batch, options.every)
    try:
        run.through(messages if options.source == "-" else islice(messages, run.progress.n_messages, None))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
