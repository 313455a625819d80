"""Tables as scikit-learn's users hand them over: arrays and data frames of every make, as plain columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .fixed import category_key
from .moment import as_dates, as_seconds, iso_dates, looks_like_dates, looks_like_durations, to_dates
from .schema import Column, Schema
from .spelling import is_number

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, repr=False)
class PlainTable:
    """A checked table: column names, columns, which of them are categories, and whether that was asked for."""

    names: list[str]
    columns: list[Values]
    categorical: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def items(self) -> Iterator[tuple[str, Values]]:
        """Names with their columns."""
        return zip(self.names, self.columns, strict=True)


@dataclass(frozen=True, slots=True, repr=False)
class Aside:
    """Columns that stand aside while scikit-learn checks the others as numbers: by place, and which are categories."""

    columns: dict[int, Values]
    categories: list[int]
    asked: list[int]


def plain(data: Any) -> Any:
    """Tables and columns of pyarrow and polars as pandas knows them; anything else as it is. Refuses sparse ones."""
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise InputError(
            "Sparse data was passed, but every value is secret-shared, zeros too: convert it with X.toarray() if it is "
            "small enough"
        )
    module = type(data).__module__.partition(".")[0]
    if module in ("pyarrow", "polars"):
        return data.to_pandas()
    if isinstance(data, np.ndarray) and data.dtype.kind in "US":
        return data.astype(object)
    return data


def plain_labels(data: Any) -> Any:
    """Labels or targets, with pandas' nullable whole numbers and truth values as NumPy's, where none is missing."""
    found = plain(data)
    kind = getattr(found, "dtype", np.dtype(object))
    nullable = not isinstance(kind, np.dtype) and getattr(kind, "kind", "O") in "iub"
    if nullable and not found.hasnans:
        return found.astype(np.bool_ if kind.kind == "b" else np.int64)
    return found


def as_table(data: Any) -> Any:
    """Rows as something with columns: a data frame as it is, anything else as an array."""
    return data if hasattr(data, "iloc") or isinstance(data, np.ndarray) else np.asarray(data, dtype=object)


def form(given: Any) -> tuple[int, ...]:
    """Rows and columns of what may be a table."""
    found: tuple[int, ...] = as_table(given).shape
    return found


def trained_aside(given: Any, schema: Schema) -> Aside:
    """The columns that stand aside in prediction: as they were trained."""
    return _known_aside(given, dict(enumerate(schema.attributes)))


def declared_aside(given: Any, schema: Schema) -> Aside:
    """The columns that stand aside where a schema says what they are."""
    names = [str(name) for name in getattr(given, "columns", ())] or [f"x{j}" for j in range(form(given)[1])]
    known = {column.name: column for column in schema.attributes}
    return _known_aside(given, {j: known[name] for j, name in enumerate(names) if name in known})


def _known_aside(given: Any, columns: Mapping[int, Column]) -> Aside:
    aside, categories = {}, []
    for j, column in columns.items():
        if column.kind == "category":
            aside[j] = _objects(given, j)
            categories.append(j)
        elif column.kind == "date":
            aside[j] = to_dates(column.name, _values(given, j))
        elif not _is_numeric(given, j) and looks_like_durations(values := _values(given, j)):
            aside[j] = as_seconds(values)
    return Aside(aside, categories, categories)


def found_aside(given: Any, wanted: Any) -> Aside:
    """The columns that stand aside where nothing is declared: asked-for categories, dates, durations, text."""
    width = form(given)[1]
    names = [str(name) for name in getattr(given, "columns", ())]
    asked = [] if wanted is None else _listed(wanted, names, width)
    columns: dict[int, Values] = {}
    categories = []
    for j in range(width):
        if j in asked:
            columns[j] = _objects(given, j)
            categories.append(j)
            continue
        if _is_numeric(given, j):
            continue
        kind = _column(given, j).dtype
        values = _values(given, j)
        if looks_like_dates(values):
            columns[j] = as_dates(names[j] if names else f"x{j}", values)
        elif looks_like_durations(values):
            columns[j] = as_seconds(values)
        elif str(kind) == "category" or _is_text(values):
            texts = _objects(given, j)
            dates = None if str(kind) == "category" else iso_dates([category_key(value) for value in texts])
            columns[j] = texts if dates is None else dates
            if dates is None:
                categories.append(j)
    return Aside(columns, categories, asked)


def without_aside(given: Any, aside: Aside) -> Any:
    """The table with zeros in place of the columns that stand aside."""
    if not aside.columns:
        return given
    if hasattr(given, "iloc"):
        numbers = given.copy()
        for j in aside.columns:
            numbers.isetitem(j, np.zeros(len(given)))
        return numbers
    numbers = np.array(given, dtype=object)
    numbers[:, list(aside.columns)] = 0
    return numbers


def named_columns(given: Any, schema: Schema) -> list[Values]:
    """The attributes of a schema from rows of any make: by name in a data frame, by place in an array."""
    table = as_table(plain(given))
    attributes = schema.attributes
    if table.ndim != 2:
        raise InputError(f"rows must be a table, not an array with {table.ndim} dimensions")
    places = list(range(len(attributes)))
    if hasattr(table, "iloc"):
        names = [str(name) for name in table.columns]
        lacking = [column.name for column in attributes if column.name not in names]
        if lacking:
            raise InputError(f"the rows have no column '{lacking[0]}'; the model needs it")
        places = [names.index(column.name) for column in attributes]
    elif table.shape[1] != len(attributes):
        raise InputError(f"the model has {len(attributes)} attributes, the rows have {table.shape[1]}")
    return [_as_declared(table, place, column) for place, column in zip(places, attributes, strict=True)]


def _as_declared(table: Any, place: int, column: Column) -> Values:
    """One column as what a schema declares it to be."""
    if column.kind == "category":
        return _objects(table, place)
    if column.kind != "date" and isinstance(_column(table, place).dtype, np.dtype) and _is_numeric(table, place):
        return np.asarray(_column(table, place))
    values = _values(table, place)
    if column.kind == "date":
        return to_dates(column.name, values)
    if looks_like_durations(values):
        return as_seconds(values)
    check_numbers(values, f"column '{column.name}'")
    return np.array([np.nan if category_key(value) is None else float(value) for value in values], float)


def check_numbers(given: Any, what: str = "") -> None:
    """Refuse text where numbers are needed, by column and row: scikit-learn's own words would show the value."""
    table = as_table(given)
    if table.ndim == 1:
        table = np.asarray(table, dtype=object)[:, None]
    if getattr(table, "dtype", None) is not None and table.dtype.kind == "c":
        raise InputError("Complex data not supported: leave the imaginary part out")
    names = [str(name) for name in getattr(table, "columns", ())]
    for j in range(form(table)[1]):
        column = _column(table, j)
        if getattr(column.dtype, "kind", "O") in "iufbmMc":
            continue
        row = next((k for k, v in enumerate(column) if isinstance(v, str | bytes) and not is_number(str(v))), None)
        if row is not None:
            where = what or f"column '{names[j] if names else f'x{j}'}'"
            raise InputError(f"{where}, row {row + 1}: text where a number is needed")


