"""Dask: what fit, predict and score take and give, what they refuse, and workers that die."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from cli.terminal import done
from properties.compare import assert_alike
from properties.models import assert_same_model
from properties.tables import assert_same_table, mixed
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError
from tiers import late

import candide
from candide import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.exceptions import InputError, ParameterError
from candide.model.train import Summarize
from candide.specs import Spec

from .mortal import die_once, make_mortal

pytestmark = pytest.mark.dask
dask, da, dd = map(late, ("dask", "dask.array", "dask.dataframe"))

FRAME, LABELS = mixed(90)
TABLE = FRAME.assign(label=LABELS)
NUMBERS = np.random.default_rng(0).normal(size=(90, 3)) + (LABELS == "v")[:, None]
TEXTS = ["win cash now", "see you at noon", "free prize, win", "lunch at noon?"] * 6
KINDS = ["spam", "ham"] * 12
LETTERS = pd.DataFrame({"text": TEXTS, "label": KINDS})


@pytest.fixture(autouse=True)
def here(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tasks run here, one after the other, unless there is a cluster."""
    if "client" in request.fixturenames:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


def cut(frame: Any, n: int = 4) -> Any:
    return dd.from_pandas(frame, npartitions=n)


# What is learned.


def halves(later: list[Any]) -> Any:
    """Partitions of which the first holds numbers, and the second other cells."""
    first = pd.DataFrame({"age": [17.0, 30.0, 41.5, 62.0], "label": ["a", "b", "a", "b"]})
    second = pd.DataFrame({"age": pd.Series(later, dtype=object), "label": ["a", "b", "a", "b"]})
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_map(lambda frame: frame, [first, second], meta=first, enforce_metadata=False)


