"""One question at the command line loads no more than its answer needs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from candide import TextNB

TEXTS = [f"{word} number {i}" for i in range(60) for word in ("cash", "lunch")]
LABELS = ["spam", "ham"] * 60
# Which of some modules are loaded in the end.
PROBE = """
import atexit, sys
HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "duckdb", "narwhals", "matplotlib", "fsspec", "tempfile",
         "importlib.metadata")
atexit.register(lambda: print("loaded:", *[name for name in HEAVY if name in sys.modules]))
{more}
sys.argv = ["candide", "classify", *sys.argv[1:]]
from candide.cli.app import main
main()
"""


def classify(path: Path, text: str, more: str = "") -> list[str]:
    """What a process of its own writes."""
    ended = subprocess.run(
        [sys.executable, "-c", PROBE.format(more=more), str(path), text], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


@pytest.mark.parametrize(
    "model",
    [
        TextNB(),
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in (TextNB("multinomial"), TextNB(buckets=10), TextNB(refine=True))
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("sample", [False, True])
def test_a_text_needs_no_library_but_numpy(model: Any, sample: bool, tmp_path: Path) -> None:
    path = tmp_path / "mail.candide"
    model.fit(TEXTS, LABELS).save(path, sample=sample)
    answer, loaded = classify(path, "cash now")
    assert answer.startswith("spam\t")
    assert loaded == "loaded:"


# What only tables, training, or models of other kinds need.
UNNEEDED = (
    "data.categories",
    "data.factorize",
    "data.table",
    "families.categorical",
    "families.columns",
    "families.gaussian",
    "families.multivariate_normal",
    "families.poisson",
    "families.table",
    "families.table_likelihood",
    "model.changes",
    "model.out_of_fold",
    "model.top_features",
    "model.unlabeled",
    "priors.normal",
    "specs.table_schema",
    "stacking.calibration_curves",
    "stacking.covariance",
    "stacking.fourier_features",
    "stacking.stacked_views",
    "statistics.moments",
    "statistics.sample",
    "statistics.table",
    "storage.atomic_write",
    "storage.encoder",
    "storage.validation.tables",
)


def test_a_text_needs_no_module_of_tables_or_training(tmp_path: Path) -> None:
    path = tmp_path / "mail.candide"
    TextNB().fit(TEXTS, LABELS).save(path)
    modules = {f"candide.{name}" for name in UNNEEDED}
    more = f"atexit.register(lambda: print(*({modules} & set(sys.modules))))"
    answer, imported, _ = classify(path, "cash now", more)
    assert answer.startswith("spam\t")
    assert imported == ""
    assert all(map(importlib.util.find_spec, modules))


def test_the_training_rows_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "mail.candide"
    TextNB().fit([f"{text} {i} " + "more " * 2_000 for i, text in enumerate(TEXTS * 5)], LABELS * 5).save(
        path, sample=True
    )
    more = (
        "from candide.storage import background_reader\n"
        "rest = background_reader.FileReader.read_deferred\n"
        "background_reader.FileReader.read_deferred = lambda *args: print('training rows') or rest(*args)\n"
    )
    assert path.stat().st_size > 1 << 22
    assert len(classify(path, "cash now", more)) == 2


@pytest.mark.parametrize("more", [[], ["--quiet"]], ids=["without options", "with options"])
def test_a_large_file_with_another_checksum_gets_no_answer(more: list[str], tmp_path: Path) -> None:
    """Its checksum is computed while modules are imported, and compared before anything is answered."""
    path, words = tmp_path / "mail.candide", (f"w{i}" for i in range(200_000))
    TextNB(compute_loo=False).fit([" ".join(words), "lunch"], ["spam", "ham"]).save(path)
    content = bytearray(path.read_bytes())
    assert len(content) > 1 << 22
    content[content.rindex(b"w19")] = ord("v")
    path.write_bytes(content)
    ended = subprocess.run(
        [sys.executable, "-m", "candide.cli", "classify", str(path), "lunch", *more],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "its checksum does not match its content" in ended.stderr
