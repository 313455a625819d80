"""Schemas, fixed point and files: exact where possible, refused with the right words where not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import InputError
from hedgerow.tables import (
    Column,
    Schema,
    encode,
    encode_doubled,
    merge_schemas,
    propose_column,
    read_schema,
    read_table,
    write_schema,
)
from hedgerow.tables.fixed import at_most, threshold_text, threshold_units

decimal_columns = st.integers(0, 9).flatmap(
    lambda d: st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20).map(
        lambda whole: (d, np.array([w / 10**d for w in whole]))
    )
)


@given(decimal_columns)
def test_decimal_columns_are_kept_exactly(case):
    decimals, values = case
    proposal = propose_column("a", values)
    assert proposal.largest_error == 0
    assert proposal.column.decimals <= decimals
    encoded, error = encode(proposal.column, values)
    assert error == 0
    back = (encoded.astype(np.int64) - proposal.column.offset) / 10.0**proposal.column.decimals
    assert (back == values).all()
    assert int(encoded.max()) < 1 << proposal.column.bits


@given(decimal_columns, st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_prediction_judges_values_between_and_beyond_the_trained_ones(case, new):
    _, values = case
    column = propose_column("a", values).column
    encoded = np.unique(encode(column, values)[0])
    probes = np.concatenate([values, np.array(new), np.nextafter(values, -np.inf), np.nextafter(values, np.inf)])
    doubled = encode_doubled(column, probes)
    assert int(doubled.max()) < 2 << column.bits
    for low, high in zip(encoded[:-1].tolist(), encoded[1:].tolist(), strict=True):
        threshold = low + high
        limit = Fraction(threshold - 2 * column.offset, 2) / 10**column.decimals
        near = np.abs(probes - float(limit)) > 1e-9 * max(1.0, abs(float(limit)))
        expected = np.array([Fraction(float(v)) < limit for v in probes])
        assert ((doubled < threshold) == expected)[near].all()
        assert threshold_units(column, threshold) == float(limit)
        assert at_most(column, threshold) < threshold_units(column, threshold)


def test_what_no_few_decimals_represent_is_rounded_with_its_error():
    values = np.random.default_rng(0).normal(size=100)
    proposal = propose_column("a", values, 40)
    assert 0 < proposal.largest_error < 1e-10
    assert proposal.column.bits <= 40
    encoded, error = encode(proposal.column, values)
    assert error == proposal.largest_error
    assert (np.argsort(encoded) == np.argsort(values)).all()
    huge = propose_column("b", np.array([1e25, 2e25, -3e25]))
    assert huge.column.decimals < 0
    assert huge.largest_error <= 1e25 * 1e-10


def test_whole_numbers_are_kept_up_to_the_last_bit():
    values = np.array([2**61 - 1, 0, 2**60 + 1])
    column = propose_column("a", values).column
    assert (column.bits, column.signed, column.decimals) == (61, False, 0)
    assert encode(column, values)[0].tolist() == values.tolist()
    assert encode_doubled(column, values).tolist() == [2 * int(v) for v in values]


def test_values_outside_a_declared_schema_are_refused_with_their_row():
    with pytest.raises(InputError, match="row 3: the value does not fit the schema's 4 bits"):
        encode(Column("a", bits=4), np.array([1, 15, 16]))
    with pytest.raises(InputError, match="row 2: a value is missing"):
        encode(Column("a", bits=4), np.array([1.0, np.nan]))


def test_a_schema_survives_its_file(tmp_path):
    columns = (
        Column("age", decimals=1, bits=9),
        Column('a "b"', bits=12, signed=True),
        Column("y", "label", classes=("no", "yes")),
    )
    write_schema(Schema(columns), tmp_path / "schema.toml")
    assert read_schema(tmp_path / "schema.toml") == Schema(columns)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs a list of columns"),
        ("[[column]]\nbits = 3", "no name"),
        ("[[column]]\nname = 'a'\nbits = 63", "63 bits"),
        ("[[column]]\nname = 'a'\nbits = 'x'", "'bits' must be int"),
        ("[[column]]\nname = 'a'\ncolour = 3", "unknown field in the schema: colour"),
        ("[[column]]\nname = 'a'\nkind = 'data'", "unknown kind 'data'"),
        ("[[column]]\nname = 'a'\nkind = 'date'", "a date needs a unit"),
        ("[[column]]\nname = 'a'\n[[column]]\nname = 'a'", "column 'a' occurs twice"),
        ("[[column]", "no readable TOML"),
        ("[[column]]\nname = 'a'\n" * 10_001, "10,001 columns are declared"),
    ],
)
def test_bad_schemas_are_refused(tmp_path, text, message):
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_schema(path)


def test_parquet_and_csv_give_the_same_table(tmp_path):
    content = pa.table({"a": [1, 2, 3], "b": [0.5, 1.25, -2.0], "c": ["x", "y", "x"], "d": [True, False, True]})
    pa.parquet.write_table(content, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("\ufeffa;b;c;d\n1;0.5;x;true\n2;1.25;y;false\n3;-2.0; x ;true\n", encoding="utf-8")
    one, other = read_table(tmp_path / "t.parquet"), read_table(tmp_path / "t.csv")
    assert one.names == other.names == ["a", "b", "c", "d"]
    for name in one.names:
        assert one.column(name).tolist() == other.column(name).tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"a,b\n", "no rows"),
        (b"a,b\n1,2\n3\n", "line 3: 1 fields where the first line names 2"),
        (b"a,b\n1,2\n3,4,5\n", "line 3: 3 fields"),
        (b"a,b,a\n1,2,3\n", "column 'a' occurs twice"),
        (b"a,,b\n1,2,3\n", "empty name"),
        (b"a,b\n1,\xff\xfe\n", "UTF-?8"),
        (b",".join(b"c%d" % k for k in range(1_000_000)) + b"\n1\n", "1,000,000 columns are declared"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_table(path).attribute("b", False)


def test_bad_columns_are_refused_when_they_are_used(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,2,x\n2,,y\n3,4,z\n")
    table = read_table(path)
    assert table.attribute("a", False).tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="column 'b', line 3: the value is missing"):
        table.attribute("b", False, missing=False)
    with pytest.raises(InputError, match="column 'c', line 2: text where a number is needed"):
        table.attribute("c", False)
    with pytest.raises(InputError, match="no column 'd'; the table has a, b, c"):
        table.column("d")
    with pytest.raises(InputError, match="no file"):
        read_table(tmp_path / "none.csv")
    (tmp_path / "no.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(InputError, match="no readable Parquet"):
        read_table(tmp_path / "no.parquet")


def test_whole_numbers_of_any_type_and_size_are_judged_rightly():
    column = propose_column("a", np.arange(1, 7)).column
    probes = np.array([2**61, 2**62, 2**63 - 1, -(2**63), -(2**62) - 5, 3])
    assert (encode_doubled(column, probes) < 7).tolist() == [False, False, False, True, True, True]
    assert (encode_doubled(column, np.array([2**63, 2**64 - 1], np.uint64)) < 7).tolist() == [False, False]
    for kind in ("int8", "int16", "int32", "int64"):
        ends = np.array([np.iinfo(kind).min, -3, np.iinfo(kind).max], kind)
        proposal = propose_column("a", ends, 62 if kind != "int64" else 59)
        encoded, error = encode(proposal.column, ends)
        assert (np.diff(encoded.astype(object)) > 0).all()
        assert (error == 0) == (kind != "int64")
    assert encode(Column("a", bits=9, signed=True), np.array([255], "uint8"))[0].tolist() == [511]


def test_large_whole_numbers_that_do_not_fit_are_rounded_and_said_so():
    values = np.array([2**61 + k for k in range(10)])
    proposal = propose_column("id", values, 59)
    assert proposal.largest_error > 0
    assert encode(proposal.column, values)[1] == proposal.largest_error
    assert propose_column("tiny", np.array([1e-310, 2e-310])).largest_error > 0
    with pytest.raises(InputError, match="does not fit the schema"):
        encode(Column("a", decimals=15, bits=60), np.array([1e300]))


def test_thresholds_are_told_with_all_their_digits():
    assert threshold_text(Column("ms", bits=41), 2 * 1700000000125 + 1) == "1700000000125.5"
    assert threshold_text(Column("x", decimals=2, bits=9, signed=True), 512 - 301) == "-1.505"
    assert threshold_text(Column("big", decimals=-3, bits=20), 8) == "4000"


def test_merged_schemas_hold_both_tables():
    a, b = np.array([1000, -3]), np.array([0.25, 1.5])
    one, other = (Schema((propose_column("v", values).column,)) for values in (a, b))
    (merged,) = merge_schemas(one, other).columns
    for values in (a, b):
        assert encode(merged, values)[1] == 0
    with pytest.raises(InputError, match="different columns"):
        merge_schemas(one, Schema((Column("w", bits=3),)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,y\n1,"p\n2,q\n', "line 2: a quote is not closed"),
        ("a,y\n1,p\n\n\n,q\n3,q\n", "column 'a', line 5: the value is missing"),
        ("a,y\r1,p\r", "lines must end in LF"),
        ("5,5\n1,2\n", "use --no-header"),
    ],
)
def test_more_bad_files(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(content.encode())
    with pytest.raises(InputError, match=message):
        read_table(path).attribute("a", False, missing=False)
