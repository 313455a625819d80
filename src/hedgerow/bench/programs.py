"""What the parties run in the engine's benchmarks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import protocols as mpc
from ..engine import Context
from ..oblivious import apply, radix_permutation, sort_permutations, unapply
from ..parties.training import train_tree
from ..shares import RING32, RING64, RING128, Bits, Numbers
from ..transport import NETWORKS
from ..trees.problem import Problem
from ..trees.shared_tree import SharedTree
from ..trees.table import TrainingTable

Primitive = Callable[[Context, Numbers, Numbers, Bits], Any]

PRIMITIVES: dict[str, Primitive] = {
    "multiply 2^64": lambda ctx, x, y, b: mpc.multiply(ctx, x, y),
    "multiply 2^32": lambda ctx, x, y, b: mpc.multiply(ctx, x.narrow(RING32), y.narrow(RING32)),
    "less-than 63 bits (2^64)": lambda ctx, x, y, b: mpc.less_than(ctx, x, y, 63),
    "top bit of 64": lambda ctx, x, y, b: mpc.top_bit(ctx, x, 64),
    "less-than 31 bits (2^32)": lambda ctx, x, y, b: mpc.less_than(ctx, x.narrow(RING32), y.narrow(RING32), 31),
    "equal 64 bits": lambda ctx, x, y, b: mpc.equal(ctx, x, y, 64),
    "bit to ring 2^64": lambda ctx, x, y, b: mpc.bit_to_ring(ctx, b, RING64),
    "bit to ring 2^32": lambda ctx, x, y, b: mpc.bit_to_ring(ctx, b, RING32),
    "select 2^64": lambda ctx, x, y, b: mpc.select(ctx, b, [x], [y]),
    "ring to bits 64": lambda ctx, x, y, b: mpc.ring_to_bits(ctx, x, 64),
    "widen 2^64 to 2^128": lambda ctx, x, y, b: mpc.widen(ctx, x, RING128),
    "reveal 2^64": lambda ctx, x, y, b: mpc.reveal(ctx, x),
}


def run_primitive(ctx: Context, name: str, x: Numbers, y: Numbers, bit: Bits) -> None:
    """Run one primitive by name; the result stays at the party."""
    PRIMITIVES[name](ctx.step(name), x, y, bit)


def run_permutation(ctx: Context, name: str, permutation: Numbers, x: Numbers) -> None:
    """Apply or unapply a secret permutation to one 64-bit column."""
    {"apply": apply, "unapply": unapply}[name](ctx.step(name), permutation, [x])


def run_rounds(ctx: Context, count: int) -> None:
    """Pass eight bytes around ``count`` times."""
    token = np.zeros(8, np.uint8)
    for _ in range(count):
        ctx.pass_left(token)


def run_sort(ctx: Context, key: Numbers, bits: int, method: str) -> Numbers:
    """The stable sort permutation by revealed comparisons (``compare``) or radix passes (``radix1``…``radix3``)."""
    if method == "compare":
        return sort_permutations(ctx.step("sort"), [key], bits)[0]
    rows = mpc.ring_to_bits(ctx.step("bits"), key, bits)
    return radix_permutation(ctx.step("sort"), rows, digit=int(method[-1]))


def run_train(
    ctx: Context,
    table: TrainingTable,
    problem: Problem,
    algorithm: str,
    network: str = "loopback",
    sharing: str = "replicated",
) -> SharedTree:
    """Train a tree; its shares go back to their owner."""
    return train_tree(ctx, table, problem, algorithm, NETWORKS[network], sharing=sharing)
