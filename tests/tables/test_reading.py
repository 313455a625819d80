"""Files and frames of every make: read rightly, or refused with the right words."""

from __future__ import annotations

import datetime
import gzip
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import NotFittedError

import hedgerow
from hedgerow.errors import InputError, MissingValueWarning, RoundingWarning
from hedgerow.tables import (
    Column,
    Reading,
    Schema,
    Table,
    encode,
    encode_doubled,
    merge_schemas,
    propose_column,
    read_table,
)
from hedgerow.tables.fixed import threshold_text
from hedgerow.tables.moment import parse_dates
from support.commands import command
from support.deployment import Deployment

DAYS = pd.date_range("2024-02-27", periods=40)


def table_of(tmp_path, content, **options):
    path = tmp_path / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(path, Reading(**options))


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    lines = [["a", "b c", "d"], ["1", "x y", "0.5"], ["2", "z", "1"]]
    table = table_of(tmp_path, "\n".join(separator.join(line) for line in lines))
    assert table.names == ["a", "b c", "d"]
    assert table.column("d").tolist() == [0.5, 1.0]
    headless = table_of(tmp_path, "\n".join(separator.join(line) for line in lines[1:]), header=False)
    assert headless.names == ["c1", "c2", "c3"]


def test_a_separator_can_be_said(tmp_path):
    assert table_of(tmp_path, "a:b\n1:2\n", separator=":").names == ["a", "b"]
    assert table_of(tmp_path, "27,6;3,5\n1,5;2,25\n", header=False).column("c1").tolist() == [27.6, 1.5]
    (tmp_path / "t.tsv").write_text("a\tb\n1\tx,y,z\n")
    done = command("inspect", tmp_path / "t.tsv", "--separator", "tab", "--category", "b")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["27,6", "3,25", "-1,5", "4"], [27.6, 3.25, -1.5, 4]),
        (["1.234,5", "2,5", "1.000.000,25", "7"], [1234.5, 2.5, 1000000.25, 7]),
        (["1,234,567", "89", "2,500", "3"], [1234567, 89, 2500, 3]),
        (["1,234.50", "2", "3", "4"], [1234.5, 2, 3, 4]),
        (["1 234", "12 345 678", "3", "4"], [1234, 12345678, 3, 4]),
        (["1'234.5", "12", "3", "4"], [1234.5, 12, 3, 4]),
        (["1.234.567", "1.000", "3", "4"], [1234567, 1000, 3, 4]),
    ],
)
def test_numbers_of_other_countries_are_numbers(tmp_path, texts, values):
    table = table_of(tmp_path, "v;y\n" + "".join(f'"{text}";p\n' for text in texts))
    assert table.column("v").tolist() == values
    assert "numbers are taken to be written with" in table.notes[0]


def test_a_comma_that_may_be_either_is_asked_about(tmp_path):
    content = "v;y\n" + "".join(f"{k},{100 + k};p\n" for k in range(1, 90))
    (tmp_path / "t.csv").write_text(content)
    done = command("inspect", tmp_path / "t.csv", "--target", "y", "--category", "y")
    assert (done.code, "--decimal ," in done.words) == (3, True), done.err
    assert table_of(tmp_path, content, decimal=",").column("v")[0] == 1.101
    assert table_of(tmp_path, content, thousands=",").column("v")[0] == 1101
    for wrong in ({"decimal": ";"}, {"thousands": "ab"}, {"decimal": ",", "thousands": ","}, {"separator": "::"}):
        with pytest.raises(InputError):
            Reading(**wrong)


def test_contradicting_ways_of_writing_are_refused(tmp_path):
    with pytest.raises(InputError, match="say which it is"):
        table_of(tmp_path, "a;b\n1,5;1,234,567\n2,5;3\n")
    done = command("inspect", tmp_path / "t.csv", "--ignore", "a")
    assert done.code == 0, done.err


