"""Correlated randomness: each pair of parties shares a key, each named step a stream of its own under that key.

A stream is AES-128 in counter mode under a key derived from the pair's key, the session and the step's name. Streams
advance as they are used and are never rewound, so no output is ever used twice.
"""

import hmac
import secrets
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

SEED_BYTES = TAG_BYTES = 32
_CHUNK = 1 << 22
_ZEROS = memoryview(bytes(_CHUNK))


def fresh_seed() -> npt.NDArray[np.uint8]:
    """A party's contribution to a pair key, from the operating system."""
    return np.frombuffer(secrets.token_bytes(SEED_BYTES), np.uint8)


class PairKey:
    """The secret a party shares with one neighbour, and the streams drawn from it."""

    def __init__(self, secret: bytes, context: bytes) -> None:
        self._extracted = hmac.digest(context, secret, "sha256")
        self._streams: dict[str, Any] = {}

    def __repr__(self) -> str:
        return "PairKey(hidden)"

    def fill(self, step: str, out: npt.NDArray[Any]) -> None:
        """Fill a C-contiguous array with the next bytes of the step's stream."""
        stream = self._streams.get(step)
        if stream is None:
            stream = self._streams[step] = self._open(step)
        if out.size == 0:
            return
        view = out.data.cast("B")
        for start in range(0, view.nbytes, _CHUNK):
            piece = view[start : start + _CHUNK]
            stream.update_into(_ZEROS[: piece.nbytes], piece)

    def tag(self, party: int) -> bytes:
        """What a party of the pair sends to the other one to show that it has this key."""
        # No stream has this label: a step's name is text, which has no byte 0xff, and is followed by another byte.
        return hmac.digest(self._extracted, b"\xffconfirm" + bytes([party]), "sha256")

    def _open(self, step: str) -> Any:
        # RFC 5869: extracted once for the pair, expanded here by one block. A run opens hundreds of streams.
        key = hmac.digest(self._extracted, step.encode() + b"\x01", "sha256")[:16]
        return Cipher(algorithms.AES128(key), modes.CTR(bytes(16))).encryptor()


def pair_key(mine: bytes, theirs: bytes, context: bytes, mine_first: bool) -> PairKey:
    """The key of a pair from both contributions, in an order both agree on."""
    return PairKey(mine + theirs if mine_first else theirs + mine, context)
