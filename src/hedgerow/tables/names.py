"""Names of categories and classes behind keyed hashes: the parties see hashes, the key's holders see names.

Owners and analysts agree on a key, which never reaches a party. A schema then lists, in place of every name, a keyed
hash of it (HMAC-SHA256, cut to 64 bits): equal names have equal hashes, so that schemas can be merged and tables
shared, and without the key a hash cannot even be compared with a guess. A *book of names* gives the names back; it is
made where a table is looked at and is as private as the key.
"""

from __future__ import annotations

import hmac
import json
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .fixed import category_key
from .private import write_private
from .reader import Table
from .schema import Column, Schema, class_key, is_hash

KEY_BYTES = 32
HASH_DIGITS = 16
Book = dict[str, dict[str, Any]]
"""By column, what every hash stands for."""


@dataclass(frozen=True, slots=True, repr=False)
class NameKey:
    """The key that owners and analysts have in common."""

    secret: bytes

    def __repr__(self) -> str:
        return "NameKey(hidden)"

    @staticmethod
    def make(path: Path) -> NameKey:
        """Write a new key to a file that only its owner may read."""
        key = NameKey(secrets.token_bytes(KEY_BYTES))
        write_private(path, key.secret.hex() + "\n")
        return key

    @staticmethod
    def read(path: Path) -> NameKey:
        """A key from its file: 64 hexadecimal digits."""
        try:
            secret = bytes.fromhex(path.read_text(encoding="ascii").strip())
        except FileNotFoundError:
            raise InputError(f"there is no key file {path}; make one with 'hedgerow name-key {path}'") from None
        except (OSError, ValueError):
            secret = b""
        if len(secret) != KEY_BYTES:
            raise InputError(f"{path} is no key of this kind: {2 * KEY_BYTES} hexadecimal digits are needed")
        return NameKey(secret)

    @property
    def fingerprint(self) -> str:
        """What tells two keys apart; schemas carry it."""
        return hmac.digest(self.secret, b"fingerprint", "sha256").hex()[:8]

    def hashed(self, column: str, name: str) -> str:
        """What stands for a name of a column. It begins with a letter, so that nobody takes it for a number."""
        content = json.dumps([column, name], ensure_ascii=False).encode()
        return "h" + hmac.digest(self.secret, b"name" + content, "sha256").hex()[:HASH_DIGITS]

    def hide(self, schema: Schema) -> tuple[Schema, Book]:
        """A schema with hashes in place of names, and the book that gives them back, column by column."""
        columns: list[Column] = []
        book: Book = {}
        for column in schema.columns:
            if not column.names or column.hashed:
                columns.append(column)
                continue
            found = {self.hashed(column.name, _spelling(column, name)): name for name in column.names}
            if len(found) != len(column.names):
                raise InputError(f"column '{column.name}': two names have the same hash; agree on another key")
            columns.append(column.with_names(sorted(found), self.fingerprint))
            book[column.name] = found
        return Schema(tuple(columns)), book

    def hide_values(self, column: Column, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A table's column of names as hashes, gaps as they are."""
        self._check(column)
        hashes: dict[Any, str | None] = {}
        for value in set(values.tolist()):
            text = category_key(value)
            hashes[value] = None if text is None else self.hashed(column.name, _spelling(column, text))
        return np.array([hashes[value] for value in values.tolist()], dtype=object)

    def _check(self, column: Column) -> None:
        """Refuse a column that was hashed with another key."""
        if column.hashed != self.fingerprint:
            raise InputError(
                f"column '{column.name}': the names were hashed with another key "
                f"(fingerprint {column.hashed}, this key has {self.fingerprint})"
            )


def _spelling(column: Column, name: Any) -> str:
    """What is hashed: of a class what all its writings have in common, of a category its text."""
    return class_key(name) if column.kind == "label" else str(name)


def hide_table(table: Table, schema: Schema, key: NameKey | None) -> Table:
    """A table whose names are hashed where the schema's are."""
    hashed = [column for column in schema.columns if column.hashed and column.name in table.names]
    if hashed and key is None:
        raise InputError(
            f"the schema has hashes in place of the names of '{hashed[0].name}': give the key (--name-key)"
        )
    columns = list(table.columns)
    for column in hashed:
        assert key is not None
        place = table.names.index(column.name)
        columns[place] = key.hide_values(column, columns[place])
    return replace(table, columns=columns)


def write_book(book: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Write a book of names to a file that only its owner may read."""
    lines = ["# Private: what the hashed names of a schema stand for. Never give this to a party."]
    for column, names in book.items():
        lines.append(f"\n[{json.dumps(column, ensure_ascii=False)}]")
        lines += [f"{digits} = {json.dumps(name, ensure_ascii=False)}" for digits, name in sorted(names.items())]
    write_private(path, "\n".join(lines) + "\n")


def read_book(path: Path) -> Book:
    """A book of names from its file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no book of names {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise InputError(f"{path} is no readable book of names") from None
    return {name: names for name, names in content.items() if isinstance(names, dict)}


def named(column: Column, book: Mapping[str, Mapping[str, Any]]) -> Column:
    """A column with the names that its hashes stand for; hashes the book does not have stay, for another book."""
    known = book.get(column.name, {})
    if not column.hashed or not known:
        return column
    names = [known.get(digits, digits) for digits in column.names]
    return column.with_names(names, column.hashed if any(map(is_hash, names)) else "")