def test_compressed_files_pipes_and_standard_input(tmp_path):
    content = b"a,y\n" + b"".join(b"%d,%s\n" % (k % 7, b"pq"[k % 2 : k % 2 + 1]) for k in range(40))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content))
    assert len(read_table(tmp_path / "t.csv.gz")) == 40
    assert "2 classes" in command("inspect", "-", "--target", "y", stdin=content).words
    assert "2 classes" in command("inspect", "-", "--target", "y", stdin=gzip.compress(content)).words
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen(["sh", "-c", f"gzip -dc {tmp_path}/t.csv.gz > {tmp_path}/pipe"])
    assert len(read_table(tmp_path / "pipe")) == 40
    assert writer.wait(10) == 0
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(content)[:-20])
    with pytest.raises(InputError, match="gzip, and damaged"):
        read_table(tmp_path / "torn.csv.gz")


def test_other_encodings_and_excel_get_a_clear_word(tmp_path):
    pd.DataFrame({"a": [1, 2]}).to_excel(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="Excel file or a zip archive: save the sheet as CSV"):
        read_table(tmp_path / "t.xlsx")
    for content, message in (
        ("name,y\nJosé,1\n".encode("latin-1"), r"line 2: the text is not UTF-8 \(perhaps Latin-1"),
        ("a,y\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"BZh91AY", "bzip2"),
    ):
        with pytest.raises(InputError, match=message):
            table_of(tmp_path, content)


def test_parquet_of_pandas_has_no_index_and_keeps_its_types(tmp_path):
    frame = pd.DataFrame(
        {
            "n": pd.array([1, None, 3], "Int64"),
            "day": pd.to_datetime(["2024-01-01", None, "2024-03-05"]),
            "zoned": pd.to_datetime(["2024-01-01 01:00", "2024-01-02 01:00", "2024-01-03 01:00"]).tz_localize(
                "Europe/Berlin"
            ),
            "long": pd.to_timedelta([1, 90, 3600], "s"),
            "kind": pd.Categorical(["x", "y", "x"]),
            "text": pd.array(["u", None, "v"], "string"),
        },
        index=[10, 20, 30],
    )
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == list(frame.columns)
    assert table.columns[0].tolist() == [1, None, 3]
    assert table.is_date("day")
    assert str(table.columns[2][0]) == "2024-01-01T00:00:00.000000"
    assert table.columns[3].tolist() == [1, 90, 3600]
    assert table.columns[4].tolist() == ["x", "y", "x"]
    assert table.columns[5].tolist() == ["u", None, "v"]
    assert set(table.missing) == {"n", "day", "text"}
    nested = pa.table({"a": [[1], [2]], "b": [b"x", b"y"]})
    for name, message in (("a", "lists or records"), ("b", "bytes")):
        pa.parquet.write_table(nested.select([name]), tmp_path / "n.parquet")
        with pytest.raises(InputError, match=message):
            read_table(tmp_path / "n.parquet")


# Dates


@pytest.mark.parametrize(
    ("texts", "pattern", "expected"),
    [
        (["2024-02-29", "1969-12-31"], "", ["2024-02-29", "1969-12-31"]),
        (["2024-02-29 13:05:06", "2024-02-29T00:00:01"], "", ["2024-02-29T13:05:06", "2024-02-29T00:00:01"]),
        (["29.02.2024", "01.12.1999"], "", ["2024-02-29", "1999-12-01"]),
        (["2024/02/29", None], "", ["2024-02-29", "NaT"]),
        (["02/29/2024", "01/02/2024"], "", ["2024-02-29", "2024-01-02"]),
        (["29/02/2024", "01/02/2024"], "", ["2024-02-29", "2024-02-01"]),
        (["29.2.24", "1.12.99"], "%d.%m.%y", ["2024-02-29", "1999-12-01"]),
    ],
)
def test_dates_are_read(texts, pattern, expected):
    assert (parse_dates("d", texts, pattern).astype("datetime64[s]").astype(str)
            == np.array(expected, "datetime64[s]").astype(str)).all()  # fmt: skip


def test_dates_that_may_be_either_or_are_none_are_asked_about():
    with pytest.raises(InputError, match=r"say which comes first.*%d/%m/%Y.*%m/%d/%Y"):
        parse_dates("d", ["01/02/2024", "03/04/2024"])
    with pytest.raises(InputError, match="written in no known way"):
        parse_dates("d", ["spring", "2024-01-01"])
    with pytest.raises(InputError, match="not every value"):
        parse_dates("d", ["2024-01-01", "x"], "%Y-%m-%d")
    for texts in (["19.04.23", "20.04.23"], ["19.04.2023", "20.04.23"]):
        with pytest.raises(InputError, match=r"%d\.%m\.%y"):
            parse_dates("d", texts)
    with pytest.raises(InputError, match="not every value"):
        parse_dates("d", ["19.04.23"], "%d.%m.%Y")


@pytest.mark.parametrize(
    ("unit", "step"), [("day", "1D"), ("second", "7s"), ("millisecond", "3ms"), ("microsecond", "9us")]
)
def test_dates_take_the_coarsest_unit_and_are_judged_exactly(unit, step):
    values = pd.date_range("1969-12-30 00:00:00", periods=50, freq=step).to_numpy().astype("datetime64[us]")
    proposal = propose_column("d", values)
    column = proposal.column
    assert (column.kind, column.unit, proposal.largest_error) == ("date", unit, 0.0)
    encoded = encode(column, values)[0]
    assert (np.diff(encoded.astype(np.int64)) > 0).all()
    doubled = encode_doubled(column, values)
    for k in range(49):
        threshold = int(encoded[k] + encoded[k + 1])
        shown = np.datetime64(threshold_text(column, threshold).replace(" ", "T"), "us")
        assert ((doubled < threshold) == (values < shown)).all()
    beyond = np.array(["1700-01-01", "2200-01-01", "NaT"], "datetime64[us]")
    low, high, gap = (int(v) for v in encode_doubled(column, beyond))
    assert low <= int(doubled.min())
    assert high >= int(doubled.max())
    assert gap == 0


def test_times_of_a_day_belong_to_their_day():
    column = Column("d", "date", bits=15, unit="day")
    noon = np.array(["2024-05-04T12:00", "2024-05-05T00:00"], "datetime64[us]")
    kept, error = encode(column, noon)
    assert (kept[1] - kept[0], error) == (1, 43200.0)
    assert threshold_text(column, int(kept.sum())) == "2024-05-05"


def test_schemas_with_dates_merge_and_survive(tmp_path):
    day, second = (
        Column("d", "date", bits=15, unit="day"),
        Column("d", "date", bits=33, unit="second", signed=True, missing=True),
    )
    (merged,) = merge_schemas(Schema((day,)), Schema((second,))).columns
    assert (merged.unit, merged.signed, merged.missing) == ("second", True, True)
    for values in (["1970-01-01", "2059-09-17"], ["1900-01-01T00:00:01", "2024-01-01T00:00:00"]):
        assert encode(merged, np.array(values, "datetime64[us]"))[1] == 0
    hedgerow.write_schema(Schema((merged,)), tmp_path / "s.toml")
    assert hedgerow.read_schema(tmp_path / "s.toml") == Schema((merged,))


def frames():
    """The same dates as every library has them."""
    texts = DAYS.strftime("%Y-%m-%d").tolist()
    return {
        "pandas": pd.DataFrame({"d": DAYS}),
        "zoned": pd.DataFrame({"d": DAYS.tz_localize("UTC")}),
        "text": pd.DataFrame({"d": texts}),
        "objects": pd.DataFrame({"d": pd.Series([day.date() for day in DAYS], dtype=object)}),
        "period": pd.DataFrame({"d": DAYS.to_period("D")}),
        "polars": pl.DataFrame({"d": [datetime.date.fromisoformat(text) for text in texts]}),
        "polars text": pl.DataFrame({"d": texts}),
        "pyarrow": pa.table({"d": pa.array(texts).cast(pa.timestamp("s"))}),
        "numpy": DAYS.to_numpy()[:, None],
    }


def test_dates_of_every_library_give_one_tree(tmp_path):
    y = (DAYS > "2024-03-10").astype(int)
    shown = set()
    models = {}
    for name, frame in frames().items():
        models[name] = hedgerow.DecisionTreeClassifier(max_depth=2).fit(frame, y)
        shown.add(models[name].reveal().export_text().replace("x0", "d"))
        assert (models[name].predict(frame) == y).all(), name
        assert (models[name].reveal().predict(frame if name == "pandas" else DAYS.to_numpy()[:, None]) == y).all()
    assert len(shown) == 1
    assert "d <  2024-03-11" in shown.pop()
    for name, frame in frames().items():
        if name != "numpy":
            assert (models["pandas"].predict(frame) == y).all(), name
    for kind in ("csv", "parquet"):
        data = tmp_path / f"t.{kind}"
        frame = pd.DataFrame({"d": DAYS, "y": y})
        frame.to_csv(data, index=False) if kind == "csv" else frame.to_parquet(data)
        made = command("train", data, "--target", "y", "--max-depth", "2", "--out", tmp_path / kind)
        assert made.code == 0, made.err
        assert "d <  2024-03-11" in command("reveal", tmp_path / kind).out
        assert '"below": "2024-03-11"' in command("reveal", tmp_path / kind, "--format", "json").out
        assert command("reveal", tmp_path / kind, "--format", "png", "--out", tmp_path / f"{kind}.png").code == 0


def test_durations_and_nullable_types():
    frame = pd.DataFrame(
        {
            "wait": pd.to_timedelta(np.arange(20) * 1.5, "min"),
            "seen": pd.array([True, False, None, True] * 5, "boolean"),
            "n": pd.array([1, 2, None, 4] * 5, "Int64"),
            "x": pd.array([0.5, None, 1.5, 2] * 5, "Float64"),
        }
    )
    y = (np.arange(20) > 11).astype(int)
    model = hedgerow.DecisionTreeClassifier(max_depth=2).fit(frame, y)
    assert (model.predict(frame) == y).all()
    assert "wait <  1035" in model.reveal().export_text()


def odd_columns():
    """Columns of every kind that an estimator takes."""
    k = np.arange(60)
    moments = pd.Series(pd.date_range("2020-01-01", periods=60, freq="97h"))
    return {
        "month": moments.dt.to_period("M"),
        "quarter": moments.dt.to_period("Q"),
        "week": moments.dt.to_period("W"),
        "wait": pd.to_timedelta(k * 90, "s"),
        "seen": pd.array([None if j % 7 == 0 else bool(j % 2) for j in k], "boolean"),
        "clock": pd.Series([datetime.time(j % 24, j % 60) for j in k], dtype=object),
        "price": pd.Series([Decimal(int(j)) / 4 for j in k], dtype=object),
        "text": pd.Series([str(j / 2) for j in k], dtype=object),
        "count": pd.array([None if j % 9 == 0 else int(j) for j in k], "Int64"),
        "share": pd.array(k / 8, "Float64"),
        "flag": k % 3 == 0,
        "small": k.astype("int8"),
        "kind": pd.Categorical(k % 4),
        "zoned": moments.dt.tz_localize("Asia/Tokyo"),
    }


@pytest.mark.parametrize("name", list(odd_columns()))
@pytest.mark.filterwarnings("ignore::hedgerow.PublicationWarning")
def test_opened_trees_judge_every_kind_of_column_as_secret_ones_do(name):
    frame = pd.DataFrame({name: odd_columns()[name]})
    y = (np.arange(60) * 7 % 60 > 25).astype(int)
    model = hedgerow.DecisionTreeClassifier(max_depth=5).fit(frame, y)
    tree = model.reveal(counts=True)
    assert tree.get_n_leaves() > 1
    assert (tree.predict(frame) == model.predict(frame)).all()
    assert (tree.predict(frame.to_numpy()) == model.predict(frame)).all()
    assert np.abs(tree.predict_proba(frame) - model.predict_proba(frame)).max() < 2e-5


def test_columns_go_by_name_and_never_by_place():
    frame = pd.DataFrame({"a": np.arange(40) % 7, "b": pd.date_range("2024-01-01", periods=40), "c": ["u", "v"] * 20})
    y = [0, 1, 1, 0] * 10
    model = hedgerow.DecisionTreeClassifier(max_depth=3, categorical_features=["c"]).fit(frame, y)
    tree = model.reveal()
    assert (tree.predict(frame[["c", "b", "a"]]) == model.predict(frame)).all()
    for wrong in (frame.rename(columns={"a": "q"}), frame[["a", "b"]]):
        with pytest.raises(InputError, match="no column"):
            tree.predict(wrong)
    for wrong in (frame.rename(columns={"a": "q"}), frame[["a", "b"]], frame[["c", "b", "a"]], frame.assign(e=1)):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)
    for dates in ([5, 10**9], [1.5, 2.5]):
        with pytest.raises(InputError, match="holds numbers where dates are declared"):
            model.predict(frame.head(2).assign(b=dates))
    twice = frame[["a", "a"]]
    with pytest.raises(InputError, match="'a' occurs twice"):
        hedgerow.DecisionTreeClassifier().fit(twice, y)


