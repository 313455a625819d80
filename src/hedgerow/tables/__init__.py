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

# Most of them bring pyarrow with them, which parties do not need.
__getattr__ = lazy_names(__name__, __file__)
