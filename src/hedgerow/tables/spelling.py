"""How numbers are written elsewhere: decimal commas and thousands separators."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ..errors import InputError

Texts = Sequence[str | None]

MOSTLY = 0.9
"""From this share of numbers or dates on, other text in a column is taken for a mistake."""
PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")
GROUPS = re.compile(r"[+-]?\d{1,3}(?P<mark>[,'’\u00a0\u202f ])\d{3}((?P=mark)\d{3})*(\.\d+)?")
DOTTED = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}")
ONE_GROUP = re.compile(r"[+-]?\d{1,3},\d{3}")
"""1,234: one thousand or one and a bit."""


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


@dataclass(frozen=True, slots=True)
class Spelling:
    """The decimal mark, and what separates thousands, if anything."""

    decimal: str = "."
    thousands: str = ""

    @property
    def words(self) -> str:
        """For people."""
        mark = "a decimal comma" if self.decimal == "," else "a decimal point"
        return mark + (f" and '{self.thousands}' between thousands" if self.thousands else "")

    @property
    def _pattern(self) -> re.Pattern[str]:
        whole = r"\d+"
        if self.thousands:
            mark = re.escape(self.thousands)
            whole = rf"(\d+|\d{{1,3}}({mark}\d{{3}})+)"
        return re.compile(rf"[+-]?({whole}({re.escape(self.decimal)}\d*)?|{re.escape(self.decimal)}\d+)([eE][+-]?\d+)?")

    def numbers(self, texts: Texts) -> Any:
        """Texts that are all numbers in this writing, as an Arrow array of whole or other numbers; else None."""
        pattern, stripped = self._pattern, [None if text is None else text.strip() for text in texts]
        if all(text is None for text in stripped) or any(text and not pattern.fullmatch(text) for text in stripped):
            return None
        plain = [
            text.replace(self.thousands, "").replace(self.decimal, ".")
            if text and self.thousands
            else text.replace(self.decimal, ".")
            if text
            else None
            for text in stripped
        ]
        if all(text is None or text.lstrip("+-").isdigit() for text in plain):
            try:
                return pa.array([None if text is None else int(text) for text in plain], pa.int64())
            except (pa.ArrowInvalid, OverflowError):
                pass
        return pa.array([None if text is None else float(text) for text in plain], pa.float64())


def found_spelling(columns: Mapping[str, Texts]) -> Spelling | None:
    """The writing that makes numbers of some columns of text, where it cannot be another; None if there is none.

    "27,6" has a decimal comma and "1,234,567" or "1 234" thousands separators; "1,234" may be either and decides
    nothing.
    """
    found: dict[Spelling, str] = {}
    for name, texts in columns.items():
        spelling = _of_column([text.strip() for text in texts if text is not None and text.strip()])
        if spelling is not None:
            found.setdefault(spelling, name)
    if len(found) > 1:
        (one, first), (other, second), *_ = found.items()
        raise InputError(
            f"column '{first}' looks written with {one.words}, column '{second}' with {other.words}: say which it is "
            "(--decimal, --thousands), or leave one of them out of the file"
        )
    return next(iter(found), None)


def _of_column(texts: Sequence[str]) -> Spelling | None:
    unusual = [text for text in texts if not PLAIN.fullmatch(text)]
    if not unusual:
        return None
    if all(DECIMAL_COMMA.fullmatch(text) for text in unusual):
        if all(ONE_GROUP.fullmatch(text) for text in unusual):
            return None
        points = any("." in text for text in texts)
        spelling = Spelling(",", "." if points else "")
        return spelling if spelling.numbers(texts) is not None else None
    if all(DOTTED.fullmatch(text) for text in unusual):
        spelling = Spelling(",", ".")
        return spelling if spelling.numbers(texts) is not None else None
    marks = {match["mark"] for text in unusual if (match := GROUPS.fullmatch(text))}
    if len(marks) != 1 or not all(GROUPS.fullmatch(text) for text in unusual):
        return None
    return Spelling(".", marks.pop())
