"""Countersigned heads of the audit logs: parties keep and sign each other's last line, so that no log can be cut.

Every so often a party shows the others how many lines its log has and the hash of the last one. Each of them keeps what
it was shown, refuses one that goes back, and answers with a signature, which the party keeps. A log must contain every
head that was signed. A party that cannot be asked is asked again later: its last signature still binds, and what came
after it is bound by the other's. Signatures carry the signer's certificate, so they outlive its keys.
"""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ..errors import HedgerowError, PeerUnreachable
from ..tables.private import write_private
from ..transport.certificate import party_name
from .audit import AuditLog, verify
from .clock import now
from .consortium import load_certificate
from .peers import Answer, PartyConnections
from .refusal import Conflict
from .settings import PartySettings

log = logging.getLogger("hedgerow.audit")


def _statement(consortium: str, party: int, count: int, last: str, time: str, signer: int) -> bytes:
    said = ["audit head", consortium, party, count, last, time, signer]
    return json.dumps(said).encode()


class Heads:
    """What this party has signed for others, and what they have signed for it."""

    def __init__(self, settings: PartySettings, peers: PartyConnections) -> None:
        self._settings, self._peers = settings, peers
        self._lock = threading.Lock()
        self.problem: str | None = None
        """What another party holds against this party's log."""

    @property
    def _shown(self) -> Path:
        return self._settings.data / "heads.json"

    def countersign(self, party: int, count: int, last: str, restored: bool, audit: AuditLog) -> dict[str, Any]:
        """Keep and sign another party's head; one that goes back is refused, and both logs tell of it."""
        with self._lock:
            shown = _read(self._shown)
            known = shown.get(str(party), {"count": 0, "hash": last})
            back = count < known["count"] or (count == known["count"] and last != known["hash"])
            if back:
                facts = {"party": party, "lines": count, "signed_lines": known["count"], "restored": restored}
                audit.append(f"party-{party}", "audit_went_back", **facts)
                if not restored:
                    raise Conflict(
                        f"party {self._settings.number} has countersigned {known['count']} lines of this log, the last "
                        f"on {known['time']}, and now it has {count} or others: it was cut, or an older copy restored"
                    )
            time = now().isoformat()
            write_private(self._shown, json.dumps(shown | {str(party): {"count": count, "hash": last, "time": time}}))
        number, identity = self._settings.number, self._settings.identity
        key = serialization.load_pem_private_key(identity.key.read_bytes(), identity.passphrase)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        said = _statement(self._settings.consortium.name, party, count, last, time, number)
        certificate = identity.certificate.read_text()
        return {"time": time, "signature": key.sign(said, ec.ECDSA(hashes.SHA256())).hex(), "certificate": certificate}

    def exchange(self, audit: AuditLog) -> None:
        """Show this party's head to those who have not signed it yet."""
        count, last = audit.head
        restored = self._settings.data / "restored"
        problems = []
        for party in self._settings.others:
            receipts = _read(receipts_path(self._settings.data))
            if receipts.get(str(party), {}).get("count") == count and not restored.exists():
                continue
            content = {"count": count, "hash": last, "restored": restored.exists()}
            try:
                receipt = self._peers.call(party, "POST", "/v1/peer/heads", json=content)
            except PeerUnreachable:
                continue
            except Answer as error:
                problems.append(str(error))
                log.error("the audit log is not what another party countersigned", extra={"peer": party})
                continue
            kept = {"count": count, "hash": last, **receipt}
            _check_receipt(self._settings, party, kept)
            write_private(receipts_path(self._settings.data), json.dumps(receipts | {str(party): kept}))
        self.problem = problems[0] if problems else None

    def signed_by_all(self, count: int) -> bool:
        """Whether both others have signed so many lines, after a restored copy as well."""
        receipts = _read(receipts_path(self._settings.data))
        return all(receipts.get(str(party), {}).get("count", 0) >= count for party in self._settings.others)


def receipts_path(data: Path) -> Path:
    """Where a party keeps what others have signed for it."""
    return data / "countersigned.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (ValueError, OSError):
        raise HedgerowError(f"{path} cannot be read; it holds what other parties countersigned") from None
    return content if isinstance(content, dict) else {}


def _check_receipt(settings: PartySettings, signer: int, receipt: dict[str, Any]) -> None:
    """Whether a signature is one of the party it names, under a certificate of the consortium's authority."""
    try:
        certificate = x509.load_pem_x509_certificate(receipt["certificate"].encode())
        certificate.verify_directly_issued_by(load_certificate(settings.identity.authority))
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        key = certificate.public_key()
        if party_name(signer) not in names.get_values_for_type(x509.DNSName):
            raise ValueError("another party's certificate")
        if not isinstance(key, ec.EllipticCurvePublicKey):
            raise ValueError("another kind of key")
        said = _statement(
            settings.consortium.name, settings.number, receipt["count"], receipt["hash"], receipt["time"], signer
        )
        key.verify(bytes.fromhex(receipt["signature"]), said, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError, x509.ExtensionNotFound):
        raise HedgerowError(f"the countersignature of party {signer} is not genuine") from None


def verify_against_signatures(settings: PartySettings) -> tuple[int, str, dict[int, dict[str, Any]]]:
    """Check a party's whole log, and that it contains all that others signed; returns its head and the signatures."""
    receipts = {int(party): receipt for party, receipt in _read(receipts_path(settings.data)).items()}
    for party, receipt in receipts.items():
        _check_receipt(settings, party, receipt)
    signed = {receipt["count"]: receipt["hash"] for receipt in receipts.values() if receipt["count"]}
    count, last = verify(settings.data / "audit.jsonl", signed)
    return count, last, receipts
