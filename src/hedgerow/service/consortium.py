"""Who takes part: parties with their addresses, members with their roles, and everybody's certificates."""

import contextlib
import datetime
import json
import re
import secrets
import ssl
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from ..errors import InputError
from ..tables.private import write_private
from ..transport import Authority, Identity
from ..transport.certificate import Revocation, marks, party_name
from .clock import now

ROLES = ("owner", "analyst")
DOMAIN = "hedgerow.internal"
NAME = re.compile(r"[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?")
WARNING_DAYS = 30


def check_name(name: str, what: str = "name") -> str:
    """Names of members and datasets go into file names and addresses, so they are kept simple."""
    if not NAME.fullmatch(name):
        raise InputError(f"{what} {name[:80]!r}: use 1 to 63 lower-case letters, digits, '-' or '_'")
    return name


def check_member(name: str) -> str:
    """A member's name, which must not look like a party's."""
    if re.fullmatch("party-?[0-9]*", name):
        raise InputError(f"a member cannot be called '{name}': that is a party's name")
    return check_name(name, "member")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a party's two ports are."""

    host: str
    control: int
    party: int

    @property
    def url(self) -> str:
        """The control API."""
        return f"https://{self.host}:{self.control}"


@dataclass(frozen=True, slots=True)
class Consortium:
    """What ``consortium.toml`` says."""

    name: str
    parties: tuple[Address, Address, Address]
    members: dict[str, tuple[str, ...]]
    revoked: tuple[Revocation, ...] = ()

    def text(self) -> str:
        """As TOML."""
        lines = [f"name = {json.dumps(self.name)}"]
        for address in self.parties:
            lines += ["", "[[party]]", f"host = {json.dumps(address.host)}", f"control = {address.control}"]
            lines += [f"party = {address.party}"]
        for member, roles in self.members.items():
            lines += ["", "[[member]]", f"name = {json.dumps(member)}", f"roles = {json.dumps(list(roles))}"]
        for revocation in self.revoked:
            lines += ["", "[[revoked]]", f"certificate = {json.dumps(revocation.mark)}"]
            lines += [f"since = {revocation.since.isoformat()}"] if revocation.since else []
        return "\n".join(lines) + "\n"


def read_consortium(path: Path) -> Consortium:
    """Parse ``consortium.toml``."""
    content = read_toml(path)
    try:
        parties = [Address(str(p["host"]), int(p["control"]), int(p["party"])) for p in content["party"]]
        members = {check_member(str(m["name"])): tuple(map(str, m["roles"])) for m in content.get("member", [])}
        name = str(content["name"])
        revoked = tuple(_revocation(entry) for entry in content.get("revoked", []))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is incomplete: {error}") from None
    if len(parties) != 3:
        raise InputError(f"{path} names {len(parties)} parties; there must be three")
    for member, roles in members.items():
        if not set(roles) <= set(ROLES):
            raise InputError(f"{path}: member '{member}' has an unknown role; roles are {', '.join(ROLES)}")
    return Consortium(name, (parties[0], parties[1], parties[2]), members, revoked)


def check_mark(text: str) -> str:
    """What a certificate is revoked by, in the form in which it is compared."""
    mark = text.lower().replace(":", "").lstrip("0")
    if not re.fullmatch("[0-9a-f]{1,64}", mark):
        raise InputError(f"'{text[:80]}' is neither a serial number nor the SHA-256 of a key, in hexadecimal digits")
    return mark


def _revocation(entry: dict[str, Any]) -> Revocation:
    mark, since = check_mark(str(entry["certificate"])), entry.get("since")
    if since is not None and not isinstance(since, datetime.datetime):
        raise ValueError("'since' of a revoked certificate is a date with a time")
    return Revocation(mark, since.replace(tzinfo=since.tzinfo or datetime.UTC) if since else None)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, with what is wrong said in one line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is no readable TOML file: {error}") from None


def member_names(name: str, roles: Sequence[str]) -> list[str]:
    """The DNS names in a member's certificate: its identity and roles."""
    return [f"{name}.{role}.{DOMAIN}" for role in roles]


def load_identity(directory: Path, revoked: tuple[Revocation, ...] = (), passphrases: Sequence[bytes] = ()) -> Identity:
    """The three PEM files of a party or member, whose certificate must be valid today.

    ``passphrases`` are tried on a key that is encrypted.
    """
    identity = Identity(directory / "key.pem", directory / "cert.pem", directory / "ca.pem", revoked)
    for path in (identity.key, identity.certificate, identity.authority):
        if not path.exists():
            raise InputError(f"{directory} holds no identity: {path.name} is missing")
    identity = _with_passphrase(identity, passphrases)
    try:
        identity.client_context()
    except (ssl.SSLError, OSError):
        raise InputError(f"{directory}: key, certificate and authority do not fit together") from None
    shown, today = load_certificate(identity.certificate), now()
    if today >= shown.not_valid_after_utc:
        ended = f"{shown.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
        raise InputError(
            f"the certificate {identity.certificate} ended on {ended}, and this machine's clock says "
            f"{today:%Y-%m-%d %H:%M}: renew it (hedgerow consortium renew), or set the clock"
        )
    if today < shown.not_valid_before_utc:
        begins = f"{shown.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
        raise InputError(
            f"the certificate {identity.certificate} is valid from {begins} on, and this machine's clock says "
            f"{today:%Y-%m-%d %H:%M}: set the clock"
        )
    if set(marks(shown)) & {revocation.mark for revocation in revoked if revocation.holds}:
        raise InputError(f"the certificate {identity.certificate} was revoked: ask for a new one")
    return identity


