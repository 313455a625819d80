"""What anybody may know about a model: its shape, the schema of its table, the names of its classes."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..tables import Schema, class_numbers, encode_doubled
from ..trees.shape import TreeShape


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The public part of a model. ``classes`` are plain values: numbers, text or booleans."""

    shape: TreeShape
    schema: Schema
    target: str
    classes: tuple[Any, ...]
    algorithm: str = "fast"
    identity: str = field(default_factory=lambda: secrets.token_hex(16))

    @property
    def attribute_names(self) -> list[str]:
        """Names of the attributes, in the order of their numbers."""
        return [column.name for column in self.schema.attributes]

    def labels(self, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Class values for class numbers."""
        return np.asarray(self.classes)[numbers.astype(np.int64)]

    def doubled(self, columns: Sequence[npt.NDArray[Any]]) -> list[npt.NDArray[np.uint64]]:
        """Plain rows, column by column, as prediction wants them."""
        attributes = self.schema.attributes
        if len(columns) != len(attributes):
            raise InputError(f"the model has {len(attributes)} attributes, the rows have {len(columns)}")
        return [encode_doubled(column, values) for column, values in zip(attributes, columns, strict=True)]

    def class_numbers(self, labels: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
        """Every label's place in the list of classes."""
        return class_numbers(self.target, labels, self.classes)

    def entry(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        return {
            "identity": self.identity,
            "algorithm": self.algorithm,
            "shape": asdict(self.shape),
            "target": self.target,
            "classes": list(self.classes),
            "columns": self.schema.entries(),
        }

    @staticmethod
    def of_entry(entry: Any) -> ModelFacts:
        """The inverse of :meth:`entry`; raises :class:`InputError` on anything else."""
        try:
            shape = {name: entry["shape"][name] for name in ("rows", "attributes", "height", "value_bits")}
            classes = tuple(entry["classes"])
            plain = all(type(value) is int for value in shape.values())
            plain = plain and len(classes) == 2 and all(isinstance(value, str | int | float) for value in classes)
            if not plain:
                raise InputError("the model's manifest contradicts itself")
            facts = ModelFacts(
                TreeShape(**shape),
                Schema.of_entries(entry["columns"]),
                str(entry["target"]),
                classes,
                str(entry["algorithm"]),
                str(entry["identity"]),
            )
        except (KeyError, TypeError) as error:
            raise InputError(f"the model's manifest is incomplete ({type(error).__name__})") from None
        fits = facts.shape.attributes == len(facts.schema.attributes)
        if not (fits and facts.shape.value_bits == facts.schema.value_bits):
            raise InputError("the model's manifest contradicts itself")
        return facts
