"""What owners agree on before anything is shared: every column's name, kind, decimals and bits. A small TOML file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import InputError

MAX_COLUMNS = 10_000
HASH = re.compile("h[0-9a-f]{16}")
"""What stands for a hidden name."""
MAX_BITS = 62
MAX_CATEGORIES = 1000
MAX_CLASSES = 1000
KINDS = ("number", "date", "category", "label", "target", "weight")
NUMBERS = ("number", "date", "target", "weight")
MICROSECONDS = {"day": 86_400_000_000, "second": 1_000_000, "millisecond": 1_000, "microsecond": 1}
UNITS = tuple(MICROSECONDS)
"""Units a date can be kept in, the coarsest first."""
FIELDS = {
    "number": ("decimals", "bits", "signed", "missing"),
    "date": ("unit", "bits", "signed", "missing"),
    "category": ("categories", "missing", "hashed"),
    "label": ("classes", "hashed"),
    "target": ("decimals", "bits", "signed"),
    "weight": ("bits",),
}
"""What a column of a kind declares besides its name."""
ATTRIBUTES = ("number", "date", "category")
"""What a tree can test."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    A *number* or a *target* (a number to be estimated) v is kept as the whole number v·10^decimals, in ``bits`` bits,
    one of them the sign where ``signed``. A *date* is kept as whole units since 1970. A *category* is one of
    ``categories``, kept as its place in the list, and a *label* one of ``classes``; where ``hashed``, the lists hold
    keyed hashes of names, and it is the key's fingerprint. A *weight* is a whole number from 0 on. Where ``missing``, a
    value may be absent: an absent number stands below every number, and "absent" is one more category. Classes are
    text, numbers or truth values; predictions are of the same type.
    """

    name: str
    kind: str = "number"
    decimals: int = 0
    bits: int = 1
    signed: bool = False
    classes: tuple[Any, ...] = ()
    categories: tuple[str, ...] = ()
    missing: bool = False
    unit: str = ""
    hashed: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a schema column has no name")
        if self.kind not in KINDS:
            raise InputError(f"column '{self.name}': unknown kind '{self.kind}'; choose one of {', '.join(KINDS)}")
        if self.kind in NUMBERS and not 1 <= self.width <= MAX_BITS:
            raise InputError(f"column '{self.name}': {self.width} bits; a number has 1 to {MAX_BITS}")
        if self.kind in NUMBERS and not -300 <= self.decimals <= 300:
            raise InputError(f"column '{self.name}': {self.decimals} decimals; choose -300 to 300")
        if len({class_key(name) for name in self.classes}) != len(self.classes):
            raise InputError(f"column '{self.name}': a class is listed twice")
        if len(set(self.categories)) != len(self.categories):
            raise InputError(f"column '{self.name}': a category is listed twice")
        if self.kind == "category" and not self.places:
            raise InputError(f"column '{self.name}': a category column needs a list of categories")
        if self.places > MAX_CATEGORIES:
            raise InputError(
                f"column '{self.name}': {self.places:,} categories; at most {MAX_CATEGORIES:,} are supported"
            )
        if self.kind == "date" and self.unit not in UNITS:
            raise InputError(f"column '{self.name}': a date needs a unit, one of {', '.join(UNITS)}")
        unused = {"decimals": self.decimals, "bits": self.bits - 1, "signed": self.signed, "classes": self.classes,
                  "categories": self.categories, "missing": self.missing, "unit": self.unit,
                  "hashed": self.hashed}  # fmt: skip
        for field, value in unused.items():
            if value and field not in FIELDS[self.kind]:
                raise InputError(f"column '{self.name}': a {self.kind} has no '{field}'")

    @property
    def offset(self) -> int:
        """What is added so that no value is negative."""
        return 1 << (self.bits - 1) if self.signed else 0

    @property
    def base(self) -> int:
        """Where numbers begin, the offset apart: far above 0, the place of a missing one, so that a threshold between
        the two is below twice the base, and any other is not."""
        return 1 << self.bits if self.missing else 0

    @property
    def width(self) -> int:
        """Bits of a number as it is kept."""
        return self.bits + self.missing

    @property
    def places(self) -> int:
        """How many categories there are, the missing one included."""
        return len(self.categories) + self.missing

    @property
    def names(self) -> tuple[Any, ...]:
        """What stands for classes or categories."""
        return self.classes if self.kind == "label" else self.categories

    def with_names(self, names: Sequence[str], hashed: str) -> Column:
        """The same column with other names of its classes or categories."""
        if self.kind == "label":
            return replace(self, hashed=hashed, classes=tuple(names))
        return replace(self, hashed=hashed, categories=tuple(names))

    def category_text(self, place: int) -> str | None:
        """A category by its place; None for the missing one."""
        return self.categories[place] if place < len(self.categories) else None

    def entry(self) -> dict[str, Any]:
        """The column as it stands in the file."""
        fields: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for field in FIELDS[self.kind]:
            value = getattr(self, field)
            if field not in ("signed", "missing", "hashed") or value:
                fields[field] = list(value) if isinstance(value, tuple) else value
        return fields


def is_hash(name: Any) -> bool:
    """Whether a name is a keyed hash of one."""
    return isinstance(name, str) and HASH.fullmatch(name) is not None


def class_key(value: Any) -> str:
    """What two writings of a class have in common: ``1``, ``1.0``, ``True`` and the text "1" are the same one."""
    if value in ("True", "False"):
        value = value == "True"
    try:
        return f"{float(value):.17g}"
    except (TypeError, ValueError, OverflowError):
        return str(value)


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table: attributes, at most one label or target, at most one weight."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_names([column.name for column in self.columns])
        if sum(column.kind in ("label", "target") for column in self.columns) > 1:
            raise InputError("the schema has more than one label or target column")
        if sum(column.kind == "weight" for column in self.columns) > 1:
            raise InputError("the schema has more than one weight column")

    @property
    def attributes(self) -> list[Column]:
        """The columns a tree may test."""
        return [column for column in self.columns if column.kind in ATTRIBUTES]

    @property
    def label(self) -> Column | None:
        """The label or target column, if there is one."""
        return next((column for column in self.columns if column.kind in ("label", "target")), None)

    @property
    def weight(self) -> Column | None:
        """The weight column, if there is one."""
        return next((column for column in self.columns if column.kind == "weight"), None)

    @property
    def category_names(self) -> list[str]:
        """The columns to be read as they are written."""
        return [column.name for column in self.columns if column.kind == "category"]

    @property
    def value_bits(self) -> int:
        """Bits of the widest number among the attributes."""
        return max((column.width for column in self.attributes if column.kind != "category"), default=1)

    @property
    def categories(self) -> tuple[int, ...]:
        """Per attribute how many categories it has, 0 for a number; empty if all are numbers."""
        counts = tuple(column.places if column.kind == "category" else 0 for column in self.attributes)
        return counts if any(counts) else ()

    def entries(self) -> list[dict[str, Any]]:
        """The columns as they stand in a file."""
        return [column.entry() for column in self.columns]

    @staticmethod
    def of_entries(entries: Any) -> Schema:
        """The inverse of :meth:`entries`, with what is wrong said clearly."""
        if not isinstance(entries, list) or not entries:
            raise InputError("a schema needs a list of columns: [[column]] tables with name, kind, decimals and bits")
        if len(entries) > MAX_COLUMNS:
            raise InputError(f"{len(entries):,} columns are declared; at most {MAX_COLUMNS:,} are supported")
        columns = []
        for entry in entries:
            unknown = set(entry) - set(Column.__slots__) if isinstance(entry, dict) else {"column"}
            if unknown:
                raise InputError(f"unknown field in the schema: {', '.join(sorted(unknown))}")
            types = {"name": str, "kind": str, "decimals": int, "bits": int, "signed": bool, "classes": list,
                     "categories": list, "missing": bool, "unit": str, "hashed": str}  # fmt: skip
            for field, value in entry.items():
                if not isinstance(value, types[field]) or (types[field] is int and isinstance(value, bool)):
                    raise InputError(
                        f"schema field '{field}' must be {types[field].__name__}, not {type(value).__name__}"
                    )
            if "name" not in entry:
                raise InputError("a schema column has no name")
            classes, categories = entry.get("classes", ()), entry.get("categories", ())
            if any(not isinstance(value, str | int | float) for value in classes):
                raise InputError(f"column '{entry['name']}': classes are text, numbers or truth values")
            lists = {"classes": tuple(classes), "categories": tuple(map(str, categories))}
            columns.append(Column(**(entry | lists)))
        return Schema(tuple(columns))


def merge_schemas(one: Schema, other: Schema) -> Schema:
    """The narrowest schema that holds what both hold: more decimals, and bits enough for either's values with them."""
    if [(c.name, c.kind) for c in one.columns] != [(c.name, c.kind) for c in other.columns]:
        raise InputError("the schemas have different columns or kinds, or the columns in another order")
    return Schema(tuple(_merged(a, b) for a, b in zip(one.columns, other.columns, strict=True)))


