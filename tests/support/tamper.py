"""Corrupters: what a hostile or broken network may do to frames on their way."""

from __future__ import annotations

from collections.abc import Callable

from hedgerow.transport.frame import HEADER_BYTES
from support.memory import Corrupter, Frame


def at_message(number: int, change: Callable[[Frame], list[Frame]], sender: int = 0, receiver: int = 1) -> Corrupter:
    """Apply ``change`` to the given message from sender to receiver and leave all others alone."""
    seen = 0

    def corrupt(a: int, b: int, step: str, frame: Frame) -> list[Frame]:
        nonlocal seen
        if (a, b) != (sender, receiver):
            return [frame]
        seen += 1
        return change(frame) if seen == number + 1 else [frame]

    return corrupt


def drop(frame: Frame) -> list[Frame]:
    """The frame never arrives."""
    return []


def truncate(frame: Frame) -> list[Frame]:
    """The last byte is lost."""
    return [frame[:-1]]


def behead(frame: Frame) -> list[Frame]:
    """Only part of the header arrives."""
    return [frame[: HEADER_BYTES // 2]]


def repeat(frame: Frame) -> list[Frame]:
    """The frame arrives twice."""
    return [frame, frame]


def inflate(frame: Frame) -> list[Frame]:
    """The frame carries more than its header says."""
    return [frame + b"\0" * 64]


def babble(frame: Frame) -> list[Frame]:
    """Something arrives that is not a frame at all."""
    return [b"GET / HTTP/1.1\r\nHost: somewhere.else.example\r\n\r\n"]


def claim_gigabytes(frame: Frame) -> list[Frame]:
    """The header announces an enormous payload."""
    return [frame[:12] + (1 << 60).to_bytes(8, "little") + frame[20:]]


def spoil_first_item(frame: Frame) -> list[Frame]:
    """The first 32-bit item of the content becomes something large."""
    return [frame[: HEADER_BYTES + 3] + bytes([frame[HEADER_BYTES + 3] ^ 0x7F]) + frame[HEADER_BYTES + 4 :]]


def flip_payload_bit(frame: Frame) -> list[Frame]:
    """One bit of the content changes; in the passive model this may go unnoticed."""
    return [frame[:-1] + bytes([frame[-1] ^ 1])]
