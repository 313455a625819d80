"""``hedgerow``: the entry point."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from ..errors import HedgerowError, PeerError
from . import bench, consortium, demo, info, inspect, party, predict, remote, reveal, sample, train
from .screen import EPILOG, visible

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
    "withdraw": (remote.withdraw, "Owner: remove a dataset at all parties."),
    "datasets": (remote.datasets, "List the datasets you own or may train on."),
    "submit": (remote.submit, "Analyst: submit a training job."),
    "jobs": (remote.jobs, "List your jobs."),
    "watch": (remote.watch, "Follow a job to its end, with progress."),
    "cancel": (remote.cancel, "Cancel a job at all parties."),
    "approve": (party.approve, "Operator: let a waiting job go on."),
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


def main() -> None:
    """Run the command line; errors become one readable line and an exit code, after a traceback with ``--debug``."""
    debug = "--debug" in sys.argv[1:]
    if debug:
        sys.argv.remove("--debug")
    before = signal.signal(signal.SIGINT, _interrupt)
    try:
        app()
    except SystemExit:
        raise
    except BaseException as error:
        message, code = _judge(error)
        if debug:
            traceback.print_exc()
        print(f"hedgerow: {visible(message)}", file=sys.stderr)
        sys.exit(code)
    finally:
        signal.signal(signal.SIGINT, before)


class _Interrupted(BaseException):
    """Ctrl-C. Unlike KeyboardInterrupt it passes through the command-line library, which would end without a word."""


def _interrupt(number: int, frame: object) -> None:
    raise _Interrupted


def _judge(error: BaseException) -> tuple[str, int]:
    """What an error means for people, and for scripts."""
    match error:
        case PeerError():
            return str(error), 4
        case HedgerowError():
            return str(error), 3
        case _Interrupted():
            return "interrupted", 130
        case OSError():
            return f"{error.filename or 'output'}: {error.strerror or type(error).__name__}", 3
    return f"unexpected {type(error).__name__}; run again with --debug for the details", 1
