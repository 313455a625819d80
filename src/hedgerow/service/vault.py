"""A party's share files: uploads in chunks, datasets, models, results. Sealed, private, checked, renamed when whole."""

import fcntl
import hashlib
import hmac
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from ..errors import InputError
from ..models import PartyModel
from ..models.store import manifest_bytes, party_of_bytes
from ..models.store import share_bytes as tree_bytes
from ..shares import Numbers
from ..shares.stored import from_bytes, to_bytes
from ..tables.private import private_write
from ..trees.shared_tree import SharedTree
from .seal import Seal

CHUNK_BYTES = 4 << 20
_READ = 1 << 20
SHOWN = "shown.npz"


def hold(data: Path) -> IO[bytes]:
    """Hold a party's data directory: nobody else serves from it, or changes its files, until this is closed."""
    lock = (data / "lock").open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise InputError(f"a party runs with the data in {data}: stop it first") from None
    return lock


class Vault:
    """Files below one directory. Identifiers are 32 hexadecimal digits, checked where they come in."""

    def __init__(self, root: Path, seal: Seal | None = None) -> None:
        self.root, self._seal = root, seal or Seal()
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

    def free(self) -> int:
        """Bytes left on the disk."""
        return shutil.disk_usage(self.root).free

    # Uploads and datasets

    def put_chunk(self, identifier: str, number: int, content: bytes) -> None:
        """Store a chunk; the same one again changes nothing."""
        directory = self.upload(identifier)
        directory.mkdir(mode=0o700, exist_ok=True)
        self._seal.write(directory / str(number), f"chunk/{identifier}/{number}", [content])

    def chunks(self, identifier: str) -> list[int]:
        """The chunks that have arrived."""
        directory = self.upload(identifier)
        return sorted(int(p.name) for p in directory.iterdir() if p.name.isdigit()) if directory.exists() else []

    def assemble(self, identifier: str, count: int, size: int, checksum: str) -> None:
        """Join the chunks into the dataset's file; refuses gaps, a wrong size or checksum."""
        if self.chunks(identifier) != list(range(count)):
            raise InputError("chunks are missing; ask for the upload's state and send the rest")
        digest, total = hashlib.sha256(), 0

        def pieces() -> Iterator[bytes]:
            nonlocal total
            for number in range(count):
                content = self._seal.read(self.upload(identifier) / str(number), f"chunk/{identifier}/{number}")
                digest.update(content)
                total += len(content)
                yield content
            if total != size or digest.hexdigest() != checksum:
                raise InputError("the shares do not have the announced size or checksum")

        self._seal.write(self.dataset(identifier), f"dataset/{identifier}", pieces())
        shutil.rmtree(self.upload(identifier), ignore_errors=True)

    def side_hashes(self, identifier: str, rows: int, columns: int, salts: Sequence[bytes]) -> tuple[str, str]:
        """HMAC-SHA256 of all left and of all right summands, each under the salt its two holders got from the owner.

        A party compares hashes of a summand it lacks; without the salt it cannot test guesses against them.
        """
        sides = hmac.new(salts[0], digestmod="sha256"), hmac.new(salts[1], digestmod="sha256")
        opened = self._seal.open(self.dataset(identifier), f"dataset/{identifier}")
        if opened.size != 16 * rows * columns:
            raise InputError("the shares do not have the announced size")
        place = 0
        for _ in range(columns):
            for side in sides:
                for start in range(0, 8 * rows, _READ):
                    side.update(opened.read(place + start, min(_READ, 8 * rows - start)))
                place += 8 * rows
        return sides[0].hexdigest(), sides[1].hexdigest()

    def column(self, identifier: str, rows: int, index: int) -> Numbers:
        """One column of a dataset."""
        opened = self._seal.open(self.dataset(identifier), f"dataset/{identifier}")
        content = opened.read(16 * rows * index, 16 * rows)
        return from_bytes(content, rows)

    def discard(self, identifier: str) -> None:
        """Remove an upload or dataset."""
        shutil.rmtree(self.upload(identifier), ignore_errors=True)
        self.dataset(identifier).unlink(missing_ok=True)

    # Models and results

    def write_model(self, directory: Path, identifier: str, model: PartyModel, shown: SharedTree | None) -> None:
        """Put a model into a directory: its facts in the clear, the shares sealed, and what of it may be shown where
        that is less."""
        directory.mkdir(mode=0o700)
        content = tree_bytes(model.tree)
        self._seal.write(directory / "shares.npz", f"model/{identifier}", [content])
        if shown is not None:
            self._seal.write(directory / SHOWN, f"shown/{identifier}", [tree_bytes(shown)])
        private_write(directory / "manifest.json", manifest_bytes(model, content))

    def tree(self, identifier: str) -> SharedTree:
        """A model's tree as it was trained."""
        return self._party_model(identifier, "shares.npz", "model").tree

    def shown_tree(self, identifier: str) -> SharedTree:
        """A model's tree as it may be opened: without the numbers of small leaves."""
        if not (self.model(identifier) / SHOWN).exists():
            return self.tree(identifier)
        return self._party_model(identifier, SHOWN, "shown").tree

    def _party_model(self, identifier: str, name: str, place: str) -> PartyModel:
        directory = self.model(identifier)
        try:
            manifest = (directory / "manifest.json").read_bytes()
            content = self._seal.read(directory / name, f"{place}/{identifier}")
        except FileNotFoundError:
            raise InputError("this party has lost its part of the model") from None
        return party_of_bytes(manifest, content, str(directory), checked=name != SHOWN)

    def write_result(self, path: Path, identifier: str, content: bytes) -> None:
        """Put a result's shares into a file."""
        self._seal.write(path, f"result/{identifier}", [content])

    def read_result(self, identifier: str) -> bytes:
        """The result shares of a prediction or evaluation."""
        return self._seal.read(self.result(identifier), f"result/{identifier}")

    def discard_job(self, identifier: str) -> None:
        """Remove what a job left."""
        shutil.rmtree(self.work(identifier), ignore_errors=True)
        shutil.rmtree(self.model(identifier), ignore_errors=True)
        self.result(identifier).unlink(missing_ok=True)

    def reseal(self) -> int:
        """Bring every file under the present storage key; how many were changed."""
        found = [(path, f"dataset/{path.stem}") for path in (self.root / "datasets").glob("*.shares")]
        found += [(path, f"result/{path.stem}") for path in (self.root / "results").glob("*.npz")]
        for place, name in (("model", "shares.npz"), ("shown", SHOWN)):
            found += [(path, f"{place}/{path.parent.name}") for path in (self.root / "models").glob(f"*/{name}")]
        found += [
            (path, f"chunk/{path.parent.name}/{path.name}")
            for path in (self.root / "uploads").glob("*/*")
            if path.name.isdigit()
        ]
        return sum(self._seal.renew(path, place) for path, place in found)


def share_bytes(shares: Iterator[Numbers]) -> Iterator[Any]:
    """The layout of a dataset's file: per column all left summands, then all right ones."""
    for share in shares:
        yield from to_bytes(share)
