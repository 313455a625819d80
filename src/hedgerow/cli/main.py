"""``hedgerow``: all commands, each imported when it is asked for."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from .entry import main
from .screen import EPILOG

__all__ = ["app", "main"]

COMMANDS = {
    "demo": ("demo:demo", "Train on a bundled table and show everything."),
    "sample": ("sample:sample", "Print a sample table to try things on."),
    "inspect": ("inspect:inspect", "Show what of a table becomes public; propose a schema."),
    "name-key": ("inspect:make_name_key", "Make a key that hides names from the parties."),
    "train": ("train:train", "Share a table among three local parties and train."),
    "predict": ("predict:predict", "Predict secret rows with a secret model."),
    "evaluate": ("predict:evaluate", "Accuracy or errors on secret rows."),
    "reveal": ("reveal:reveal", "Open a model and show the tree."),
    "info": ("info:info", "Show versions, or what is public about a model."),
    "share": ("remote:share", "Owner: share a table with a consortium."),
    "rules": ("remote:rules", "Owner: set your rules for a dataset."),
    "uses": ("remote:uses", "Owner: what used your data, and what waits for you."),
    "withdraw": ("remote:withdraw", "Owner: remove a dataset at all parties."),
    "datasets": ("remote:datasets", "List the datasets you own or may train on."),
    "submit": ("remote:submit", "Analyst: submit a training job."),
    "jobs": ("remote:jobs", "List your jobs."),
    "watch": ("remote:watch", "Follow a job to its end, with progress."),
    "cancel": ("remote:cancel", "Cancel a job at all parties."),
    "delete": ("remote:delete", "Analyst: remove a model or a result."),
    "approve": ("party:approve", "Owner or operator: let a waiting job go on."),
    "refuse": ("party:refuse", "Owner or operator: end a waiting job."),
    "version": ("info:print_version", "Print the version."),
    "consortium": ("consortium:app", "Keys, certificates and addresses of a consortium."),
    "party": ("party:app", "Run one compute party."),
    "bench": ("bench:app", "Measure protocols on three real processes."),
}
"""Where a command or a group of commands is, and what it does in a line."""


class LazyGroup(TyperGroup):
    """A group whose commands are imported one by one; listing them imports none."""

    _listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one command; while names are listed, something that has its name and its line."""
        if cmd_name not in COMMANDS:
            return None
        place, short = COMMANDS[cmd_name]
        if self._listing:
            return TyperCommand(cmd_name, short_help=short)
        module, _, name = place.partition(":")
        found = getattr(importlib.import_module(f".{module}", __package__), name)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        single = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)
        single.command(cmd_name)(found)
        return typer.main.get_command(single)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list of commands in ``--help``."""
        with self._listed():
            super().format_commands(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Names and options that begin like this."""
        with self._listed():
            return super().shell_complete(ctx, incomplete)

    @contextmanager
    def _listed(self) -> Iterator[None]:
        self._listing = True
        try:
            yield
        finally:
            self._listing = False


app = typer.Typer(
    name="hedgerow",
    cls=LazyGroup,
    help="Train decision trees on data that nobody may see, with three compute parties.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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
