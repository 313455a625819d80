"""CSV and Parquet files, read strictly: what cannot be used is refused with the place and a remedy."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ..errors import InputError
from .schema import MAX_COLUMNS, Column, check_names

HEADER_BYTES = 1 << 26
MOSTLY = 0.9
"""From this share of numbers on, other text in a column is taken for a mistake."""
MISSING = ["", "NA", "NaN", "nan", "null", "?", " ?"]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Columns by name, in order; numbers as NumPy arrays, anything else as arrays of text.

    ``missing`` has the line of the first missing value of a column: NaN among numbers, None among texts.
    """

    names: list[str]
    columns: list[npt.NDArray[Any]]
    missing: dict[str, int]
    line: Callable[[int], int]
    """The line of the file (or row of a Parquet file, from 1) of a row counted from 0."""

    def __repr__(self) -> str:
        return f"Table({len(self)} rows, {len(self.names)} columns)"

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column by name, which must have no gaps."""
        values = self._named(name)
        if name in self.missing:
            raise InputError(f"column '{name}', line {self.missing[name]}: the value is missing; fill or drop it first")
        return values

    def _named(self, name: str) -> npt.NDArray[Any]:
        if name not in self.names:
            known = ", ".join(self.names[:12]) + (", …" if len(self.names) > 12 else "")
            raise InputError(f"there is no column '{name}'; the table has {known}")
        return self.columns[self.names.index(name)]

    def attribute(self, name: str, category: bool, missing: bool = True) -> npt.NDArray[Any]:
        """A column to test: a category of any kind, or a number; with ``missing`` it may have gaps."""
        values = self._named(name)
        if name in self.missing and not missing:
            raise InputError(
                f"column '{name}', line {self.missing[name]}: the value is missing, and the schema does not declare "
                "'missing = true'; fill or drop it first"
            )
        if not category:
            _check_text(name, values, self.line)
        return values

    def check_text(self, name: str) -> None:
        """Refuse a column of text that is nearly all numbers: that is a slip, not a column of categories."""
        texts = [value for value in self._named(name) if value is not None]
        if sum(map(_is_number, texts)) >= MOSTLY * len(texts):
            _check_text(name, self._named(name), self.line)

    def declared(self, columns: Sequence[Column]) -> list[npt.NDArray[Any]]:
        """The columns a schema declares as attributes."""
        return [self.attribute(column.name, column.kind == "category", column.missing) for column in columns]

    def is_text(self, name: str) -> bool:
        """Whether a column holds anything but numbers."""
        values = self.columns[self.names.index(name)]
        return values.dtype == object and any(isinstance(value, str) for value in values)


def read_table(path: Path, header: bool = True, texts: Collection[str] = ()) -> Table:
    """Read a ``.csv`` (comma, semicolon or tab) or ``.parquet`` file. Without header columns are c1, c2, …

    ``texts`` names columns that hold categories: they are taken as they are written, numbers or not.
    """
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a directory, not a table")
    parquet = path.suffix.lower() in (".parquet", ".pq")
    content = _read_parquet(path) if parquet else _read_csv(path, header, texts)
    names = [str(name) for name in content.column_names]
    check_names(names)
    if content.num_rows == 0:
        raise InputError(f"{path} has no rows")

    def line(row: int) -> int:
        return row + 1 if parquet else _line(path, row, header)

    missing, columns = {}, [_array(content.column(i)) for i in range(len(names))]
    for name, values in zip(names, columns, strict=True):
        gaps = np.flatnonzero(_gaps(values))
        if gaps.size:
            missing[name] = line(int(gaps[0]))
    return Table(names, columns, missing, line)


def _gaps(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Which values are missing."""
    if values.dtype == object:
        return np.array([value is None for value in values], bool)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, bool)


def _read_csv(path: Path, named: bool, texts: Collection[str]) -> pa.Table:
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
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter))]
    except csv.Error:
        raise InputError(f"{path}: the first line cannot be read; lines must end in LF or CR LF") from None
    _check_quotes(path)
    if not named:
        names = [f"c{k}" for k in range(1, len(names) + 1)]
    try:
        check_names(names)
    except InputError as error:
        hint = (
            " (if the first line is no line of names, use --no-header)" if named and len(names) <= MAX_COLUMNS else ""
        )
        raise InputError(f"{error}{hint}") from None
    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    def read(threads: bool, texts: Collection[str] = texts) -> Any:
        return pa.csv.read_csv(
            path,
            read_options=pa.csv.ReadOptions(
                column_names=names, skip_rows=int(named), block_size=1 << 24, use_threads=threads
            ),
            parse_options=pa.csv.ParseOptions(delimiter=delimiter, invalid_row_handler=refuse),
            convert_options=pa.csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                column_types={name: pa.string() for name in texts if name in names},
            ),
        )

    try:
        content = read(threads=True)
        kinds = zip(names, content.schema.types, strict=True)
        odd = [name for name, kind in kinds if pa.types.is_boolean(kind) or pa.types.is_temporal(kind)]
        # What looks like a truth value or a time in this file may not in the next, so it stays text.
        return read(threads=True, texts=[*texts, *odd]) if odd else content
    except pa.ArrowInvalid as error:
        if "Empty CSV" in str(error):
            raise InputError(f"{path} has no rows below the line of names") from None
        if not ragged:
            raise InputError(f"{path} is no readable CSV file") from None
    ragged.clear()
    with contextlib.suppress(pa.ArrowInvalid):  # Read once more, one line after the other, for the line's number.
        read(threads=False)
    line, fields = ragged[0].number, ragged[0].actual_columns
    raise InputError(
        f"{path}, line {line}: {fields} fields where the first line names {len(names)}; quote commas inside a field"
    )


def _check_quotes(path: Path) -> None:
    """Refuse quotes that are not closed in their line: they would swallow the lines below."""
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            if content.count(b'"') % 2:
                raise InputError(f"{path}, line {line}: a quote is not closed in its line")


def _line(path: Path, row: int, header: bool) -> int:
    """The line of a row counted from 0; empty lines are no rows."""
    wanted = row + header
    with path.open("rb") as file:
        for line, content in enumerate(file, start=1):
            if content.strip(b"\r\n"):
                if wanted == 0:
                    return line
                wanted -= 1
    return row + 1 + header


def _read_parquet(path: Path) -> pa.Table:
    try:
        return pa.parquet.read_table(path)
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{path} is no readable Parquet file") from None


def _array(column: Any) -> npt.NDArray[Any]:
    """A column as an array; text is stripped of blanks at its ends."""
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError("the file has text that is not UTF-8; save it with UTF-8 encoding")
    if pa.types.is_boolean(kind):
        return np.asarray([None if v is None else str(v).lower() for v in column.to_pylist()], dtype=object)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_integer(kind) and column.null_count:
        # Floating point with NaN would not keep large whole numbers.
        return np.asarray(column.to_pylist(), dtype=object)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(column)
    if pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()))
    stripped = [None if v is None else str(v).strip() for v in column.to_pylist()]
    return np.asarray([None if v in MISSING else v for v in stripped], dtype=object)


def _check_text(name: str, values: npt.NDArray[Any], line: Callable[[int], int]) -> None:
    """Refuse a column of text where numbers are needed, with the first line at fault (never its content)."""
    if values.dtype != object or not any(isinstance(value, str) for value in values):
        return
    row = next((k for k, value in enumerate(values) if value is not None and not _is_number(value)), 0)
    raise InputError(
        f"column '{name}', line {line(row)}: text where a number is needed; ignore the column or make it a category"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
