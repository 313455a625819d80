"""``hedgerow party``: run one party, look at its audit log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..service.audit import verify
from ..service.client import Client
from ..service.settings import read_settings
from . import screen

app = typer.Typer(help="Run one compute party.", no_args_is_help=True, rich_markup_mode=None)

Config = Annotated[Path, typer.Option(help="This party's party.toml.")]


@app.command(short_help="Serve until SIGTERM.")
def serve(config: Config) -> None:
    """Serve the control API and the party port until SIGTERM. Logs are JSON lines on standard error."""
    # Imported here, because the web framework takes a second that the other commands need not wait for.
    from ..service.server import serve as run_server

    run_server(read_settings(config))


@app.command(short_help="Check the audit log and print it.")
def audit(config: Config) -> None:
    """Check the chain of the audit log and print it."""
    path = read_settings(config).data / "audit.jsonl"
    last = verify(path)
    if path.exists():
        print(path.read_text(encoding="utf-8"), end="")
    screen.notes().print(f"the chain is intact; last hash {last}")


def approve(
    job: Annotated[str, typer.Argument(help="The job's identifier.")],
    config: Config = Path("party.toml"),
) -> None:
    """As the operator of a party: let a job that waits for approval go on there."""
    settings = read_settings(config)
    client = Client(config.parent / "consortium.toml", settings.identity.key.parent)
    client.approve(job, settings.number)
    screen.notes().print(f"party {settings.number} approved {job}")
