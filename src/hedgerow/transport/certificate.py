"""Certificates for mutual TLS: one authority per consortium, one certificate per party, all made by `cryptography`."""

from __future__ import annotations

import datetime
import hashlib
import os
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def party_name(party: int) -> str:
    """The name a party's certificate carries and its peers insist on."""
    return f"party-{party}.hedgerow.internal"


@dataclass(frozen=True, slots=True)
class Revocation:
    """A certificate that is not to be trusted any more, by its serial number or by the SHA-256 of its public key."""

    mark: str
    since: datetime.datetime | None = None

    @property
    def holds(self) -> bool:
        """Whether it has taken effect."""
        return self.since is None or self.since <= datetime.datetime.now(datetime.UTC)


def marks(certificate: x509.Certificate) -> tuple[str, str]:
    """What a certificate can be revoked by: its serial number, and the SHA-256 of its public key, in hexadecimal."""
    key = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return f"{certificate.serial_number:x}", hashlib.sha256(key).hexdigest()


def is_revoked(certificate: bytes, revocations: Iterable[Revocation]) -> bool:
    """Whether a certificate (in DER) is on the list."""
    listed = {revocation.mark for revocation in revocations if revocation.holds}
    return bool(listed) and not listed.isdisjoint(marks(x509.load_der_x509_certificate(certificate)))


class _Context(ssl.SSLContext):
    """TLS that looks the other side's certificate up in a list of revoked ones, as soon as it has been shown."""

    revocations: tuple[Revocation, ...] = ()

    def wrap_socket(self, *arguments: Any, **options: Any) -> ssl.SSLSocket:
        """A socket whose other side has shown a certificate that holds."""
        sock = super().wrap_socket(*arguments, **options)
        if is_revoked(sock.getpeercert(binary_form=True) or b"", self.revocations):
            sock.close()
            raise ssl.SSLCertVerificationError("the certificate was revoked")
        return sock


@dataclass(frozen=True, slots=True)
class Identity:
    """Where one party's key, certificate and the authority's certificate lie, and which certificates are revoked."""

    key: Path
    certificate: Path
    authority: Path
    revocations: tuple[Revocation, ...] = ()
    passphrase: bytes | None = field(default=None, repr=False)

    def server_context(self) -> ssl.SSLContext:
        """TLS 1.3 for the side that listens; it insists on a certificate of the same authority."""
        return self._context(ssl.PROTOCOL_TLS_SERVER)

    def client_context(self) -> ssl.SSLContext:
        """TLS 1.3 for the side that dials."""
        return self._context(ssl.PROTOCOL_TLS_CLIENT)

    def _context(self, protocol: int) -> ssl.SSLContext:
        context = _Context(protocol)
        context.revocations = self.revocations
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(self.certificate, self.key, self.passphrase or b"")
        context.load_verify_locations(self.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


def tls_reason(error: BaseException) -> str:
    """Why TLS failed, in words for those who look after certificates and clocks."""
    problem = str(getattr(error, "verify_message", "") or "")
    if "revoked" in str(error):
        return "the certificate was revoked"
    if problem in ("certificate has expired", "certificate is not yet valid"):
        return f"the {problem}, or the clock of one machine is wrong"
    reason = str(problem or getattr(error, "reason", None) or type(error).__name__)
    if "CERTIFICATE_EXPIRED" in reason:
        return "the certificate has expired, or the clock of one machine is wrong"
    return f"certificate not accepted: {reason}" if "CERT" in reason.upper() or problem else reason


AUTHORITY_NAME = "Hedgerow consortium"


@dataclass(frozen=True, slots=True, repr=False)
class Authority:
    """The certificate authority of a consortium, with its key."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @staticmethod
    def make(days: int) -> Authority:
        """A fresh authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, AUTHORITY_NAME)])
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        certificate = (
            _builder(AUTHORITY_NAME, issuer, key.public_key(), days)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return Authority(key, certificate)

    @staticmethod
    def load(certificate: Path, key: Path) -> Authority:
        """An authority from its PEM files."""
        loaded = serialization.load_pem_private_key(key.read_bytes(), None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise ValueError("the authority's key must be an elliptic-curve key")
        return Authority(loaded, x509.load_pem_x509_certificate(certificate.read_bytes()))

    @property
    def pem(self) -> bytes:
        """The certificate alone."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """The private key."""
        return _private_bytes(self.key)

    def issue(self, names: Sequence[str], days: int) -> tuple[bytes, bytes]:
        """A key and a certificate for the given DNS names, as PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(names[0], self.certificate.subject, key.public_key(), days)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        return _private_bytes(key), certificate.public_bytes(serialization.Encoding.PEM)


def _builder(
    subject: str, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _private_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def make_identities(directory: Path, days: int = 365) -> list[Identity]:
    """Make an authority and the three parties' certificates in ``directory``; the authority's key is not kept."""
    authority = Authority.make(days)
    authority_path = directory / "authority.pem"
    authority_path.write_bytes(authority.pem)
    identities = []
    for party in range(3):
        identity = Identity(directory / f"party{party}.key", directory / f"party{party}.pem", authority_path)
        key, certificate = authority.issue([party_name(party)], days)
        write_private(identity.key, key)
        identity.certificate.write_bytes(certificate)
        identities.append(identity)
    return identities
