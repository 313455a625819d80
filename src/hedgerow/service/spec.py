"""What a job is: a specification that all three parties derive for themselves and compare by its hash."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError
from ..models import ModelFacts
from ..tables import Schema, class_key
from ..tables.fixed import kept_squared
from ..trees.problem import Problem
from ..trees.rules import SYNONYMS, TrainingRules, check_algorithm


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


RULES: dict[str, Any] = TrainingRules().public() | {"min_samples_leaf": 1, "min_rows": 1, "min_count": 1}
DEFAULT_HEIGHT = RULES["max_depth"]
TRAINING = ("combine", "target", *RULES)
"""What a training job says besides its datasets."""


def training_facts(spec: Mapping[str, Any], schema: Schema, rows: int) -> ModelFacts:
    """The public facts of the model a training job makes."""
    spec = RULES | dict(spec)
    target, label, weight = spec["target"], schema.label, schema.weight
    if label is None or label.name != target:
        raise InputError(f"'{target}' is not the label or target column of the dataset's schema")
    if label.kind == "label" and len(label.classes) < 2:
        raise InputError(f"'{target}' has {len(label.classes)} classes in the schema; at least two are needed")
    problem = Problem(
        rows,
        len(schema.attributes),
        spec["max_depth"],
        schema.value_bits,
        classes=len(label.classes),
        target_bits=label.bits if label.kind == "target" else 0,
        weight_bits=weight.bits if weight else 0,
        categories=schema.categories,
        min_samples_split=spec["min_samples_split"],
        min_samples_leaf=spec["min_samples_leaf"],
        min_impurity_decrease=kept_squared(label, spec["min_impurity_decrease"]),
        class_weights=_class_weights(spec["class_weight"], label.classes),
        criterion=SYNONYMS.get(spec["criterion"], spec["criterion"]),
    )
    check_algorithm(spec["algorithm"], problem)
    ordered = Schema((*schema.attributes, label))
    return ModelFacts(problem, ordered, target, label.classes, spec["algorithm"], spec["id"])


def _class_weights(wanted: Mapping[str, int], classes: Sequence[str]) -> tuple[int, ...]:
    """Weights in the order of the classes; a class without one weighs one."""
    known = {class_key(name): weight for name, weight in wanted.items()}
    if len(known) != len(wanted):
        raise InputError("class_weight names a class twice")
    if known.keys() - {class_key(name) for name in classes}:
        raise InputError("class_weight names a class that is not in the schema")
    return tuple(known.get(class_key(name), 1) for name in classes) if known else ()
