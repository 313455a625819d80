"""No value becomes public unasked: what is refused, what is shown, and what stands nowhere."""

from __future__ import annotations

import gzip
import json
import logging
import os
import pickle
import stat
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow.errors import InputError, PublicationWarning, SharesTogetherWarning
from hedgerow.estimators import TrainingRules, prepare
from hedgerow.service.client import Client
from hedgerow.tables import NameKey, Reading, read_schema, read_table
from hedgerow.tables.disclosure import category_refusal, class_refusal, key_warning
from hedgerow.tables.frame import PlainTable
from support import tables
from support.commands import command
from support.deployment import Deployment


def write(path, names, columns, separator=","):
    lines = [separator.join(names), *(separator.join(map(str, row)) for row in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Ids, free text, dates of two kinds, decimal commas and a ward; every value of them is like no word of ours."""
    generator = np.random.default_rng(1)
    rows = 200
    columns = {
        "patient": [f"ZQ{k:05d}" for k in range(rows)],
        "note": [f"xyzzy{k} plugh{k * 7}" for k in range(rows)],
        "born": [str(np.datetime64("1931-01-01") + int(d)) for d in generator.integers(0, 25_000, rows)],
        "seen": [f"{1 + k % 28:02d}.{1 + k % 12:02d}.2025" for k in range(rows)],
        "bmi": [f"{v / 10:.1f}".replace(".", ",") for v in generator.integers(150, 450, rows)],
        "ward": generator.choice(["quuxnorth", "quuxsouth"], rows).tolist(),
        "ill": generator.choice(["grault", "garply"], rows).tolist(),
    }
    return write(tmp_path_factory.mktemp("clinic") / "t.csv", list(columns), list(columns.values()), ";")


def test_ids_and_free_text_are_refused_with_the_remedies(clinic, tmp_path):
    schema = tmp_path / "s.toml"
    for arguments in (("inspect", clinic, "--target", "ill", "--out", schema),
                      ("train", clinic, "--target", "ill", "--out", tmp_path / "m")):  # fmt: skip
        done = command(*arguments)
        assert done.code == 3
        assert "'patient' has 200 different texts" in done.words
        assert "--ignore 'note'" in done.words
        assert "--category 'note'" in done.words
        assert "categorical_features=['note']" in done.words
        assert not schema.exists()
        assert not (tmp_path / "m").exists()
        assert "ZQ0" not in done.out + done.err
        assert "xyzzy" not in done.out + done.err


def test_what_becomes_public_is_shown_column_by_column_before_it_does(clinic, tmp_path):
    left_out = ("--ignore", "patient", "--ignore", "note", "--date", "seen")
    shown = (
        "born dates by the day",
        "seen dates by the day",
        "bmi number, 9 bits, 1 decimal",
        "2 categories by name: quuxnorth, quuxsouth",
        "2 classes by name: garply, grault",
    )
    looked = command("inspect", clinic, "--target", "ill", *left_out, "--out", tmp_path / "s.toml")
    trained = command("train", clinic, "--target", "ill", *left_out, "--max-depth", "2", "--out", tmp_path / "m")
    for done in (looked, trained):
        assert done.code == 0, done.err
        assert "decimal comma" in done.words
    assert all(words in trained.words for words in shown)
    for words in ("quuxnorth, quuxsouth", "dates by the day", "9 bits, 1 decimal"):
        assert words in looked.words
    kinds = {column.name: column.kind for column in read_schema(tmp_path / "s.toml").columns}
    assert kinds == {"born": "date", "seen": "date", "bmi": "number", "ward": "category", "ill": "label"}
    model = hedgerow.load(tmp_path / "m")
    assert "ill" not in model.schema_.category_names


def test_one_may_insist(tmp_path):
    names = [f"n{k}" for k in range(80)]
    data = write(tmp_path / "t.csv", ["who", "y"], [names * 2, ["p", "q"] * 80])
    assert command("train", data, "--target", "y", "--out", tmp_path / "a").code == 3
    done = command("train", data, "--target", "y", "--category", "who", "--max-depth", "1", "--out", tmp_path / "b")
    assert done.code == 0, done.err
    frame = pd.DataFrame({"who": names * 2})
    y = ["p", "q"] * 80
    with pytest.raises(InputError, match="80 different texts"):
        hedgerow.DecisionTreeClassifier(max_depth=1).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = hedgerow.DecisionTreeClassifier(max_depth=1, categorical_features=["who"]).fit(frame, y)
        hedgerow.DecisionTreeClassifier(max_depth=1, schema=model.schema_).fit(frame, y)


def test_a_forgotten_regression_is_noticed(tmp_path):
    data = write(tmp_path / "t.csv", ["a", "cost", "many"], [range(150), [k / 4 for k in range(150)], range(150)])
    for target in ("cost", "many"):
        for arguments in (
            ("inspect", data, "--target", target),
            ("train", data, "--target", target, "--out", tmp_path / "m"),
        ):
            done = command(*arguments)
            assert done.code == 3
            assert "--regression" in done.words
    assert class_refusal("y", np.arange(100)) is None
    assert "101 different values" in class_refusal("y", np.arange(101))
    assert class_refusal("y", np.array([0.0, 1.0, 2.0])) is None
    assert "fractions" in class_refusal("y", np.array([0.5, 1.0]))
    assert (
        command(
            "train", data, "--target", "many", "--category", "many", "--max-depth", "0", "--out", tmp_path / "m"
        ).code
        == 0
    )
    with pytest.raises(InputError, match="DecisionTreeRegressor"):
        hedgerow.DecisionTreeClassifier().fit(np.arange(150)[:, None], np.arange(150))


def test_where_the_line_is_drawn():
    few = [f"v{k}" for k in range(64)] * 10
    assert category_refusal("a", np.array(few, object)) is None
    assert "65 different" in category_refusal("a", np.array([*few, "v64", "v64"], object))
    once = ["a", "b"] * 50
    assert category_refusal("a", np.array([*once, "c", "d", "e", "f", "g"], object)) is None
    assert "6 of which occur once" in category_refusal("a", np.array([*once, "c", "d", "e", "f", "g", "h"], object))
    assert "dates: say --date 'a'" in category_refusal(
        "a", np.array([f"{d:02d}/01/2020" for d in range(1, 29)], object)
    )
    assert "--decimal ," in category_refusal("a", np.array([f"1,{d:03d}" for d in range(100)], object))
    assert "key" in key_warning("a", np.arange(100))
    assert key_warning("a", np.arange(29)) == ""
    assert key_warning("a", np.arange(100) // 2) == ""
    assert key_warning("a", np.arange(100) / 2) == ""


def test_numbers_and_dates_with_a_few_words_are_no_categories():
    """In Python as in files: a slip would publish them all."""
    y = ["p", "q"] * 75
    for texts, message in (
        ([str(k % 60) if k % 40 else "unk" for k in range(150)], "Nearly all of them are numbers"),
        ([f"{k % 9},5" for k in range(150)], "decimal comma"),
        ([f"{k % 9 + 1},{k % 8 + 100}" for k in range(150)], "decimal comma.*or with thousands"),
        ([f"2000-01-{1 + k % 28:02d}" if k % 50 else "unknown" for k in range(150)], "Nearly all of them are dates"),
        ([f"{1 + k % 28:02d}.01.2000" for k in range(150)], "pandas.to_datetime"),
    ):
        with pytest.raises(InputError, match=message):
            hedgerow.DecisionTreeClassifier(max_depth=1).fit(pd.DataFrame({"a": texts}), y)
        model = hedgerow.DecisionTreeClassifier(max_depth=1, categorical_features=["a"])
        assert model.fit(pd.DataFrame({"a": texts}), y).schema_.category_names == ["a"]
    mixed = [pd.Timestamp("2020-01-01") + pd.Timedelta(k % 90, "D") if k % 7 else "unknown" for k in range(150)]
    with pytest.raises(InputError, match="different texts"):
        hedgerow.DecisionTreeClassifier(max_depth=1).fit(pd.DataFrame({"a": pd.Series(mixed, dtype=object)}), y)


def test_every_name_is_shown(tmp_path):
    data = write(tmp_path / "t.csv", ["who", "y"], [[f"name{k}" for k in range(40)] * 3, ["p", "q"] * 60])
    said = command("inspect", data, "--target", "y").words
    assert all(f"name{k}" in said for k in range(40))


def test_keys_are_warned_about(tmp_path):
    data = write(
        tmp_path / "t.csv", ["number", "a", "y"], [range(100, 160), [k % 7 for k in range(60)], ["p", "q"] * 30]
    )
    assert "may be a key" in command("inspect", data, "--target", "y").words
    done = command("train", data, "--target", "y", "--max-depth", "1", "--out", tmp_path / "m")
    assert (done.code, "may be a key" in done.words) == (0, True)
    with pytest.warns(PublicationWarning, match="may be a key"):
        hedgerow.DecisionTreeClassifier(max_depth=1).fit(pd.read_csv(data)[["number", "a"]], ["p", "q"] * 30)


@pytest.mark.parametrize(
    ("file", "target", "options"),
    [
        ("adult/adult.data", "c15", {"header": False}),
        ("bank_marketing/bank-full.csv", "y", {}),
        ("bank_marketing/bank-additional-full.csv", "y", {}),
        ("mushroom/agaricus-lepiota.data", "c1", {"header": False}),
        ("nursery/nursery.data", "c9", {"header": False}),
        ("car/car.data", "c7", {"header": False}),
        ("tictactoe/tic-tac-toe.data", "c10", {"header": False}),
    ],
)
def test_real_tables_pass_as_they_are(file, target, options):
    path = tables.need(*file.split("/"))
    table = read_table(path, Reading(**options))
    assert class_refusal(target, table.column(target)) is None
    texts = [name for name in table.names if table.is_text(name) and name != target]
    assert texts
    for name in texts:
        assert category_refusal(name, table.attribute(name, category=True)) is None, name


SECRETS = ["ZQ0", "xyzzy", "plugh", "1931-", "quux", "grault", "garply"]


def test_planted_values_stand_nowhere_without_having_been_published(clinic, tmp_path):
    """Schemas, manifests and all that commands say, of every format, when they refuse and when they do not."""
    raw = clinic.read_text()
    forms = {"t.csv": raw.encode(), "t.csv.gz": gzip.compress(raw.encode()), "t.txt": raw.replace(";", "|").encode()}
    for name, content in forms.items():
        (tmp_path / name).write_bytes(content)
    frame = pd.read_csv(clinic, sep=";", decimal=",")
    frame.to_parquet(tmp_path / "t.parquet")
    frame.astype(str).to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    key = tmp_path / "names.key"
    assert command("name-key", key).code == 0
    keep_out = ("--ignore", "patient", "--ignore", "note", "--date", "seen")
    said, refused = [], []
    for form in (*forms, "t.parquet", "t.tsv"):
        data, schema, out = tmp_path / form, tmp_path / f"{form}.toml", tmp_path / f"{form}.m"
        refused.append(command("inspect", data, "--target", "ill", "--out", schema))
        refused.append(command("train", data, "--target", "ill", "--out", out))
        refused.append(command("train", data, "--target", "patient", *keep_out[2:], "--out", out))
        refused.append(command("train", data, "--target", "note", "--regression", *keep_out[:2], "--out", out))
        refused.append(command("train", data, "--target", "bmi", "--weight", "ward", "--out", out))
        said.append(command("inspect", data, "--target", "ill", *keep_out, "--name-key", key, "--out", schema))
        assert said[-1].code == 0, said[-1].err
        (tmp_path / f"{form}.names.toml").unlink()
        hashed = ("--schema", schema, "--name-key", key, "--date", "seen")
        said.append(command("train", data, "--target", "ill", *hashed, "--max-depth", "2", "--out", out))
        assert said[-1].code == 0, said[-1].err
        said.append(command("info", out))
        said.append(command("predict", out, data, "--date", "seen", "--json"))
        said.append(command("evaluate", out, data, "--date", "seen", "--json"))
        text = schema.read_text() + "".join(path.read_text() for path in out.rglob("manifest.json"))
        assert not [secret for secret in SECRETS if secret in text], form
    for done in said:
        assert not [secret for secret in SECRETS if secret in done.out + done.err], (done.out, done.err)
    for done in refused:
        # A ward and the classes may be shown to their owner; nothing else may.
        assert done.code == 3
        assert not [secret for secret in SECRETS[:4] if secret in done.out + done.err], (done.out, done.err)


WORD = st.text("QXZJ", min_size=5, max_size=9)


@settings(max_examples=40)
@given(st.lists(WORD, min_size=1, max_size=90, unique=True), st.integers(1, 6), st.booleans())
def test_a_column_is_published_by_the_rule_or_stands_nowhere(words, times, shuffled):
    texts = (words * times)[:: -1 if shuffled else 1]
    published = len(words) <= 64 and times > 1
    values = [np.array(texts, object), np.arange(len(texts)) % 5]
    labels = np.array(["p", "q"] * len(texts))[: len(texts)]
    if len(texts) < 2:
        return
    try:
        facts = prepare(PlainTable(["word", "a"], values, categorical=["word"]), "y", labels, TrainingRules(1)).facts
        said, refused = json.dumps(facts.entry()), False
    except InputError as error:
        said, refused = str(error), True
    assert refused is not published
    assert published or not any(word in said for word in words)


def test_names_behind_keyed_hashes(clinic, tmp_path):
    """The same tree as with names; the schema, the manifest and every message of it have hashes."""
    key, other = tmp_path / "k", tmp_path / "o"
    assert command("name-key", key).code == command("name-key", other).code == 0
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    options = ("--target", "ill", "--ignore", "patient", "--ignore", "note", "--ignore", "seen")
    plain, hidden = tmp_path / "plain.toml", tmp_path / "hidden.toml"
    command("inspect", clinic, *options, "--out", plain)
    command("inspect", clinic, *options, "--name-key", key, "--out", hidden)
    book = tmp_path / "hidden.names.toml"
    assert stat.S_IMODE(os.stat(book).st_mode) == 0o600
    assert "quux" not in hidden.read_text()
    assert "quuxnorth" in book.read_text()
    column = next(column for column in read_schema(hidden).columns if column.name == "ward")
    assert column.hashed == NameKey.read(key).fingerprint
    train = ("train", clinic, "--target", "ill", "--max-depth", "3")
    assert command(*train, "--schema", plain, "--out", tmp_path / "a").code == 0
    assert command(*train, "--schema", hidden, "--name-key", key, "--out", tmp_path / "b").code == 0
    opened = command("reveal", tmp_path / "a").out
    assert "garply" in opened
    assert "garply" not in command("reveal", tmp_path / "b").out
    # Classes stand in the order of their hashes, which only decides ties.
    named = command("reveal", tmp_path / "b", "--names", book).out
    assert "garply" in named
    answers = [command("predict", tmp_path / m, clinic, *names).out
               for m, names in (("a", ()), ("b", ("--names", book)))]  # fmt: skip
    agree = np.mean([x == y for x, y in zip(*(a.splitlines() for a in answers), strict=True)])
    assert agree > 0.9
    scored = command("evaluate", tmp_path / "b", clinic, "--names", book, "--json")
    assert json.loads(scored.out)["classes"] == sorted(
        ["garply", "grault"], key=lambda c: NameKey.read(key).hashed("ill", c)
    )
    keyed = command("predict", tmp_path / "b", clinic, "--name-key", key).out.splitlines()
    secret = NameKey.read(key)
    plain_names = answers[1].splitlines()
    assert keyed[1:] == [secret.hashed("ill", name) for name in plain_names[1:]]
    partial = tmp_path / "partial.toml"
    partial.write_text("\n".join(line for line in book.read_text().splitlines() if "quuxsouth" not in line))
    for wrong in ((), ("--names", partial)):
        refused = command("predict", tmp_path / "b", clinic, *wrong)
        assert (refused.code, "--name-key" in refused.words) == (3, True), refused.out
    refused = command("evaluate", tmp_path / "b", clinic)
    assert (refused.code, "--names" in refused.words) == (3, True)
    for wrong, message in (
        (("--schema", hidden, "--out", tmp_path / "c"), "give the key"),
        (("--schema", hidden, "--name-key", other, "--out", tmp_path / "c"), "hashed with another key"),
        (("--name-key", key, "--out", tmp_path / "c"), "--name-key needs --schema"),
        (("--schema", hidden, "--name-key", tmp_path / "none", "--out", tmp_path / "c"), "no key file"),
    ):
        done = command(*train, *wrong)
        assert (done.code, message in done.words) == (3, True), done.err


def test_merging_compares_hashes(clinic, tmp_path):
    key, other = tmp_path / "k", tmp_path / "o"
    command("name-key", key)
    command("name-key", other)
    options = ("--target", "ill", "--ignore", "patient", "--ignore", "note", "--ignore", "seen")
    lines = clinic.read_text().replace("quuxsouth", "quuxwest").splitlines()
    (tmp_path / "two.csv").write_text("\n".join(lines) + "\n")
    command("inspect", clinic, *options, "--name-key", key, "--out", tmp_path / "1.toml")
    done = command("inspect", tmp_path / "two.csv", *options, "--name-key", key, "--merge", tmp_path / "1.toml",
                   "--out", tmp_path / "2.toml")  # fmt: skip
    assert done.code == 0, done.err
    merged = {column.name: column for column in read_schema(tmp_path / "2.toml").columns}
    secret = NameKey.read(key)
    assert set(merged["ward"].categories) == {secret.hashed("ward", f"quux{w}") for w in ("north", "south", "west")}
    assert len(merged["ill"].classes) == 2
    refused = command(
        "inspect", clinic, *options, "--name-key", other, "--merge", tmp_path / "2.toml", "--out", tmp_path / "3"
    )
    assert (refused.code, "agree on one key" in refused.words) == (3, True)


def test_a_consortium_is_not_forgotten():
    model = hedgerow.DecisionTreeClassifier(consortium="consortium.toml")
    with pytest.raises(InputError, match="fit_dataset"):
        model.fit([[1], [2]], [0, 1])


@pytest.fixture(scope="module")
def small():
    x = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [0.5, 0.25, 1, 1, 0, 2]})
    return x, hedgerow.DecisionTreeClassifier(max_depth=2).fit(x, [0, 0, 1, 1, 0, 1])


def test_pickles_warn_and_dump_is_private(small, tmp_path):
    x, model = small
    with pytest.warns(SharesTogetherWarning, match=r"save\(\)"):
        content = pickle.dumps(model)
    assert (pickle.loads(content).predict(x) == model.predict(x)).all()
    with pytest.warns(SharesTogetherWarning):
        joblib.dump(model, tmp_path / "m.joblib")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.dumps(hedgerow.DecisionTreeClassifier())
        hedgerow.dump(model, tmp_path / "m")
    assert stat.S_IMODE(os.stat(tmp_path / "m").st_mode) == 0o600
    again = hedgerow.load(tmp_path / "m")
    assert (again.predict(x) == model.predict(x)).all()
    assert again.classes_.dtype == model.classes_.dtype
    model.save(tmp_path / "directory")
    assert isinstance(hedgerow.load(tmp_path / "directory"), hedgerow.DecisionTreeClassifier)
    (tmp_path / "no").write_text("nonsense")
    for wrong in ("no", "none", "m.joblib"):
        with pytest.raises(InputError):
            hedgerow.load(tmp_path / wrong)


def test_errors_of_the_estimators_show_no_value():
    """scikit-learn's own words would, where text stands in place of a number."""
    x, y = pd.DataFrame({"a": [1, 2, 3, 4], "b": [5, 6, 7, 8]}), [0, 1, 0, 1]
    model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y)
    planted = pd.DataFrame({"a": [1, 2, "ZQ00017", 4], "b": [5, 6, 7, 8]})
    for call in (
        lambda: model.predict(planted),
        lambda: model.predict(planted.to_numpy()),
        lambda: hedgerow.DecisionTreeClassifier(max_depth=1).fit(planted, y),
        lambda: hedgerow.DecisionTreeClassifier(max_depth=1).fit(planted.to_numpy(), y),
        lambda: hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y, sample_weight=["1", "ZQ00017", "1", "1"]),
        lambda: hedgerow.DecisionTreeRegressor(max_depth=1).fit(x, ["1", "ZQ00017", "1", "1"]),
        lambda: hedgerow.DecisionTreeRegressor(max_depth=1).fit(x, pd.Series(["1", "ZQ00017", "1", "1"])),
        lambda: hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y).confusion(x, ["ZQ00017", 0, 1, 1]),
    ):
        with pytest.raises((InputError, ValueError)) as caught:
            call()
        assert "ZQ0" not in str(caught.value), caught.value


