"""``hedgerow``: the entry point."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .. import __version__
from ..errors import HedgerowError, PeerError
from . import bench, consortium, demo, info, inspect, party, predict, remote, reveal, train
from .screen import EPILOG

app = typer.Typer(
    name="hedgerow",
    help="Train decision trees on data that nobody may see, with three compute parties.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.demo)
app.command("inspect")(inspect.inspect)
app.command("train")(train.train)
app.command("predict")(predict.predict)
app.command("evaluate")(predict.evaluate)
app.command("reveal")(reveal.reveal)
app.command("info")(info.info)
app.add_typer(consortium.app, name="consortium")
app.add_typer(party.app, name="party")
for command in (
    remote.share,
    remote.withdraw,
    remote.datasets,
    remote.submit,
    remote.jobs,
    remote.watch,
    remote.cancel,
):
    app.command()(command)
app.command()(party.approve)
app.add_typer(bench.app, name="bench")


@app.callback()
def options(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
    """Train decision trees on data that nobody may see, with three compute parties."""


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command line; errors become one readable line and an exit code unless ``--debug`` is given."""
    if "--debug" in sys.argv[1:]:
        sys.argv.remove("--debug")
        app()
        return
    try:
        app()
    except PeerError as error:
        _fail(str(error), 4)
    except HedgerowError as error:
        _fail(str(error), 3)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except OSError as error:
        _fail(f"{error.filename or 'output'}: {error.strerror or type(error).__name__}", 3)
    except Exception as error:
        _fail(f"unexpected {type(error).__name__}; run again with --debug for the details", 1)


def _fail(message: str, code: int) -> None:
    print(f"hedgerow: {message}", file=sys.stderr)
    sys.exit(code)
