"""Countersigned heads of the audit logs: parties keep and sign each other's last line, so that no log can be cut.

Every so often a party asks the others how much of its log they have seen, and shows them the hashes of the lines since.
A head is a hash over the hashes of all lines, so each of them computes the next head from the last one by itself: a log
that was cut, or written anew, does not lead there. Each keeps the head and answers with a signature, which the party
keeps. A party that cannot be asked is asked again later: its last signature still binds, and what came after it is
bound by the other's. Signatures carry the signer's certificate, so they outlive its keys.
"""

import json
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ..errors import HedgerowError, PeerUnreachable
from ..tables.private import write_private
from ..transport.certificate import party_name
from .audit import START, AuditLog, Hashes, check_contains, extended, verify
from .clock import now
from .consortium import load_certificate
from .peers import PartyConnections
from .refusal import Conflict
from .settings import PartySettings

MOST_LINES = 10_000
"""Lines shown at a time."""
log = logging.getLogger("hedgerow.audit")


def _statement(consortium: str, party: int, count: int, head: str, time: str, signer: int) -> bytes:
    said = ["audit head", consortium, party, count, head, time, signer]
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

    def known(self, party: int) -> dict[str, Any]:
        """How far this party has seen another one's log."""
        return dict(_read(self._shown).get(str(party), {"count": 0, "head": START}))

    def countersign(
        self, party: int, before: int, lines: Sequence[str], restored: bool, audit: AuditLog
    ) -> dict[str, Any]:
        """Keep and sign another party's head: what was seen of its log, and the hashes of the lines that came after.

        One that does not go on from there is refused, and this party's log tells of it. Only a party that was restored
        from a copy begins anew, from its first line on; what was seen before stands in this party's log.
        """
        with self._lock:
            shown, known = _read(self._shown), self.known(party)
            if restored or before != known["count"]:
                seen = {"seen_lines": known["count"], "seen_head": known["head"]}
                audit.append(f"party-{party}", "audit_went_back", party=party, restored=restored, **seen)
                if not restored:
                    raise Conflict(
                        f"party {self._settings.number} has seen {known['count']} lines of this log, the last on "
                        f"{known.get('time', 'no day')}: it was cut, or an older copy restored"
                    )
                before, known = 0, {"count": 0, "head": START}
            count = before + len(lines)
            head = extended(known["head"], (bytes.fromhex(line) for line in lines))
            time = now().isoformat()
            write_private(self._shown, json.dumps(shown | {str(party): {"count": count, "head": head, "time": time}}))
        number, identity = self._settings.number, self._settings.identity
        key = serialization.load_pem_private_key(identity.key.read_bytes(), identity.passphrase)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        said = _statement(self._settings.consortium.name, party, count, head, time, number)
        signature, certificate = key.sign(said, ec.ECDSA(hashes.SHA256())).hex(), identity.certificate.read_text()
        return {"count": count, "head": head, "time": time, "signature": signature, "certificate": certificate}

    def exchange(self, audit: AuditLog) -> None:
        """Show the others what has come since they last looked; what they have seen must be in this party's log."""
        found, path = audit.hashes, audit_path(self._settings.data)
        restored = self._settings.data / "restored"
        problems = []
        for party in self._settings.others:
            receipts = _read(receipts_path(self._settings.data))
            try:
                known = self._peers.call(party, "GET", "/v1/peer/heads")
                anew = restored.exists() and restored.read_text() != receipts.get(str(party), {}).get("restored")
                if not anew:
                    check_contains(path, found, known["count"], known["head"], f"party {party}")
                if known["count"] == len(found) and not anew:
                    continue
                before = 0 if anew else known["count"]
                lines = [line.hex() for line in found.lines[before : before + MOST_LINES]]
                content = {"before": before, "lines": lines, "restored": anew}
                receipt = self._peers.call(party, "POST", "/v1/peer/heads", json=content)
            except PeerUnreachable:
                continue
            except HedgerowError as error:
                problems.append(str(error))
                log.error("the audit log is not what another party has seen", extra={"peer": party})
                continue
            if restored.exists():
                receipt["restored"] = restored.read_text()
            _check_receipt(self._settings, party, receipt)
            write_private(receipts_path(self._settings.data), json.dumps(receipts | {str(party): receipt}))
        self.problem = problems[0] if problems else None

    def restore_is_known(self) -> bool:
        """Whether both others have taken note that this party was restored."""
        receipts, restored = _read(receipts_path(self._settings.data)), self._settings.data / "restored"
        return all(receipts.get(str(p), {}).get("restored") == restored.read_text() for p in self._settings.others)


def audit_path(data: Path) -> Path:
    """Where a party's audit log lies."""
    return data / "audit.jsonl"


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
            settings.consortium.name, settings.number, receipt["count"], receipt["head"], receipt["time"], signer
        )
        key.verify(bytes.fromhex(receipt["signature"]), said, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError, KeyError, TypeError, AttributeError, x509.ExtensionNotFound):
        raise HedgerowError(f"the countersignature of party {signer} is not genuine") from None


def verify_against_signatures(settings: PartySettings) -> tuple[Hashes, dict[int, dict[str, Any]]]:
    """Check a party's whole log, and that it contains all that others signed; returns its hashes and the signatures."""
    found = verify(audit_path(settings.data))
    return found, check_signatures(settings, found)


def check_signatures(settings: PartySettings, found: Hashes) -> dict[int, dict[str, Any]]:
    """Check that a log whose chain is intact contains all that others signed; returns the signatures."""
    receipts = {int(party): receipt for party, receipt in _read(receipts_path(settings.data)).items()}
    for party, receipt in receipts.items():
        _check_receipt(settings, party, receipt)
        check_contains(audit_path(settings.data), found, receipt["count"], receipt["head"], f"party {party}")
    return receipts
