"""Model files: one directory for every party, with a manifest in the clear and that party's shares.

``manifest.json`` names format, version, party and the public facts, and has a checksum of ``shares.npz``. Directories
are written under another name and renamed when complete, so a half-written model is never seen. Only the owner may
read.
"""

import hashlib
import io
import json
import secrets
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..shares import RING32, RING64, Numbers, Words
from ..shares.stored import from_arrays, to_arrays
from ..tables.private import private_write
from ..trees.shared_tree import SharedTree
from .facts import ModelFacts

FORMAT = "hedgerow model"
VERSION = 1
MANIFEST = "manifest.json"
SHARES = "shares.npz"


@dataclass(frozen=True, slots=True)
class PartyModel:
    """One party's part of a model."""

    facts: ModelFacts
    party: int
    tree: SharedTree


def share_bytes(tree: SharedTree) -> bytes:
    """A tree's shares as the content of a ``.npz`` file."""
    arrays: dict[str, Words] = {}
    for name, share in tree.named_columns():
        arrays |= to_arrays(share, *_sides(name))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def tree_of_bytes(content: bytes, facts: ModelFacts) -> SharedTree:
    """The inverse of :func:`share_bytes`; every array must have the length and type the shape demands."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile):
        raise InputError("the share file is damaged") from None

    def share(name: str, length: int) -> Numbers:
        found = from_arrays(arrays, *_sides(name))
        if found.ring not in (RING32, RING64) or len(found) != length:
            raise InputError(f"the share file's '{name}' does not have the shape the manifest declares")
        return found

    problem = facts.problem
    columns = []
    for k in range(problem.height):
        names = (f"layer{k}.{column}" for column in ("number", "attribute", "threshold"))
        columns += [share(name, problem.layer_length(k)) for name in names]
    counts = [c for c in range(problem.classes or 2) if _sides(f"leaf.count{c}")[0] in arrays]
    leaves = ("leaf.number", "leaf.label", *(f"leaf.count{c}" for c in counts))
    columns += [share(name, problem.layer_length(problem.height)) for name in leaves]
    return SharedTree.of_columns(problem.height, columns)


def _sides(name: str) -> tuple[str, str]:
    return f"{name}.left", f"{name}.right"


def _checksum(content: bytes, party: int, facts: Any) -> str:
    """SHA-256 of the shares and of all that the manifest says about them."""
    said = json.dumps([party, facts], sort_keys=True, ensure_ascii=False).encode()
    return hashlib.sha256(said + b"\0" + content).hexdigest()


def manifest_bytes(model: PartyModel, content: bytes) -> bytes:
    """What is in the clear of a party's part, whose shares are ``content``."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "party": model.party,
        "facts": model.facts.entry(),
        "sha256": _checksum(content, model.party, model.facts.entry()),
    }
    return json.dumps(manifest, indent=1, ensure_ascii=False).encode()


def save_party(model: PartyModel, directory: Path) -> None:
    """Write one party's directory, all or nothing; an existing one is refused."""
    if directory.exists():
        raise InputError(f"{directory} exists already: choose another place or remove it")
    content = share_bytes(model.tree)
    directory.parent.mkdir(parents=True, exist_ok=True)
    unfinished = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}")
    unfinished.mkdir(mode=0o700)
    try:
        private_write(unfinished / SHARES, content)
        private_write(unfinished / MANIFEST, manifest_bytes(model, content))
        unfinished.rename(directory)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def load_party(directory: Path) -> PartyModel:
    """Read one party's directory; wrong, truncated or foreign files are refused."""
    try:
        manifest, content = (directory / MANIFEST).read_bytes(), (directory / SHARES).read_bytes()
    except FileNotFoundError:
        raise InputError(f"{directory} holds no Hedgerow model ({MANIFEST} and {SHARES} are needed)") from None
    except OSError:
        raise InputError(f"{directory} cannot be read as a Hedgerow model") from None
    return party_of_bytes(manifest, content, str(directory))


def party_of_bytes(said: bytes, content: bytes, directory: str, checked: bool = True) -> PartyModel:
    """The inverse of :func:`manifest_bytes` and :func:`share_bytes`; ``checked`` if the checksum is of these shares."""
    try:
        manifest = json.loads(said)
    except ValueError:
        raise InputError(f"{directory} cannot be read as a Hedgerow model") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(f"{directory} holds something else than a Hedgerow model")
    if manifest.get("version") != VERSION:
        raise InputError(f"{directory} has model format {manifest.get('version')}; this version reads format {VERSION}")
    if type(manifest.get("party")) is not int or manifest["party"] not in (0, 1, 2):
        raise InputError(f"{directory} names no party")
    if checked and _checksum(content, manifest["party"], manifest.get("facts")) != manifest.get("sha256"):
        raise InputError(f"{directory} is damaged: shares and manifest do not have the manifest's checksum")
    try:
        facts = ModelFacts.of_entry(manifest.get("facts"))
        return PartyModel(facts, manifest["party"], tree_of_bytes(content, facts))
    except InputError as error:
        raise InputError(f"{directory}: {error}") from None


def save_model(models: Sequence[PartyModel], directory: Path) -> None:
    """Write all three parties' parts of a local model as ``party0`` to ``party2``, all or nothing."""
    if directory.exists():
        raise InputError(f"{directory} exists already: choose another place or remove it")
    directory.parent.mkdir(parents=True, exist_ok=True)
    unfinished = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}")
    try:
        unfinished.mkdir(mode=0o700)
        for model in models:
            save_party(model, unfinished / f"party{model.party}")
        unfinished.rename(directory)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def load_model(directory: Path) -> list[PartyModel]:
    """Read a local model; the three parts must belong together."""
    if not directory.is_dir():
        raise InputError(f"there is no model directory {directory}")
    models = [load_party(directory / f"party{party}") for party in range(3)]
    if [model.party for model in models] != [0, 1, 2]:
        raise InputError(f"{directory}: the parties' parts are mixed up")
    if any(model.facts != models[0].facts for model in models):
        raise InputError(f"{directory}: the parts belong to different models")
    return models
