"""Who is calling, by the connection's certificate, and whether they may."""

from typing import Annotated, Any

from fastapi import Depends, Request

from ..caller import Caller
from ..consortium import DOMAIN, ROLES
from ..datasets import LEADER
from ..refusal import Forbidden
from ..settings import PartySettings

REVOKED = "this certificate was revoked"
STRANGER = "the certificate's name is not a member of this consortium, or has other roles there"


def caller_of(certificate: dict[str, Any] | None) -> Caller:
    """Who a verified certificate names."""
    names = [value for kind, value in (certificate or {}).get("subjectAltName", ()) if kind == "DNS"]
    member, roles, party = "", [], None
    for name in names:
        label, _, rest = name.partition(".")
        if rest == DOMAIN and label.startswith("party-") and label[6:] in ("0", "1", "2"):
            member, party = label, int(label[6:])
        for role in ROLES:
            if rest == f"{role}.{DOMAIN}":
                member = label
                roles.append(role)
    return Caller(member, tuple(roles), party)


def takes_part(caller: Caller, settings: PartySettings) -> bool:
    """Whether a caller is a party, or a member in the roles that its certificate names."""
    if caller.party is not None:
        return True
    known = settings.consortium.members.get(caller.name, ())
    return bool(known) and bool(caller.roles) and set(caller.roles) <= set(known)


def who(request: Request) -> Caller:
    """The caller, by the connection's certificate."""
    caller = caller_of(request.scope.get("hedgerow.certificate"))
    if not caller.name:
        raise Forbidden("the certificate names no member of this consortium")
    return caller


def member(request: Request) -> Caller:
    """A caller who is a member; one that was taken off the list is refused."""
    caller = who(request)
    settings: PartySettings = request.app.state.settings
    if not takes_part(caller, settings):
        raise Forbidden(STRANGER)
    if caller.party is not None and caller.party != settings.number:
        raise Forbidden("a party may ask this of itself only")
    return caller


def peer(request: Request) -> Caller:
    """A caller who is another party."""
    caller = who(request)
    if caller.party is None:
        raise Forbidden("only parties may ask this")
    return caller


Anybody = Annotated[Caller, Depends(who)]
Member = Annotated[Caller, Depends(member)]
Peer = Annotated[Caller, Depends(peer)]


def need_operator(caller: Caller) -> None:
    """Refuse all but this party's own operator."""
    if caller.party is None:
        raise Forbidden("only this party's own operator may do this")


def need_leader(caller: Caller) -> None:
    """Refuse all but party 0."""
    if caller.party != LEADER:
        raise Forbidden("only party 0 may do this")