def test_nullable_classes_and_loaded_parameters(tmp_path):
    frame = pd.DataFrame({"c": ["u", "v"] * 20})
    model = hedgerow.DecisionTreeClassifier(max_depth=1, categorical_features=["c"])
    model.fit(frame, pd.Series([0, 1] * 20, dtype="Int64"))
    assert model.classes_.dtype.kind == "i"
    hedgerow.dump(model, tmp_path / "m")
    assert hedgerow.load(tmp_path / "m").get_params()["categorical_features"] == ["c"]
    truths = hedgerow.DecisionTreeClassifier(max_depth=1, categorical_features=["c"])
    assert truths.fit(frame, pd.Series([True, False] * 20, dtype="boolean")).classes_.tolist() == [False, True]


@pytest.mark.filterwarnings("ignore::hedgerow.RoundingWarning")
def test_fractional_weights_and_balanced_classes_share_the_bits():
    x, y = np.arange(150)[:, None] % 9, (np.arange(150) % 9 > 6).astype(int)
    weights = np.linspace(0.1, 2.5, 150)
    model = hedgerow.DecisionTreeClassifier(max_depth=2, class_weight="balanced").fit(x, y, sample_weight=weights)
    assert (model.predict(x) == y).all()


def test_sparse_matrices_are_refused_clearly():
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
        with pytest.raises(InputError, match=r"[Ss]parse data was passed"):
            hedgerow.DecisionTreeClassifier().fit(kind(np.eye(4)), [0, 1, 0, 1])