def test_types_are_those_of_the_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts in another partition are converted to numbers, or refused with the partition and the row."""
    monkeypatch.setattr("candide.model.train._HEAD", 4)
    plain: dict[str, Any] = {"stacking": None, "calibrate": None, "subsample": 0}
    model = NaiveBayes(**plain).fit(halves(["17.0", "30", "41.5", "62"]), "label")
    first = halves([17.0, 30.0, 41.5, 62.0])
    assert_same_table(model, NaiveBayes(**plain).fit(first, "label"))
    assert model.schema_["kind"].tolist() == ["number", "str"]
    with pytest.raises(InputError, match=r"partition 1: column 'age' contains 'old' at row 1.*schema=\{'age'"):
        NaiveBayes(**plain).fit(halves(["17.0", "old", "41.5", "62"]), "label")


def test_labels_of_text_files_are_texts(tmp_path: Path, client: Any) -> None:
    TABLE.assign(label=np.where(LABELS == "v", "01", "02")).to_csv(tmp_path / "a.csv", index=False)
    done("train", f"dask:{tmp_path / 'a.csv'}", "-o", tmp_path / "m.candide", "-q")
    assert candide.load(tmp_path / "m.candide").classes_.tolist() == ["01", "02"]


def test_labels_by_name_or_beside() -> None:
    whole, spread = NaiveBayes().fit(TABLE, "label"), cut(TABLE)
    named = NaiveBayes().fit(spread, "label")
    beside = NaiveBayes().fit(spread[list(FRAME)], spread["label"])
    for model in (named, beside):
        assert_same_table(model, whole)
    assert named.model_.schema.roles == ("label", None, tuple(FRAME), None, None)
    assert beside.model_.schema.roles is None


def test_weights_by_name_or_beside() -> None:
    table = TABLE.assign(weight=np.arange(90) % 3)
    whole, spread = (
        GaussianNB().fit(table[["visits"]], LABELS, table["weight"]),
        cut(table[["visits", "label", "weight"]]),
    )
    assert_same_model(GaussianNB().fit(spread, "label", "weight"), whole)
    beside = GaussianNB().fit(spread[["visits"]], spread["label"], spread["weight"])
    assert_same_model(beside, whole)


def test_arrays_cut_between_columns_too() -> None:
    X, y = da.from_array(NUMBERS, chunks=(20, 2)), da.from_array(LABELS, chunks=20)
    model, whole = GaussianNB().fit(X, y), GaussianNB().fit(NUMBERS, LABELS)
    assert_same_model(model, whole)
    assert model.predict(X).compute().tolist() == whole.predict(NUMBERS).tolist()


def test_blocks_of_sparse_matrices() -> None:
    counts = np.random.default_rng(0).poisson(0.3, (90, 5))
    X = da.from_array(counts, chunks=(25, 5)).map_blocks(csr_matrix)
    model = MultinomialNB().fit(X, da.from_array(LABELS, chunks=25))
    whole = MultinomialNB().fit(counts, LABELS)
    assert_same_model(model, whole)
    assert model.predict(X).compute().tolist() == whole.predict(counts).tolist()


@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, 1, 2], [True, False, True], [2.0, 4.0, 7.0]], ids=str)
def test_labels_of_any_type(labels: list[Any]) -> None:
    y = np.array(labels)[np.arange(90) % 3]
    spread = cut(FRAME.assign(label=y))
    model = NaiveBayes(order=0).fit(spread, "label")
    assert model.classes_.tolist() == np.unique(y).tolist()
    answer = model.predict(spread)
    assert answer["prediction"].compute().tolist() == model.predict(FRAME).tolist()
    assert answer.dtypes["prediction"] == answer.compute().dtypes["prediction"]


def test_categories_that_differ_from_partition_to_partition() -> None:
    job = FRAME[["job"]].astype("category").sort_values("job")
    spread = cut(job.reset_index(drop=True).assign(label=np.sort(LABELS)))
    whole = CategoricalNB().fit(job, np.sort(LABELS))
    assert_same_model(CategoricalNB().fit(spread, "label"), whole)


def test_rows_without_a_label_are_left_out() -> None:
    table = TABLE.assign(label=np.where(np.arange(90) % 10 < 3, None, LABELS))
    known = table[table["label"].notna()]
    with pytest.warns(UserWarning, match="skipped 27 rows without a label"):
        model = NaiveBayes(order=0).fit(cut(table), "label")
    assert model.model_.row_counts == (90, 27, 4)
    assert_same_table(model, NaiveBayes(order=0).fit(known, "label"))
    with pytest.warns(UserWarning, match="skipped 27 rows without a label"):
        right = model.score(cut(table), "label")
    assert right == pytest.approx(model.score(known, "label"))


def test_further_classes_and_words() -> None:
    texts = cut(LETTERS)
    model = TextNB("multinomial").partial_fit(texts.partitions[:2], "label")
    news = pd.DataFrame({"text": ["goal in the last minute"] * 4, "label": "news"})
    model.partial_fit(cut(news, 2), "label")
    whole = TextNB("multinomial").fit(LETTERS["text"][:12].tolist() + news["text"].tolist(), KINDS[:12] + ["news"] * 4)
    assert model.classes_.tolist() == ["ham", "news", "spam"]
    np.testing.assert_allclose(model.predict_proba(TEXTS), whole.predict_proba(TEXTS))
    model.forget(cut(news, 3), "label")
    assert model.classes_.tolist() == ["ham", "spam"]


def test_declared_classes_hold_on_a_cluster() -> None:
    model = GaussianNB().partial_fit(NUMBERS, LABELS, classes=["u", "v", "w"])
    strange = da.from_array(np.where(LABELS == "u", "x", LABELS), chunks=30)
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(da.from_array(NUMBERS, chunks=(30, 3)), strange)


def test_what_is_counted_cannot_change() -> None:
    model = TextNB("multinomial").fit(TEXTS, KINDS).set_params(ngrams=2)
    with pytest.raises(ParameterError, match="what is counted"):
        model.partial_fit(cut(LETTERS), "label")


# What is answered.


def test_answers_beside_the_columns_of_the_frame() -> None:
    model, spread = NaiveBayes().fit(TABLE, "label"), cut(TABLE.assign(note="-"))
    for verb, names in {
        "predict": ["prediction"],
        "predict_proba": ["p(u)", "p(v)", "p(w)"],
        "predict_log_proba": ["log p(u)", "log p(v)", "log p(w)"],
    }.items():
        lazy = getattr(model, verb)(spread)
        answer = lazy.compute()
        assert list(lazy.columns) == list(answer.columns) == [*TABLE, "note", *names]
        assert answer.index.tolist() == TABLE.index.tolist()
        expected = getattr(model, verb)(FRAME).reshape(90, -1)
        if verb == "predict":
            assert answer[names].to_numpy().tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(answer[names].to_numpy(), expected, rtol=1e-12)
        again = getattr(model, verb)(lazy).compute()
        pd.testing.assert_frame_equal(again, answer)


def test_answers_to_series_and_arrays() -> None:
    texts, model = cut(LETTERS)["text"], TextNB().fit(TEXTS, KINDS)
    assert model.predict(texts).compute().tolist() == model.predict(TEXTS).tolist()
    np.testing.assert_array_equal(model.predict_proba(texts).compute(), model.predict_proba(TEXTS))
    gaussian, X = GaussianNB().fit(NUMBERS, LABELS), da.from_array(NUMBERS, chunks=(40, 2))
    lazy = gaussian.predict_proba(X)
    assert lazy.shape == (90, 3)
    np.testing.assert_array_equal(lazy.compute(), gaussian.predict_proba(NUMBERS))
    words = da.from_array(np.array(TEXTS, dtype=object), chunks=7)
    assert model.predict(words).compute().tolist() == model.predict(TEXTS).tolist()
    np.testing.assert_array_equal(model.predict_proba(words).compute(), model.predict_proba(TEXTS))


def test_a_model_of_texts_finds_its_column() -> None:
    model = TextNB("multinomial").fit(cut(LETTERS), "label")
    spread = cut(LETTERS.assign(number=1))
    assert model.predict(spread)["prediction"].compute().tolist() == model.predict(TEXTS).tolist()
    assert model.score(spread, "label") == model.score(TEXTS, KINDS)
    other = TextNB("multinomial").fit(TEXTS, KINDS)
    assert other.predict(cut(LETTERS[["text"]]))["prediction"].compute().tolist() == other.predict(TEXTS).tolist()


def test_score_is_that_of_all_rows() -> None:
    table = TABLE.assign(weight=np.arange(90) % 4)
    model = NaiveBayes(order=0).fit(TABLE, "label")
    spread = cut(table)
    assert model.score(spread, "label") == pytest.approx(model.score(TABLE, "label"))
    weighted = model.score(TABLE, "label", sample_weight=table["weight"])
    assert model.score(spread, "label", "weight") == pytest.approx(weighted)
    assert model.score(spread[list(FRAME)], spread["label"], spread["weight"]) == pytest.approx(weighted)


def test_no_training_row_travels() -> None:
    model = NaiveBayes().fit(TABLE.assign(job=[f"smith {i}" for i in range(90)]), "label")
    assert b"smith 17" in pickle.dumps(model.model_.classifier.state.sample)
    sent = model.model_.for_workers()
    assert sent.state.sample is None
    assert len(pickle.dumps(sent)) < len(pickle.dumps(model))
    assert b"sklearn" not in pickle.dumps(sent)


def test_a_loaded_model_answers(tmp_path: Path) -> None:
    NaiveBayes().fit(cut(TABLE), "label").save(tmp_path / "m.candide")
    model = candide.load(tmp_path / "m.candide")
    assert model.model_.schema.roles.label == "label"
    assert model.predict(cut(TABLE))["prediction"].compute().tolist() == model.predict(FRAME).tolist()


# What is refused.


def refused(match: str, X: Any, y: Any = "label", weight: Any = None, model: Any = None) -> None:
    model = model or NaiveBayes()
    with pytest.raises(InputError, match=match):
        model.fit(X, y, weight)
    assert not hasattr(model, "model_")


def test_labels_that_are_not_there() -> None:
    spread = cut(TABLE)
    refused(
        "y is 'lable', .* its columns are 'age', 'visits', 'job', 'member', 'label'; did you mean 'label'",
        spread,
        "lable",
    )
    refused("y is None; pass the labels, or the name", spread, None)
    refused("sample_weight is 'w', but X has no such column", spread, "label", "w")
    refused("X is a Dask collection, but y is array.*; pass a Dask collection", spread, LABELS)
    refused("X is a Dask collection, but y is 'label'; pass a Dask collection", da.from_array(NUMBERS), "label")


def test_partitions_that_differ() -> None:
    refused("X has 4, y has 3; align them", cut(FRAME), cut(TABLE, 3)["label"])
    X, y = da.from_array(NUMBERS, chunks=(45, 3)), da.from_array(LABELS, chunks=(40, 50))
    refused("a partition of X has 45 rows, but the matching partition of y has 40", X, y, model=GaussianNB())


def test_nothing_to_learn_from() -> None:
    refused("no rows with a label and a positive weight", cut(TABLE.assign(label=None)))
    refused("no rows with a label and a positive weight", cut(TABLE.assign(w=0)), "label", "w")
    refused("no rows with a label and a positive weight", cut(TABLE.iloc[:0], 1))
    with (
        pytest.raises(InputError, match="no rows with a label and a positive weight; expected at least one"),
        pytest.warns(UserWarning, match="90 rows without a label"),
    ):
        GaussianNB().fit(NUMBERS[:, :1], LABELS).score(cut(TABLE[["age", "label"]].assign(label=None)), "label")


def test_bags_and_single_values() -> None:
    bag = late("dask.bag").from_sequence([{"age": 1}])
    refused(r"X is a Dask Bag.*to_dataframe\(\)", bag)
    refused(r"X is a Dask Delayed", dask.delayed(1))
    with pytest.raises(InputError, match="X is a Dask Bag"):
        GaussianNB().fit(NUMBERS, LABELS).predict(bag)


def test_texts_among_other_columns() -> None:
    refused("TextNB needs a single text column, but the source has age, visits", cut(TABLE), model=TextNB())


def test_errors_in_rows_tell_the_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.model.train._HEAD", 10)
    table = TABLE.assign(age=np.where(np.arange(90) == 80, np.inf, 1.0))
    refused("partition 3: .*infinity", cut(table))
    model = NaiveBayes(order=0).fit(TABLE, "label")
    with pytest.raises(InputError, match="partition 3"):
        model.partial_fit(cut(table), "label")
    assert model.class_count_.sum() == 90


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError, match="not fitted yet"):
        candide.NaiveBayes().predict(cut(TABLE))
    with pytest.raises(NotFittedError):
        NaiveBayes().score(cut(TABLE), "label")


def test_one_reading_of_what_lies_in_one_frame() -> None:
    """The first partition tells how rows are read, and is read again; labels come with their rows."""
    read: list[int] = []

    def part(i: int) -> pd.DataFrame:
        read.append(i)
        return TABLE.iloc[30 * i : 30 * i + 30]

    NaiveBayes(order=0).fit(dd.from_map(part, range(3), meta=TABLE.iloc[:0]), "label")
    assert read.count(2) <= 2
    assert len(read) <= 6


@pytest.mark.parametrize("labels", [LABELS, np.where(np.arange(90) % 9 == 0, None, LABELS)], ids=["all", "some"])
def test_a_large_partition_is_counted_piece_by_piece(labels: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    whole = Summarize.whole

    def counted(task: Summarize, chunks: Any, partition: int) -> Any:
        pieces = list(chunks)
        sizes.extend(len(piece.y) for piece in pieces)
        return whole(task, pieces, partition)

    monkeypatch.setattr(Summarize, "whole", counted)
    monkeypatch.setattr(Spec, "group_bytes", 300)
    table, known = FRAME.assign(label=labels), np.array([label is not None for label in labels])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NaiveBayes(n_threads=1).fit(cut(table, 2), "label")
    assert sum(sizes) == known.sum()
    assert 1 < max(sizes) <= 20
    assert_same_table(model, NaiveBayes(n_threads=1).fit(FRAME[known], LABELS[known]))
    assert model.model_.row_counts == (90, 90 - known.sum(), 2)


@pytest.mark.parametrize(("group_bytes", "sizes"), [(1 << 24, [90]), (3000, [40, 40, 10])], ids=["all", "some"])
def test_small_partitions_are_counted_together(
    group_bytes: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    part = Summarize.part

    def counting(task: Summarize, chunk: Any) -> Any:
        counted.append(len(chunk.y))
        return part(task, chunk)

    monkeypatch.setattr(Summarize, "part", counting)
    monkeypatch.setattr(Spec, "group_bytes", group_bytes)
    monkeypatch.setattr(Summarize, "whole", None)
    model = NaiveBayes(n_threads=1).fit(cut(TABLE, 18), "label")
    assert sorted(counted, reverse=True) == sizes
    assert_same_table(model, NaiveBayes(n_threads=1).fit(FRAME, LABELS))
    assert model.model_.row_counts == (90, 0, 18)


def test_small_partitions_of_several_types() -> None:
    """Whole numbers beside others, categories of their own, and labels without a row that has one."""
    parts = [TABLE[i : i + 10].reset_index(drop=True) for i in range(0, 90, 10)]
    parts[1] = parts[1].assign(job=parts[1]["job"].astype("category"))
    parts[2] = parts[2].assign(visits=parts[2]["visits"].astype("float64"))
    parts[3] = parts[3].assign(label=None)
    spread = dd.from_map(lambda frame: frame, parts, meta=parts[0].iloc[:0], enforce_metadata=False)
    with pytest.warns(UserWarning, match="skipped 10 rows without a label"):
        model = NaiveBayes(n_threads=1).fit(spread, "label")
    known = np.arange(90) // 10 != 3
    assert_same_table(model, NaiveBayes(n_threads=1).fit(FRAME[known], LABELS[known]))
    assert model.model_.row_counts == (90, 10, 9)


def test_rows_and_labels_of_small_partitions_that_are_not_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together there are as many of them; the first rows are."""
    monkeypatch.setattr("candide.model.train._HEAD", 5)
    X, y = da.from_array(NUMBERS, chunks=((30, 25, 35), 3)), da.from_array(LABELS, chunks=((30, 35, 25),))
    with pytest.raises(InputError, match=r"a partition of X has (25|35) rows, but the matching partition of y"):
        GaussianNB().fit(X, y)