def test_the_public_names():
    assert {"DecisionTreeClassifier", "dump", "load", "RoundingWarning", "Schema"} <= set(dir(hedgerow))
    for name in dir(hedgerow):
        assert getattr(hedgerow, name) is not None
    assert not [name for name in dir(hedgerow) if name.startswith("_") and name != "__version__"]


def test_the_estimators_tell_what_becomes_public(caplog):
    frame = pd.DataFrame({"ward": ["north", "south"] * 10, "age": np.arange(20) // 2})
    with (
        caplog.at_level(logging.INFO, "hedgerow"),
        pytest.warns(PublicationWarning, match="'ward': 2 categories by name"),
    ):
        hedgerow.DecisionTreeClassifier(max_depth=1).fit(frame, ["a", "b"] * 10)
    told = [record.message for record in caplog.records]
    assert any("'age': number, 4 bits" in line for line in told)
    assert any("2 classes by name: a, b" in line for line in told)
    polars = pl.DataFrame({"ward": ["north", "south"] * 10, "day": pd.date_range("2025-01-01", periods=20)})
    with pytest.warns(PublicationWarning):
        model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(polars, ["a", "b"] * 10)
    assert [column.kind for column in model.schema_.attributes] == ["category", "date"]
    assert model.predict(polars).tolist() == ["a", "b"] * 10


def test_parties_hold_no_name_that_was_hidden_and_logs_no_value(clinic, tmp_path):
    """Through the service: shared with hashes, refused where a value does not fit; all files of parties searched."""
    deployment = Deployment(tmp_path / "c", patience=30)
    deployment.start()
    try:
        key, schema = tmp_path / "k", tmp_path / "s.toml"
        command("name-key", key)
        command("inspect", clinic, "--target", "ill", "--ignore", "patient", "--ignore", "note", "--ignore", "seen",
                "--name-key", key, "--out", schema)  # fmt: skip
        here = (
            "--consortium",
            tmp_path / "c" / "members" / "clinic" / "consortium.toml",
            "--schema",
            schema,
            "--quiet",
        )
        bad = tmp_path / "bad.csv"
        bad.write_text(clinic.read_text().replace("quuxnorth", "quuxeast", 3))
        refused = command("share", bad, *here, "--name-key", key, "--name", "bad")
        assert (refused.code, "none of the listed categories" in refused.words) == (3, True), refused.err
        shared = command("share", clinic, *here, "--name-key", key, "--name", "visits")
        assert shared.code == 0, shared.err
        assert "2 categories as keyed hashes" in shared.words
        alice = Client(tmp_path / "c" / "members" / "alice" / "consortium.toml")
        job = alice.train(["visits"], "ill", 2)
        alice.wait(job, seconds=60)
        assert command("share", clinic, *here, "--name", "again").code == 3
    finally:
        deployment.stop()
    for done in (refused, shared):
        assert not [secret for secret in SECRETS if secret in done.out + done.err]
    for party in range(3):
        for path in (tmp_path / "c" / f"party{party}").rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert not [secret for secret in SECRETS if secret.encode() in content], path
