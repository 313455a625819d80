"""Evaluating a circuit on shared bits, stage by stage, one round per stage: gates of up to five inputs.

Every shared bit is a masked one. Of a block's bits the *dealer* knows two summands, their mask m; the two answering
parties know the third, the value v = x ^ m, and one half of the mask each. A product of bits is a sum of values times
products of masks (see :mod:`hedgerow.kernels.product`). The masks of a stage's results are drawn before anything is
evaluated. So the dealer shares all products of masks of all stages in one packet, and needs to get nothing; in every
stage the other two evaluate locally and exchange their halves of the results' values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...engine import Context, Round, Steps, run
from ...kernels import product as product_kernels
from ...shares import Bits, Words, clear_padding
from .circuit import Circuit, StageTables
from .dealing import NEXT, NOTHING, OWN, PREVIOUS, DealerBlocks, Dealing, dealer_blocks
from .formula import Formula, rows_of

Rows = slice | list[int]
"""Numbers of rows."""


@dataclass(slots=True)
class Block:
    """One party's part of one dealer's block: masks and values of all rows, as far as it knows them.

    Of its own block a party knows both halves of every mask; of another's one half, which it has in common with the
    dealer, and, after its stage, the value.
    """

    role: int
    words: slice
    near_mask: Words
    far_mask_or_value: Words

    @property
    def constant(self) -> bool:
        """Whether this party adds what has no mask."""
        return self.role == NEXT


class Inputs(Protocol):
    """Where a circuit's inputs come from: some of them shared from the start, others made on the way."""

    @property
    def dealt_rows(self) -> int:
        """Rows the dealer of a block shares for the inputs."""

    @property
    def fresh_rows(self) -> int:
        """How many of the inputs, the first ones, get masks drawn."""

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Write what is dealt, masked, and the other inputs of this party's own block."""

    def opening(self) -> Round:
        """What else is sent in the round of the dealing."""

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """Write this party's halves of the fresh inputs, masked, and the other inputs of another party's block."""


class SharedInputs:
    """Rows that are shared already."""

    dealt_rows = fresh_rows = 0

    def __init__(self, rows: Bits) -> None:
        self.rows = rows

    def fill(self, block: Block, start: int) -> None:
        """Write the block's rows from number ``start`` on."""
        stop = start + self.rows.rows
        left, right = self.rows.left[:, block.words], self.rows.right[:, block.words]
        near, far = (left, right) if block.role == NEXT else (right, left)
        block.near_mask[start:stop], block.far_mask_or_value[start:stop] = near, far

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Copies the shared inputs; there are no dealt rows."""
        self.fill(block, 0)

    def opening(self) -> Round:
        """Nothing else is sent."""
        return Round()

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """Copies the shared inputs; there are no fresh rows."""
        self.fill(block, 0)


class LaterInputs(SharedInputs):
    """Rows of another circuit that is evaluated before this one, with their bits put elsewhere, then rows that are
    shared. Bits stay in their dealer's block, so there must be one dealer only.

    ``change`` makes packed rows from packed rows; where the bit of ``flipped`` is set, the result is inverted.
    """

    def __init__(
        self,
        earlier: Evaluation,
        bits: Sequence[Formula],
        change: Callable[[Words], Words],
        shared: Bits,
        flipped: Words | None = None,
    ) -> None:
        super().__init__(shared)
        if not earlier.blocks.single_dealer:
            raise ValueError("a circuit can continue with another one's rows only with a single dealer")
        self.earlier, self.bits, self.change, self.flipped = earlier, rows_of(bits), change, flipped

    def fill(self, block: Block, start: int) -> None:
        """Write the other circuit's rows, then those that are shared."""
        source = self.earlier.parts[block.role]
        assert source is not None
        near, far = self.change(source.near_mask[self.bits]), self.change(source.far_mask_or_value[self.bits])
        if self.flipped is not None and block.role != OWN:
            far = far ^ self.flipped
        block.near_mask[: len(near)], block.far_mask_or_value[: len(far)] = near, far
        super().fill(block, len(near))


