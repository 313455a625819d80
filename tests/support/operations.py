"""Every protocol with its inputs, its plaintext twin and its declared cost, so that each test can go over all of them.

A program is a module-level function: the real party processes import it by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow import oblivious, protocols
from hedgerow.engine import Cost
from hedgerow.protocols import (
    Evaluation,
    LaterInputs,
    SelectByRow,
    Selection,
    SharedInputs,
    Wiring,
    circuit_cost,
    deal,
    dealer_blocks,
    evaluate,
    evaluate_and_select,
    gated_cost,
    refresh,
    reveal,
    reveal_bits,
    sign_chunks,
    sign_formula,
    sign_of,
)
from hedgerow.schemes.replicated import dealing
from hedgerow.shares import (
    RING16,
    RING32,
    RING64,
    RING128,
    Bits,
    Columns,
    Numbers,
    Ring,
    pack_rows,
    reconstruct,
    reconstruct_bits,
    split,
    split_bits,
    unpack_bits,
)
from support import twins as twin


@contextmanager
def dealers(number: int) -> Iterator[None]:
    """Party 0 alone deals for few items; for many ones all three do, here whatever their number."""
    most = dealing.FEW
    dealing.FEW = most if number == 1 else -1
    dealing.dealer_blocks.cache_clear()
    try:
        yield
    finally:
        dealing.FEW = most
        dealing.dealer_blocks.cache_clear()


RINGS = {16: RING16, 32: RING32, 64: RING64, 128: RING128}


@dataclass(frozen=True)
class Operation:
    name: str
    program: Callable[..., Any]
    inputs: str
    """One letter an input: x a number of ``bits`` bits, b a bit, p a permutation."""
    ring: Ring
    bits: int
    expected: Callable[..., Any]
    cost: Callable[[int], Cost] | None

    def __str__(self) -> str:
        return self.name


def share_inputs(operation: Operation, values: list[np.ndarray]) -> list[list[Any]]:
    def share(kind: str, value: np.ndarray) -> list[Any]:
        if kind == "b":
            return list(split_bits(value % 2))
        return list(split(value, RING32 if kind == "p" else operation.ring))

    return [share(kind, value) for kind, value in zip(operation.inputs, values, strict=True)]


def fixed_inputs(operation, length, seed):
    generator = np.random.default_rng(seed)
    values = []
    for kind in operation.inputs:
        if kind == "p":
            values.append(generator.permutation(length).astype(np.uint32))
        else:
            wide = [int.from_bytes(generator.bytes(16), "little") % 2**operation.bits for _ in range(length)]
            values.append(np.array(wide, dtype=object))
    return values


def open_results(results: list[Any]) -> Any:
    """The plain values behind three parties' results; public results must agree."""
    first = results[0]
    if isinstance(first, Numbers):
        return first.ring.decode(reconstruct(results))
    if isinstance(first, Bits):
        return reconstruct_bits(results)
    if isinstance(first, list):
        return [open_results([result[k] for result in results]) for k in range(len(first))]
    assert all(np.array_equal(result, first) for result in results)
    return first


