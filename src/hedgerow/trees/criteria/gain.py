"""Only splits that lower the impurity enough."""

from dataclasses import replace

from ... import protocols as mpc
from ...engine import FREE, Context, Cost
from ...shares import RING64, Numbers, padded
from ..problem import Problem
from .base import PlaceWinners


def require_gain(
    ctx: Context, problem: Problem, found: PlaceWinners, mass: Numbers, squares: Numbers, whole: Numbers
) -> PlaceWinners:
    """Only candidates that lower the impurity by the problem's least decrease, and in regression at all.

    ``mass`` is the node's weight s, ``squares`` its Σs_c² and ``whole`` the root's weight W. The impurity of all rows
    falls by f·(p/q - Σs_c²/s)/W, which is at least a/b if f·b·(p·s - Σs_c²·q) - a·W·q·s is not negative: whole numbers.
    Cost: :func:`require_gain_cost`. Reveals: nothing beyond shapes.
    """
    least, bounds = problem.least_decrease, problem.bounds
    assert found.q is not None
    columns = [found.p, squares, mass, found.q]
    if least:
        columns.append(mpc.multiply(ctx.step("whole"), mass, whole))
    p, squares, mass, q, *product = mpc.widen_many(ctx.step("widen"), columns, bounds.gain_ring)
    factor = bounds.gain_factor * least.denominator
    xs, ys = [p.scale(factor), -squares.scale(factor)], [mass, q]
    if product:
        xs.append(-product[0].scale(least.numerator))
        ys.append(q)
    minus_one = None if least else -mpc.public(ctx, [1], bounds.gain_ring)
    enough = mpc.bit_not(ctx, mpc.product_sign(ctx.step("gain"), xs, ys, bounds.gain_bits + 2, minus_one))
    return replace(found, candidate=mpc.bit_and(ctx.step("worth"), found.candidate, enough))


def require_gain_cost(problem: Problem) -> Cost:
    """Cost of :func:`require_gain`."""
    length, bounds = padded(problem.rows), problem.bounds
    columns = [bounds.score_ring, bounds.score_ring, RING64, RING64]
    cost = FREE
    if problem.least_decrease:
        cost += mpc.dot_cost(length, RING64)
        columns.append(RING64)
    others = sum(column != bounds.gain_ring for column in columns)
    cost += mpc.widen_cost(others * length, RING64, bounds.gain_ring) if others else FREE
    return cost + mpc.product_sign_cost(length, bounds.gain_ring, bounds.gain_bits + 2) + mpc.gates_cost(1, length)
