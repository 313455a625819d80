"""Shared bits: rows of bits, XOR-shared, packed 64 items to a word, and every way to move them about.

Rows that are laid end to end have a multiple of 64 items (see :func:`padded`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..kernels import bits as bit_kernels
from .bytes import Bytes
from .ring import Words

Index = npt.NDArray[np.int64]


def words_for(count: int) -> int:
    """Packed words that hold ``count`` bits."""
    return (count + 63) // 64


def padded(count: int) -> int:
    """The next multiple of 64."""
    return 64 * words_for(count)


def pack_rows(bits: Words) -> Words:
    """Rows of single bits as packed words, zeros at the end."""
    rows, count = bits.shape
    out = np.zeros((rows, words_for(count)), np.uint64)
    out.view(np.uint8)[:, : (count + 7) // 8] = np.packbits(bits, axis=1, bitorder="little")
    return out


def pack_row(bits: Words) -> Words:
    """Public truth values as one packed row."""
    return pack_rows(bits[None].astype(np.uint8))


def unpack_bits(packed: Words, count: int) -> npt.NDArray[np.uint8]:
    """Packed bit rows as a ``uint8`` array of rows of ``count`` bits."""
    raw = np.ascontiguousarray(packed).view(np.uint8)
    return np.unpackbits(raw, axis=-1, bitorder="little")[..., :count]


def take_bits(rows: Words, index: Index) -> Words:
    """Of every row of packed bits those at the places of ``index``, which has several rows itself."""
    bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")
    return pack_rows(bits.take(index, axis=1).reshape(-1, index.shape[1]))


def clear_padding(rows: Words, count: int) -> None:
    """Set the bits past item ``count`` of packed rows to 0, in place."""
    if count % 64 and rows.shape[1]:
        rows[:, -1] &= np.uint64((1 << count % 64) - 1)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Bits:
    """One party's part of ``rows`` bit vectors of ``count`` items.

    Bits past the last item of a row's last word are padding without meaning.
    """

    left: Words
    right: Words
    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def rows(self) -> int:
        """How many bit vectors there are."""
        return int(self.left.shape[0])

    @property
    def width(self) -> int:
        """Packed words of a row."""
        return int(self.left.shape[1])

    def __repr__(self) -> str:
        return f"Bits({self.rows} rows of {self.count} bits)"

    def map(self, change: Callable[..., Words], *others: Bits, count: int | None = None) -> Bits:
        """The same linear change of both summands; it gets these packed rows and those of ``others``."""
        left = change(self.left, *(other.left for other in others))
        right = change(self.right, *(other.right for other in others))
        return Bits(left, right, self.count if count is None else count)

    def __xor__(self, other: Bits) -> Bits:
        return self.map(np.bitwise_xor, other)

    def masked(self, mask: Words) -> Bits:
        """Rows restricted to the places of a public packed mask."""
        return self.map(lambda rows: rows & mask)

    def row(self, index: int) -> Bits:
        """One bit vector of several."""
        return self.some_rows(index, index + 1)

    def some_rows(self, start: int, stop: int) -> Bits:
        """Some of the rows."""
        return self.map(lambda rows: rows[start:stop])

    def every_row(self) -> list[Bits]:
        """The rows one by one."""
        return [self.row(k) for k in range(self.rows)]

    def any_row(self) -> Bits:
        """Whether any row is set; at most one of them is."""
        return self.map(lambda rows: np.bitwise_xor.reduce(rows, axis=0)[None])

    def span(self, start: int, stop: int) -> Bits:
        """The items from ``start`` to ``stop`` of every row; both are multiples of 64."""
        return self.map(lambda rows: rows[:, start // 64 : stop // 64], count=stop - start)

    def cut(self, parts: int) -> Bits:
        """One row as several of equal length."""
        return self.map(lambda rows: rows.reshape(parts, -1), count=self.count // parts)

    def following(self) -> Bits:
        """Every place gets the next place's bit; the last gets 0."""

        def change(rows: Words) -> Words:
            out = rows >> np.uint64(1)
            out[:, :-1] |= rows[:, 1:] << np.uint64(63)
            return out

        return self.map(change)

    def preceding(self) -> Bits:
        """Every place gets the bit of the place before; the first gets 0."""

        def change(rows: Words) -> Words:
            out = rows << np.uint64(1)
            out[:, 1:] |= rows[:, :-1] >> np.uint64(63)
            return out

        return self.map(change)

    def every_other(self, odd: int) -> Bits:
        """The bits at even (``odd`` = 0) or odd places, padded with zeros."""

        def change(rows: Words) -> Words:
            out = np.empty((rows.shape[0], (rows.shape[1] + 1) // 2), np.uint64)
            bit_kernels.every_other(rows, np.uint64(odd), out)
            return out

        return self.map(change, count=padded(self.count // 2))

    def riffled(self, other: Bits, count: int) -> Bits:
        """The first ``count`` items of two single rows in turn, padded to a multiple of 64 places."""

        def change(even: Words, odd: Words) -> Words:
            return pack_rows(np.stack([unpack_bits(even, count), unpack_bits(odd, count)], axis=2).reshape(1, -1))

        return self.map(change, other, count=padded(2 * count))

    def take(self, index: Index) -> Bits:
        """:func:`take_bits` of shared rows."""
        return self.map(lambda rows: take_bits(rows, index), count=index.shape[1])

    def to_bytes(self, count: int) -> Bytes:
        """The first ``count`` items of at most eight rows as bytes, row 0 lowest."""

        def change(rows: Words) -> Words:
            if len(rows) == 1:
                row: Words = unpack_bits(rows, count)[0]
                return row
            items = np.empty(count, np.uint32)
            bit_kernels.gather_items(np.ascontiguousarray(rows), items)
            narrow: Words = items.astype(np.uint8)
            return narrow

        return Bytes(change(self.left), change(self.right))

    @staticmethod
    def of_bytes(columns: Sequence[Bytes], rows: int) -> Bits:
        """The bits of bytes, eight rows per column, padded to a multiple of 64 places: undoes :meth:`to_bytes`."""

        def change(items: list[Words]) -> Words:
            if rows == 1:
                return pack_rows(items[0][None] & np.uint8(1))
            return pack_rows(np.unpackbits(np.stack(items), axis=0, bitorder="little")[:rows])

        left, right = ([column.left for column in columns], [column.right for column in columns])
        return Bits(change(left), change(right), padded(len(columns[0])))

    @staticmethod
    def stack(parts: Sequence[Bits]) -> Bits:
        """Several bit vectors of the same length as rows of one share."""
        left = np.concatenate([part.left for part in parts])
        right = np.concatenate([part.right for part in parts])
        return Bits(left, right, parts[0].count)

    def times(self, rows: int) -> Bits:
        """The same rows ``rows`` times, one below the other."""
        return Bits.stack([self] * rows)

    @staticmethod
    def side_by_side(parts: Sequence[Bits]) -> Bits:
        """Rows of several parts, each continued by the next part's."""
        left = np.concatenate([part.left for part in parts], axis=1)
        right = np.concatenate([part.right for part in parts], axis=1)
        return Bits(left, right, sum(part.count for part in parts))

    @staticmethod
    def end_to_end(parts: Sequence[Bits]) -> Bits:
        """All rows of all parts as one row."""
        left = np.concatenate([part.left.reshape(-1) for part in parts])[None]
        right = np.concatenate([part.right.reshape(-1) for part in parts])[None]
        return Bits(left, right, 64 * left.size)

    @staticmethod
    def flat(parts: Sequence[Bits]) -> Bits:
        """All rows of all parts as one row, without padding in between."""

        def change(sides: list[Words]) -> Words:
            rows = [unpack_bits(side, part.count).reshape(-1) for side, part in zip(sides, parts, strict=True)]
            return pack_rows(np.concatenate(rows)[None])

        count = sum(part.rows * part.count for part in parts)
        return Bits(change([part.left for part in parts]), change([part.right for part in parts]), count)