def same(got: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(got) == len(expected) and all(same(g, e) for g, e in zip(got, expected, strict=True))
    return [int(v) for v in np.ravel(got)] == [int(v) for v in np.ravel(expected)]


def multiply(ctx, x, y):
    return protocols.multiply(ctx, x, y)


def dot(ctx, x, y, z):
    return protocols.dot(ctx, [x, y], [z, y])


def square(ctx, x):
    return protocols.square(ctx, x)


def less_than(ctx, x, y):
    return protocols.less_than(ctx, x, y, x.ring.bits - 1)


def lowest_bit(ctx, x):
    return protocols.top_bit(ctx, x, 1)


def less_than_short(ctx, x, y):
    return protocols.less_than(ctx, x, y, 5)


def gated_circuit(chunks):
    """A sign times a bit; then that times the inverted bit, which is 0, plus the bit. Returns the first of them too."""
    wiring = Wiring()
    sign, (gate,) = sign_formula(wiring, chunks, 1)
    (found,) = wiring.stage([gate & sign])
    wiring.stage([found & ~gate ^ gate])
    return wiring.circuit(), found


def gated_choice(ctx, b, x, y):
    sign = sign_of(ctx, x - y, x.ring.bits - 1)
    circuit, found = gated_circuit(sign.chunks)
    evaluation = sign.evaluation(ctx.step("sign"), circuit, b)
    selection = Selection(ctx.step("choose"), Columns.of([x, _short(y)]))
    (chosen,) = evaluate_and_select(ctx, [evaluation], [SelectByRow([found], selection)], after=1)
    return [*chosen.list(), evaluation.last_rows()]


def _gated_choice_cost(ring: Ring, short: Ring) -> Callable[[int], Cost]:
    def declared(count: int) -> Cost:
        circuit, _ = gated_circuit(sign_chunks(count, ring.bits))
        return gated_cost(count, ring.bits, circuit) + protocols.multiply_bit_cost(count, [ring, short]).along()

    return declared


def _drawn(inputs, *stages):
    """A circuit from functions that make a stage's formulas from all bits there are; and the last stage's bits."""
    wiring = Wiring()
    bits = wiring.inputs(inputs)
    for stage in stages:
        made = wiring.stage(stage(*bits))
        bits = [*bits, *made]
    return wiring.circuit(), made


FIVE, _ = _drawn(5, lambda b, c, d, e, f: [~(b & c & d & e & f), b & c ^ d], lambda *bits: [bits[5] & bits[6]])


def five_inputs(ctx, b, c, d, e, f):
    return evaluate(ctx, FIVE, Bits.stack([b, c, d, e, f]))


def _five_expected(*bits):
    b, c, d, e, f = (bit % 2 for bit in bits)
    return (1 ^ (b * c * d * e * f)) * ((b * c) ^ d)


PAIR, BOTH = _drawn(2, lambda b, c: [b & c])
REVERSED, _ = _drawn(3, lambda straight, inverted, b: [straight & b ^ inverted])


def in_reverse(ctx, b, c):
    """b·c of the last item first: as it is, inverted and times b."""
    count, thirds = b.count, dealer_blocks(b.count, single_dealer=True)
    first = Evaluation(ctx.step("first"), PAIR, SharedInputs(Bits.stack([b, c])), thirds)

    def change(rows):
        bits = unpack_bits(rows, count)[:, ::-1]
        return pack_rows(np.concatenate([bits, bits]))

    flipped = pack_rows(np.stack([np.zeros(count, np.uint8), np.ones(count, np.uint8)]))
    second = Evaluation(ctx.step("second"), REVERSED, LaterInputs(first, BOTH, change, b, flipped), thirds)
    evaluate_and_select(ctx, [first, second], [])
    return second.last_rows()


def _in_reverse_expected(b, c):
    both = (b % 2 * (c % 2))[::-1]
    return (both * (b % 2)) ^ (1 - both)


def _in_reverse_cost(count: int) -> Cost:
    return circuit_cost(count, PAIR, single_dealer=True) + circuit_cost(count, REVERSED, single_dealer=True).along(1)


def product_sign(ctx, x, y, z):
    return protocols.product_sign(ctx, [x, -z], [y, y], x.ring.bits, z)


def reveal_sign(ctx, x, y):
    opened = protocols.reveal_top_bit(ctx, x - y, x.ring.bits)
    return unpack_bits(opened, len(x))


def equal(ctx, x, y):
    return protocols.equal(ctx, x, y, x.ring.bits - 1)


def to_bits(ctx, x):
    return protocols.ring_to_bits(ctx, x, x.ring.bits - 1)


def widen32(ctx, x):
    return protocols.widen(ctx, x, RING32)


def widen64(ctx, x):
    return protocols.widen(ctx, x, RING64)


def widen128(ctx, x):
    return protocols.widen(ctx, x, RING128)


def truncate5(ctx, x):
    return protocols.truncate(ctx, x, 5, RING16)


def truncate15(ctx, x):
    return protocols.truncate(ctx, x, 15, RING64)


def truncate_whole(ctx, x):
    return protocols.truncate_many(ctx, [x, x.scale(3)], x.ring.bits, RING64)


def refreshed(ctx, x):
    return refresh(ctx, [x, x])


def bit_to_ring16(ctx, b):
    return protocols.bit_to_ring(ctx, b, RING16)


def bit_to_ring32(ctx, b):
    return protocols.bit_to_ring(ctx, b, RING32)


def bit_to_ring64(ctx, b):
    return protocols.bit_to_ring(ctx, b, RING64)


def fraction(ctx, x, y):
    return protocols.fraction(ctx, x, x + y, 5, 6)


def inner_products(ctx, x, y):
    both = Numbers.concatenate([x, y])
    return protocols.inner_products(ctx, both, both, 2)


def select(ctx, b, x, y):
    return protocols.select(ctx, b, [x, _short(x)], [y, _short(y)])


def select_sum(ctx, b, c, x, y):
    return protocols.select_sum(ctx, [b, c], [[x, _short(y)], [y, _short(x)]])


def bit_and(ctx, a, b):
    return protocols.bit_and(ctx, a, b)


def bit_or(ctx, a, b):
    return protocols.bit_or(ctx, a, b)


def bit_xor(ctx, a, b):
    return a ^ protocols.bit_not(ctx, b)


def public_operands(ctx, x):
    return x.scale(3) + x.prefix_sum() - x


def apply(ctx, p, x):
    return oblivious.apply(ctx, p, [x, x], first=1)


def unapply(ctx, p, x):
    return oblivious.unapply(ctx, p, [x, x], first=2)


def compose(ctx, p, q):
    return oblivious.compose(ctx, p, q)


def invert(ctx, p):
    return oblivious.invert(ctx, p)


def radix(ctx, x):
    return oblivious.radix_permutation(ctx, protocols.ring_to_bits(ctx.step("bits"), x, 5))


def bit_order(ctx, b):
    return oblivious.bit_destinations(ctx.step("order"), protocols.bit_to_ring(ctx, b, RING32))


def sort_one(ctx, x):
    return oblivious.sort_permutation(ctx, [x], [x.ring.bits - 1])


def sort_columns(ctx, x, y):
    return oblivious.sort_permutations(ctx, [x, y], 20)


def sort_two_keys(ctx, x, y):
    return oblivious.sort_permutation(ctx, [x, y], [28, 28])


def sort_values(ctx, x, y):
    return oblivious.sort(ctx, [x], [20], [y, x])


def open_to_all(ctx, x):
    return x.ring.decode(reveal(ctx, x))


def open_bits(ctx, b):
    return unpack_bits(reveal_bits(ctx, b), len(b))


def deal_square(ctx, x):
    known = x.ring.decode(reveal(ctx.step("known"), x))
    squares = known.astype(object) ** 2 % 2**x.ring.bits
    return deal(ctx.step("deal"), 2, squares if ctx.party == 2 else None, x.ring, len(x))


def _dot_cost(ring):
    return lambda n: protocols.dot_cost(n, ring)


def _radix_cost(n):
    return protocols.ring_to_bits_cost(n, 5) + oblivious.radix_cost(n, 5)


def _short(x):
    return x.narrow(min(x.ring, RING32, key=lambda ring: ring.bits))


def _for_ring(ring: Ring) -> list[Operation]:
    k, top = ring.bits, ring.bits - 1
    short = min(ring, RING32, key=lambda ring: ring.bits)
    operations = [
        Operation(f"multiply{k}", multiply, "xx", ring, top, lambda x, y: twin.multiply(x, y, k), _dot_cost(ring)),
        Operation(f"dot{k}", dot, "xxx", ring, top, lambda x, y, z: twin.dot([x, y], [z, y], k), _dot_cost(ring)),
        Operation(f"square{k}", square, "x", ring, top, lambda x: twin.multiply(x, x, k), _dot_cost(ring)),
        Operation(f"less_than{k}", less_than, "xx", ring, top, twin.less_than, lambda n: protocols.less_than_cost(n, top)),
        Operation(f"less_than_short{k}", less_than_short, "xx", ring, 5, twin.less_than, lambda n: protocols.less_than_cost(n, 5)),
        Operation(f"lowest_bit{k}", lowest_bit, "x", ring, top, lambda x: x % 2, lambda n: protocols.top_bit_cost(n, 1)),
        Operation(f"gated_choice{k}", gated_choice, "bxx", ring, top,
                  lambda b, x, y: [b % 2 * (x < y) * x, b % 2 * (x < y) * y % 2**short.bits, b % 2], _gated_choice_cost(ring, short)),
        Operation(f"product_sign{k}", product_sign, "xxx", ring, top, lambda x, y, z: (twin.multiply(x - z, y, k) + z) % 2**k >> top,
                  lambda n: protocols.product_sign_cost(n, ring, k)),
        Operation(f"reveal_top_bit{k}", reveal_sign, "xx", ring, top, twin.less_than, lambda n: protocols.opened_top_bit_cost(n, k)),
        Operation(f"equal{k}", equal, "xx", ring, top, twin.equal, lambda n: protocols.equal_cost(n, top)),
        Operation(f"to_bits{k}", to_bits, "x", ring, top, lambda x: twin.ring_to_bits(x, top), lambda n: protocols.ring_to_bits_cost(n, top)),
        Operation(f"widen128_{k}", widen128, "x", ring, top, lambda x: x, lambda n: protocols.widen_cost(n, ring, RING128)),
        Operation(f"refresh{k}", refreshed, "x", ring, top, lambda x: [x, x], lambda n: Cost.even(1, 2 * n * k // 8)),
        Operation(f"reveal{k}", open_to_all, "x", ring, top, lambda x: x, lambda n: Cost.even(1, n * k // 8)),
        Operation(f"deal{k}", deal_square, "x", ring, top, lambda x: twin.multiply(x, x, k), None),
        Operation(f"public{k}", public_operands, "x", ring, top, lambda x: (2 * x + np.cumsum(x)) % 2**k, lambda n: Cost.even(0, 0)),
        Operation(f"apply{k}", apply, "px", ring, top, lambda p, x: [twin.apply(p, x)] * 2, lambda n: oblivious.apply_cost(n, 1, [k // 8] * 2)),
        Operation(f"unapply{k}", unapply, "px", ring, top, lambda p, x: [twin.unapply(p, x)] * 2, lambda n: oblivious.unapply_cost(n, 2, [k // 8] * 2)),
        Operation(f"radix{k}", radix, "x", ring, 5, lambda x: twin.sort_permutation([x]), _radix_cost),
        Operation(f"select_sum{k}", select_sum, "bbxx", ring, top, lambda b, c, x, y: [(b % 2 * x + c % 2 * y) % 2**k, (b % 2 * y + c % 2 * x) % 2**short.bits],
                  lambda n: protocols.select_sum_cost(n, 2, [ring, short])),
        Operation(f"select{k}", select, "bxx", ring, top, lambda b, x, y: [twin.select(b % 2, x, y), twin.select(b % 2, x, y) % 2**32],
                  lambda n: protocols.multiply_bit_cost(n, [ring, short])),
    ]  # fmt: skip
    if k <= 64:
        operations += [
            Operation(f"inner_products{k}", inner_products, "xx", ring, top, lambda x, y: twin.inner_products([x, y], k), lambda n: protocols.dot_cost(4, ring)),
            Operation(f"fraction{k}", fraction, "xx", ring, 4, lambda x, y: twin.fraction(x, x + y, 6), lambda n: protocols.fraction_cost(n, 5, 6, ring)),
            Operation(f"truncate5_{k}", truncate5, "x", ring, k, lambda x: x % 32, lambda n: protocols.truncate_cost(n, 5, RING16)),
            Operation(f"truncate15_{k}", truncate15, "x", ring, k, lambda x: x % 2**15, lambda n: protocols.truncate_cost(n, 15, RING64)),
            Operation(f"widen64_{k}", widen64, "x", ring, top, lambda x: x, lambda n: protocols.widen_cost(n, ring, RING64)),
        ]  # fmt: skip
    if k <= 32:
        operations += [
            Operation(f"truncate_whole{k}", truncate_whole, "x", ring, k, lambda x: [x % 2**k, 3 * x % 2**k],
                      lambda n: protocols.truncate_many_cost(n, 2, k, RING64)),
            Operation(f"widen32_{k}", widen32, "x", ring, top, lambda x: x, lambda n: protocols.widen_cost(n, ring, RING32)),
        ]  # fmt: skip
    return operations


OPERATIONS: list[Operation] = [operation for ring in RINGS.values() for operation in _for_ring(ring)] + [
    Operation("five_inputs", five_inputs, "bbbbb", RING32, 1, _five_expected, lambda n: circuit_cost(n, FIVE)),
    Operation("in_reverse", in_reverse, "bb", RING32, 1, _in_reverse_expected, _in_reverse_cost),
    Operation("bit_to_ring16", bit_to_ring16, "b", RING16, 1, lambda b: b % 2, lambda n: protocols.bit_to_ring_cost(n, RING16)),
    Operation("bit_to_ring32", bit_to_ring32, "b", RING32, 1, lambda b: b % 2, lambda n: protocols.bit_to_ring_cost(n, RING32)),
    Operation("bit_to_ring64", bit_to_ring64, "b", RING64, 1, lambda b: b % 2, lambda n: protocols.bit_to_ring_cost(n, RING64)),
    Operation("bit_and", bit_and, "bb", RING32, 1, lambda a, b: a * b % 2, lambda n: protocols.gates_cost(1, n)),
    Operation("bit_or", bit_or, "bb", RING32, 1, lambda a, b: a % 2 | b % 2, lambda n: protocols.gates_cost(1, n)),
    Operation("bit_xor", bit_xor, "bb", RING32, 1, lambda a, b: a % 2 ^ b % 2 ^ 1, lambda n: Cost.even(0, 0)),
    Operation("reveal_bits", open_bits, "b", RING32, 1, lambda b: b % 2, lambda n: Cost.even(1, 8 * ((n + 63) // 64))),
    Operation("bit_order", bit_order, "b", RING32, 1, lambda b: twin.sort_permutation([b % 2]),
              lambda n: protocols.bit_to_ring_cost(n, RING32) + protocols.dot_cost(n, RING32)),
    Operation("compose", compose, "pp", RING32, 31, twin.compose, lambda n: oblivious.unapply_cost(n, 0, [4])),
    Operation("invert", invert, "p", RING32, 31, twin.invert, lambda n: oblivious.apply_cost(n, 0, [4])),
]  # fmt: skip

SORTS: list[Operation] = [
    Operation("sort32", sort_one, "x", RING32, 31, lambda x: twin.sort_permutation([x]), None),
    Operation("sort64", sort_one, "x", RING64, 63, lambda x: twin.sort_permutation([x]), None),
    Operation("sort_columns", sort_columns, "xx", RING64, 20, lambda x, y: [twin.sort_permutation([x]), twin.sort_permutation([y])], None),
    Operation("sort_two_keys", sort_two_keys, "xx", RING64, 28, lambda x, y: twin.sort_permutation([x, y]), None),
    Operation("sort_values", sort_values, "xx", RING64, 20, lambda x, y: [twin.apply(twin.sort_permutation([x]), y), np.sort(x)], None),
]  # fmt: skip
