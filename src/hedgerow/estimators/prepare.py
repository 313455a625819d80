"""From a plain table and a wish to whole numbers that can be shared, and the public facts of the model to come."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ExactnessError, InputError
from ..models import ModelFacts
from ..sharing import RING64
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
from ..tables.fixed import decimal_text, kept_squared
from ..tables.rounding import rounding_notices
from ..tables.schema import MAX_CLASSES
from ..trees.shape import MAX_MASS, MAX_TARGET_BITS, MAX_VALUE_BITS, MAX_WEIGHT_BITS, TreeShape
from ..trees.train import check_algorithm

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be trained, besides the table: a height, an algorithm, and the rules that end growth before it.

    The numbers of rows may be shares of all rows, as in scikit-learn: 0.1 is a tenth of them, rounded up.
    ``class_weight`` has whole or fractional weights by class, or is "balanced".
    """

    max_depth: int = 5
    algorithm: str = "fast"
    min_samples_split: int | float = 2
    min_samples_leaf: int | float = 1
    min_impurity_decrease: float | str = 0.0
    class_weight: Mapping[Any, Any] | str | None = None
    regression: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Prepared:
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
        bits = self.facts.shape.weight_bits
        return [*found, Publication("weights", "weight", f"weight, {bits} bits")] if bits else found


def most_bits(rows: int) -> int:
    """What is left for a value beside its row number."""
    return min(MAX_VALUE_BITS, RING64.bits - 1 - max(1, (rows - 1).bit_length()))


def most_target_bits(shape: TreeShape) -> int:
    """What the rows leave for a number to be estimated."""
    for bits in range(MAX_TARGET_BITS, 0, -1):
        try:
            replace(shape, classes=0, target_bits=bits, min_impurity_decrease="0")
        except ExactnessError:
            continue
        return bits
    return 0


def prepare(
    names: Sequence[str],
    columns: Sequence[Values],
    target: str,
    labels: Values,
    wish: Wish,
    schema: Schema | None = None,
    weights: Values | None = None,
    categorical: Collection[str] = (),
    insisted: Collection[str] = (),
) -> Prepared:
    """Check a table and turn it into whole numbers, by a schema or by the fewest decimals that keep it exactly.

    ``categorical`` names the columns that are categories where there is no schema, and ``insisted`` those (or the
    label) whose values become public whatever they are. Raises :class:`InputError` with what to do; nothing was shared
    or sent by then.
    """
    if isinstance(wish.max_depth, bool) or not isinstance(wish.max_depth, int | np.integer):
        raise InputError(f"max_depth must be a whole number, not {wish.max_depth!r}")
    rows = len(labels)
    refusals = [] if schema is not None else _refusals(names, columns, categorical, insisted)
    if not wish.regression and target not in insisted and not _lists_classes(schema, target):
        refusals.append(class_refusal(target, labels))
    if any(refusals):
        raise InputError("\n".join(filter(None, refusals)))
    encoded, chosen, rounding = [], [], {}
    roundings: list[str] = []
    for name, values in zip(names, columns, strict=True):
        if schema is not None:
            column = _declared(schema, name)
        elif name in categorical:
            column = propose_category(name, values)
        else:
            column = propose_column(name, values, most_bits(rows)).column
        numbers, error = encode(column, values)
        if error:
            rounding[name] = error
        roundings += rounding_notices(column, values, numbers, error)
        chosen.append(column)
        encoded.append(numbers)
    if not encoded:
        raise InputError("the table has no input attribute: at least one column besides the label is needed")
    if schema is not None and schema.label is not None and schema.label.name != target:
        raise InputError(f"the schema declares '{schema.label.name}' as what is to be learnt, not '{target}'")
    # Where classes have weights, too, both share the bits that are left.
    most = most_weight_bits(rows) // (1 if wish.class_weight is None else 2)
    heavy, error = (None, 0.0) if weights is None else kept_weights(weights, rows, max(1, most))
    if error:
        rounding["sample_weight"] = error
        roundings.append(f"weights were rounded; the largest relative error is {error:.3g}")
    classes: list[Any] = [] if wish.regression else _classes(target, labels, schema)
    attributes = Schema(tuple(chosen))
    shape = TreeShape(
        rows,
        len(encoded),
        int(wish.max_depth),
        attributes.value_bits,
        categories=attributes.categories,
        weight_bits=0 if heavy is None else weight_bits(heavy),
        min_samples_split=max(2, _row_count("min_samples_split", wish.min_samples_split, rows, 2)),
        min_samples_leaf=_row_count("min_samples_leaf", wish.min_samples_leaf, rows, 1),
        min_impurity_decrease=_decimal_text("min_impurity_decrease", wish.min_impurity_decrease),
    )
    if wish.regression:
        if wish.class_weight is not None:
            raise InputError("class_weight needs classes; a number is estimated here")
        label, shape = _with_target(target, labels, schema, shape)
        y, error = encode(label, labels)
        if error:
            rounding[target] = error
        roundings += rounding_notices(label, labels, y, error)
    else:
        hashed = schema.label.hashed if schema is not None and schema.label is not None else ""
        label = Column(target, "label", classes=tuple(classes), hashed=hashed)
        y = class_numbers(target, labels, classes)
        shape = replace(shape, classes=len(classes))
        shape, heavy, error = _with_class_weights(wish.class_weight, classes, y, shape, heavy)
        if error:
            rounding["class_weight"] = error
            roundings.append(f"class weights were rounded; the largest relative error is {error:.3g}")
    check_algorithm(wish.algorithm, shape)
    facts = ModelFacts(shape, Schema((*chosen, label)), target, tuple(classes), wish.algorithm)
    keys = [warning for name, values in zip(names, columns, strict=True) if (warning := key_warning(name, values))]
    return Prepared(np.stack(encoded), y, heavy, facts, rounding, roundings, keys)


