"""CSV and Parquet files, read strictly: what cannot be used is refused with the place and a remedy."""

import contextlib
import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ..errors import InputError
from .moment import KEPT, as_seconds, iso_dates, parse_dates, to_dates
from .schema import MAX_COLUMNS, Column, check_names
from .spelling import MOSTLY, Spelling, found_spelling, is_number

HEADER_BYTES = 1 << 26
MISSING = ["", "NA", "NaN", "nan", "null", "?", " ?"]
SEPARATORS = ",;\t|"
FOREIGN = {
    b"PK\x03\x04": "is an Excel file or a zip archive: save the sheet as CSV with UTF-8 encoding",
    b"\xd0\xcf\x11\xe0": "is an old Excel file: save the sheet as CSV with UTF-8 encoding",
    b"BZh": "is compressed with bzip2: unpack it, or compress it with gzip",
    b"\xfd7zXZ": "is compressed with xz: unpack it, or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: unpack it, or compress it with gzip",
    b"\xff\xfe": "is UTF-16 text: save it with UTF-8 encoding",
    b"\xfe\xff": "is UTF-16 text: save it with UTF-8 encoding",
    b"ARROW1": "is an Arrow or Feather file: save it as Parquet or CSV",
}
"""How files begin that are something else than a table we read."""
INDEX = re.compile(r"__index_level_\d+__")
"""What pandas calls the row numbers it keeps in a Parquet file."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is written, as far as it is given: what is empty is detected.

    ``texts`` names columns that are taken as they are written, numbers or not; ``dates`` columns of dates, each with a
    ``strptime`` pattern or nothing.
    """

    header: bool = True
    separator: str = ""
    decimal: str = ""
    thousands: str = ""
    texts: Collection[str] = ()
    dates: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.separator) > 1:
            raise InputError(f"a separator is one character, or 'tab', not '{self.separator}'")
        if self.decimal not in ("", ".", ","):
            raise InputError(f"the decimal mark is '.' or ',', not '{self.decimal}'")
        if len(self.thousands) > 1 or self.thousands.isalnum():
            raise InputError(f"a thousands separator is one character, not '{self.thousands}'")
        if self.thousands and self.thousands == (self.decimal or "."):
            raise InputError(f"'{self.thousands}' cannot be the decimal mark and the thousands separator at once")

    @property
    def spelling(self) -> Spelling | None:
        """How numbers are written, if that is said."""
        if not self.decimal and not self.thousands:
            return None
        return Spelling(self.decimal or ("," if self.thousands == "." else "."), self.thousands)


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Columns by name, in order; numbers and dates as NumPy arrays, anything else as arrays of text.

    ``missing`` has the line of the first missing value of a column: NaN among numbers, NaT among dates, None among
    texts. ``notes`` say what was found out about the way the file is written.
    """

    names: list[str]
    columns: list[npt.NDArray[Any]]
    missing: dict[str, int]
    line: Callable[[int], int]
    """The line of the file (or row of a Parquet file, from 1) of a row counted from 0."""
    notes: tuple[str, ...] = ()

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
        """A column to test: a category of any kind, or a number or date; with ``missing`` it may have gaps."""
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
        if sum(map(is_number, texts)) >= MOSTLY * len(texts):
            _check_text(name, self._named(name), self.line)

    def declared(self, columns: Sequence[Column], gaps: bool = False) -> list[npt.NDArray[Any]]:
        """The columns a schema declares as attributes; with ``gaps`` values may be missing whatever it declares."""
        return [
            to_dates(column.name, self._named(column.name))
            if column.kind == "date" and not self.is_date(column.name)
            else self.attribute(column.name, column.kind == "category", column.missing or gaps)
            for column in columns
        ]

    def is_text(self, name: str) -> bool:
        """Whether a column holds text."""
        values = self._named(name)
        return values.dtype == object and any(isinstance(value, str) for value in values)

    def is_date(self, name: str) -> bool:
        """Whether a column holds dates."""
        return self._named(name).dtype.kind == "M"


def read_table(path: Path | str, reading: Reading | None = None) -> Table:
    """Read a CSV or Parquet file, maybe compressed with gzip; ``-`` is standard input.

    In a CSV file fields are separated by comma, semicolon, tab or ``|``. Without header columns are c1, c2, …
    """
    reading = reading or Reading()
    label, raw = _content(path)
    parquet = raw.startswith(b"PAR1") or label.lower().endswith((".parquet", ".pq"))
    notes: list[str] = []
    if parquet:
        content = _read_parquet(label, raw)
    else:
        file = _CsvFile(label, raw, reading)
        content = file.read(notes)
    names = [str(name) for name in content.column_names]
    check_names(names)
    if content.num_rows == 0:
        raise InputError(f"{label} has no rows")

    def line(row: int) -> int:
        return row + 1 if parquet else file.line(row)

    missing, columns = {}, [_array(name, content.column(i), reading) for i, name in enumerate(names)]
    for name, values in zip(names, columns, strict=True):
        gaps = np.flatnonzero(_gaps(values))
        if gaps.size:
            missing[name] = line(int(gaps[0]))
    unknown = [name for name in reading.dates if name not in names]
    if unknown:
        raise InputError(f"there is no column '{unknown[0]}' to hold dates")
    return Table(names, columns, missing, line, tuple(notes))


def _content(path: Path | str) -> tuple[str, bytes]:
    """What to call a file, and its bytes, unpacked."""
    if str(path) == "-":
        label, raw = "standard input", sys.stdin.buffer.read()
    else:
        label, path = str(path), Path(path)
        if not path.exists():
            raise InputError(f"there is no file {path}")
        if path.is_dir():
            raise InputError(f"{path} is a directory, not a table")
        raw = path.read_bytes()
    if raw.startswith(b"\x1f\x8b"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error):
            raise InputError(f"{label} is compressed with gzip, and damaged") from None
        label = label.removesuffix(".gz")
    for beginning, problem in FOREIGN.items():
        if raw.startswith(beginning):
            raise InputError(f"{label} {problem}")
    return label, raw


def _gaps(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Which values are missing."""
    if values.dtype == object:
        return np.array([value is None for value in values], bool)
    if values.dtype.kind == "M":
        found: npt.NDArray[Any] = np.isnat(values)
        return found
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, bool)


