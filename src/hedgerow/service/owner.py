"""What a data owner does before anything leaves its machine: tables as whole numbers, rules, the order of rows."""

import hmac
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..shares import Numbers
from ..tables import Column, Schema, Table, class_numbers, encode
from ..tables.rounding import rounding_notices
from ..tables.schema import ATTRIBUTES
from .disclosure import OwnerRules
from .vault import share_bytes


def plain_rules(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Rules as JSON has them: dates as text."""
    checked = json.loads(json.dumps(rules, default=lambda value: value.isoformat()))
    OwnerRules.of_entry(checked)
    return dict(checked)


def row_order(key: bytes, identifiers: Iterable[Any]) -> str:
    """An HMAC of row identifiers in their order: owners with the same key compare their orders by it, and nobody else
    learns anything."""
    found = hmac.new(key, b"hedgerow row order", "sha256")
    for identifier in identifiers:
        text = str(identifier).encode()
        found.update(len(text).to_bytes(8, "big") + text)
    return found.hexdigest()


def encoded_column(table: Table, column: Column) -> tuple[npt.NDArray[np.uint64], float]:
    """A column as whole numbers, as a schema declares it, and the largest rounding error."""
    if column.kind == "label":
        return class_numbers(column.name, table.column(column.name), column.classes), 0.0
    return encode(column, _values(table, column))


def _values(table: Table, column: Column) -> npt.NDArray[Any]:
    if column.kind in ATTRIBUTES:
        return table.declared([column])[0]
    return table.attribute(column.name, category=False, missing=False)


def rounding_of_table(table: Table, schema: Schema) -> list[str]:
    """What a schema changes in a table, in words."""
    notices = []
    for column in schema.columns:
        if column.kind not in ("label", "category"):
            notices += rounding_notices(column, _values(table, column), *encoded_column(table, column))
    return notices


def share_chunks(shares: Sequence[Numbers], size: int) -> Iterator[bytes]:
    """The bytes of all shares in pieces of ``size``."""
    buffer = bytearray()
    for part in share_bytes(iter(shares)):
        for start in range(0, len(part), size):
            buffer += part[start : start + size]
            while len(buffer) >= size:
                yield bytes(buffer[:size])
                del buffer[:size]
    if buffer:
        yield bytes(buffer)
