"""The frame every message travels in, and the checks a receiver makes before it touches the payload.

A frame is a fixed header and the payload. The header names the kind of frame, the step it belongs to, its place in
the sequence of its link, the payload's length and, on shaped links, the moment before which it counts as not arrived.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from ..errors import MalformedMessage

MAGIC = 0x4748
_LAYOUT = struct.Struct("<HBBIIQd")
HEADER_BYTES = _LAYOUT.size
DUE_BYTES = HEADER_BYTES - 8
"""Bytes of a header without the moment of arrival."""


class Kind(IntEnum):
    """What a frame is for."""

    DATA = 1
    WAITING = 2
    ABORT = 3
    HELLO = 4


@dataclass(frozen=True, slots=True)
class Header:
    """The fields in front of every payload. ``about`` is a party number in WAITING and ABORT frames."""

    kind: Kind
    about: int
    tag: int
    sequence: int
    length: int
    not_before: float = 0.0

    def pack(self) -> bytes:
        """The header as bytes."""
        return _LAYOUT.pack(MAGIC, self.kind, self.about, self.tag, self.sequence, self.length, self.not_before)

    @staticmethod
    def unpack(raw: bytes | bytearray | memoryview, peer: int, step: str) -> Header:
        """Parse a header that came from ``peer``; anything but a well-formed one is an error naming it."""
        magic, kind, about, tag, sequence, length, not_before = _LAYOUT.unpack(raw)
        if magic != MAGIC or kind not in Kind._value2member_map_ or about > 2:
            raise MalformedMessage(peer, step, "sent bytes that are not a frame of this protocol")
        return Header(Kind(kind), about, tag, sequence, length, not_before)


@lru_cache(maxsize=1 << 16)
def step_tag(step: str) -> int:
    """A 32-bit name of a step, so that two parties in different steps notice it."""
    return zlib.crc32(step.encode())


def data_header(party: int, step: str, sequence: int, length: int, not_before: float) -> bytes:
    """The packed header of a DATA frame sent by ``party``."""
    return _LAYOUT.pack(MAGIC, 1, party, step_tag(step), sequence, length, not_before)


def due_bytes(peer: int, step: str, sequence: int, length: int) -> bytes:
    """The bytes of the header of the DATA frame that is due, up to the moment of arrival, which may be any."""
    return _LAYOUT.pack(MAGIC, 1, peer, step_tag(step), sequence, length, 0.0)[:DUE_BYTES]


def arrival_moment(raw: bytes | bytearray) -> float:
    """The moment before which a shaped frame counts as not arrived."""
    moment: float = _LAYOUT.unpack(raw)[-1]
    return moment


def check_data(header: Header, peer: int, step: str, sequence: int, expected: int | None) -> None:
    """Raise unless a DATA header is the next one of its link, of this step and of the expected size."""
    if expected is None:
        raise MalformedMessage(peer, step, f"sent {header.length} bytes where nothing was expected")
    if header.sequence != sequence:
        raise MalformedMessage(peer, step, f"sent message {header.sequence} where number {sequence} was due")
    if header.tag != step_tag(step):
        raise MalformedMessage(peer, step, "sent a message of another step")
    if header.length != expected:
        raise MalformedMessage(peer, step, f"sent {header.length} bytes where {expected} were expected")
