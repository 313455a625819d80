"""Protocols on vectors: multiply, compare, equal, select, convert. Each declares its cost beside it."""

from .compare import (
    equal,
    equal_cost,
    is_zero,
    less_than,
    less_than_cost,
    opened_top_bit_cost,
    product_sign,
    product_sign_cost,
    reveal_top_bit,
    top_bit,
    top_bit_cost,
)
from .convert import ring_to_bits, ring_to_bits_cost, widen, widen_cost, widen_many
from .cost import Cost, Thirds
from .divide import fraction, fraction_cost
from .gate import bit_and, bit_not, bit_or, gates_cost
from .multiply import dot, dot_cost, inner_products, multiply, multiply_many, square
from .select import (
    bit_to_ring,
    bit_to_ring_cost,
    multiply_bit,
    multiply_bit_cost,
    select,
    select_sum,
    select_sum_cost,
)
from .truncate import truncate, truncate_cost, truncate_many, truncate_many_cost

__all__ = [
    "Cost",
    "Thirds",
    "bit_and",
    "bit_not",
    "bit_or",
    "bit_to_ring",
    "bit_to_ring_cost",
    "dot",
    "dot_cost",
    "equal",
    "equal_cost",
    "fraction",
    "fraction_cost",
    "gates_cost",
    "inner_products",
    "is_zero",
    "less_than",
    "less_than_cost",
    "multiply",
    "multiply_bit",
    "multiply_bit_cost",
    "multiply_many",
    "opened_top_bit_cost",
    "product_sign",
    "product_sign_cost",
    "reveal_top_bit",
    "ring_to_bits",
    "ring_to_bits_cost",
    "select",
    "select_sum",
    "select_sum_cost",
    "square",
    "top_bit",
    "top_bit_cost",
    "truncate",
    "truncate_cost",
    "truncate_many",
    "truncate_many_cost",
    "widen",
    "widen_cost",
    "widen_many",
]
