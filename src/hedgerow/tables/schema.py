"""What owners agree on before anything is shared: every column's name, kind, decimals and bits. A small TOML file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError

MAX_COLUMNS = 10_000
MAX_BITS = 62
KINDS = ("number", "label")


@dataclass(frozen=True, slots=True)
class Column:
    """One column. A number v is kept as the whole number v·10^decimals, in ``bits`` bits (one of them the sign where
    ``signed``); a label is one of ``classes``, kept as its place in the list."""

    name: str
    kind: str = "number"
    decimals: int = 0
    bits: int = 1
    signed: bool = False
    classes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a schema column has no name")
        if self.kind not in KINDS:
            raise InputError(f"column '{self.name}': unknown kind '{self.kind}'; choose one of {', '.join(KINDS)}")
        if self.kind == "number" and not 1 <= self.bits <= MAX_BITS:
            raise InputError(f"column '{self.name}': {self.bits} bits; a number has 1 to {MAX_BITS}")
        if self.kind == "number" and not -300 <= self.decimals <= 300:
            raise InputError(f"column '{self.name}': {self.decimals} decimals; choose -300 to 300")
        if self.kind == "label" and len(set(self.classes)) != len(self.classes):
            raise InputError(f"column '{self.name}': a class is listed twice")

    @property
    def offset(self) -> int:
        """What is added so that no value is negative."""
        return 1 << (self.bits - 1) if self.signed else 0

    def entry(self) -> dict[str, Any]:
        """The column as it stands in the file."""
        if self.kind == "label":
            return {"name": self.name, "kind": self.kind, "classes": list(self.classes)}
        fields = {"name": self.name, "kind": self.kind, "decimals": self.decimals, "bits": self.bits}
        return fields | ({"signed": True} if self.signed else {})


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, attributes and at most one label."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_names([column.name for column in self.columns])
        if sum(column.kind == "label" for column in self.columns) > 1:
            raise InputError("the schema has more than one label column")

    @property
    def attributes(self) -> list[Column]:
        """The columns a tree may test."""
        return [column for column in self.columns if column.kind != "label"]

    @property
    def label(self) -> Column | None:
        """The label column, if there is one."""
        return next((column for column in self.columns if column.kind == "label"), None)

    @property
    def value_bits(self) -> int:
        """Bits of the widest attribute."""
        return max((column.bits for column in self.attributes), default=1)

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
            types = {"name": str, "kind": str, "decimals": int, "bits": int, "signed": bool, "classes": list}
            for field, value in entry.items():
                if not isinstance(value, types[field]) or (types[field] is int and isinstance(value, bool)):
                    raise InputError(f"schema field '{field}' must be {types[field].__name__}, not {value!r}")
            if "name" not in entry:
                raise InputError("a schema column has no name")
            classes = tuple(str(name) for name in entry.get("classes", ()))
            columns.append(Column(**(entry | {"classes": classes})))
        return Schema(tuple(columns))


def merge_schemas(one: Schema, other: Schema) -> Schema:
    """The narrowest schema that holds what both hold: more decimals, and bits enough for either's values with them."""
    if [(c.name, c.kind) for c in one.columns] != [(c.name, c.kind) for c in other.columns]:
        raise InputError("the schemas have different columns or kinds, or the columns in another order")
    columns = []
    for a, b in zip(one.columns, other.columns, strict=True):
        if a.kind == "label":
            columns.append(Column(a.name, "label", classes=tuple(sorted({*a.classes, *b.classes}))))
            continue
        decimals, signed = max(a.decimals, b.decimals), a.signed or b.signed
        # A value below 2^k has at most k bits more for every factor of two in the power of ten it is scaled by.
        sizes = [c.bits - c.signed + (10 ** (decimals - c.decimals) - 1).bit_length() for c in (a, b)]
        columns.append(Column(a.name, "number", decimals, max(sizes) + signed, signed))
    return Schema(tuple(columns))


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
