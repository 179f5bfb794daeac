"""What people see of an explanation."""

import numpy as np
from rich.console import Console

from candide import GaussianNB, TextNB
from candide.explain.explanation import as_rich, bars, colored

ESCAPE = "\x1b]0;owned\x07"


def test_what_says_nothing_is_not_listed():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 50)
    X = np.column_stack([rng.normal(size=100) + 3 * y, np.tile([0.0, 0.0, 1.0, 1.0], 25)])
    found = GaussianNB().fit(X, y).explain(X[:1])[0]
    shown, rest = bars(found)
    assert [bar.name.partition(" ")[0] for bar in shown] == ["x0"]
    assert rest.name == "2 more"
    assert abs(sum(bar.bits for bar in shown) + rest.bits - found.log_odds(*found.classes[list(found.pair())])) < 1e-9


def test_terminals_are_not_told_what_to_do():
    texts = [f"win cash {ESCAPE}", "lunch at noon"] * 4
    found = TextNB("multinomial", analyzer="char", ngrams=2).fit(texts, ["spam", "ham"] * 4).explain(texts[:1])[0]
    console = Console(force_terminal=True, width=200)
    with console.capture() as capture:
        console.print(as_rich(found, 100), colored(found))
    assert ESCAPE not in capture.get()
    assert "\x07" not in capture.get()
    assert "␛]" in capture.get()