# Workers that die.


@pytest.fixture(scope="class")
def client() -> Iterator[Any]:
    """Two processes."""
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.worker.memory.terminate": False, "distributed.admin.tick.limit": "1h"}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50) as two,
        Client(two) as client,
    ):
        yield client


@pytest.fixture
def mark(tmp_path: Path) -> str:
    """A file that is there once somebody has died."""
    return str(tmp_path / "died")


def killed(frame: pd.DataFrame, mark: str) -> pd.DataFrame:
    """Kills the process that reads its partition, once."""
    if 40 in frame.index:
        die_once(mark)
    return frame


class TestProcesses:
    """On a real cluster."""

    def test_two_processes_are_one(self, client: Any) -> None:
        whole, spread = NaiveBayes(n_threads=1).fit(TABLE, "label"), cut(TABLE, 6)
        model = NaiveBayes(n_threads=1).fit(spread, "label")
        assert_same_table(model, whole)
        assert model.predict(spread)["prediction"].compute().tolist() == whole.predict(FRAME).tolist()

    def test_errors_keep_their_class(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("candide.model.train._HEAD", 10)
        refused("partition 3: .*infinity", cut(TABLE.assign(age=np.where(np.arange(90) == 80, np.inf, 1.0))))

    def test_a_worker_that_dies_while_it_reads(self, client: Any, mark: str) -> None:
        spread = cut(TABLE, 6).map_partitions(killed, mark, meta=TABLE.iloc[:0])
        model = NaiveBayes(n_threads=1).fit(spread, "label")
        assert Path(mark).exists()
        assert model.model_.row_counts == (90, 0, 6)
        assert_same_table(model, NaiveBayes(n_threads=1).fit(TABLE, "label"))

    def test_a_worker_that_dies_when_it_has_counted(
        self, client: Any, mark: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_mortal(monkeypatch, mark)
        X, y = da.from_array(NUMBERS, chunks=(15, 3)), da.from_array(LABELS, chunks=15)
        model = GaussianNB(subsample=100_000).fit(X, y)
        assert Path(mark).exists()
        whole = GaussianNB(subsample=100_000).fit(NUMBERS, LABELS)
        assert_same_model(model, whole)
        assert_alike(model.model_.classifier.state.sample, whole.model_.classifier.state.sample)