def _with_passphrase(identity: Identity, passphrases: Sequence[bytes]) -> Identity:
    """The identity with the passphrase that opens its key, if it needs one."""
    content = identity.key.read_bytes()
    if b"ENCRYPTED" not in content:
        return identity
    for passphrase in passphrases:
        with contextlib.suppress(ValueError):
            serialization.load_pem_private_key(content, passphrase)
            return replace(identity, passphrase=passphrase)
    raise InputError(f"{identity.key} is encrypted, and no storage key of this party opens it")


def encrypt_key(identity: Identity, passphrase: bytes) -> None:
    """Encrypt a private key, whatever it was encrypted with before."""
    key = serialization.load_pem_private_key(identity.key.read_bytes(), identity.passphrase)
    content = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(passphrase)
    )
    write_private(identity.key, content)


def load_certificate(path: Path) -> x509.Certificate:
    """A certificate from its PEM file."""
    return x509.load_pem_x509_certificate(path.read_bytes())


def expiry(certificate: Path) -> datetime.datetime:
    """When a certificate ends."""
    return load_certificate(certificate).not_valid_after_utc


def revoke(directory: Path, revocations: Sequence[Revocation]) -> Consortium:
    """Add to the list of revoked certificates, in every copy of ``consortium.toml`` below a consortium's directory."""
    consortium = read_consortium(directory / "consortium.toml")
    known = {revocation.mark: revocation for revocation in (*consortium.revoked, *revocations)}
    changed = replace(consortium, revoked=tuple(known.values()))
    for path in [directory, *directory.glob("party?"), *directory.glob("members/*")]:
        if (path / "consortium.toml").exists():
            (path / "consortium.toml").write_text(changed.text(), encoding="utf-8")
    return changed


def write_identity(authority: Authority, names: Sequence[str], directory: Path, days: int) -> None:
    """A fresh key and certificate, and the authority's certificate, in a private directory."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    key, certificate = authority.issue(names, days)
    write_private(directory / "key.pem", key)
    (directory / "cert.pem").write_bytes(certificate)
    (directory / "ca.pem").write_bytes(authority.pem)


def init_consortium(consortium: Consortium, directory: Path, days: int, authority: Authority | None = None) -> None:
    """Everything to hand out: ``consortium.toml``, ``authority/``, ``party0`` to ``party2``, ``members/``."""
    if directory.exists() and any(directory.iterdir()):
        raise InputError(f"{directory} is not empty: choose another place")
    if days < WARNING_DAYS:
        raise InputError(f"certificates of {days} days would expire within a month; choose more")
    (directory / "authority").mkdir(mode=0o700, parents=True)
    authority = authority or Authority.make(3650)
    write_private(directory / "authority" / "key.pem", authority.key_pem)
    (directory / "authority" / "cert.pem").write_bytes(authority.pem)
    (directory / "consortium.toml").write_text(consortium.text(), encoding="utf-8")
    for number in range(3):
        write_identity(authority, [party_name(number)], directory / f"party{number}", days)
        write_private(directory / f"party{number}" / "storage.key", secrets.token_hex(32).encode() + b"\n")
        (directory / f"party{number}" / "party.toml").write_text(_party_text(number), encoding="utf-8")
        (directory / f"party{number}" / "consortium.toml").write_text(consortium.text(), encoding="utf-8")
    for member, roles in consortium.members.items():
        write_identity(authority, member_names(member, roles), directory / "members" / member, days)
        (directory / "members" / member / "consortium.toml").write_text(consortium.text(), encoding="utf-8")


def _party_text(number: int) -> str:
    return f"""# Settings of party {number}. Paths are relative to this file.
# Settings stand above the first line in brackets.
number = {number}
consortium = "consortium.toml"
identity = "."
data = "data"
max_running = 2
patience_seconds = 60

# Files at rest are sealed with this key. Better: credential = "NAME" (systemd) or command = ["…"], off this disk.
storage_key = {{ file = "storage.key" }}

# What results may tell at most; these are the defaults, owners may ask for more. See docs/guide/disclosure.md.
[disclosure]
min_rows = 100
min_samples_leaf = 5
max_height = 10
min_evaluation_rows = 50
predictions_per_day = 10000
min_count = 5

# Default deny: what no rule allows is refused.
# [[rule]]
# who = "alice"                  # a member's name, or "*"
# action = "train"               # train, predict, evaluate or reveal
# datasets = ["clinic/claims"]   # all datasets of a job must be listed; "clinic/*" and "*" cover more
# max_rows = 1000000
# max_height = 10
# approval = true                # wait for 'hedgerow approve JOB' at this party
"""
