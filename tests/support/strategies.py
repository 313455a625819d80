"""Hypothesis strategies for vectors of ring numbers with their edge values."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from support.twins import Vector

LENGTHS = st.sampled_from([0, 1, 2, 3, 63, 64, 65, 100, 127, 193])


def numbers(bits: int) -> st.SearchStrategy[int]:
    """Numbers below ``2**bits``, edges often."""
    edges = [0, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1]
    return st.one_of(st.sampled_from(edges), st.integers(0, 2**bits - 1))


@st.composite
def vectors(draw: Any, bits: int, count: int = 1) -> list[Vector]:
    """``count`` vectors of one length; where there are several, some items are equal."""
    length = draw(LENGTHS)
    palette = draw(st.lists(numbers(bits), min_size=1, max_size=12))
    picks = [draw(st.lists(st.sampled_from(palette), min_size=length, max_size=length)) for _ in range(count)]
    return [np.array(pick, dtype=object) for pick in picks]


@st.composite
def permutations(draw: Any) -> Vector:
    """A permutation of a sampled length."""
    length = draw(LENGTHS)
    return np.array(draw(st.permutations(range(length))), dtype=np.uint32)
