"""The private grouping data structure of HIKC23, Section 3: aggregates inside groups nobody sees.

An internally grouped vector x holds the items of a group next to each other; the group flag vector g has a 1 at the
first item of every group. Both are private. Each function is the paper's algorithm of the same name, line by line.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .box import Private, if_else_many, prefix_sum, prefix_sum_inv, prefix_sum_r, prefix_sum_r_inv, private_or

Less = Callable[[Sequence[Private], Sequence[Private]], Private]


def group_sum(g: Private, x: Private) -> Private:
    """GroupSum (Algorithm 2): every item gets the sum of its group."""
    p = prefix_sum_r(x) * g
    permutation = g.box.sort_perm([~g], [1])
    (p1,) = g.box.apply(permutation, [p])
    s1 = prefix_sum_r_inv(p1)
    d1 = prefix_sum_inv(s1)
    (d,) = g.box.unapply(permutation, [d1])
    return prefix_sum(d * g)


def group_prefix_sum(g: Private, x: Private) -> Private:
    """GroupPrefixSum (Algorithm 3): every item gets the sum of its group up to itself."""
    s = prefix_sum(x)
    before = np.arange(x.n) - 1
    shifted = s[..., np.maximum(before, 0)] * (before >= 0).astype(np.int64)
    q = shifted * g
    return s - group_sum(g, q)


def group_max(g: Private, columns: Sequence[Private], less: Less) -> list[Private]:
    """GroupMax (Algorithm 4) with payload: every item gets the columns of its group's highest item.

    ``less`` compares two rows of columns. Of equal items the first in the group wins, because Max(x, y) keeps x unless
    x < y.
    """
    n = g.n
    flags, rows = g, list(columns)
    for d in range(max(0, (n - 1).bit_length())):
        w = 1 << d
        before = [column[..., : n - w] for column in rows]
        here = [column[..., w:] for column in rows]
        flag_before, flag_here = flags[..., : n - w], flags[..., w:]
        best = if_else_many(less(before, here), here, before)
        chosen = if_else_many(flag_here, here, best)
        rows = [g.box.concatenate(column[..., :w], tail) for column, tail in zip(rows, chosen, strict=True)]
        flags = g.box.concatenate(flags[..., :w], private_or(flag_before, flag_here))
    tail_flags = g.box.concatenate(g[..., 1:], g.box.enc(np.ones((*g.shape[:-1], 1), np.int64)))
    last = tail_flags * g.box.stack(rows)
    spread = group_sum(g, last)
    return [spread[k] for k in range(len(rows))]


def group_first_one(g: Private, b: Private, bits: int) -> Private:
    """GroupFirstOne (Algorithm 6): flags the first 1 of every group; ``bits`` bound the vector's length."""
    s = group_prefix_sum(g, b)
    return g.box.eq(s * b, 1, bits)


def group_same(g: Private, y: Private, bits: int) -> Private:
    """GroupSame (Algorithm 8): 1 where all y of the group are equal."""
    ones = g.box.enc(np.ones(y.shape, np.int64))
    sums = group_sum(g, g.box.stack([ones, ~y, y]))
    same = g.box.eq(g.box.stack([sums[0], sums[0]]), sums[1:3], bits)
    return private_or(same[0], same[1])