def _refusals(
    names: Sequence[str], columns: Sequence[Values], categorical: Collection[str], insisted: Collection[str]
) -> list[str | None]:
    """Of all columns whose values would become public without having been asked for, why they do not."""
    return [
        category_refusal(name, values)
        for name, values in zip(names, columns, strict=True)
        if name in categorical and name not in insisted
    ]


def _lists_classes(schema: Schema | None, target: str) -> bool:
    """Whether a schema has the classes of the target."""
    label = None if schema is None else schema.label
    return label is not None and label.name == target and bool(label.classes)


def public_rules(wish: Wish) -> dict[str, Any]:
    """A wish as a consortium's parties take it: whole numbers, for they must not know the table to understand it."""
    for name, value in (("min_samples_split", wish.min_samples_split), ("min_samples_leaf", wish.min_samples_leaf)):
        if not isinstance(value, int | np.integer):
            raise InputError(f"{name} must be a number of rows for a consortium's datasets, not {value!r}")
    weights = wish.class_weight or {}
    if isinstance(weights, str) or any(int(weight) != weight for weight in weights.values()):
        raise InputError("class_weight must have whole numbers by class for a consortium's datasets; they are public")
    return {
        "max_depth": int(wish.max_depth),
        "algorithm": wish.algorithm,
        "min_samples_split": int(wish.min_samples_split),
        # One row is what a leaf has anyway; the consortium's rules may want more.
        "min_samples_leaf": None if wish.min_samples_leaf == 1 else int(wish.min_samples_leaf),
        "min_impurity_decrease": _decimal_text("min_impurity_decrease", wish.min_impurity_decrease),
        "class_weight": {str(name): int(weight) for name, weight in weights.items()},
    }


def _declared(schema: Schema, name: str) -> Column:
    for column in schema.attributes:
        if column.name == name:
            return column
    raise InputError(f"column '{name}' is not in the schema; it declares {', '.join(c.name for c in schema.columns)}")


