"""From a plain table and rules to whole numbers that can be shared, and the public facts of the model to come."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ExactnessError, InputError
from ..models import ModelFacts
from ..shares import RING64
from ..tables import (
    Column,
    Publication,
    Schema,
    class_key,
    class_numbers,
    encode,
    propose_category,
    propose_column,
    published,
)
from ..tables.disclosure import category_refusal, class_refusal, key_warning
from ..tables.fixed import kept_squared
from ..tables.frame import PlainTable
from ..tables.rounding import rounding_notices
from ..tables.schema import MAX_CLASSES
from ..trees.problem import MAX_TARGET_BITS, MAX_VALUE_BITS, Problem
from ..trees.rules import TrainingRules, check_algorithm
from .weights import kept_weights, most_weight_bits, weight_bits, with_class_weights

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, repr=False)
class EncodedTable:
    """A table ready to be shared: fixed-point attributes ``x[attribute, row]``, class numbers or targets ``y``,
    weights, what is public of it, and per rounded column the largest error.

    ``roundings`` and ``keys`` say in words what was changed and which columns may be keys of persons or cases.
    """

    x: npt.NDArray[np.uint64]
    y: npt.NDArray[np.uint64]
    weights: npt.NDArray[np.uint64] | None
    facts: ModelFacts
    rounding: dict[str, float]
    roundings: list[str]
    keys: list[str]

    @property
    def publications(self) -> list[Publication]:
        """What becomes public, column by column."""
        found = [published(column) for column in self.facts.schema.columns]
        bits = self.facts.problem.weight_bits
        return [*found, Publication("weights", "weight", f"weight, {bits} bits")] if bits else found


@dataclass(slots=True)
class _Roundings:
    """The largest error of every rounded column, and what is to be said of it."""

    errors: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    def encoded(self, column: Column, values: Values) -> npt.NDArray[np.uint64]:
        """A column as whole numbers."""
        numbers, error = encode(column, values)
        if error:
            self.errors[column.name] = error
        self.notices += rounding_notices(column, values, numbers, error)
        return numbers

    def relative(self, name: str, words: str, error: float) -> None:
        """Note the largest relative error of weights."""
        if error:
            self.errors[name] = error
            self.notices.append(f"{words} were rounded; the largest relative error is {error:.3g}")


def most_bits(rows: int) -> int:
    """What is left for a value beside its row number."""
    return min(MAX_VALUE_BITS, RING64.bits - 1 - max(1, (rows - 1).bit_length()))


def most_target_bits(problem: Problem) -> int:
    """What the rows leave for a number to be estimated."""
    for bits in range(MAX_TARGET_BITS, 0, -1):
        try:
            replace(problem, classes=0, target_bits=bits, min_impurity_decrease="0")
        except ExactnessError:
            continue
        return bits
    return 0


def prepare(
    table: PlainTable,
    target: str,
    labels: Values,
    rules: TrainingRules,
    schema: Schema | None = None,
    weights: Values | None = None,
) -> EncodedTable:
    """Check a table and turn it into whole numbers, by a schema or by the fewest decimals that keep it exactly.

    ``table.categorical`` names the columns that are categories where there is no schema, and ``table.asked`` those (or
    the label) whose values become public whatever they are. Raises :class:`InputError` with what to do; nothing was
    shared or sent by then.
    """
    rows, noted = len(labels), _Roundings()
    _refuse_publications(table, target, labels, rules, schema)
    chosen = [_column(table, name, values, rows, schema) for name, values in table.items()]
    x = [noted.encoded(column, values) for column, (_, values) in zip(chosen, table.items(), strict=True)]
    if not x:
        raise InputError("the table has no input attribute: at least one column besides the label is needed")
    if schema is not None and schema.label is not None and schema.label.name != target:
        raise InputError(f"the schema declares '{schema.label.name}' as what is to be learnt, not '{target}'")
    # Where classes have weights, too, both share the bits that are left.
    most = most_weight_bits(rows) // (1 if rules.class_weight is None else 2)
    kept, error = (None, 0.0) if weights is None else kept_weights(weights, rows, max(1, most))
    noted.relative("sample_weight", "weights", error)
    classes: list[Any] = [] if rules.regression else _classes(target, labels, schema)
    attributes = Schema(tuple(chosen))
    problem = Problem(
        rows,
        len(x),
        value_bits=attributes.value_bits,
        categories=attributes.categories,
        weight_bits=0 if kept is None else weight_bits(kept),
        **rules.stopping(rows),
    )
    if rules.regression:
        if rules.class_weight is not None:
            raise InputError("class_weight needs classes; a number is estimated here")
        label, problem = _with_target(target, labels, schema, problem)
        y = noted.encoded(label, labels)
    else:
        hashed = schema.label.hashed if schema is not None and schema.label is not None else ""
        label = Column(target, "label", classes=tuple(classes), hashed=hashed)
        y = class_numbers(target, labels, classes)
        problem = replace(problem, classes=len(classes))
        problem, kept, error = with_class_weights(rules.class_weight, classes, y, problem, kept)
        noted.relative("class_weight", "class weights", error)
    check_algorithm(rules.algorithm, problem)
    facts = ModelFacts(problem, Schema((*chosen, label)), target, tuple(classes), rules.algorithm)
    keys = [warning for name, values in table.items() if (warning := key_warning(name, values))]
    return EncodedTable(np.stack(x), y, kept, facts, noted.errors, noted.notices, keys)


def _refuse_publications(
    table: PlainTable, target: str, labels: Values, rules: TrainingRules, schema: Schema | None
) -> None:
    """Refuse all columns whose values would become public without having been asked for."""
    refusals = []
    if schema is None:
        refusals = [
            category_refusal(name, values)
            for name, values in table.items()
            if name in table.categorical and name not in table.asked
        ]
    if not rules.regression and target not in table.asked and not _lists_classes(schema, target):
        refusals.append(class_refusal(target, labels))
    if any(refusals):
        raise InputError("\n".join(filter(None, refusals)))


def _column(table: PlainTable, name: str, values: Values, rows: int, schema: Schema | None) -> Column:
    """How a column is kept: as the schema says, or as few decimals or categories as keep it exactly."""
    if schema is not None:
        return _declared(schema, name)
    if name in table.categorical:
        return propose_category(name, values)
    return propose_column(name, values, most_bits(rows)).column


def _lists_classes(schema: Schema | None, target: str) -> bool:
    """Whether a schema has the classes of the target."""
    label = None if schema is None else schema.label
    return label is not None and label.name == target and bool(label.classes)


def _declared(schema: Schema, name: str) -> Column:
    for column in schema.attributes:
        if column.name == name:
            return column
    raise InputError(f"column '{name}' is not in the schema; it declares {', '.join(c.name for c in schema.columns)}")


def _with_target(target: str, values: Values, schema: Schema | None, problem: Problem) -> tuple[Column, Problem]:
    """How a number to be estimated is kept: as the schema says, or as exactly as scores stay exact."""

    def shaped(label: Column) -> Problem:
        least = kept_squared(label, problem.min_impurity_decrease)
        return replace(problem, classes=0, target_bits=label.bits, min_impurity_decrease=least)

    if schema is not None and schema.label is not None and schema.label.name == target:
        if schema.label.kind != "target":
            raise InputError(f"the schema declares '{target}' as a label of classes, not as a target")
        return schema.label, shaped(schema.label)
    for bits in range(most_target_bits(problem), 0, -1):
        label = propose_column(target, values, bits, "target").column
        try:
            return label, shaped(label)
        except ExactnessError:
            continue
    raise ExactnessError(
        f"{problem.rows} rows leave no bit for the target '{target}'; use smaller weights or fewer rows"
    )


def _classes(target: str, labels: Values, schema: Schema | None) -> list[Any]:
    """The class values, sorted; where a schema lists them, those it lists."""
    if labels.dtype == object and any(value is None for value in labels):
        raise InputError(f"the label column '{target}' has missing values; drop those rows first")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(f"the label column '{target}' has missing values; drop those rows first")
    classes: list[Any] = np.unique(labels).tolist()
    if schema is not None and schema.label is not None and schema.label.name == target and schema.label.classes:
        declared = {class_key(name): name for name in schema.label.classes}
        known = {class_key(value): value for value in classes}
        if not known.keys() <= declared.keys():
            raise InputError(f"the label column '{target}' has a class the schema does not list")
        as_found = type(classes[0])
        try:
            classes = sorted(known[key] if key in known else as_found(name) for key, name in declared.items())
        except ValueError:
            classes = sorted(declared.values())
    elif len(classes) == 1:
        raise InputError(f"the label column '{target}' has one class only: there is nothing to learn")
    if not all(isinstance(value, str | int | float) for value in classes):
        raise InputError(f"the label column '{target}' must hold text, numbers or truth values")
    if len(classes) > MAX_CLASSES:
        raise InputError(
            f"'{target}' has {len(classes):,} classes; at most {MAX_CLASSES:,} are supported. Is it a number to be "
            "estimated? Then train a regression tree"
        )
    return classes