# What rounding does


def test_rounding_is_reported_wherever_a_table_comes_in(tmp_path):
    schema = Schema((Column("a", decimals=0, bits=4), Column("y", "label", classes=("p", "q"))))
    hedgerow.write_schema(schema, tmp_path / "s.toml")
    (tmp_path / "t.csv").write_text("a,y\n" + "1.2,p\n0.8,q\n" * 20)
    done = command(
        "train", tmp_path / "t.csv", "--target", "y", "--schema", tmp_path / "s.toml", "--out", tmp_path / "m"
    )
    assert "'a' was rounded; the largest error is 0.2" in done.words
    assert "'a' became constant by rounding" in done.words
    with pytest.warns(RoundingWarning, match="became constant"):
        hedgerow.DecisionTreeClassifier(schema=schema).fit(pd.DataFrame({"a": [1.2, 0.8]}), ["p", "q"])
    (tmp_path / "big.csv").write_text("a,y\n" + "".join(f"{2**64 + k * 2},{'pq'[k % 2]}\n" for k in range(40)))
    assert "cannot tell neighbours apart" in command("inspect", tmp_path / "big.csv", "--target", "y").words
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fine = np.random.default_rng(1).normal(size=(30, 2))
        model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(fine, [0, 1] * 15)
    assert 0 < model.rounding_["x0"] < 1e-12


