"""Sums of products of bits, stage by stage, one round a stage: gates of up to five inputs.

Every shared bit is a masked one. Of a block's bits the *dealer* knows two summands, their mask m; the two other parties
know the third, the value v = x ^ m, and one half of the mask each. A product of bits is a sum of values times products
of masks (see :mod:`hedgerow.kernels.product`). The masks of a stage's results are drawn before anything is evaluated.
So the dealer shares all products of masks of all stages in one message, and needs to hear nothing; in every stage the
other two evaluate locally and exchange their halves of the results' values, masked by what the dealer shares with each
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from typing import Protocol

import numpy as np

from ..kernels import product as product_kernels
from ..sharing import BinaryShare, Context, words_for
from ..sharing.reveal import clear_padding
from ..sharing.ring import Words
from .cost import Cost, Thirds, thirds_of
from .gate import Index
from .steps import Round, Steps, run

Term = tuple[int, ...]
"""Rows to be multiplied; none is the constant 1."""
Output = tuple[Term, ...]
"""Products to be added."""
Rows = slice | list[int]
"""Numbers of rows."""


@dataclass(frozen=True, slots=True)
class _Tables:
    """A stage as the kernel wants it; see :func:`hedgerow.kernels.product.evaluate_products`."""

    outputs: Index
    first: Index
    rows: Index
    places: Index


class Circuit:
    """Stages of results. Rows are numbered: first the inputs, then the results of one stage after the other."""

    def __init__(self, inputs: int, stages: Sequence[Sequence[Output]]) -> None:
        self.inputs = inputs
        sizes = [len(stage) for stage in stages]
        self.bounds = list(accumulate(sizes, initial=inputs))
        self.results = sum(sizes)
        self._products: dict[Term, int] = {}
        for stage, known in zip(stages, self.bounds, strict=False):
            for term in (term for output in stage for term in output):
                if len(term) > product_kernels.LARGEST or not all(0 <= row < known for row in term):
                    raise ValueError(f"a stage after {known} rows cannot multiply the rows {term}")
        self.tables = [self._stage(stage) for stage in stages]
        self.product_first = np.array([0, *accumulate(len(t) for t in self._products)], np.int64)
        self.product_rows = np.array([row for t in self._products for row in t], np.int64)

    @property
    def last(self) -> slice:
        """The results of the last stage."""
        return slice(self.bounds[-2], self.bounds[-1])

    @property
    def products(self) -> int:
        """Products of masks that are dealt."""
        return len(self._products)

    def _stage(self, stage: Sequence[Output]) -> _Tables:
        terms = [tuple(sorted(term)) for output in stage for term in output]
        places = np.zeros((len(terms), 1 << product_kernels.LARGEST), np.int64)
        for t, term in enumerate(terms):
            for size in range(1, len(term) + 1):
                for chosen in combinations(range(len(term)), size):
                    rows = tuple(term[i] for i in chosen)
                    found = rows[0] if size == 1 else self._products.setdefault(rows, len(self._products))
                    places[t, sum(1 << i for i in chosen)] = found
        flat = [row for term in terms for row in term]
        outputs, first = ([0, *accumulate(len(x) for x in xs)] for xs in (stage, terms))
        return _Tables(
            np.array(outputs, np.int64), np.array(first, np.int64), np.array(flat, np.int64), places.reshape(-1)
        )


class Inputs(Protocol):
    """Where a circuit's inputs come from: some of them shared from the start, others made on the way."""

    @property
    def dealt_rows(self) -> int:
        """Rows the dealer of a block shares for the inputs."""

    @property
    def fresh_rows(self) -> int:
        """How many of the inputs, the first ones, get masks drawn."""

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Write what is dealt, masked, and the other inputs of a block of one's own."""

    def opening(self) -> Round:
        """What else is told in the round of the dealing."""

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """Write this party's halves of the fresh inputs, masked, and the other inputs of somebody else's block."""


