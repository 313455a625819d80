"""CSV and Parquet files, read strictly: what cannot be used is refused with the place and a remedy."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ..errors import InputError
from .schema import check_names

HEADER_BYTES = 1 << 26


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Columns by name, in order; numbers as NumPy arrays, anything else as arrays of text."""

    names: list[str]
    columns: list[npt.NDArray[Any]]

    def __repr__(self) -> str:
        return f"Table({len(self)} rows, {len(self.names)} columns)"

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column by name."""
        if name not in self.names:
            known = ", ".join(self.names[:12]) + (", …" if len(self.names) > 12 else "")
            raise InputError(f"there is no column '{name}'; the table has {known}")
        return self.columns[self.names.index(name)]

    def without(self, name: str) -> Table:
        """All columns but one."""
        keep = [i for i, other in enumerate(self.names) if other != name]
        return Table([self.names[i] for i in keep], [self.columns[i] for i in keep])

    def only(self, names: Sequence[str]) -> Table:
        """The named columns, in that order."""
        return Table(list(names), [self.column(name) for name in names])


def read_table(path: Path) -> Table:
    """Read a ``.csv`` (comma, semicolon or tab; first line: names) or ``.parquet`` file."""
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a table")
    parquet = path.suffix.lower() in (".parquet", ".pq")
    content = _read_parquet(path) if parquet else _read_csv(path)
    names = [str(name) for name in content.column_names]
    check_names(names)
    if content.num_rows == 0:
        raise InputError(f"{path} has no rows")
    first = 1 if parquet else 2
    return Table(names, [_array(name, content.column(i), first) for i, name in enumerate(names)])


def _read_csv(path: Path) -> pa.Table:
    with path.open("rb") as file:
        raw = file.readline(HEADER_BYTES)
    if not raw.strip():
        raise InputError(f"{path} is empty: the first line must name the columns")
    try:
        header = raw.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save it as CSV with UTF-8 encoding") from None
    delimiter = max(",;\t", key=header.count)
    csv.field_size_limit(HEADER_BYTES)
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    check_names(names)
    try:
        return pa.csv.read_csv(
            path,
            read_options=pa.csv.ReadOptions(column_names=names, skip_rows=1, block_size=1 << 24),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter),
            convert_options=pa.csv.ConvertOptions(
                null_values=["", "NA", "NaN", "nan", "null", "?"], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise InputError(f"{path} has no rows below the line of names") from None
        raise InputError(f"{path} is no table: {_told(str(error), len(names))}") from None


def _told(problem: str, columns: int) -> str:
    """Arrow's words for a ragged row, without the row's content."""
    line = problem.partition("Row #")[2].partition(":")[0]
    got = problem.partition(", got ")[2].split(":")[0].strip()
    if line and got.isdigit():
        return f"line {int(line)} has {got} fields, the first line names {columns}; quote commas inside a field"
    return problem.splitlines()[0].partition(":")[0]


def _read_parquet(path: Path) -> pa.Table:
    try:
        return pa.parquet.read_table(path)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{path} is no readable Parquet file") from None


def _array(name: str, column: Any, first: int) -> npt.NDArray[Any]:
    """A column as an array; missing values are refused with their line."""
    if column.null_count:
        line = int(np.flatnonzero(np.asarray(column.is_null()))[0]) + first
        raise InputError(f"column '{name}', line {line}: the value is missing; fill or drop it first")
    kind = column.type
    if pa.types.is_boolean(kind):
        return np.asarray(column).astype(np.int64)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(column)
    if pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()))
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_dictionary(kind)):
        column = column.cast(pa.string())
    return np.asarray(column.to_pylist(), dtype=object)


def check_attribute(name: str, values: npt.NDArray[Any], first: int = 2) -> None:
    """Refuse text in a column of numbers, with the first line at fault (never its content)."""
    if values.dtype != object:
        return
    for line, value in enumerate(values, start=first):
        try:
            float(value)
        except ValueError:
            raise InputError(
                f"column '{name}', line {line}: text where a number is needed; drop the column or encode it as numbers"
            ) from None