def _merged(a: Column, b: Column) -> Column:
    missing = a.missing or b.missing
    if a.kind in ("label", "category"):
        if a.hashed != b.hashed:
            raise InputError(
                f"column '{a.name}': one schema has the names, or hashes of another key; agree on one key for all"
            )
        names = {class_key(name) if a.kind == "label" else name: name for name in (*b.names, *a.names)}
        return replace(a, missing=missing).with_names(sorted_classes(names.values()), a.hashed)
    if a.kind == "date":
        unit = max(a.unit, b.unit, key=UNITS.index)
        signed = a.signed or b.signed
        # As many bits more as the finer unit wants.
        sizes = [c.bits - c.signed + (MICROSECONDS[c.unit] // MICROSECONDS[unit] - 1).bit_length() for c in (a, b)]
        return Column(a.name, "date", bits=max(sizes) + signed, signed=signed, missing=missing, unit=unit)
    decimals, signed = max(a.decimals, b.decimals), a.signed or b.signed
    # A value below 2^k has at most k bits more for every factor of two in the power of ten it is scaled by.
    sizes = [c.bits - c.signed + (10 ** (decimals - c.decimals) - 1).bit_length() for c in (a, b)]
    return Column(a.name, a.kind, decimals, max(sizes) + signed, signed, missing=missing)


def sorted_classes(values: Iterable[Any]) -> list[Any]:
    """Classes in order; as text where they are of several types."""
    found = list(values)
    try:
        return sorted(found)
    except TypeError:
        return sorted(map(str, found))


def check_names(names: Sequence[str]) -> None:
    """Refuse empty tables, too many columns and names that occur twice."""
    if not names:
        raise InputError("the table has no columns")
    if len(names) > MAX_COLUMNS:
        raise InputError(f"{len(names):,} columns are declared; at most {MAX_COLUMNS:,} are supported")
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            raise InputError("a column has an empty name: name every column in the first line")
        if name in seen:
            raise InputError(f"column '{name}' occurs twice: rename one of them")
        seen.add(name)


def read_schema(path: Path) -> Schema:
    """A schema from its TOML file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"there is no schema file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is no readable TOML file: {error}") from None
    return Schema.of_entries(content.get("column"))


def schema_text(schema: Schema) -> str:
    """A schema as TOML."""
    lines = ["# What all owners agree on before anything is shared. A number v is kept as v·10^decimals."]
    for entry in schema.entries():
        lines.append("\n[[column]]")
        # JSON's strings, numbers, booleans and lists are TOML's too.
        lines += [f"{field} = {json.dumps(value, ensure_ascii=False)}" for field, value in entry.items()]
    return "\n".join(lines) + "\n"


def write_schema(schema: Schema, path: Path) -> None:
    """Write a schema file."""
    path.write_text(schema_text(schema), encoding="utf-8")
