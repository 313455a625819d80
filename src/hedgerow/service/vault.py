"""A party's share files: uploads in chunks, datasets, models, results. Private modes, checksums, atomic renames."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..sharing import RING64, ArithmeticShare
from ..tables.private import private_write

CHUNK_BYTES = 4 << 20
_READ = 1 << 20


class Vault:
    """Files below one directory. Identifiers are 32 hexadecimal digits, checked where they come in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("uploads", "datasets", "models", "results", "work"):
            (root / name).mkdir(mode=0o700, parents=True, exist_ok=True)
        root.chmod(0o700)

    def upload(self, identifier: str) -> Path:
        """The chunks of an unfinished upload."""
        return self.root / "uploads" / identifier

    def dataset(self, identifier: str) -> Path:
        """The shares of a complete upload."""
        return self.root / "datasets" / f"{identifier}.shares"

    def model(self, identifier: str) -> Path:
        """This party's part of a model."""
        return self.root / "models" / identifier

    def result(self, identifier: str) -> Path:
        """The result shares of a prediction or evaluation."""
        return self.root / "results" / f"{identifier}.npz"

    def work(self, identifier: str) -> Path:
        """Where a running job keeps what it has."""
        return self.root / "work" / identifier

    def put_chunk(self, identifier: str, number: int, content: bytes) -> None:
        """Store a chunk; the same one again changes nothing."""
        directory = self.upload(identifier)
        directory.mkdir(mode=0o700, exist_ok=True)
        unfinished = directory / f".{number}.{os.getpid()}.{os.urandom(4).hex()}"
        private_write(unfinished, content)
        unfinished.rename(directory / str(number))

    def chunks(self, identifier: str) -> list[int]:
        """The chunks that have arrived."""
        directory = self.upload(identifier)
        return sorted(int(p.name) for p in directory.iterdir() if p.name.isdigit()) if directory.exists() else []

    def assemble(self, identifier: str, count: int, size: int, checksum: str) -> None:
        """Join the chunks into the dataset's file; refuses gaps, a wrong size or checksum."""
        if self.chunks(identifier) != list(range(count)):
            raise InputError("chunks are missing; ask for the upload's state and send the rest")
        digest, total = hashlib.sha256(), 0
        unfinished = self.dataset(identifier).with_name(f".{identifier}.{os.urandom(4).hex()}")
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                for number in range(count):
                    content = (self.upload(identifier) / str(number)).read_bytes()
                    digest.update(content)
                    total += len(content)
                    file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if total != size or digest.hexdigest() != checksum:
                raise InputError("the shares do not have the announced size or checksum")
            unfinished.rename(self.dataset(identifier))
        finally:
            unfinished.unlink(missing_ok=True)
        shutil.rmtree(self.upload(identifier), ignore_errors=True)

    def side_hashes(self, identifier: str, rows: int, columns: int, salts: Sequence[bytes]) -> tuple[str, str]:
        """HMAC-SHA256 of all left and of all right summands, each under the salt its two holders got from the owner.

        A party compares hashes of a summand it lacks; without the salt it cannot test guesses against them.
        """
        sides = hmac.new(salts[0], digestmod="sha256"), hmac.new(salts[1], digestmod="sha256")
        with self.dataset(identifier).open("rb") as file:
            for _ in range(columns):
                for side in sides:
                    left = 8 * rows
                    while left:
                        piece = file.read(min(left, _READ))
                        if not piece:
                            raise InputError("the shares do not have the announced size")
                        side.update(piece)
                        left -= len(piece)
        return sides[0].hexdigest(), sides[1].hexdigest()

    def column(self, identifier: str, rows: int, index: int) -> ArithmeticShare:
        """One column of a dataset."""
        sides = [
            np.fromfile(self.dataset(identifier), np.uint64, rows, offset=16 * rows * index + 8 * rows * side)
            for side in (0, 1)
        ]
        return ArithmeticShare(sides[0], sides[1], RING64)

    def discard(self, identifier: str) -> None:
        """Remove an upload or dataset."""
        shutil.rmtree(self.upload(identifier), ignore_errors=True)
        self.dataset(identifier).unlink(missing_ok=True)

    def discard_job(self, identifier: str) -> None:
        """Remove what a job left."""
        shutil.rmtree(self.work(identifier), ignore_errors=True)
        shutil.rmtree(self.model(identifier), ignore_errors=True)
        self.result(identifier).unlink(missing_ok=True)


def share_bytes(shares: Iterator[ArithmeticShare]) -> Iterator[Any]:
    """The layout of a dataset's file: per column all left summands, then all right ones."""
    for share in shares:
        yield np.ascontiguousarray(share.left).data.cast("B")
        yield np.ascontiguousarray(share.right).data.cast("B")
