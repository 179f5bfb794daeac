"""The messages that ship in examples/."""

from __future__ import annotations

import csv
from pathlib import Path

from candide import TextNB

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def rows_of(name: str) -> list[dict[str, str]]:
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def normal(text: str) -> str:
    return " ".join(text.casefold().split())


def test_no_message_comes_twice() -> None:
    texts = [normal(row["text"]) for name in ("messages.csv", "inbox.csv") for row in rows_of(name)]
    assert all(texts)
    assert len(set(texts)) == len(texts)


def test_columns_and_classes() -> None:
    messages, inbox = rows_of("messages.csv"), rows_of("inbox.csv")
    assert list(messages[0]) == ["text", "label"]
    assert list(inbox[0]) == ["text"]
    assert {row["label"] for row in messages} == {"advice", "billing", "order", "personal", "spam"}


def test_messages_need_every_rule_of_csv() -> None:
    texts = [row["text"] for row in rows_of("messages.csv")]
    for mark in (",", '"', "\n", "é", "🎂"):
        assert any(mark in text for text in texts), mark


def test_neither_trivial_nor_hopeless() -> None:
    messages = rows_of("messages.csv")
    model = TextNB().fit([row["text"] for row in messages], [row["label"] for row in messages])
    assert 0.85 <= model.loo_.accuracy <= 0.93
