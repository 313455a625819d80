"""The second sharing, which the paper used: numbers on lines over a prime field. See :mod:`hedgerow.schemes.shamir`."""

from ..schemes.shamir.arithmetic import dot, multiply, on_line, public, replicate_cost, replicated, reveal
from ..schemes.shamir.compare import is_negative, is_negative_cost, is_zero, is_zero_cost
from ..schemes.shamir.convert import MOST_BITS, from_bits, from_ring, from_ring_cost, to_ring, to_ring_cost
