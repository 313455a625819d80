"""``hedgerow sample``: tables that come with the package."""

import sys
from importlib.resources import files
from typing import Annotated

import typer

from ..errors import InputError

SAMPLES = ("patients", "test-patients", "new-patients", "clinic-north", "clinic-south")


def sample(name: Annotated[str, typer.Argument(help=f"One of {', '.join(SAMPLES)}.")]) -> None:
    """Print a made-up table as CSV, to follow the tutorial with.

    Example: hedgerow sample patients > patients.csv
    """
    if name not in SAMPLES:
        raise InputError(f"there is no sample '{name}'; choose one of {', '.join(SAMPLES)}")
    sys.stdout.write(files("hedgerow.samples").joinpath(f"{name}.csv").read_text(encoding="utf-8"))
