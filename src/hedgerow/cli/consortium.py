"""``hedgerow consortium``: keys, certificates and addresses of those who take part."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from . import screen, tools

app = typer.Typer(
    help="Make and look after keys, certificates and addresses of a consortium.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Directory = Annotated[Path, typer.Argument(help="The consortium's directory.")]


def _member(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, roles = text.partition(":")
    wanted = tuple(roles.split("+")) if roles else tools.ROLES
    if not set(wanted) <= set(tools.ROLES):
        raise InputError(f"--member {text}: roles are {' and '.join(tools.ROLES)}")
    return tools.check_member(name), wanted


@app.command(short_help="Make keys, certificates and settings.")
def init(
    directory: Directory,
    party: Annotated[list[str], typer.Option(help="HOST:CONTROL:PARTY, three times: a host and its two ports.")],
    member: Annotated[list[str], typer.Option(help="NAME:owner, NAME:analyst or NAME:owner+analyst; several times.")],
    name: Annotated[str, typer.Option(help="A name for the consortium.")] = "consortium",
    days: Annotated[int, typer.Option(min=30, help="How long certificates are valid.")] = 825,
    ca: Annotated[Path | None, typer.Option(help="Use this authority's certificate instead of making one.")] = None,
    ca_key: Annotated[Path | None, typer.Option(help="The key of that authority.")] = None,
) -> None:
    """Make an authority, certificates for three parties and all members, and their settings, ready to hand out.

    Example: hedgerow consortium init c/ --party 10.0.0.1:8440:8450 --party 10.0.0.2:8440:8450
    --party 10.0.0.3:8440:8450 --member clinic:owner --member alice:analyst
    """
    addresses = []
    for text in party:
        parts = text.rsplit(":", 2)
        if len(parts) != 3 or not parts[1].isdigit() or not parts[2].isdigit():
            raise InputError(f"--party {text}: write HOST:CONTROL-PORT:PARTY-PORT")
        addresses.append(tools.Address(parts[0], int(parts[1]), int(parts[2])))
    if len(addresses) != 3:
        raise InputError(f"three parties are needed, not {len(addresses)}")
    if len({(address.host, port) for address in addresses for port in (address.control, address.party)}) != 6:
        raise InputError("two parties, or two ports of one, have the same address")
    members = dict(_member(text) for text in member)
    if len(members) != len(member):
        raise InputError("a member is named twice; several roles are written NAME:owner+analyst")
    known = tools.Authority.load(ca, ca_key) if ca and ca_key else None
    consortium = tools.Consortium(name, (addresses[0], addresses[1], addresses[2]), members)
    tools.init_consortium(consortium, directory, days, known)
    show(directory)
    screen.notes().print("hand out party0…party2 and members/*; keep authority/ off line")


@app.command(short_help="Who takes part, and until when.")
def show(directory: Directory) -> None:
    """Who takes part, and until when certificates are valid."""
    consortium = tools.read_consortium(directory / "consortium.toml")
    rows = [
        (f"party{k}", "party", f"{a.host} :{a.control} :{a.party}", directory / f"party{k}")
        for k, a in enumerate(consortium.parties)
    ]
    rows += [(m, ", ".join(roles), "", directory / "members" / m) for m, roles in consortium.members.items()]
    cells = []
    for who, role, address, place in rows:
        certificate = place / "cert.pem"
        until = tools.expiry(certificate) if certificate.exists() else None
        left = "" if until is None else str((until - tools.now()).days)
        cells.append((who, role, address, "" if until is None else f"{until:%Y-%m-%d}", left))
    headings = ("who", "role", "address", "certificate until", "days left")
    screen.print_grid(f"consortium '{consortium.name}'", headings, cells)


@app.command(short_help="Make a fresh key and certificate.")
def renew(
    directory: Directory,
    who: Annotated[str, typer.Argument(help="party0, party1, party2 or a member's name.")],
    days: Annotated[int, typer.Option(min=30, help="How long the new certificate is valid.")] = 825,
    overlap_days: Annotated[
        int, typer.Option(min=0, help="How long the old certificate stays valid beside it; 0 if it was stolen.")
    ] = 7,
) -> None:
    """Make a fresh key and certificate for one party or member, and let the old one end after an overlap.

    Hand out the new directory, and the new consortium.toml to everybody: parties read it as soon as it is there.
    """
    consortium = tools.read_consortium(directory / "consortium.toml")
    authority = tools.Authority.load(directory / "authority" / "cert.pem", directory / "authority" / "key.pem")
    place = _place(consortium, directory, who)
    old = place / "cert.pem"
    revocations = []
    if old.exists():
        since = (tools.now() + datetime.timedelta(days=overlap_days)).replace(microsecond=0) if overlap_days else None
        revocations = [tools.Revocation(tools.marks(tools.load_certificate(old))[0], since)]
    names = (
        [tools.party_name(int(who[-1]))]
        if place.parent == directory
        else tools.member_names(who, consortium.members[who])
    )
    tools.write_identity(authority, names, place, days)
    (place / "consortium.toml").write_text(tools.revoke_certificates(directory, revocations).text(), encoding="utf-8")
    show(directory)
    ends = f"in {overlap_days} days" if overlap_days else "now"
    screen.notes().print(f"the old certificate of {who} ends {ends}; hand out {place} and consortium.toml to everybody")


def _place(consortium: tools.Consortium, directory: Path, who: str) -> Path:
    if who in ("party0", "party1", "party2"):
        return directory / who
    if who in consortium.members:
        return directory / "members" / who
    raise InputError(f"'{who}' does not take part")


@app.command(short_help="End a certificate before its time.")
def revoke(
    directory: Directory,
    who: Annotated[str, typer.Argument(help="party0, party1, party2 or a member's name.")] = "",
    certificate: Annotated[
        str, typer.Option(help="Instead of a name: the serial number, or the SHA-256 of the public key, in hex.")
    ] = "",
) -> None:
    """Revoke a certificate: everybody who has the new consortium.toml refuses it, at once and on open connections.

    Hand consortium.toml out to all parties and members; parties read it as soon as it is there. A party or member that
    shall go on needs 'hedgerow consortium renew'.
    """
    if bool(who) == bool(certificate):
        raise InputError("say whose certificate, or which one with --certificate")
    if who:
        consortium = tools.read_consortium(directory / "consortium.toml")
        certificate = tools.marks(tools.load_certificate(_place(consortium, directory, who) / "cert.pem"))[0]
    tools.revoke_certificates(directory, [tools.Revocation(tools.check_mark(certificate))])
    screen.notes().print(f"{certificate} is revoked; hand out consortium.toml to everybody")
