"""Tables in the clear, at their owner: files, schemas, fixed-point numbers. Nothing here is shared or sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .disclosure import Publication, published
    from .fixed import class_numbers, encode, encode_doubled, propose_category, propose_column
    from .names import NameKey, hide_table, read_book, write_book
    from .reader import Reading, Table, read_table
    from .schema import Column, Schema, class_key, merge_schemas, read_schema, write_schema

__all__ = [
    "Column",
    "NameKey",
    "Publication",
    "Reading",
    "Schema",
    "Table",
    "class_key",
    "class_numbers",
    "encode",
    "encode_doubled",
    "hide_table",
    "merge_schemas",
    "propose_category",
    "propose_column",
    "published",
    "read_book",
    "read_schema",
    "read_table",
    "write_book",
    "write_schema",
]

# Most of them bring pyarrow with them, which parties do not need.
__getattr__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(("Publication", "published"), "disclosure"),
        **dict.fromkeys(("class_numbers", "encode", "encode_doubled", "propose_category", "propose_column"), "fixed"),
        **dict.fromkeys(("NameKey", "hide_table", "read_book", "write_book"), "names"),
        **dict.fromkeys(("Reading", "Table", "read_table"), "reader"),
        **dict.fromkeys(("Column", "Schema", "class_key", "merge_schemas", "read_schema", "write_schema"), "schema"),
    },
)
