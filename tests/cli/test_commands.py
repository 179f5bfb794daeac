"""Every command, on the messages that ship and on a table."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from tiers import every

import candide
from candide import TextNB
from candide.cli.app import _COMMANDS

from .terminal import INBOX, MESSAGES, command, done, in_terminal, run


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_train_tells_what_it_understood(tmp_path: Path) -> None:
    source = tmp_path / "messages.csv"
    source.write_bytes(MESSAGES.read_bytes())
    ran = done("train", source)
    assert (tmp_path / "messages.candide").exists()
    assert ran.out == ""
    for told in (
        "label",
        "text",
        "400",
        "MB",
        "accuracy",
        "log-loss",
        "Confusion",
        "plain naive Bayes",
        "AUC",
        "informative",
        "invoice",
        "without",
    ):
        assert told in ran.err, told
    assert "━━━" not in ran.err
    assert "\x1b[" not in ran.err
    assert "messages.candide (" in ran.err


def test_train_is_the_model_of_fit(model: Path) -> None:
    rows = rows_of(MESSAGES)
    fitted = candide.TextNB().fit([row["text"] for row in rows], [row["label"] for row in rows])
    inbox = [row["text"] for row in rows_of(INBOX)]
    np.testing.assert_array_equal(candide.load(model).predict_proba(inbox), fitted.predict_proba(inbox))


def test_train_as_json(tmp_path: Path) -> None:
    ran = done("train", MESSAGES, "-o", tmp_path / "m.candide", "--json", "--quiet")
    told = json.loads(ran.out)
    assert ran.err == ""
    assert (told["label"], told["text"], told["rows"], told["kind"]) == ("label", "text", 400, "TextNB")
    assert 0.8 < told["leave_one_out"]["accuracy"] < 0.95
    assert sum(told["classes"].values()) == 400


def test_train_with_settings(few: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.candide"
    done("train", few, "-o", path, "--model", "multinomial", "--set", "alpha=0.5", "--set", "ngrams=[1,2]", "-q")
    loaded = candide.load(path)
    assert (loaded.family, loaded.alpha, loaded.ngrams) == ("multinomial", 0.5, [1, 2])


def test_parameters_of_tables(people: Path) -> None:
    done("train", people, "--label", "pay", "--set", "refine=false", "-q")
    assert candide.load(people.with_suffix(".candide")).refine is False
    assert "--model applies only to texts" in run("train", people, "--label", "pay", "--model", "bernoulli").err


def test_train_a_table(people: Path) -> None:
    ran = done("train", people, "--label", "pay", "--columns", "age=gaussian,job")
    assert "gaussian" in ran.err
    assert done("classify", people.with_suffix(".candide"), '{"age": 60, "job": "cook"}').out.startswith("high\t")


def test_predict_to_every_kind_of_file(model: Path, tmp_path: Path) -> None:
    loaded, texts = candide.load(model), [row["text"] for row in rows_of(INBOX)]
    expected = loaded.predict(texts).tolist()
    for ending in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        done("predict", model, INBOX, "-o", tmp_path / f"out.{ending}", "--proba")
    assert [row["prediction"] for row in rows_of(tmp_path / "out.csv")] == expected
    assert [json.loads(line)["prediction"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == expected
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column("prediction").to_pylist() == expected
    shares = np.column_stack([table.column(f"p({label})") for label in loaded.classes_])
    np.testing.assert_array_equal(shares, loaded.predict_proba(texts))
    assert table.column("text").to_pylist() == texts
    assert not list(tmp_path.glob(".*"))


def test_predictions_replace_columns_of_the_same_name(model: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("text,prediction,note\nwin a prize,checked by ann,keep\n")
    ran = done("predict", model, tmp_path / "rows.csv")
    assert "the predictions replace the columns 'prediction' of the source" in ran.err
    assert "keep" in ran.out
    assert "ann" not in ran.out


def test_predict_to_a_pipe(model: Path) -> None:
    ran = done("predict", model, "-", "--only", "--abstain", "0.9", stdin=INBOX.read_bytes())
    answers = list(csv.DictReader(io.StringIO(ran.out)))
    assert len(answers) == 25
    assert {row["prediction"] == "unsure" for row in answers if float(row["probability"]) < 0.9} == {True}


def test_classify(model: Path) -> None:
    ran = done("classify", model, "claim your free prize now", "where is my parcel")
    assert [line.split("\t")[0] for line in ran.out.splitlines()] == ["spam", "order"]
    told = json.loads(done("classify", model, "claim your free prize now", "--json").out)
    assert told["prediction"] == "spam"
    assert sum(told["probabilities"].values()) == pytest.approx(1)


def test_classify_answers_lines_as_they_come(model: Path) -> None:
    with subprocess.Popen(
        command("classify", model), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for text, label in (("claim your free prize now", "spam"), ("where is my parcel", "order")):
            process.stdin.write(text + "\n")
            process.stdin.flush()
            assert process.stdout.readline().startswith(label)
        process.stdin.close()


def test_evaluate(model: Path, tmp_path: Path) -> None:
    rows = rows_of(MESSAGES)[:50]
    told = json.loads(done("evaluate", model, write_rows(tmp_path / "some.csv", rows), "--json", "-q").out)
    report = candide.load(model).evaluate([row["text"] for row in rows], [row["label"] for row in rows])
    assert told["accuracy"] == report.accuracy
    assert told["log_loss"] == pytest.approx(report.log_loss, rel=1e-12)
    assert run("evaluate", model, tmp_path / "some.csv", "--least-accuracy", "1.0", "-q").code in (0, 1)


def test_explain(model: Path) -> None:
    told = json.loads(done("explain", model, "claim your free prize, see you at the greenhouse", "--json", "-q").out)
    assert told["prediction"] == "spam"
    assert told["bits"] == pytest.approx(sum(term["bits"] for term in told["terms"]), rel=1e-9)
    strongest = [term["value"] for term in told["terms"][:5]]
    assert any(word in " ".join(strongest) for word in ("claim", "free", "prize"))
    assert "claim" in done("explain", model, "claim your prize").out
    against = json.loads(done("explain", model, "claim it", "--of", "order", "--against", "spam", "--json", "-q").out)
    assert (against["of"], against["against"]) == ("order", "spam")
    assert against["bits"] < 0
    assert "is not a class of this model" in run("explain", model, "claim it", "--of", "nothing").err


def test_update_and_forget_are_inverse(with_rows: Path, tmp_path: Path) -> None:
    more = [{"text": f"please hurry with parcel {i}", "label": "order"} for i in range(5)]
    source, before = write_rows(tmp_path / "more.csv", more), candide.load(with_rows)
    done("update", with_rows, source)
    assert candide.load(with_rows).class_count_.sum() == 405
    done("forget", with_rows, source)
    after = candide.load(with_rows)
    assert after.vocabulary_ == before.vocabulary_
    assert (after.token_count_ != before.token_count_).nnz == 0 if hasattr(after.token_count_, "nnz") else True
    np.testing.assert_array_equal(after.class_count_, before.class_count_)


def test_forget_of_a_file_is_as_if_never_seen(tmp_path: Path) -> None:
    rows = rows_of(MESSAGES)[:150]
    some, others = write_rows(tmp_path / "some.csv", rows[:40]), write_rows(tmp_path / "others.csv", rows[40:])
    done("train", some, others, "-o", tmp_path / "all.candide", "--with-rows", "-q")
    done("train", others, "-o", tmp_path / "others.candide", "--with-rows", "-q")
    done("forget", tmp_path / "all.candide", some, "-q")
    inbox = [row["text"] for row in rows_of(INBOX)]
    left, never = (candide.load(tmp_path / f"{name}.candide") for name in ("all", "others"))
    np.testing.assert_allclose(left.predict_proba(inbox), never.predict_proba(inbox), rtol=1e-7)
    np.testing.assert_array_equal(left.class_count_, never.class_count_)


def test_forget_says_if_weights_stay(tmp_path: Path) -> None:
    rows = rows_of(MESSAGES)[:60]
    source, some = write_rows(tmp_path / "all.csv", rows), write_rows(tmp_path / "some.csv", rows[:3])
    done("train", source, "-q")
    assert (
        "weights fitted on them are unchanged, and it was not checked"
        in done("forget", tmp_path / "all.candide", some).err
    )
    done("train", source, "--with-rows", "-q")
    assert "weights fitted on them are unchanged" not in done("forget", tmp_path / "all.candide", some).err


@pytest.mark.slow
def test_merge_of_ten_parts_is_the_whole(tmp_path: Path, with_rows: Path) -> None:
    rows = rows_of(MESSAGES)
    parts = []
    for i in range(10):
        part = write_rows(tmp_path / f"part{i}.csv", rows[i::10])
        parts.append(tmp_path / f"part{i}.candide")
        done("train", part, "-o", parts[-1], "--with-rows", "-q")
    done("merge", *parts, "-o", tmp_path / "merged.candide")
    merged, whole = candide.load(tmp_path / "merged.candide"), candide.load(with_rows)
    np.testing.assert_array_equal(merged.class_count_, whole.class_count_)
    inbox = [row["text"] for row in rows_of(INBOX)]
    np.testing.assert_allclose(merged.predict_proba(inbox), whole.predict_proba(inbox), rtol=1e-6)


def test_show(model: Path, table_model: Path) -> None:
    ran = done("show", model)
    for told in ("TextNB", "order (112)", "accuracy", "informative", "not kept"):
        assert told in ran.out, told
    told = json.loads(done("show", model, "--json", "-q").out)
    assert told["classes"]["order"] == 112
    assert "age" in done("show", table_model, "--parameters").out


def test_types_of_columns(tmp_path: Path) -> None:
    """Declared with --type, shown, and heeded when other files are predicted."""
    source, model = tmp_path / "soil.csv", tmp_path / "soil.candide"
    source.write_text("soil,wet,class\n" + "7,true,1\n9,false,2\n" * 30)
    done("train", source, "--type", "soil=category", "-o", model, "-q")
    told = json.loads(done("show", model, "--json", "-q").out)["schema"]
    assert [(row["name"], row["kind"], row["role"], row["decided"]) for row in told] == [
        ("soil", "category", "feature", "declared"),
        ("wet", "boolean", "feature", "values are true and false"),
        ("class", "str", "label", "the labels in training"),
    ]
    assert "Columns as read" in done("show", model).out
    assert "NaiveBayes()" in done("compare", source, "--type", "soil=category", "--json", "-q").out
    lines = tmp_path / "soil.jsonl"
    lines.write_text('{"soil": 7, "wet": 1}\n{"soil": "9", "wet": 0}\n')
    predicted = [
        json.loads(line)["prediction"] for line in done("predict", model, lines, "--json", "-q").out.splitlines()
    ]
    assert predicted == ["1", "2"]
    for wrong, words in (
        ("soil", "expected NAME=TYPE"),
        ("soil=code", "expected one of"),
        ("sol=str", "did you mean"),
    ):
        assert words in run("train", source, "--type", wrong, "-o", model).err


def test_dump_and_load(model: Path, tmp_path: Path) -> None:
    text = done("dump", model).out
    assert "invoice" in text
    done("load", "-", "-o", tmp_path / "again.candide", stdin=text)
    inbox = [row["text"] for row in rows_of(INBOX)]
    before, after = candide.load(model), candide.load(tmp_path / "again.candide")
    np.testing.assert_array_equal(after.predict_proba(inbox), before.predict_proba(inbox))
    assert done("dump", tmp_path / "again.candide").out == text  # the date of training too
    (tmp_path / "model.json").write_text(text)
    assert done("classify", tmp_path / "model.json", "where is my parcel").out.startswith("order")


def test_convert(with_rows: Path, tmp_path: Path) -> None:
    done("convert", with_rows, tmp_path / "lean.candide", "--without-rows")
    assert not candide.load(tmp_path / "lean.candide").model_.has_training_rows
    assert (tmp_path / "lean.candide").stat().st_size < with_rows.stat().st_size
    done("convert", with_rows, tmp_path / "model.json")
    done("load", tmp_path / "model.json", "-o", tmp_path / "back.candide", "-q")
    assert candide.load(tmp_path / "back.candide").model_.has_training_rows
    done("convert", with_rows, tmp_path / "model.mjs")
    assert (tmp_path / "model.mjs").read_text() == candide.load(with_rows).to_js()


def test_convert_texts_to_sql(tmp_path: Path) -> None:
    model = TextNB("multinomial").fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    model.save(tmp_path / "model.candide")
    done("convert", tmp_path / "model.candide", tmp_path / "score.sql", "--table", "inbox", "--keep", "id")
    with duckdb.connect() as database:
        database.execute("CREATE TABLE inbox AS SELECT 1 AS id, 'WIN lunch' AS text")
        found = database.execute((tmp_path / "score.sql").read_text(encoding="utf-8")).fetchone()
    np.testing.assert_allclose(found[2:], model.predict_proba(["WIN lunch"])[0], atol=1e-12)


def test_compare(few: Path, people: Path) -> None:
    told = json.loads(done("compare", few, "--json", "-q").out)
    assert "TextNB()" in told
    losses = [one["log_loss"] for one in told.values()]
    assert losses == sorted(losses)
    assert "plain naive Bayes" in done("compare", people, "--label", "pay").out


def test_quiet_says_nothing(few: Path, tmp_path: Path) -> None:
    ran = done("train", few, "-o", tmp_path / "m.candide", "--quiet")
    assert (ran.out, ran.err) == ("", "")


def test_a_progress_bar_in_a_terminal(few: Path, tmp_path: Path) -> None:
    code, shown = in_terminal("train", few.name, cwd=tmp_path)
    assert code == 0
    assert "learning" in shown
    assert "━" in shown
    assert "\x1b[" in shown
    assert "wrote few.candide" in shown


def test_no_scikit_learn(few: Path, model: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from candide.cli.app import app\n"
        f"for words in (['train', {str(few)!r}, '-o', {str(tmp_path / 'x.candide')!r}, '-q'],"
        f" ['classify', {str(model)!r}, 'hello']):\n"
        "    app(words, standalone_mode=False)\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'sklearn']"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@every(
    "name",
    ["train", "update", "forget", "merge", "compare", "predict", "classify", "evaluate", "explain", "show", "dump",
     "load", "convert"],
)  # fmt: skip
def test_help_has_examples(name: str) -> None:
    ran = done(name, "--help")
    assert "Examples" in ran.out
    assert f"candide {name}" in ran.out


def test_rows_with_dates_and_booleans(tmp_path: Path) -> None:
    lines = [f"{i % 7},2024-{1 + i % 2:02}-{1 + i % 28:02},{'true' if i % 2 else 'false'},{i % 2}" for i in range(60)]
    source = tmp_path / "days.csv"
    source.write_text("\n".join(["size,day,open,label", *lines]) + "\n")
    done("train", source, "--label", "label", "-o", tmp_path / "days.candide", "-q")
    row = '{"size": 3, "day": "2024-02-05", "open": true}'
    told = json.loads(done("explain", tmp_path / "days.candide", row, "--json", "-q").out)
    assert told["prediction"] == "1"  # labels of CSV are texts
    assert any(term["term"] == "day = 2024-02-05" for term in told["terms"])
    assert done("classify", tmp_path / "days.candide", row).out.startswith("1\t")
    told = run("classify", tmp_path / "days.candide", '{"day": "last week"}').err
    assert "'last week', which is not a date in ISO format" in told


def test_explain_rows_of_a_file(people: Path, tmp_path: Path) -> None:
    model = tmp_path / "people.candide"
    done("train", people, "--label", "pay", "-o", model, "-q")
    rows = [
        json.loads(line) for line in done("explain", model, people, "--row", 17, "--row", 2, "--json").out.splitlines()
    ]
    assert [row["row"] for row in rows] == ["row 2", "row 17"]
    wanted = json.loads(done("predict", model, people, "--json", "-q").out.splitlines()[16])
    assert (rows[1]["prediction"], rows[1]["probability"]) == (
        wanted["prediction"],
        pytest.approx(wanted["probability"]),
    )
    shown = done("explain", model, people, "--row", 17).out
    assert "row 17" in shown
    assert "bits" in shown
    beyond = run("explain", model, people, "--row", 1_000_000)
    assert beyond.code == 1
    assert "--row is 1,000,000" in beyond.err
    assert "--row" in run("explain", model, people).err


def test_predict_several_classes_and_explanations(model: Path) -> None:
    rows = [
        json.loads(line)
        for line in done("predict", model, INBOX, "--top", 3, "--explain", "--proba", "--json").out.splitlines()
    ]
    for row in rows:
        best = sorted((value for name, value in row.items() if name.startswith("p(")), reverse=True)
        assert [row["probability"], row["probability_2"], row["probability_3"]] == best[:3]
        assert row[f"p({row['prediction_2']})"] == row["probability_2"]
        assert row["explanation"].startswith(f"against {row['prediction_2']}: ")


def test_evaluate_prints_classes_and_plain_naive_bayes(model: Path) -> None:
    shown = done("evaluate", model, MESSAGES).out
    assert "plain naive Bayes" in shown
    head = next(line for line in shown.splitlines() if line.startswith("class "))
    assert head.split() == ["class", "precision", "recall", "F1", "AUC", "rows"]
    found = json.loads(done("evaluate", model, MESSAGES, "--json", "-q").out)
    assert set(found["plain"]) == set(found)
    assert found["per_class"]["auc"] == pytest.approx([1.0] * 5, abs=0.01)


@every("width", [80, 120])
def test_tables_fit_the_terminal(width: int, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    model = tmp_path / "people.candide"
    shown = done("train", people, "--label", "pay", "-o", model).err + done("show", model).out
    # Messages are wrapped by the terminal.
    assert max(len(line) for line in shown.splitlines() if not line.startswith("wrote ")) <= width
    for whole in ("categorical", "contribution", "precision"):
        assert whole in shown


@every("name", [*_COMMANDS])
def test_every_command_has_examples_and_common_options(name: str) -> None:
    shown = subprocess.run(
        command(name, "--help"), capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"}
    ).stdout
    for common in ("Examples", "--json", "--quiet", f"candide {name}"):
        assert common in shown, shown
    examples = shown[shown.rindex("Examples") :].splitlines()
    # No example is wrapped.
    assert all(line.split()[:1] in ([], ["Examples"], ["#"]) or "candide" in line for line in examples), examples


@every(
    "model, row, expected",
    [
        (candide.GaussianNB(), {"size": 5.0}, "big"),
        (candide.CategoricalNB(), {"color": "red"}, "big"),
        (candide.BernoulliNB(), {"size": 1, "color": 0}, "big"),
    ],
)
def test_rows_as_json_for_models_of_one_type_of_column(model: object, row: dict[str, object], expected: str) -> None:
    import tempfile

    import pandas as pd

    numbers = pd.DataFrame({"size": [0.0, 0.5, 5.0, 6.0], "color": [1.0, 1.0, 0.0, 0.0]})
    names = pd.DataFrame({"size": ["s", "s", "l", "l"], "color": ["blue", "blue", "red", "red"]})
    frame = names if isinstance(model, candide.CategoricalNB) else numbers
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.candide"
        model.fit(frame, ["small", "small", "big", "big"]).save(path)  # type: ignore[attr-defined]
        assert done("classify", path, json.dumps(row)).out.startswith(expected)
        assert expected in done("explain", path, json.dumps(row)).out
        assert "did you mean 'size'" in run("classify", path, '{"sise": 1}').err