def test_fractional_weights_by_a_stated_rounding():
    x, y = np.arange(12)[:, None] % 5, [0, 1, 1] * 4
    weights = np.array([0.1, 0.25, 1.0] * 4)
    with pytest.warns(RoundingWarning, match="weights were rounded"):
        model = hedgerow.DecisionTreeClassifier(max_depth=3).fit(x, y, sample_weight=weights)
    assert 0 < model.rounding_["sample_weight"] < 1e-4
    kept = [max(1, round(w * 65535)) for w in weights]
    whole = hedgerow.DecisionTreeClassifier(max_depth=3).fit(x, y, sample_weight=kept)
    assert model.reveal(counts=True).to_dict() == whole.reveal(counts=True).to_dict()


@pytest.mark.filterwarnings("ignore::hedgerow.RoundingWarning")
def test_ada_boost_works():
    generator = np.random.default_rng(2)
    x = generator.integers(0, 30, (80, 3))
    y = ((x[:, 0] > 12) ^ (x[:, 1] > 20)).astype(int)
    stump = hedgerow.DecisionTreeClassifier(max_depth=2)
    model = AdaBoostClassifier(stump, n_estimators=4, random_state=0).fit(x, y)
    assert model.score(x, y) > 0.9


# Types of classes, gaps, kept columns


