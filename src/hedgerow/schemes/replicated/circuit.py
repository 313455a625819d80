"""Bit circuits: stages of sums of products, one round per stage. :mod:`.formula` draws them, :mod:`.evaluation` runs
them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

import numpy as np

from ...engine import Cost
from ...kernels import product as product_kernels
from ...shares import Index, words_for
from .dealing import dealer_blocks

Term = tuple[int, ...]
"""Rows to be multiplied; an empty term is the constant 1."""
Output = tuple[Term, ...]
"""Products to be added."""


@dataclass(frozen=True, slots=True)
class StageTables:
    """A stage as the kernel wants it; see :func:`hedgerow.kernels.product.evaluate_products`."""

    outputs: Index
    first: Index
    rows: Index
    places: Index

    def __len__(self) -> int:
        """Results of the stage."""
        return len(self.outputs) - 1


class Circuit:
    """Stages of results. Rows are numbered: first the inputs, then the results of one stage after the other."""

    def __init__(self, inputs: int, stages: Sequence[Sequence[Output]]) -> None:
        self.inputs = inputs
        sizes = [len(stage) for stage in stages]
        self.bounds = list(accumulate(sizes, initial=inputs))
        self.results = sum(sizes)
        self._products: dict[Term, int] = {}
        for stage, known in zip(stages, self.bounds, strict=False):
            for term in (term for output in stage for term in output):
                if len(term) > product_kernels.LARGEST or not all(0 <= row < known for row in term):
                    raise ValueError(f"a stage after {known} rows cannot multiply the rows {term}")
        self.tables = [self._stage(stage) for stage in stages]
        self.product_first = np.array([0, *accumulate(len(t) for t in self._products)], np.int64)
        self.product_rows = np.array([row for t in self._products for row in t], np.int64)

    @property
    def last(self) -> slice:
        """The results of the last stage."""
        return slice(self.bounds[-2], self.bounds[-1])

    @property
    def products(self) -> int:
        """Products of masks that are dealt."""
        return len(self._products)

    def _stage(self, stage: Sequence[Output]) -> StageTables:
        terms = [tuple(sorted(term)) for output in stage for term in output]
        places = np.zeros((len(terms), 1 << product_kernels.LARGEST), np.int64)
        for t, term in enumerate(terms):
            for size in range(1, len(term) + 1):
                for chosen in combinations(range(len(term)), size):
                    rows = tuple(term[i] for i in chosen)
                    found = rows[0] if size == 1 else self._products.setdefault(rows, len(self._products))
                    places[t, sum(1 << i for i in chosen)] = found
        flat = [row for term in terms for row in term]
        outputs, first = ([0, *accumulate(len(x) for x in xs)] for xs in (stage, terms))
        return StageTables(
            np.array(outputs, np.int64), np.array(first, np.int64), np.array(flat, np.int64), places.reshape(-1)
        )


def circuit_cost(
    count: int, circuit: Circuit, dealt: int = 0, fresh: int = 0, opened: bool = False, single_dealer: bool = False
) -> Cost:
    """Cost of an :class:`.evaluation.Evaluation` whose inputs deal ``dealt`` rows and make ``fresh`` ones."""
    blocks = dealer_blocks(count, single_dealer)
    twice = len(circuit.tables[-1]) if opened else 0

    def sent(party: int) -> int:
        own = blocks.width(party)
        answered = (fresh + circuit.results + twice) * (words_for(count) - own)
        return 8 * ((dealt + circuit.products) * own + answered)

    return Cost.by_party(1 + (fresh > 0) + len(circuit.tables), sent)
