"""Files at rest: sealed, bound to their place, readable under old keys and under new ones."""

from __future__ import annotations

import os
import secrets

import pytest

from hedgerow.errors import HedgerowError, InputError
from hedgerow.service.seal import BLOCK, HEADER, MAGIC, Seal, read_storage_keys
from hedgerow.service.settings import read_settings
from support.commands import command
from support.deployment import SCHEMA, Deployment, patients


@pytest.fixture
def seal():
    return Seal([secrets.token_bytes(32)])


@pytest.mark.parametrize("size", [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 17])
def test_what_is_sealed_is_read_back(tmp_path, seal, size):
    content, path = os.urandom(size), tmp_path / "file"
    seal.write(path, "here", [content[: size // 3], content[size // 3 :]])
    assert path.stat().st_mode & 0o777 == 0o600
    assert seal.read(path, "here") == content
    opened = seal.open(path, "here")
    assert opened.size == size
    for start, length in ((0, 5), (size // 2, size), (max(0, size - 3), 3), (BLOCK - 2, 4), (0, size)):
        assert opened.read(start, length) == content[start : start + length]
    if size > 100:
        assert content[:64] not in path.read_bytes()


def test_no_byte_can_be_changed_and_no_end_cut(tmp_path, seal):
    path = tmp_path / "file"
    seal.write(path, "here", [os.urandom(BLOCK + 100)])
    whole = path.read_bytes()
    places = [0, 0, len(MAGIC), len(MAGIC) + 10, HEADER - 1, HEADER, HEADER + BLOCK, len(whole) - 1]
    for place in places[1:]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(HedgerowError):
            seal.read(path, "here")
    for length in (len(whole) - 1, HEADER + BLOCK + 16, HEADER + 16, HEADER):
        path.write_bytes(whole[:length])
        with pytest.raises(HedgerowError):
            seal.read(path, "here")


def test_files_cannot_be_exchanged(tmp_path, seal):
    seal.write(tmp_path / "file", "dataset/1", [b"shares"])
    with pytest.raises(HedgerowError, match="not the file that belongs here"):
        seal.read(tmp_path / "file", "dataset/2")


def test_keys_are_rotated_without_writing_the_files_anew(tmp_path):
    old, new = secrets.token_bytes(32), secrets.token_bytes(32)
    path, content = tmp_path / "file", os.urandom(5000)
    Seal([old]).write(path, "here", [content])
    body = path.read_bytes()[HEADER:]
    with pytest.raises(HedgerowError, match="was not given"):
        Seal([new]).read(path, "here")
    both = Seal([new, old])
    assert both.read(path, "here") == content
    assert both.renew(path, "here")
    assert not both.renew(path, "here")
    assert Seal([new]).read(path, "here") == content
    assert path.read_bytes()[HEADER:] == body
    with pytest.raises(HedgerowError, match="was not given"):
        Seal([old]).read(path, "here")


def test_plain_files_are_sealed_later_and_not_read_before(tmp_path, seal):
    path = tmp_path / "file"
    path.write_bytes(b"plain" * 1000)
    assert Seal().read(path, "here") == b"plain" * 1000
    with pytest.raises(HedgerowError, match="not sealed"):
        seal.read(path, "here")
    assert seal.renew(path, "here")
    assert path.read_bytes().startswith(MAGIC)
    assert seal.read(path, "here") == b"plain" * 1000


def test_keys_come_from_a_file_a_credential_or_a_command(tmp_path, monkeypatch):
    first, second = secrets.token_hex(32), secrets.token_hex(32)
    (tmp_path / "key").write_text(f"{first}\n{second}\n")
    wanted = (bytes.fromhex(first), bytes.fromhex(second))
    assert read_storage_keys({"file": "key"}, tmp_path).keys == wanted
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert read_storage_keys({"credential": "key"}, tmp_path / "elsewhere").keys == wanted
    assert read_storage_keys({"command": ["cat", "key"]}, tmp_path).keys == wanted
    assert read_storage_keys({}, tmp_path).keys == ()
    assert first not in repr(read_storage_keys({"file": "key"}, tmp_path))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"file": "nowhere"}, "cannot be had from the file"),
        ({"credential": "nowhere"}, "cannot be had from the credential"),
        ({"command": ["false"]}, "cannot be had from the command"),
        ({"command": "cat key"}, "list of words"),
        ({"file": "short"}, "does not give a storage key"),
        ({"file": "a", "command": ["b"]}, "one of"),
        ({"fiel": "a"}, "one of"),
    ],
)
def test_what_gives_no_key_is_named(tmp_path, entry, problem):
    (tmp_path / "short").write_text("abcd\n")
    with pytest.raises(InputError, match=problem):
        read_storage_keys(entry, tmp_path)


@pytest.mark.slow
def test_a_party_keeps_everything_sealed_and_rotates_its_key(tmp_path):
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(100, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        job = alice.train(["claims"], "ill", 2)
        alice.wait(job, seconds=60)
        rows = patients(10, 2)
        expected = alice.model(job).labels(rows.columns[:2]).tolist()
        data = deployment.root / "party1" / "data"
        shares = [*data.glob("datasets/*"), *data.glob("models/*/*.npz"), *data.glob("results/*")]
        assert len(shares) == 3
        assert all(path.read_bytes().startswith(MAGIC) for path in shares)
        assert all(path.stat().st_mode & 0o077 == 0 for path in data.rglob("*"))
        running = command("party", "reseal", "--config", deployment.root / "party1" / "party.toml")
        assert "stop it first" in running.words
        assert deployment.stop() == [0, 0, 0]
        # A new key before the old one, everything under the new one, the old one away.
        place = deployment.root / "party1"
        old = (place / "storage.key").read_text()
        (place / "storage.key").write_text(secrets.token_hex(32) + "\n" + old)
        done = command("party", "reseal", "--config", place / "party.toml")
        assert done.code == 0, done.err
        assert "all files and the private key are sealed under the present key; 3 were changed" in done.words
        assert b"ENCRYPTED" in (place / "key.pem").read_bytes()
        (place / "storage.key").write_text((place / "storage.key").read_text().splitlines()[0] + "\n")
        deployment.start()
        alice = deployment.client("alice")
        assert alice.model(job).labels(rows.columns[:2]).tolist() == expected
        assert alice.wait(alice.train(["claims"], "ill", 1), seconds=60)["state"] == "done"
        assert command("party", "jobs", "--config", place / "party.toml").code == 0
        assert deployment.stop() == [0, 0, 0]
        # Without the key nothing opens, and the start says so.
        (place / "storage.key").write_text(secrets.token_hex(32) + "\n")
        with pytest.raises(InputError, match="no storage key of this party opens it"):
            read_settings(place / "party.toml")
    finally:
        deployment.stop()
