"""What the README shows in a terminal works."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from walkthrough import PAGES, answers, commands, copied, run


@pytest.mark.slow
def test_all_commands_of_the_pages(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    lines = [line.replace("pip install . && ", "") for page in PAGES for line in commands(page)]
    assert sum("candide train" in line for line in lines) >= 2
    promised = {line: shown for page in PAGES for line, shown in answers(page).items()}
    assert len(promised) >= 2
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    for line in lines:
        shown = run(line, folder, terminal=True)
        piped = run(line, folder, terminal=False)
        if line.startswith("candide train"):
            assert "━" in shown  # the bar
            assert "accuracy" in shown
            assert "accuracy" in piped
            assert "\x1b[" not in piped
        if line in promised:
            assert doctest.OutputChecker().check_output(promised[line], piped, flags), piped
    assert (folder / "examples" / "messages.candide").exists()