@dataclass(slots=True)
class Block:
    """One party's part of one dealer's block: masks and values of all rows, as far as it knows them.

    Of its own block a party knows both halves of every mask, ``masks`` and ``other``; of another's one half and, after
    its stage, the value.
    """

    role: int
    words: slice
    masks: Words
    other: Words

    @property
    def constant(self) -> bool:
        """Whether this party adds what has no mask."""
        return self.role == NEXT


OWN, NEXT, PREVIOUS = range(3)
"""Roles: the dealer, the party right of it, the party left of it."""


_NOTHING = np.empty((0, 0), np.uint64)


class SharedInputs:
    """Rows that are shared."""

    dealt_rows = fresh_rows = 0

    def __init__(self, rows: BinaryShare) -> None:
        self.rows = rows

    def fill(self, block: Block, start: int) -> None:
        """Write the block's rows from number ``start`` on."""
        stop = start + self.rows.rows
        left, right = self.rows.left[:, block.words], self.rows.right[:, block.words]
        block.masks[start:stop], block.other[start:stop] = (left, right) if block.role == NEXT else (right, left)

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Nothing is dealt."""
        self.fill(block, 0)

    def opening(self) -> Round:
        """Nothing else is told."""
        return Round()

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """Nothing is made."""
        self.fill(block, 0)


class LaterInputs:
    """Rows of another circuit that is evaluated before this one, with their bits put elsewhere, then rows that are
    shared. Bits stay in their dealer's block, so there must be one dealer only.

    ``change`` makes packed rows from packed rows; where the bit of ``flipped`` is set, the result is turned over.
    """

    dealt_rows = fresh_rows = 0

    def __init__(
        self,
        earlier: Evaluation,
        rows: Rows,
        change: Callable[[Words], Words],
        shared: BinaryShare,
        flipped: Words | None = None,
    ) -> None:
        if not earlier.thirds.alone:
            raise ValueError("a circuit goes on with another one's rows only in the hands of one dealer")
        self.earlier, self.rows, self.change, self.flipped = earlier, rows, change, flipped
        self.shared = SharedInputs(shared)

    def deal(self, block: Block, mask: Words, dealt: Words) -> None:
        """Nothing is dealt."""
        self._fill(block)

    def opening(self) -> Round:
        """Nothing else is told."""
        return Round()

    def answer(self, block: Block, dealt: Words, out: Words) -> None:
        """Nothing is made."""
        self._fill(block)

    def _fill(self, block: Block) -> None:
        source = self.earlier.blocks[block.role]
        assert source is not None
        masks, other = self.change(source.masks[self.rows]), self.change(source.other[self.rows])
        if self.flipped is not None and block.role != OWN:
            other = other ^ self.flipped
        block.masks[: len(masks)], block.other[: len(other)] = masks, other
        self.shared.fill(block, len(masks))


class Evaluation:
    """One circuit on one vector at one party. Reveals: nothing beyond shapes: what is dealt is masked by the dealer's
    key with the next party; of a result's value each party that learns it lacks one half of the mask."""

    def __init__(self, ctx: Context, circuit: Circuit, inputs: Inputs, thirds: Thirds, opened: bool = False) -> None:
        self.ctx, self.circuit, self.inputs, self.thirds, self.opened = ctx, circuit, inputs, thirds, opened
        parties = (ctx.party, ctx.transport.left, ctx.transport.right)
        widths = [thirds.width(p) for p in parties]
        self.fresh = inputs.fresh_rows
        results = circuit.results - (len(circuit.tables[-1].outputs) - 1 if opened else 0)
        drawn = self.fresh + results
        self.dealt_rows = inputs.dealt_rows + circuit.products
        # Both neighbours of a pair draw in the same order: what its left party deals, then what its right one deals.
        own = ctx.with_right((self.dealt_rows + drawn, widths[OWN]))
        before = ctx.with_left((self.dealt_rows + drawn, widths[NEXT]))
        after, own_other = ctx.with_right((drawn, widths[PREVIOUS])), ctx.with_left((drawn, widths[OWN]))
        self.dealt = [own[: self.dealt_rows], before[: self.dealt_rows], _NOTHING]
        self.blocks: list[Block | None] = []
        masks = [own[self.dealt_rows :], before[self.dealt_rows :], after]
        for role, (party, width) in enumerate(zip(parties, widths, strict=True)):
            if width == 0:
                self.blocks.append(None)
                continue
            shape = (circuit.inputs + circuit.results, width)
            block = Block(role, thirds.words(party), np.empty(shape, np.uint64), np.empty(shape, np.uint64))
            self._place(block.masks, masks[role], results)
            if role == OWN:
                self._place(block.other, own_other, results)
            self.blocks.append(block)
        self.incoming = np.empty((self.dealt_rows, widths[PREVIOUS]), np.uint64)
        self.outgoing = self._deal()

    def _place(self, rows: Words, drawn: Words, results: int) -> None:
        rows[: self.fresh] = drawn[: self.fresh]
        start = self.circuit.inputs
        rows[start : start + results] = drawn[self.fresh :]

    def _deal(self) -> Words:
        """What the left neighbour needs of one's own block."""
        block, mask = self.blocks[OWN], self.dealt[OWN]
        dealt = np.empty_like(mask)
        if block is not None:
            rows = self.inputs.dealt_rows
            self.inputs.deal(block, mask[:rows], dealt[:rows])
            circuit = self.circuit
            product_kernels.mask_products(
                block.masks ^ block.other, circuit.product_first, circuit.product_rows, mask[rows:], dealt[rows:]
            )
        return dealt

    @property
    def rounds(self) -> int:
        """Rounds after that of the dealing."""
        return (self.fresh > 0) + len(self.circuit.tables) - self.opened

    def opening(self) -> Round:
        """The round of the dealing."""
        first = Round(to_left=[self.outgoing], from_right=[self.incoming])
        first += self.inputs.opening()
        return first

    def stages(self) -> Steps[None]:
        """What follows the dealing: a round for inputs that are made on the way, and one for every stage that is not
        opened."""
        self.dealt[PREVIOUS] = self.incoming
        halves = [np.empty((self.fresh, 0 if b is None else b.masks.shape[1]), np.uint64) for b in self.blocks[1:]]
        for block, out in zip(self.blocks[1:], halves, strict=True):
            if block is not None:
                self.inputs.answer(block, self.dealt[block.role][: self.inputs.dealt_rows], out)
        if self.fresh:
            yield from self._tell(0, self.fresh, halves)
        for index in range(len(self.circuit.tables) - self.opened):
            start, stop = self.circuit.bounds[index : index + 2]
            tables = self.circuit.tables[index]
            halves = [self._evaluated(block, tables, start, stop) for block in self.blocks[1:]]
            yield from self._tell(start, stop, halves)

    def steps(self) -> Steps[None]:
        """All rounds."""
        yield self.opening()
        yield from self.stages()

    def _evaluated(
        self, block: Block | None, tables: _Tables, start: int, stop: int, mask: Words | None = None
    ) -> Words:
        """This party's halves of a stage's results, masked."""
        if block is None:
            return np.empty((stop - start, 0), np.uint64)
        out: Words = np.empty((stop - start, block.masks.shape[1]), np.uint64)
        products = self.dealt[block.role][self.inputs.dealt_rows :]
        mask = block.masks[start:stop] if mask is None else mask
        product_kernels.evaluate_products(
            products,
            block.masks,
            block.other,
            tables.outputs,
            tables.first,
            tables.rows,
            tables.places,
            block.constant,
            mask,
            out,
        )
        return out

    def _tell(self, start: int, stop: int, halves: list[Words]) -> Steps[None]:
        """Exchange the halves of rows with the other answering party, which makes them values."""
        others = [np.empty_like(half) for half in halves]
        yield Round(to_right=halves[:1], to_left=halves[1:], from_right=others[:1], from_left=others[1:])
        for block, half, other in zip(self.blocks[1:], halves, others, strict=True):
            if block is not None:
                np.bitwise_xor(half, other, out=block.other[start:stop])

    def masks(self, rows: slice) -> tuple[Words, Words]:
        """Both halves of the masks of some rows in this party's own block; known before anything is sent."""
        block = self.blocks[OWN]
        if block is None:
            return _NOTHING, _NOTHING
        return np.ascontiguousarray(block.other[rows]), np.ascontiguousarray(block.masks[rows])

    def values(self, rows: slice) -> tuple[Words, Words]:
        """The values of some rows in the blocks of the left and of the right neighbour, once they are known."""
        before, after = (
            _NOTHING if block is None else np.ascontiguousarray(block.other[rows]) for block in self.blocks[1:]
        )
        return before, after

    def last_rows(self) -> BinaryShare:
        """The results of the last stage, shared."""
        if self.opened:
            raise ValueError("the last stage is opened, not shared")
        return self.rows(*self.circuit.bounds[-2:])

    def rows(self, start: int, stop: int) -> BinaryShare:
        """Some rows, shared."""
        present = [block for block in self.blocks if block is not None]
        width = sum(block.masks.shape[1] for block in present)
        left, right = np.empty((stop - start, width), np.uint64), np.empty((stop - start, width), np.uint64)
        for block in present:
            masks, other = block.masks[start:stop], block.other[start:stop]
            near, far = (left, right) if block.role == NEXT else (right, left)
            near[:, block.words], far[:, block.words] = masks, other
        return BinaryShare(left, right, self.thirds.count)

    def open_last(self) -> Words:
        """The results of the last stage, opened to all three parties, as packed rows; one round.

        The two answering parties mask their halves by what the dealer does not know, and tell them to everybody.
        """
        start, stop = self.circuit.bounds[-2:]
        ctx, tables = self.ctx, self.circuit.tables[-1]
        widths = [0 if block is None else block.masks.shape[1] for block in self.blocks]
        masks = ctx.with_right((stop - start, widths[NEXT])), ctx.with_left((stop - start, widths[PREVIOUS]))
        halves = [
            self._evaluated(block, tables, start, stop, mask)
            for block, mask in zip(self.blocks[1:], masks, strict=True)
        ]
        for block, half in zip(self.blocks[1:], halves, strict=True):
            if block is not None and 64 * block.words.stop > self.thirds.count:
                # Bits past the last item have no meaning, and nobody is to see them.
                clear_padding(half, self.thirds.count)
        own_shape = (stop - start, widths[OWN])
        others = [np.empty_like(halves[0]), np.empty_like(halves[1])]
        own = [np.empty(own_shape, np.uint64), np.empty(own_shape, np.uint64)]
        ctx.exchange(
            to_left=halves,
            to_right=halves,
            from_right=[own[0], others[0]],
            from_left=[others[1], own[1]],
        )
        opened = [own[0] ^ own[1], halves[0] ^ others[0], halves[1] ^ others[1]]
        out: Words = np.empty((stop - start, sum(widths)), np.uint64)
        for block, rows in zip(self.blocks, opened, strict=True):
            if block is not None:
                out[:, block.words] = rows
        return out


def evaluate(ctx: Context, circuit: Circuit, rows: BinaryShare) -> BinaryShare:
    """The results of a circuit's last stage on shared rows. Cost: :func:`circuit_cost`. Reveals: nothing."""
    evaluation = Evaluation(ctx, circuit, SharedInputs(rows), thirds_of(rows.count))
    run(ctx, evaluation.steps())
    return evaluation.last_rows()


def circuit_cost(
    count: int, circuit: Circuit, dealt: int = 0, fresh: int = 0, opened: bool = False, alone: bool = False
) -> Cost:
    """Cost of an :class:`Evaluation` whose inputs deal ``dealt`` rows and make ``fresh`` ones."""
    thirds = thirds_of(count, alone)
    twice = len(circuit.tables[-1].outputs) - 1 if opened else 0

    def sent(party: int) -> int:
        own = thirds.width(party)
        answered = (fresh + circuit.results + twice) * (words_for(count) - own)
        return 8 * ((dealt + circuit.products) * own + answered)

    return Cost(1 + (fresh > 0) + len(circuit.tables), (sent(0), sent(1), sent(2)))