def _row_count(name: str, value: Any, rows: int, least: int) -> int:
    """A number of rows, given as such or as a share of all."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{name} must be a number of rows or a share of them, not {value!r}")
    if isinstance(value, float | np.floating):
        if not 0.0 < value <= 1.0:
            raise InputError(f"{name} as a share of the rows must be above 0 and at most 1, not {value!r}")
        return max(least, math.ceil(value * rows))
    return int(value)


def _decimal_text(name: str, value: Any) -> str:
    """A decimal number as it is written, without exponent and needless zeros."""
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("nan")
    if isinstance(value, bool) or not number.is_finite():
        raise InputError(f"{name} must be a number, not {value!r}")
    return decimal_text(number)


def _with_target(target: str, values: Values, schema: Schema | None, shape: TreeShape) -> tuple[Column, TreeShape]:
    """How a number to be estimated is kept: as the schema says, or as exactly as scores stay exact."""

    def shaped(label: Column) -> TreeShape:
        least = kept_squared(label, shape.min_impurity_decrease)
        return replace(shape, classes=0, target_bits=label.bits, min_impurity_decrease=least)

    if schema is not None and schema.label is not None and schema.label.name == target:
        if schema.label.kind != "target":
            raise InputError(f"the schema declares '{target}' as a label of classes, not as a target")
        return schema.label, shaped(schema.label)
    for bits in range(most_target_bits(shape), 0, -1):
        label = propose_column(target, values, bits, "target").column
        try:
            return label, shaped(label)
        except ExactnessError:
            continue
    raise ExactnessError(f"{shape.rows} rows leave no bit for the target '{target}'; use smaller weights or fewer rows")


def kept_weights(weights: Values, rows: int, most: int | None = None) -> tuple[npt.NDArray[np.uint64], float]:
    """Weights as whole numbers from 0 on, and the largest relative error of one that is not 0.

    Whole numbers that fit are kept as they are. Fractions, and larger numbers, are scaled so that the largest becomes
    2^b - 1, for the most bits b that the number of rows leaves (or ``most``), and rounded to the nearest whole number,
    of two equally near ones to the even one; those above 0 become at least 1. The arithmetic is exact.
    """
    values = np.asarray(weights)
    if values.shape != (rows,):
        raise InputError(f"{rows} rows need as many weights, not {values.shape}")
    if values.dtype.kind not in "iubf" or not np.isfinite(values).all() or (values < 0).any():
        raise InputError("weights must be numbers from 0 on")
    if not values.any():
        raise InputError("all weights are 0: there is nothing to learn from")
    most = most or most_weight_bits(rows)
    if (values == np.floor(values)).all() and (values < 1 << MAX_WEIGHT_BITS).all():
        return values.astype(np.uint64), 0.0
    exact = {value: Fraction(value) for value in set(values.tolist())}
    scale = Fraction((1 << most) - 1) / max(exact.values())
    kept = {value: max(int(part > 0), round(part * scale)) for value, part in exact.items()}
    errors = (abs(kept[value] / (part * scale) - 1) for value, part in exact.items() if part)
    return np.array([kept[value] for value in values.tolist()], np.uint64), float(max(errors))


def most_weight_bits(rows: int) -> int:
    """As many bits of a weight as fit, whatever the weights are: their number is public."""
    return max(1, min(MAX_WEIGHT_BITS, (MAX_MASS // rows + 1).bit_length() - 1))


def weight_bits(weights: npt.NDArray[np.uint64]) -> int:
    """Bits of the largest weight."""
    return int(weights.max(initial=1)).bit_length()


def _with_class_weights(
    wanted: Any, classes: Sequence[Any], y: npt.NDArray[np.uint64], shape: TreeShape, heavy: Values | None
) -> tuple[TreeShape, Any, float]:
    """The shape with public class weights, or, for "balanced", rows weighed in secret; and the largest relative error.

    Balanced weights would tell how many rows a class has, so they do not become public.
    """
    if wanted is None:
        return shape, heavy, 0.0
    if isinstance(wanted, str):
        if wanted != "balanced":
            raise InputError(f"class_weight must be 'balanced' or weights by class, not {wanted!r}")
        mass = np.ones(len(y), np.uint64) if heavy is None else heavy
        counts = [int((mass[y == c] > 0).sum()) for c in range(len(classes))]
        exact = [Fraction(1, count) if count else Fraction(1) for count in counts]
        bits = most_weight_bits(shape.rows)
        factors, error = _whole_factors(exact, (1 << max(0, bits - shape.weight_bits)) - 1)
        heavy = (mass * np.array(factors, np.uint64)[y.astype(np.int64)]).astype(np.uint64)
        return replace(shape, weight_bits=bits), heavy, error
    if not isinstance(wanted, Mapping):
        raise InputError(f"class_weight must be 'balanced' or weights by class, not {type(wanted).__name__}")
    known = {class_key(name): _weight(weight) for name, weight in wanted.items()}
    unknown = known.keys() - {class_key(name) for name in classes}
    if len(known) < len(wanted):
        raise InputError("class_weight names a class twice")
    if unknown or any(weight <= 0 for weight in known.values()):
        raise InputError("class_weight must have a positive weight for some or all of the classes, and no others")
    largest = min((1 << MAX_WEIGHT_BITS) - 1, MAX_MASS // shape.mass_bound)
    factors, error = _whole_factors([known.get(class_key(name), Fraction(1)) for name in classes], largest)
    return replace(shape, class_weights=tuple(factors)), heavy, error


def _weight(value: Any) -> Fraction:
    try:
        return Fraction(Decimal(str(value)))
    except (InvalidOperation, ValueError, OverflowError):
        raise InputError(f"a class weight must be a number, not {value!r}") from None


def _whole_factors(exact: Sequence[Fraction], largest: int) -> tuple[list[int], float]:
    """Whole numbers up to ``largest`` in the proportion of the given ones, and the largest relative error."""
    scale = Fraction(math.lcm(*(f.denominator for f in exact)), 1)
    scale /= math.gcd(*(int(f * scale) for f in exact))
    if largest < 1:
        raise ExactnessError("the rows' weights leave no room for class weights; use smaller weights or fewer rows")
    scale = min(scale, Fraction(largest) / max(exact))
    factors = [max(1, round(f * scale)) for f in exact]
    return factors, max(float(abs(factor / (f * scale) - 1)) for factor, f in zip(factors, exact, strict=True))


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
