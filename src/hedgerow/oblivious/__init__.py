"""Secret permutations: applying and undoing them, stable sorts, the best item of secret segments."""

from .destination import bit_destinations, digit_destinations, digit_destinations_cost
from .permutation import apply, apply_cost, compose, invert, place, unapply, unapply_cost
from .radix import radix_cost, radix_permutation
from .segmented_max import FAN_IN, segment_best, segment_best_cost
from .sort import sort, sort_permutation, sort_permutations, sort_tables