def test_class_types_survive_everywhere(tmp_path):
    table = pd.DataFrame({"a": [1, 2, 3, 4] * 10})
    for y, kind in (([0, 1] * 20, int), ([1.0, 2.0] * 20, float), (["0", "1"] * 20, str), ([False, True] * 20, bool)):
        model = hedgerow.DecisionTreeClassifier(max_depth=3).fit(table, pd.Series(y, name="y"))
        place = tmp_path / kind.__name__
        model.save(place)
        schema = place.with_suffix(".toml")
        hedgerow.write_schema(model.schema_, schema)
        again = hedgerow.DecisionTreeClassifier(max_depth=3, schema=schema).fit(table, pd.Series(y, name="y"))
        for one in (model, hedgerow.load(place), again):
            answers = one.predict(table).tolist()
            assert answers == y
            assert {type(answer) for answer in answers} == {kind}
    data = tmp_path / "t.csv"
    data.write_text("a,y\n" + "".join(f"{k % 4},{k % 2}\n" for k in range(40)))
    made = command("train", data, "--target", "y", "--max-depth", "2", "--out", tmp_path / "m", "--json")
    scored = command("evaluate", tmp_path / "m", data, "--json")
    assert json.loads(made.out)["classes"] == json.loads(scored.out)["classes"] == [0, 1]


def test_a_consortiums_model_predicts_the_types_of_its_classes(tmp_path):
    deployment = Deployment(tmp_path / "c", patience=30)
    deployment.start()
    try:
        a, y = np.arange(200) % 50, (np.arange(200) % 50 > 20).astype(int)
        table = Table(["a", "y"], [a, y], {}, lambda row: row + 1)
        schema = Schema((Column("a", bits=6), Column("y", "label", classes=(0, 1))))
        deployment.client("clinic").share(table, schema, "visits")
        here = deployment.root / "members" / "alice" / "consortium.toml"
        model = hedgerow.DecisionTreeClassifier(max_depth=2, consortium=here).fit_dataset("visits", "y")
        assert model.classes_.tolist() == [0, 1]
        assert model.score(pd.DataFrame({"a": a}), y) == 1.0
    finally:
        deployment.stop()


