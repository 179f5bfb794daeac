"""Tables on the command line: groups of rows, exports, widths and hints."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tiers import every


from .terminal import done, run


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five visits of each patient, which resemble each other."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("visits") / "visits.csv"
    ill = np.repeat(rng.random(40) < 0.5, 5)
    cells = np.repeat(rng.normal(size=(40, 2)), 5, axis=0) + 0.05 * rng.normal(size=(200, 2))
    lines = [
        f"{i // 5},{a:.3f},{b:.3f},{'yes' if own else 'no'}"
        for i, ((a, b), own) in enumerate(zip(cells, ill, strict=True))
    ]
    path.write_text("\n".join(["patient,a,b,ill", *lines]) + "\n")
    return path


def test_groups_leave_together(visits: Path, tmp_path: Path) -> None:
    model, options = tmp_path / "m.candide", ("--label", "ill", "--set", "stacking=null", "--json", "-o")
    alone = json.loads(done("train", visits, "--columns", "a,b", *options, model).out)
    together = json.loads(done("train", visits, "--groups", "patient", *options, model).out)
    assert (alone["groups"], together["groups"], together["columns"]) == (None, "patient", ["a", "b"])
    assert alone["leave_one_out"]["accuracy"] > together["leave_one_out"]["accuracy"] + 0.1
    assert together["leave_one_out"]["accuracy_error"] > 1.5 * alone["leave_one_out"]["accuracy_error"]
    # Later files may have the column or lack it.
    lines = visits.read_text().splitlines()
    (tmp_path / "without.csv").write_text("\n".join(line.split(",", 1)[1] for line in lines))
    answers = [done("predict", model, path, "--only").out for path in (visits, tmp_path / "without.csv")]
    assert answers[0] == answers[1]
    assert done("explain", model, '{"a": 1.0, "patient": 7}').code == 0
    own, rows = (json.loads(done("evaluate", model, path, "--json").out) for path in (visits, tmp_path / "without.csv"))
    assert (own["accuracy"], own["accuracy_error"] > rows["accuracy_error"]) == (rows["accuracy"], True)
    done("train", visits, "--columns", "a,b", *options, model)
    asked = json.loads(done("evaluate", model, visits, "--groups", "patient", "--json").out)
    assert asked["accuracy_error"] > json.loads(done("evaluate", model, visits, "--json").out)["accuracy_error"]


def test_models_are_compared_by_groups(visits: Path) -> None:
    alone, together = (
        json.loads(done("compare", visits, "--label", "ill", "--json", *more).out)["NaiveBayes(stacking=None)"]
        for more in (["--columns", "a,b"], ["--groups", "patient"])
    )
    assert alone["accuracy"] > together["accuracy"] + 0.1


@every(
    "arguments, message",
    [
        (["--label", "ill", "--groups", "patent"], "--groups refers to 'patent', .* did you mean 'patient'"),
        (["--label", "ill", "--groups", "ill"], "--label 'ill' is also passed as --groups;"),
        (["--columns", "ill,patient,a,b"], r"choose the label column with --label '…'$"),
    ],
)
def test_hints_name_options_once(visits: Path, arguments: list[str], message: str) -> None:
    ran = run("train", visits, *arguments)
    assert ran.code == 1
    assert re.search(message, ran.err.strip()), ran.err
