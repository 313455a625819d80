"""Secret permutations: shuffles, applying and undoing them, stable sorts."""

from .destination import bit_destinations, digit_destinations, digit_destinations_cost
from .permutation import apply, apply_cost, compose, invert, place, unapply, unapply_cost
from .radix import radix_cost, radix_permutation
from .shuffle import Load, Shuffle, draw_shuffle, shuffle_cost, shuffle_loads
from .sort import sort, sort_permutation, sort_permutations, sort_tables

__all__ = [
    "Load",
    "Shuffle",
    "apply",
    "apply_cost",
    "bit_destinations",
    "compose",
    "digit_destinations",
    "digit_destinations_cost",
    "draw_shuffle",
    "invert",
    "place",
    "radix_cost",
    "radix_permutation",
    "shuffle_cost",
    "shuffle_loads",
    "sort",
    "sort_permutation",
    "sort_permutations",
    "sort_tables",
    "unapply",
    "unapply_cost",
]
