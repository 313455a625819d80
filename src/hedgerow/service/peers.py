"""Talking to party services over mutual TLS: used by the other parties and by owners' and analysts' clients."""

import ssl
import weakref
from typing import Any

import httpx

from ..errors import HedgerowError, PeerUnreachable
from ..transport import Identity
from ..transport.certificate import party_name, tls_reason
from .consortium import Consortium
from .refusal import Reason


class PartyRefused(HedgerowError):
    """A party service refused. ``status`` is HTTP's; ``code`` says why, where a program must know it."""

    def __init__(self, party: int, status: int, detail: str, code: Reason | None = None) -> None:
        self.party, self.status, self.detail, self.code = party, status, detail, code
        super().__init__(f"party {party}: {detail}")


class PartyConnections:
    """HTTP connections to the parties of a consortium under one identity."""

    def __init__(self, consortium: Consortium, identity: Identity, seconds: float = 30.0) -> None:
        self._consortium, self._seconds = consortium, seconds
        self._clients = self._connected(identity)

    def _connected(self, identity: Identity) -> list[httpx.Client]:
        context = identity.client_context()
        clients = [
            httpx.Client(base_url=address.url, verify=context, timeout=self._seconds, trust_env=False)
            for address in self._consortium.parties
        ]
        # Nobody has to close a client, nor the model that was got by it.
        weakref.finalize(self, _close_all, clients)
        return clients

    def renew(self, identity: Identity) -> None:
        """Go on with another certificate or list of revoked ones; requests under way end as they began."""
        self._clients = self._connected(identity)

    def call(self, party: int, method: str, path: str, **options: Any) -> Any:
        """One request; the server's certificate must carry the party's name. Returns JSON, or bytes if it is not."""
        try:
            answer = self._clients[party].request(
                method, path, extensions={"sni_hostname": party_name(party)}, **options
            )
        except httpx.HTTPError as error:
            problem = f"no answer from its control API ({_reason(error)})"
            raise PeerUnreachable(party, method.lower() + " " + path.split("/")[2], problem) from None
        if answer.status_code >= 400:
            raise _refused(party, answer)
        if not answer.content:
            return None
        plain = answer.headers.get("content-type", "").startswith("application/json")
        return answer.json() if plain else answer.content

    def close(self) -> None:
        """Close all connections."""
        _close_all(self._clients)


def _close_all(clients: list[httpx.Client]) -> None:
    for client in clients:
        client.close()


def _reason(error: BaseException) -> str:
    """What went wrong on the way; of TLS, what it says about the certificate."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return tls_reason(cause)
        cause = cause.__cause__ or cause.__context__
    return type(error).__name__


def _refused(party: int, answer: httpx.Response) -> PartyRefused:
    try:
        content = answer.json()
        code = content.get("code")
        known = Reason(code) if code in tuple(Reason) else None
        return PartyRefused(party, answer.status_code, str(content["detail"]), known)
    except (ValueError, KeyError, TypeError, AttributeError):
        return PartyRefused(party, answer.status_code, f"status {answer.status_code}")
