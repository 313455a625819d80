"""Dates, times and durations as numbers: days, seconds or smaller units since 1970, shown as dates again."""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from ..errors import InputError
from .schema import MICROSECONDS

Values = npt.NDArray[Any]

KEPT = np.dtype("datetime64[us]")
"""How dates stand in a table: NaT where there is none, universal time where the source knows its zone."""

_DAYS = ("%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d")
FORMATS = [day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S")]
"""What is tried, besides ISO 8601, where a column is said to hold dates."""


def iso_dates(texts: Sequence[str | None]) -> Values | None:
    """Dates and times written as ISO 8601 says, or None if there is any other text, or none at all."""
    array = pa.array(texts, pa.string())
    if array.null_count == len(array):
        return None
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            return _kept(array.cast(kind))
        except pa.ArrowInvalid:
            continue
    return None


def parse_dates(name: str, texts: Sequence[str | None], pattern: str = "") -> Values:
    """The dates of a column that is said to hold some, by ISO 8601, the usual ways, or a ``strptime`` pattern."""
    if pattern:
        found = _by_pattern(texts, pattern)
        if found is None:
            raise InputError(f"column '{name}': not every value is a date of the form {pattern}")
        return found
    found = iso_dates(texts)
    if found is not None:
        return found
    readings = [(pattern, reading) for pattern in FORMATS if (reading := _by_pattern(texts, pattern)) is not None]
    if not readings:
        raise InputError(
            f"column '{name}': the dates are written in no known way; say how, for instance --date '{name}=%d.%m.%y'"
        )
    if any(not np.array_equal(reading, readings[0][1], equal_nan=True) for _, reading in readings):
        ways = " or ".join(f"--date '{name}={pattern}'" for pattern, _ in readings)
        raise InputError(f"column '{name}': day and month cannot be told apart; say which comes first: {ways}")
    return readings[0][1]


def _by_pattern(texts: Sequence[str | None], pattern: str) -> Values | None:
    array = pa.array(texts, pa.string())
    try:
        parsed = pa.compute.strptime(array, format=pattern, unit="us", error_is_null=True)
    except pa.ArrowInvalid as error:
        raise InputError(f"'{pattern}' is no pattern of a date: {error}") from None
    if parsed.null_count != array.null_count:
        return None
    found = _kept(parsed)
    # A year of two digits is no year of the first century.
    return None if (found < np.datetime64("1000-01-01")).any() else found


def looks_dated(texts: Sequence[str | None]) -> bool:
    """Whether all texts are dates, in whatever way of writing; most that are not show it at once."""
    for some in (texts[:100], texts):
        if iso_dates(some) is None and all(_by_pattern(some, pattern) is None for pattern in FORMATS):
            return False
    return True


def _kept(array: Any) -> Values:
    if array.type.tz is not None:
        array = array.cast(pa.timestamp("us"))
    found: Values = array.to_numpy(zero_copy_only=False).astype(KEPT)
    return found


def as_dates(name: str, values: Values) -> Values:
    """Dates of any kind (NumPy's, Python's) as they are kept; finer parts than microseconds are cut off."""
    if values.dtype.kind == "M":
        return values.astype(KEPT)
    if any(isinstance(value, int | float | np.number) and not is_gap(value) for value in values):
        raise InputError(f"column '{name}' holds numbers where dates are declared")
    zones = {value.tzinfo is not None for value in values if isinstance(value, datetime.datetime)}
    if len(zones) > 1:
        raise InputError(f"column '{name}': some times have a time zone and some have none")
    utc = datetime.UTC

    def plain(value: Any) -> Any:
        if hasattr(value, "start_time"):  # A period of pandas begins with its first moment.
            value = value.start_time.to_pydatetime()
        if isinstance(value, datetime.datetime):
            return value.astimezone(utc).replace(tzinfo=None) if value.tzinfo is not None else value
        return value

    try:
        return np.array([None if is_gap(value) else plain(value) for value in values], KEPT)
    except (TypeError, ValueError):
        raise InputError(f"column '{name}' holds dates beside other values; leave it out") from None


def to_dates(name: str, values: Values) -> Values:
    """A column that is known to hold dates, as such or as text, as they are kept."""
    if values.dtype == object and any(isinstance(value, str) for value in values):
        return parse_dates(name, [None if is_gap(value) else str(value) for value in values])
    return as_dates(name, values if values.dtype.kind == "M" else values.astype(object))


def is_gap(value: Any) -> bool:
    """Whether a value of a column of dates is missing."""
    return value is None or (not isinstance(value, str) and str(value) in ("NaT", "<NA>", "nan"))


def looks_like_dates(values: Values) -> bool:
    """Whether a column holds dates or times as such, not as text."""
    if values.dtype.kind == "M":
        return True
    present = [value for value in values if not is_gap(value)] if values.dtype == object else []
    return bool(present) and all(
        isinstance(value, datetime.date | np.datetime64) or hasattr(value, "start_time") for value in present
    )


def as_seconds(values: Values) -> Values:
    """Durations, or times of a day, in seconds: whole numbers where they are whole, NaN where one is missing."""
    if values.dtype.kind == "m":
        microseconds = values.astype("timedelta64[us]")
        missing = np.isnat(microseconds)
        whole = microseconds.astype(np.int64)
    else:
        missing = np.array([is_gap(value) for value in values], bool)
        whole = np.array([0 if is_gap(value) else _microseconds(value) for value in values], np.int64)
    if not missing.any() and not (whole % 1_000_000).any():
        return whole // 1_000_000
    return np.where(missing, np.nan, whole / 1e6)


def _microseconds(value: Any) -> int:
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    if isinstance(value, np.timedelta64):
        return int(value.astype("timedelta64[us]").astype(np.int64))
    return int(value // datetime.timedelta(microseconds=1))


def looks_like_durations(values: Values) -> bool:
    """Whether a column holds durations, or times of a day, as such."""
    if values.dtype.kind == "m":
        return True
    present = [value for value in values if not is_gap(value)] if values.dtype == object else []
    return bool(present) and all(isinstance(v, datetime.timedelta | datetime.time | np.timedelta64) for v in present)


def units_since_epoch(values: Values, unit: str) -> npt.NDArray[np.int64]:
    """Dates without gaps as whole units since 1970, rounded down: a time belongs to its day, its second, …"""
    return values.astype(KEPT).astype(np.int64) // MICROSECONDS[unit]


def coarsest_unit(values: Values) -> str:
    """The coarsest unit that keeps dates without gaps exactly."""
    whole = values.astype(KEPT).astype(np.int64)
    return next(unit for unit, size in MICROSECONDS.items() if not (whole % size).any())


def moment_text(units: int, unit: str) -> str:
    """A date as people write it, from whole units since 1970."""
    try:
        moment = np.datetime64(units * MICROSECONDS[unit], "us")
    except OverflowError:
        return f"{units:,} {unit}s since 1970"
    if unit == "day":
        return str(moment.astype("datetime64[D]"))
    precision = {"second": "s", "millisecond": "ms", "microsecond": "us"}[unit]
    return str(np.datetime_as_string(moment.astype(f"datetime64[{precision}]"))).replace("T", " ")