class _CsvFile:
    """The text of a CSV file, and how it is written."""

    def __init__(self, label: str, raw: bytes, reading: Reading) -> None:
        self.label, self.raw, self.reading = label, raw.removeprefix(b"\xef\xbb\xbf"), reading
        first = self.raw.partition(b"\n")[0].rstrip(b"\r")
        if not first.strip():
            raise InputError(f"{label} is empty: the first line must name the columns")
        try:
            self.raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self.raw[: error.start].count(b"\n") + 1
            raise InputError(
                f"{label}, line {line}: the text is not UTF-8 (perhaps Latin-1 or Windows-1252); save it as CSV with "
                "UTF-8 encoding"
            ) from None
        header = first.decode("utf-8")
        self.separator = reading.separator or self._found_separator(header)
        csv.field_size_limit(HEADER_BYTES)
        try:
            self.names = [name.strip() for name in next(csv.reader([header], delimiter=self.separator))]
        except csv.Error:
            raise InputError(f"{label}: the first line cannot be read; lines must end in LF or CR LF") from None
        self._check_quotes()
        if not reading.header:
            self.names = [f"c{k}" for k in range(1, len(self.names) + 1)]
        try:
            check_names(self.names)
        except InputError as error:
            fits = reading.header and len(self.names) <= MAX_COLUMNS
            hint = " (if the first line is no line of names, use --no-header)" if fits else ""
            raise InputError(f"{error}{hint}") from None

    def _found_separator(self, header: str) -> str:
        """What the names are separated by; without names, what cuts the first lines into equally many fields."""
        if self.reading.header:
            outside = "".join(header.split('"')[::2])
            return max(SEPARATORS, key=outside.count)
        lines = [line for line in self.raw[: 1 << 16].decode("utf-8", "ignore").splitlines()[:20] if line.strip()]
        for separator in ";\t|":
            if len({line.count(separator) for line in lines}) == 1 and separator in lines[0]:
                # A comma in such a line is a decimal mark, or part of a text.
                return separator
        return ","

    def _check_quotes(self) -> None:
        """Refuse quotes that are not closed in their line: they would swallow the lines below."""
        for line, content in enumerate(io.BytesIO(self.raw), start=1):
            if content.count(b'"') % 2:
                raise InputError(f"{self.label}, line {line}: a quote is not closed in its line")

    def line(self, row: int) -> int:
        """The line of a row counted from 0; empty lines are no rows."""
        wanted = row + self.reading.header
        for line, content in enumerate(io.BytesIO(self.raw), start=1):
            if content.strip(b"\r\n"):
                if wanted == 0:
                    return line
                wanted -= 1
        return row + 1 + self.reading.header

    def read(self, notes: list[str]) -> pa.Table:
        """The columns; numbers in another country's writing become numbers, and a note says so."""
        spelling = self.reading.spelling
        as_written = {*self.reading.texts, *self.reading.dates}
        if spelling is None:
            content = self._parse(as_written)
            texts = {
                name: content.column(name).to_pylist()
                for name, kind in zip(self.names, content.schema.types, strict=True)
                if name not in as_written and pa.types.is_string(kind)
            }
            spelling = found_spelling(texts)
            if spelling is None:
                return content
            notes.append(
                f"numbers are taken to be written with {spelling.words}; --decimal and --thousands say otherwise"
            )
        plain = self._parse(self.names)
        columns = []
        for name in self.names:
            column = plain.column(name)
            numbers = None if name in as_written else spelling.numbers(column.to_pylist())
            columns.append(column if numbers is None else numbers)
        return pa.table(columns, names=self.names)

    def _parse(self, texts: Collection[str]) -> pa.Table:
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        def read(threads: bool, texts: Collection[str] = texts) -> Any:
            return pa.csv.read_csv(
                pa.BufferReader(self.raw),
                read_options=pa.csv.ReadOptions(
                    column_names=self.names, skip_rows=int(self.reading.header), block_size=1 << 24, use_threads=threads
                ),
                parse_options=pa.csv.ParseOptions(delimiter=self.separator, invalid_row_handler=refuse),
                convert_options=pa.csv.ConvertOptions(
                    null_values=MISSING,
                    strings_can_be_null=True,
                    column_types={name: pa.string() for name in texts if name in self.names},
                ),
            )

        try:
            content = read(threads=True)
            kinds = zip(self.names, content.schema.types, strict=True)
            odd = [name for name, kind in kinds if pa.types.is_boolean(kind)]
            # What looks like a truth value in this file may not in the next, so it stays text.
            return read(threads=True, texts=[*texts, *odd]) if odd else content
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                raise InputError(f"{self.label} has no rows below the line of names") from None
            if not ragged:
                raise InputError(f"{self.label} is no readable CSV file") from None
        ragged.clear()
        with contextlib.suppress(pa.ArrowInvalid):  # Read once more, one line after the other, for the line's number.
            read(threads=False)
        line, fields = ragged[0].number, ragged[0].actual_columns
        raise InputError(
            f"{self.label}, line {line}: {fields} fields where the first line names {len(self.names)}; quote "
            "separators inside a field, or say what separates fields (--separator)"
        )


