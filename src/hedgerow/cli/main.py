"""``hedgerow``: all commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from . import bench, consortium, demo, info, inspect, party, predict, remote, reveal, sample, train
from .entry import main
from .screen import EPILOG

__all__ = ["app", "main"]

app = typer.Typer(
    name="hedgerow",
    help="Train decision trees on data that nobody may see, with three compute parties.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "demo": (demo.demo, "Train on a bundled table and show everything."),
    "sample": (sample.sample, "Print a sample table to try things on."),
    "inspect": (inspect.inspect, "Show what of a table becomes public; propose a schema."),
    "name-key": (inspect.make_name_key, "Make a key that hides names from the parties."),
    "train": (train.train, "Share a table among three local parties and train."),
    "predict": (predict.predict, "Predict secret rows with a secret model."),
    "evaluate": (predict.evaluate, "Accuracy or errors on secret rows."),
    "reveal": (reveal.reveal, "Open a model and show the tree."),
    "info": (info.info, "Show versions, or what is public about a model."),
    "share": (remote.share, "Owner: share a table with a consortium."),
    "rules": (remote.rules, "Owner: set your rules for a dataset."),
    "uses": (remote.uses, "Owner: what used your data, and what waits for you."),
    "withdraw": (remote.withdraw, "Owner: remove a dataset at all parties."),
    "datasets": (remote.datasets, "List the datasets you own or may train on."),
    "submit": (remote.submit, "Analyst: submit a training job."),
    "jobs": (remote.jobs, "List your jobs."),
    "watch": (remote.watch, "Follow a job to its end, with progress."),
    "cancel": (remote.cancel, "Cancel a job at all parties."),
    "delete": (remote.delete, "Analyst: remove a model or a result."),
    "approve": (party.approve, "Owner or operator: let a waiting job go on."),
    "refuse": (party.refuse, "Owner or operator: end a waiting job."),
}
for _name, (_function, _short) in COMMANDS.items():
    app.command(_name, short_help=_short)(_function)
app.add_typer(consortium.app, name="consortium", short_help="Keys, certificates and addresses of a consortium.")
app.add_typer(party.app, name="party", short_help="Run one compute party.")
app.add_typer(bench.app, name="bench", short_help="Measure protocols on three real processes.")


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Train decision trees on data that nobody may see, with three compute parties."""


@app.command("version", short_help="Print the version.")
def print_version() -> None:
    """Print the version."""
    print(__version__)