def test_gaps_that_training_did_not_know(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,a,c,y\n" + "".join(f"i{k},{k % 9},{'uv'[k % 2]},{'pq'[k % 9 > 4]}\n" for k in range(60))
    )
    (tmp_path / "n.csv").write_text("id,a,c\nfirst,,u\n02,8,\n3,1,v\n")
    data, out = tmp_path / "t.csv", tmp_path / "m"
    made = command("train", data, "--target", "y", "--ignore", "id", "--max-depth", "2", "--out", out)
    assert made.code == 0, made.err
    done = command("predict", out, tmp_path / "n.csv", "--keep", "id")
    assert done.out == "id,y\nfirst,p\n02,q\n3,p\n"
    assert "values of 'a', 'c' are missing, and training knew no gaps there" in done.words
    model = hedgerow.load(out)
    with pytest.warns(MissingValueWarning, match="'a'"):
        found = model.predict(pd.DataFrame({"a": [np.nan, 8], "c": ["u", "v"]}))
    assert found.tolist() == ["p", "q"]
    assert command("predict", out, tmp_path / "n.csv", "--keep", "no").code == 3


# Interruption


def test_an_interrupted_fit_leaves_nothing_fitted(monkeypatch):
    x, y = [[1], [2], [3]], [0, 1, 1]
    model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y)

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.estimators.tree.train_secret", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(x, y)
    with pytest.raises(NotFittedError):
        model.predict(x)


def interrupt(process, seconds):
    """Ctrl-C at a terminal, for the whole group; how long it takes to end."""
    time.sleep(seconds)
    started = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    return time.monotonic() - started, out, err


@pytest.mark.parametrize("seconds", [0.5, 2.0, 4.5])
def test_ctrl_c_in_a_shell_ends_soon_with_one_line(tmp_path, seconds):
    generator = np.random.default_rng(1)
    rows = generator.integers(0, 1000, (60_000, 8))
    table = pd.DataFrame(np.column_stack([rows, rows[:, 0] % 2]), columns=[*"abcdefgh", "y"])
    table.to_csv(tmp_path / "t.csv", index=False)
    program = [sys.executable, "-m", "hedgerow"]
    arguments = ["train", str(tmp_path / "t.csv"), "--target", "y", "--max-depth", "30", "--out", str(tmp_path / "m")]
    process = subprocess.Popen(
        program + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    taken, _, err = interrupt(process, seconds)
    assert taken < 2
    assert process.returncode == 130
    assert err.splitlines()[-1] == "hedgerow: interrupted"
    assert "Traceback" not in err
    assert not (tmp_path / "m").exists()


def test_ctrl_c_in_a_notebook_leaves_it_usable():
    """A notebook sends the signal to its kernel alone, and goes on with the next cell."""
    code = """
import os, signal, threading, time, numpy as np, hedgerow
signal.signal(signal.SIGINT, signal.default_int_handler)  # Ignored where the tests run in the background.
x = np.random.default_rng(1).integers(0, 1000, (60_000, 6))
model = hedgerow.DecisionTreeClassifier(max_depth=30)
hedgerow.DecisionTreeClassifier(max_depth=1).fit(x[:50], x[:50, 0] % 2)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
started = time.monotonic()
try:
    model.fit(x, x[:, 0] % 2)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - started < 3)
print(hasattr(model, "model_"), model.set_params(max_depth=1).fit(x[:50], x[:50, 0] % 2).predict(x[:2]).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["interrupted True", "False (2,)"]
    assert "Traceback" not in done.stderr
