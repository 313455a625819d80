"""Tables in the clear, at their owner: files, schemas, fixed-point numbers. Nothing here is shared or sent."""

from .fixed import class_numbers, encode, encode_doubled, propose_category, propose_column
from .reader import Table, read_table
from .schema import Column, Schema, class_key, merge_schemas, read_schema, write_schema

__all__ = [
    "Column",
    "Schema",
    "Table",
    "class_key",
    "class_numbers",
    "encode",
    "encode_doubled",
    "merge_schemas",
    "propose_category",
    "propose_column",
    "read_schema",
    "read_table",
    "write_schema",
]
