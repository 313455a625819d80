"""``hedgerow party``: run one party, and everything its operator does."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import HedgerowError
from . import screen, tools

app = typer.Typer(help="Run one compute party.", no_args_is_help=True, rich_markup_mode=None)

Config = Annotated[Path, typer.Option(help="This party's party.toml.")]
HERE = Path("party.toml")


def _operator(config: Path) -> tuple[tools.Client, tools.PartySettings]:
    """A client that speaks as this party, to this party."""
    settings = tools.read_settings(config)
    return tools.Client(settings.consortium_path, settings.identity), settings


@app.command(short_help="Serve until SIGTERM.")
def serve(config: Config = HERE) -> None:
    """Serve the control API and the party port until SIGTERM. Logs are JSON lines on standard error.

    Rules, members, certificates and revocations are read again as soon as their files change.
    """
    # Imported here, because the web framework takes a second that the other commands need not wait for.

    tools.run_server(tools.read_settings(config))


@app.command(short_help="Check the audit log and print it.")
def audit(config: Config = HERE) -> None:
    """Check the chain of the audit log against what the other parties countersigned, and print it."""
    settings = tools.read_settings(config)
    found, receipts = tools.verify_against_signatures(settings)
    path = tools.audit_path(settings.data)
    if path.exists():
        print(path.read_text(encoding="utf-8"), end="")
    screen.notes().print(f"the chain is intact: {len(found)} lines, last hash {found.last}")
    for party in settings.others:
        receipt = receipts.get(party)
        if receipt is None:
            screen.notes().print(f"party {party} has not countersigned any line yet")
        else:
            left = len(found) - receipt["count"]
            after = f"; {left} lines came after that" if left else ""
            screen.notes().print(
                f"party {party} countersigned line {receipt['count']} on {receipt['time'][:19]}{after}"
            )


@app.command(short_help="Jobs at this party, and what waits for approval.")
def jobs(
    config: Config = HERE,
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for approval.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """Everybody's jobs at this party, newest first."""
    client, settings = _operator(config)
    show_jobs([job for job in client.jobs(settings.number) if job["waits_for"] or not waiting], as_json)


def show_jobs(found: list[dict[str, Any]], as_json: bool) -> None:
    """A table of jobs; a party that sees another state than the rest is named."""
    if as_json:
        screen.print_json(found)
        return
    shown = tools.Screen()
    for heading in ("job", "what", "state", "remark"):
        shown.add_column(heading, no_wrap=heading in ("job", "state"), min_width=32 if heading == "job" else None)
    for job in found:
        remarks = [job["error"] or ""]
        remarks += [f"waits for approval of {', '.join(job['waits_for'])}"] if job["waits_for"] else []
        remarks += [f"party {party}: {state}" for party, state in job.get("states", {}).items()]
        shown.add_row(job["id"], screen.safe(_what(job)), job["state"], screen.safe("; ".join(filter(None, remarks))))
    screen.out().print(shown)


def _what(job: dict[str, Any]) -> str:
    """Who asks for what, as those who approve it want to know."""
    spec, when = job["spec"], job["created"][:16].replace("T", " ")
    if job["kind"] != "train":
        used = f" made from {job['dataset']}" if "dataset" in job else ""
        return f"{job['asker']}: {job['kind']} with model {spec['model'][:8]}…{used}, {when}"
    names = ("|" if spec["combine"] == "columns" else "+").join(name for name, _ in spec["datasets"])
    rules = f"height {spec['max_depth']}, {spec.get('min_samples_leaf', 1)} rows a leaf"
    if spec.get("class_weight"):
        rules += ", class weights"
    return f"{job['asker']}: train {spec['target']} on {names}, {rules}, {when}"


@app.command(short_help="Datasets at this party.")
def datasets(config: Config = HERE, as_json: screen.AsJson = False) -> None:
    """All datasets that this party holds a share of."""
    client, settings = _operator(config)
    show_datasets(client.datasets(settings.number), as_json)


def show_datasets(found: list[dict[str, Any]], as_json: bool) -> None:
    """A table of datasets."""
    if as_json:
        screen.print_json(found)
        return
    cells = []
    for entry in found:
        names = ", ".join(column["name"] for column in entry["schema"])
        rules = ", ".join(f"{name} {value}" for name, value in entry["rules"].items() if name != "allow")
        cells.append((entry["name"], f"{entry['rows']:,}", names, rules))
    screen.print_grid(None, ("name", "rows", "columns", "rules"), cells)


@app.command(short_help="Whether this party can do its work.")
def ready(config: Config = HERE, as_json: screen.AsJson = False) -> None:
    """Disk, database, audit log, certificate, the other parties, their versions and clocks; exit code 1 if not."""
    client, settings = _operator(config)
    found = client.ready(settings.number)
    if as_json:
        screen.print_json(found)
    else:
        for name, problem in found["checks"].items():
            screen.out().print(f"{name}: {screen.safe(problem or 'fine')}")
    if not found["ready"]:
        raise typer.Exit(1)