class Evaluation:
    """One circuit on one vector at one party. Reveals: nothing beyond shapes: what is dealt is masked by the dealer's
    key with the next party; of a result's value each party that learns it lacks one half of the mask."""

    def __init__(
        self, ctx: Context, circuit: Circuit, inputs: Inputs, blocks: DealerBlocks, opened: bool = False
    ) -> None:
        self.ctx, self.circuit, self.inputs, self.blocks, self.opened = ctx, circuit, inputs, blocks, opened
        self.dealing = Dealing(ctx, blocks)
        self.fresh = inputs.fresh_rows
        results = circuit.results - (len(circuit.tables[-1]) if opened else 0)
        self.packet = self.dealing.packet(self.dealing.row_shapes(inputs.dealt_rows + circuit.products))
        masks = self.dealing.answer_masks(self.dealing.row_shapes(self.fresh + results))
        self.parts: list[Block | None] = []
        near_masks = [masks.own[1], *masks.answering[1:]]
        for role, width in enumerate(self.dealing.widths):
            if width == 0:
                self.parts.append(None)
                continue
            shape = (circuit.inputs + circuit.results, width)
            block = Block(role, self.dealing.words[role], np.empty(shape, np.uint64), np.empty(shape, np.uint64))
            self._place(block.near_mask, near_masks[role], results)
            if role == OWN:
                self._place(block.far_mask_or_value, masks.own[0], results)
            self.parts.append(block)
        self._deal()

    def _place(self, rows: Words, drawn: Words, results: int) -> None:
        rows[: self.fresh] = drawn[: self.fresh]
        start = self.circuit.inputs
        rows[start : start + results] = drawn[self.fresh :]

    def _deal(self) -> None:
        """Fill the packet of the own block."""
        block, packet = self.parts[OWN], self.packet
        if block is None:
            return
        rows, circuit = self.inputs.dealt_rows, self.circuit
        self.inputs.deal(block, packet.mask[:rows], packet.content[:rows])
        masks = block.near_mask ^ block.far_mask_or_value
        product_kernels.mask_products(
            masks, circuit.product_first, circuit.product_rows, packet.mask[rows:], packet.content[rows:]
        )

    @property
    def rounds(self) -> int:
        """Rounds after that of the dealing."""
        return (self.fresh > 0) + len(self.circuit.tables) - self.opened

    def opening(self) -> Round:
        """The round of the dealing."""
        first = self.packet.round()
        first += self.inputs.opening()
        return first

    def stages(self) -> Steps[None]:
        """What follows the dealing: a round for inputs that are made on the way, and one for every stage that is not
        opened."""
        halves = [np.empty((self.fresh, width), np.uint64) for width in self.dealing.widths[1:]]
        for block, out in zip(self.parts[1:], halves, strict=True):
            if block is not None:
                self.inputs.answer(block, self.packet.received[block.role][: self.inputs.dealt_rows], out)
        if self.fresh:
            yield from self._tell(slice(0, self.fresh), halves)
        for index in range(len(self.circuit.tables) - self.opened):
            rows = slice(*self.circuit.bounds[index : index + 2])
            tables = self.circuit.tables[index]
            yield from self._tell(rows, [self._evaluated(role, tables, rows) for role in (NEXT, PREVIOUS)])

    def steps(self) -> Steps[None]:
        """All rounds."""
        yield self.opening()
        yield from self.stages()

    def _evaluated(self, role: int, tables: StageTables, rows: slice, mask: Words | None = None) -> Words:
        """This party's halves of a stage's results, masked."""
        block = self.parts[role]
        out: Words = np.empty((rows.stop - rows.start, self.dealing.widths[role]), np.uint64)
        if block is None:
            return out
        product_kernels.evaluate_products(
            self.packet.received[role][self.inputs.dealt_rows :],
            block.near_mask,
            block.far_mask_or_value,
            tables.outputs,
            tables.first,
            tables.rows,
            tables.places,
            block.constant,
            block.near_mask[rows] if mask is None else mask,
            out,
        )
        return out

    def _tell(self, rows: slice, halves: list[Words]) -> Steps[None]:
        """Exchange the halves of rows with the other answering party, which makes them values."""
        others = yield from self.dealing.exchange_halves(halves)
        for block, half, other in zip(self.parts[1:], halves, others, strict=True):
            if block is not None:
                np.bitwise_xor(half, other, out=block.far_mask_or_value[rows])

    def masks(self, bits: Sequence[Formula]) -> tuple[Words, Words]:
        """Both halves of the masks of some bits in this party's own block; known before anything is sent."""
        block, rows = self.parts[OWN], rows_of(bits)
        if block is None:
            return NOTHING, NOTHING
        return np.ascontiguousarray(block.far_mask_or_value[rows]), np.ascontiguousarray(block.near_mask[rows])

    def values(self, bits: Sequence[Formula]) -> tuple[Words, Words]:
        """The values of some bits in the blocks of the left and of the right neighbour, once they are known."""
        rows = rows_of(bits)
        following, previous = (
            NOTHING if block is None else np.ascontiguousarray(block.far_mask_or_value[rows])
            for block in self.parts[1:]
        )
        return following, previous

    def shared(self, bits: Sequence[Formula]) -> Bits:
        """Some bits, shared, a row each."""
        return self._shared(rows_of(bits))

    def last_rows(self) -> Bits:
        """The results of the last stage, shared."""
        if self.opened:
            raise ValueError("the last stage is opened, not shared")
        return self._shared(self.circuit.last)

    def _shared(self, rows: Rows) -> Bits:
        count = len(rows) if isinstance(rows, list) else rows.stop - rows.start
        nothing = np.empty((count, 0), np.uint64)
        near = [nothing if block is None else block.near_mask[rows] for block in self.parts]
        far = [nothing if block is None else block.far_mask_or_value[rows] for block in self.parts]
        return self.dealing.assemble_bits(near, far)

    def open_last(self) -> Words:
        """The results of the last stage, opened to all three parties, as packed rows; one round.

        The two answering parties mask their halves by what the dealer does not know, and send them to everybody.
        """
        rows, ctx, tables, widths = self.circuit.last, self.ctx, self.circuit.tables[-1], self.dealing.widths
        count = len(tables)
        masks = ctx.with_right((count, widths[NEXT])), ctx.with_left((count, widths[PREVIOUS]))
        halves = [self._evaluated(role, tables, rows, mask) for role, mask in zip((NEXT, PREVIOUS), masks, strict=True)]
        for block, half in zip(self.parts[1:], halves, strict=True):
            if block is not None and 64 * block.words.stop > self.blocks.count:
                # Bits past the last item have no meaning, and nobody is to see them.
                clear_padding(half, self.blocks.count)
        others = [np.empty_like(halves[0]), np.empty_like(halves[1])]
        own = [np.empty((count, widths[OWN]), np.uint64) for _ in range(2)]
        ctx.exchange(to_left=halves, to_right=halves, from_right=[own[0], others[0]], from_left=[others[1], own[1]])
        opened = [own[0] ^ own[1], halves[0] ^ others[0], halves[1] ^ others[1]]
        out: Words = np.empty((count, sum(widths)), np.uint64)
        for words, part in zip(self.dealing.words, opened, strict=True):
            out[:, words] = part
        return out


def evaluate(ctx: Context, circuit: Circuit, rows: Bits) -> Bits:
    """The results of a circuit's last stage on shared rows. Cost: :func:`.circuit.circuit_cost`. Reveals: nothing."""
    evaluation = Evaluation(ctx, circuit, SharedInputs(rows), dealer_blocks(rows.count))
    run(ctx, evaluation.steps())
    return evaluation.last_rows()
