"""Bits as symbols: formulas of ``^``, ``&`` and ``~`` that a :class:`Wiring` lays out as a circuit's stages.

A formula is a sum (exclusive or) of products of bits. Written out it is what one stage of a circuit computes in one
round; :meth:`Wiring.stage` computes some formulas and gives their results back as new bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from .circuit import Circuit, Term


class Formula:
    """A sum of products of bits. A single bit is the simplest of them."""

    __slots__ = ("terms",)

    def __init__(self, terms: Iterable[Term]) -> None:
        self.terms = tuple(terms)

    @property
    def row(self) -> int:
        """The number of the row that a single bit stands for."""
        ((row,),) = self.terms
        return row

    def __xor__(self, other: Formula) -> Formula:
        # A term that stands on both sides cancels.
        return Formula(dict.fromkeys(t for t in (*self.terms, *other.terms) if (t in self.terms) ^ (t in other.terms)))

    def __and__(self, other: Formula) -> Formula:
        parts = (Formula([tuple(sorted({*a, *b}))]) for a in self.terms for b in other.terms)
        return reduce(Formula.__xor__, parts, ZERO)

    def __invert__(self) -> Formula:
        return ONE ^ self


ZERO = Formula([])
ONE = Formula([()])


def product(bits: Iterable[Formula]) -> Formula:
    """The product of all of them."""
    return reduce(Formula.__and__, bits, ONE)


class Wiring:
    """A circuit while it is drawn: its inputs first, then one stage after the other."""

    def __init__(self) -> None:
        self._inputs = 0
        self._stages: list[list[Formula]] = []

    def inputs(self, count: int) -> list[Formula]:
        """The next inputs."""
        if self._stages:
            raise ValueError("inputs come before the first stage")
        self._inputs += count
        return [Formula([(row,)]) for row in range(self._inputs - count, self._inputs)]

    def stage(self, formulas: Sequence[Formula]) -> list[Formula]:
        """Compute formulas in one round; their results are bits for later stages."""
        first = self._inputs + sum(len(stage) for stage in self._stages)
        self._stages.append(list(formulas))
        return [Formula([(row,)]) for row in range(first, first + len(formulas))]

    def circuit(self) -> Circuit:
        """What was drawn."""
        return Circuit(self._inputs, [[formula.terms for formula in stage] for stage in self._stages])


def rows_of(bits: Sequence[Formula]) -> slice | list[int]:
    """The rows of single bits; a slice where they are neighbours."""
    rows = [bit.row for bit in bits]
    if rows == list(range(rows[0], rows[0] + len(rows))):
        return slice(rows[0], rows[0] + len(rows))
    return rows


def carry_of(g: Sequence[Formula], p: Sequence[Formula | None]) -> Formula:
    """The carry out of neighbouring chunks: G = G_2 ^ P_2·G_1 ^ P_2·P_1·G_0."""
    terms = (product([g[k], *(bit for bit in p[k + 1 :] if bit is not None)]) for k in range(len(g)))
    return reduce(Formula.__xor__, terms)


def carry_tree(wiring: Wiring, g: Sequence[Formula], p: Sequence[Formula | None], radices: Sequence[int]) -> Formula:
    """The carry out of the highest of all chunks, from their rows G and P (of the lowest only G is used): neighbours
    join, ``radices`` many at a time, all stages but the last."""
    for radix in radices[:-1]:
        stage: list[Formula] = []
        groups = [(g[low : low + radix], p[low : low + radix], low) for low in range(0, len(g), radix)]
        for part_g, part_p, low in groups:
            if len(part_g) > 1:
                stage.append(carry_of(part_g, part_p))
                if low:
                    stage.append(product(bit for bit in part_p if bit is not None))
        made = iter(wiring.stage(stage))
        joined = [
            (next(made), next(made) if low else None) if len(part_g) > 1 else (part_g[0], part_p[0])
            for part_g, part_p, low in groups
        ]
        g, p = [pair[0] for pair in joined], [pair[1] for pair in joined]
    return carry_of(g, p)


def product_tree(wiring: Wiring, bits: Sequence[Formula], radices: Sequence[int]) -> list[Formula]:
    """Bits whose product is that of all given ones, ``radices`` many at a time, all stages but the last."""
    for radix in radices[:-1]:
        parts = [bits[k : k + radix] for k in range(0, len(bits), radix)]
        made = iter(wiring.stage([product(part) for part in parts if len(part) > 1]))
        bits = [next(made) if len(part) > 1 else part[0] for part in parts]
    return list(bits)