@app.command(short_help="Copy everything this party holds.")
def backup(target: Annotated[Path, typer.Argument(help="The tar file to write.")], config: Config = HERE) -> None:
    """Copy records, shares, models, results and the audit log into one private file, while the party runs.

    Sealed files stay sealed. Keys, certificates and party.toml are not in the copy. Keep it as private as the original,
    and never beside another party's.
    """
    size = tools.back_up(tools.read_settings(config), target)
    screen.notes().print(f"wrote {target} ({size:,} bytes)")


@app.command(short_help="Put a copy back.")
def restore(source: Annotated[Path, typer.Argument(help="A file of 'party backup'.")], config: Config = HERE) -> None:
    """Put a copy into this party's empty data directory and database, here or on a new machine.

    At the next start the parties compare what they have: what exists at all three exists, the rest is set aside and
    shown by 'hedgerow party leftovers'. The other parties note in their audit logs that this one's log went back.
    """
    tools.put_back(tools.read_settings(config), source)
    screen.notes().print("restored; start the party, then look at 'hedgerow party leftovers'")


@app.command(short_help="What does not exist at all three parties.")
def leftovers(
    config: Config = HERE,
    remove: Annotated[bool, typer.Option("--remove", help="Remove it here.")] = False,
    as_json: screen.AsJson = False,
) -> None:
    """Datasets and models that another party has lost, so that nobody can use them."""
    client, settings = _operator(config)
    found = client.leftovers(settings.number, remove)
    if as_json:
        screen.print_json(found)
        return
    for entry in found:
        verb = "removed " if remove else ""
        screen.out().print(f"{verb}{entry['kind']} {entry['id']} ({screen.safe(entry['name'])})")
    if not found:
        checks = client.ready(settings.number)["checks"]
        away = [name for name, problem in checks.items() if "party-" in name and problem]
        unknown = f"nothing is known; {', '.join(away)} could not be asked"
        screen.notes().print(unknown if away else "nothing: what exists here exists at all three parties")


@app.command(short_help="Seal all files under the present storage key.")
def reseal(config: Config = HERE) -> None:
    """Bring shares, models, results and the private key under the first storage key; stop the party before.

    To rotate: put a new key before the old one, run this, then remove the old one. The first time, it seals what lies
    there in the clear.
    """
    settings = tools.read_settings(config)
    if not settings.seal.keys:
        raise HedgerowError(f"{config} names no storage_key")
    vault = tools.Vault(settings.data, settings.seal)
    with tools.hold(settings.data):
        changed = vault.reseal()
        tools.encrypt_key(settings.identity, settings.seal.passphrases[0])
    screen.notes().print(f"all files and the private key are sealed under the present key; {changed} were changed")


def approve(
    job: Annotated[str, typer.Argument(help="The job's identifier.")],
    config: Annotated[Path | None, typer.Option(help="As an operator: this party's party.toml.")] = None,
    consortium: Annotated[Path, typer.Option(help="As an owner: consortium.toml.")] = Path("consortium.toml"),
    identity: Annotated[Path | None, typer.Option(help="As an owner: where key.pem, cert.pem and ca.pem are.")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="The job must begin within this many days.")] = None,
) -> None:
    """Let a waiting job go on: as the operator of a party there, as an owner of data it uses at all parties.

    Examples: hedgerow approve JOB --config party.toml; hedgerow approve JOB --consortium consortium.toml
    """
    _decide(job, config, consortium, identity, days, refuse=False)


def refuse(
    job: Annotated[str, typer.Argument(help="The job's identifier.")],
    config: Annotated[Path | None, typer.Option(help="As an operator: this party's party.toml.")] = None,
    consortium: Annotated[Path, typer.Option(help="As an owner: consortium.toml.")] = Path("consortium.toml"),
    identity: Annotated[Path | None, typer.Option(help="As an owner: where key.pem, cert.pem and ca.pem are.")] = None,
) -> None:
    """Do not let a waiting job go on; it is cancelled."""
    _decide(job, config, consortium, identity, None, refuse=True)


def _decide(
    job: str, config: Path | None, consortium: Path, identity: Path | None, days: int | None, refuse: bool
) -> None:
    if config is None and not consortium.exists() and HERE.exists():
        config = HERE
    client, party, who = tools.Client(consortium, identity) if config is None else None, None, "you"
    if config is not None:
        client, settings = _operator(config)
        party, who = settings.number, f"party {settings.number}"
    assert client is not None
    if refuse:
        client.refuse(job, party)
    else:
        client.approve(job, party, days)
    screen.notes().print(f"{who} {'refused' if refuse else 'approved'} {job}")
