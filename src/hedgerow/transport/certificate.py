"""Certificates for mutual TLS: one authority per consortium, one certificate per party, all made by `cryptography`."""

from __future__ import annotations

import datetime
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


def party_name(party: int) -> str:
    """The name a party's certificate carries and its peers insist on."""
    return f"party-{party}.hedgerow.internal"


@dataclass(frozen=True, slots=True)
class Identity:
    """Where one party's key, certificate and the authority's certificate lie."""

    key: Path
    certificate: Path
    authority: Path

    def server_context(self) -> ssl.SSLContext:
        """TLS 1.3 for the side that listens; it insists on a certificate of the same authority."""
        return self._context(ssl.PROTOCOL_TLS_SERVER)

    def client_context(self) -> ssl.SSLContext:
        """TLS 1.3 for the side that dials."""
        return self._context(ssl.PROTOCOL_TLS_CLIENT)

    def _context(self, protocol: int) -> ssl.SSLContext:
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(self.certificate, self.key)
        context.load_verify_locations(self.authority)
        context.verify_mode = ssl.CERT_REQUIRED
        return context


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


def _write_private(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _private_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def make_identities(directory: Path, days: int = 365) -> list[Identity]:
    """Make an authority and the three parties' certificates in ``directory``; the authority's key is not kept."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Hedgerow consortium")])
    authority = (
        _builder("Hedgerow consortium", issuer, authority_key.public_key(), days)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    authority_path = directory / "authority.pem"
    authority_path.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    identities = []
    for party in range(3):
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            _builder(party_name(party), issuer, key.public_key(), days)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(party_name(party))]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False
            )
            .sign(authority_key, hashes.SHA256())
        )
        identity = Identity(directory / f"party{party}.key", directory / f"party{party}.pem", authority_path)
        _write_private(identity.key, _private_bytes(key))
        identity.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        identities.append(identity)
    return identities
