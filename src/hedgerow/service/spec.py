"""What a job is: a specification that all three parties derive for themselves and compare by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from ..errors import InputError
from ..models import ModelFacts
from ..tables import Schema
from ..trees.shape import TreeShape


def digest(value: Any) -> str:
    """SHA-256 of a plain value in canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def combined_schema(schemas: Sequence[Schema], rows: Sequence[int], combine: str) -> tuple[Schema, int]:
    """Schema and rows of several tables: ``rows`` puts them below each other, ``columns`` side by side."""
    if combine == "rows":
        if any(schema != schemas[0] for schema in schemas):
            raise InputError("the datasets have different schemas, so their rows cannot be pooled")
        return schemas[0], sum(rows)
    if len(set(rows)) != 1:
        raise InputError("the datasets have different numbers of rows, so they cannot be put side by side")
    return Schema(tuple(column for schema in schemas for column in schema.columns)), rows[0]


def training_facts(job: str, schema: Schema, rows: int, target: str, height: int, algorithm: str) -> ModelFacts:
    """The public facts of the model a training job makes."""
    label = schema.label
    if label is None or label.name != target:
        raise InputError(f"'{target}' is not the label column of the dataset's schema")
    if len(label.classes) != 2:
        raise InputError(f"'{target}' has {len(label.classes)} classes in the schema; two are supported")
    shape = TreeShape(rows, len(schema.attributes), height, schema.value_bits)
    ordered = Schema((*schema.attributes, label))
    return ModelFacts(shape, ordered, target, label.classes, algorithm, job)