def _listed(wanted: Any, names: Sequence[str], width: int) -> list[int]:
    """Places of columns given by names, places or a mask."""
    items = wanted.tolist() if hasattr(wanted, "tolist") else list(wanted)
    if items and all(isinstance(item, bool) for item in items):
        if len(items) != width:
            raise InputError(f"categorical_features has {len(items)} entries for {width} columns")
        return [j for j, item in enumerate(items) if item]
    places = []
    for item in items:
        if isinstance(item, str) and item in names:
            places.append(list(names).index(item))
        elif isinstance(item, int) and 0 <= item < width:
            places.append(item)
        else:
            raise InputError(f"categorical_features: there is no column {item!r}")
    return sorted(set(places))


def _is_numeric(given: Any, place: int) -> bool:
    """Whether a column holds numbers or truth values by its type."""
    return getattr(_column(given, place).dtype, "kind", "O") in "iufb"


def _column(given: Any, place: int) -> Any:
    return given.iloc[:, place] if hasattr(given, "iloc") else given[:, place]


def _values(given: Any, place: int) -> Values:
    """One column as an array that keeps dates and durations what they are."""
    column = _column(given, place)
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind == "M":
        zoned = getattr(column.dtype, "tz", None) is not None
        return np.asarray(column.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else column)
    if kind == "m":
        return np.asarray(column)
    if str(getattr(column, "dtype", "")).startswith("period"):
        return np.asarray(column.dt.start_time)
    return np.asarray(column, dtype=object)


def _is_text(values: Values) -> bool:
    """Whether a column holds text, truth values beside gaps, or anything else that is no number."""
    present = [value for value in values if category_key(value) is not None]
    if all(isinstance(value, int | float | np.number | Decimal | np.bool_) for value in present):
        return False
    return any(isinstance(value, str) and not is_number(value) for value in present)


def _objects(given: Any, place: int) -> Values:
    """One column as plain values."""
    return np.asarray(_column(given, place), dtype=object)


def own_columns(given: Any, checked: Values) -> list[Values]:
    """The checked columns; whole numbers of a data frame as they were, not as a common type made them."""
    columns = list(checked.T)
    for j, kind in enumerate(getattr(given, "dtypes", ())):
        if getattr(kind, "kind", "") in ("i", "u"):
            series = given.iloc[:, j]
            if series.hasnans:
                columns[j] = np.array(
                    [None if gap else int(v) for v, gap in zip(series, series.isna(), strict=True)], object
                )
            else:
                columns[j] = series.to_numpy(dtype=np.uint64 if kind.kind == "u" else np.int64)
    return columns
