"""Files that say nothing without a key: shares, models and results at rest.

A sealed file has a key of its own, wrapped under the party's storage key, so a new storage key means new headers and
not new files. Blocks are AES-256-GCM with their number as the nonce; the last one is marked, so a file cannot be cut,
and a header is bound to the place the file belongs to, so files cannot be exchanged.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ..errors import HedgerowError, InputError

MAGIC = b"HEDGEROW SEALED1"
KEY_BYTES, NONCE, TAG, NAME = 32, 12, 16, 8
HEADER = len(MAGIC) + NAME + NONCE + KEY_BYTES + TAG
BLOCK = 1 << 20
COMMAND_SECONDS = 60


def _name(key: bytes) -> bytes:
    """Which key it is, without telling the key."""
    return hashlib.sha256(b"hedgerow storage key" + key).digest()[:NAME]


class Seal:
    """The storage keys of a party: the first one seals, all of them open. Without keys, files are plain."""

    def __init__(self, keys: Sequence[bytes] = ()) -> None:
        self._keys = tuple(keys)
        self._named = {_name(key): AESGCM(key) for key in keys}

    def __repr__(self) -> str:
        return f"Seal({len(self._keys)} keys)"

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The keys, for a process of the same party."""
        return self._keys

    @property
    def passphrases(self) -> list[bytes]:
        """What the party's private key may be encrypted with, the present one first."""
        return [HKDF(hashes.SHA256(), 32, None, b"identity").derive(key).hex().encode() for key in self._keys]

    def write(self, path: Path, place: str, pieces: Iterable[bytes]) -> None:
        """Write a new file of mode 0600, whole or not at all, and wait until it is on disk."""
        unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                self._write_into(file, place, pieces)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise

    def _write_into(self, file: BinaryIO, place: str, pieces: Iterable[bytes]) -> None:
        if not self._keys:
            for piece in pieces:
                file.write(piece)
            return
        own = secrets.token_bytes(KEY_BYTES)
        file.write(self._header(own, place))
        cipher, number, waiting = AESGCM(own), 0, bytearray()
        for piece in pieces:
            waiting += piece
            while len(waiting) > BLOCK:
                file.write(cipher.encrypt(_nonce(number), bytes(waiting[:BLOCK]), b"more"))
                number += 1
                del waiting[:BLOCK]
        file.write(cipher.encrypt(_nonce(number), bytes(waiting), b"last"))

    def _header(self, own: bytes, place: str) -> bytes:
        key, nonce = self._keys[0], secrets.token_bytes(NONCE)
        said = MAGIC + _name(key) + nonce
        return said + AESGCM(key).encrypt(nonce, own, said + place.encode())

    def _own_key(self, header: bytes, path: Path, place: str) -> bytes:
        """A file's own key."""
        known = self._named.get(header[len(MAGIC) : len(MAGIC) + NAME])
        if known is None:
            raise HedgerowError(f"{path.name} is sealed with a storage key that this party was not given")
        start = len(MAGIC) + NAME + NONCE
        try:
            return known.decrypt(header[start - NONCE : start], header[start:], header[:start] + place.encode())
        except InvalidTag:
            raise HedgerowError(f"{path.name} is damaged, or is not the file that belongs here") from None

    def open(self, path: Path, place: str, plain: bool = False) -> Opened:
        """A file to read from. With keys it must be sealed; ``plain`` allows what was written before there were any."""
        with path.open("rb") as file:
            header = file.read(HEADER)
        if not header.startswith(MAGIC):
            if self._keys and not plain:
                raise HedgerowError(f"{path.name} is not sealed: 'hedgerow party reseal' seals what lies in the clear")
            return Opened(path, None)
        return Opened(path, AESGCM(self._own_key(header, path, place)))

    def read(self, path: Path, place: str) -> bytes:
        """All of a file."""
        opened = self.open(path, place)
        return opened.read(0, opened.size)

    def renew(self, path: Path, place: str) -> bool:
        """Bring a file under the present key: a plain one is sealed, a sealed one gets a new header."""
        if not self._keys:
            return False
        with path.open("rb") as file:
            header = file.read(HEADER)
        if not header.startswith(MAGIC):
            opened = self.open(path, place, plain=True)
            steps = range(0, max(1, opened.size), BLOCK)
            self.write(path, place, (opened.read(start, min(BLOCK, opened.size - start)) for start in steps))
            return True
        if header[len(MAGIC) : len(MAGIC) + NAME] == _name(self._keys[0]):
            return False
        fresh = self._header(self._own_key(header, path, place), place)
        with path.open("r+b") as file:
            file.write(fresh)
            file.flush()
            os.fsync(file.fileno())
        return True


def _nonce(number: int) -> bytes:
    return number.to_bytes(NONCE, "big")


class Opened:
    """A file that can be read from any place."""

    def __init__(self, path: Path, cipher: AESGCM | None) -> None:
        self._path, self._cipher = path, cipher
        stored = path.stat().st_size
        self._blocks = -(-(stored - HEADER) // (BLOCK + TAG))
        self.size = stored if cipher is None else stored - HEADER - TAG * self._blocks

    def read(self, start: int, length: int) -> bytes:
        """``length`` bytes from ``start`` on, or as many as there are."""
        length = max(0, min(length, self.size - start))
        if not length and self.size:
            return b""
        with self._path.open("rb") as file:
            if self._cipher is None:
                file.seek(start)
                return file.read(length)
            first, last = start // BLOCK, max(start, start + length - 1) // BLOCK
            found = bytearray()
            file.seek(HEADER + first * (BLOCK + TAG))
            for number in range(first, last + 1):
                kind = b"last" if number == self._blocks - 1 else b"more"
                try:
                    found += self._cipher.decrypt(_nonce(number), file.read(BLOCK + TAG), kind)
                except InvalidTag:
                    raise HedgerowError(f"{self._path.name} is damaged") from None
            return bytes(found[start - first * BLOCK : start - first * BLOCK + length])


def read_storage_keys(entry: Mapping[str, Any], base: Path) -> Seal:
    """The keys from a file, a credential of systemd, or the output of a command: one of 64 hexadecimal digits per line,
    the present one first."""
    if set(entry) - {"file", "credential", "command"} or len(entry) > 1:
        raise InputError("storage_key has one of: file, credential, command")
    if not entry:
        return Seal()
    (kind, value), *_ = entry.items()
    try:
        if kind == "command":
            if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
                raise InputError("the storage key's command is a list of words")
            done = subprocess.run(value, capture_output=True, check=True, timeout=COMMAND_SECONDS, cwd=base)
            text = done.stdout.decode("ascii")
        else:
            place = Path(os.environ.get("CREDENTIALS_DIRECTORY", "")) if kind == "credential" else base
            text = (place / str(value)).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError, subprocess.SubprocessError) as error:
        source = " ".join(value) if isinstance(value, list) else value
        remedy = "; systemd sets CREDENTIALS_DIRECTORY" if kind == "credential" else f"; it is looked for from {base}"
        problem = f"the storage key cannot be had from the {kind} '{source}' ({type(error).__name__}){remedy}"
        raise InputError(problem) from None
    try:
        keys = [bytes.fromhex(line) for line in text.split()]
    except ValueError:
        keys = []
    if not keys or any(len(key) != KEY_BYTES for key in keys):
        raise InputError(f"the {kind} does not give a storage key: 64 hexadecimal digits a line, the present one first")
    return Seal(keys)
