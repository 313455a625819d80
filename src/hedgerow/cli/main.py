"""``hedgerow``: the entry point."""

from __future__ import annotations

import sys

import typer

from .. import __version__
from ..errors import HedgerowError
from . import bench, demo

app = typer.Typer(
    name="hedgerow",
    help="Train decision trees on data that nobody may see, with three compute parties.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(bench.app, name="bench")
app.command("demo")(demo.demo)


@app.command()
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command line; errors we raise on purpose become one readable line and exit code 1."""
    try:
        app()
    except HedgerowError as error:
        print(f"hedgerow: {error}", file=sys.stderr)
        sys.exit(1)