def _read_parquet(label: str, raw: bytes) -> pa.Table:
    try:
        content = pa.parquet.read_table(pa.BufferReader(raw))
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(f"{label} is no readable Parquet file") from None
    return content.select([name for name in content.column_names if not INDEX.fullmatch(name)])


def _array(name: str, column: Any, reading: Reading) -> npt.NDArray[Any]:
    """A column as an array; text is stripped of blanks at its ends."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(f"column '{name}' holds bytes, not text or numbers; leave it out")
    if pa.types.is_nested(kind):
        raise InputError(f"column '{name}' holds lists or records, not values; leave it out")
    if pa.types.is_boolean(kind):
        return np.asarray([None if v is None else str(v).lower() for v in column.to_pylist()], dtype=object)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        found: npt.NDArray[Any] = column.cast(pa.timestamp("us"), safe=False).to_numpy().astype(KEPT)
        return found
    if pa.types.is_time(kind) or pa.types.is_duration(kind):
        return as_seconds(np.asarray(column.to_pylist(), dtype=object))
    if pa.types.is_integer(kind) and column.null_count:
        # Floating point with NaN would not keep large whole numbers.
        return np.asarray(column.to_pylist(), dtype=object)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.asarray(column)
    if pa.types.is_decimal(kind):
        return np.asarray(column.cast(pa.float64()))
    stripped = [None if v is None else str(v).strip() for v in column.to_pylist()]
    texts = [None if v in MISSING else v for v in stripped]
    if name in reading.dates:
        return parse_dates(name, texts, reading.dates[name])
    dates = None if name in reading.texts else iso_dates(texts)
    return np.asarray(texts, dtype=object) if dates is None else dates


def _check_text(name: str, values: npt.NDArray[Any], line: Callable[[int], int]) -> None:
    """Refuse a column of text where numbers are needed, with the first line at fault (never its content)."""
    if values.dtype != object or not any(isinstance(value, str) for value in values):
        return
    row = next((k for k, value in enumerate(values) if value is not None and not is_number(value)), 0)
    raise InputError(
        f"column '{name}', line {line(row)}: text where a number is needed; ignore the column or make it a category"
    )
