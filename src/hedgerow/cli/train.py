"""``hedgerow train``: from a table to a secret-shared model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Screen

from ..errors import InputError
from ..estimators import Prepared, prepare, train_secret
from ..tables import Table, read_schema, read_table
from ..tables.reader import check_attribute
from . import screen

DataFile = Annotated[Path, typer.Argument(help="A .csv (first line: column names) or .parquet file.")]


def numbers_of(table: Table) -> list[Any]:
    """The columns of a table, all of which must be numbers."""
    for name, values in zip(table.names, table.columns, strict=True):
        check_attribute(name, values)
    return table.columns


def train(
    data: DataFile,
    target: Annotated[str, typer.Option(help="The column to predict; it must have two classes.")],
    out: Annotated[Path, typer.Option(help="Directory for the model; one directory a party is made in it.")],
    max_depth: Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")] = 5,
    schema: Annotated[Path | None, typer.Option(help="A schema file (see 'hedgerow inspect').")] = None,
    algorithm: Annotated[str, typer.Option(help="fast, or paper: HIKC23 as written.")] = "fast",
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Secret-share a table among three local parties and train a tree; nobody sees rows or tree.

    Example: hedgerow train patients.csv --target readmitted --max-depth 5 --out model/
    """
    if out.exists():
        raise InputError(f"{out} exists already: choose another place or remove it")
    table = read_table(data)
    labels = table.column(target)
    attributes = table.without(target)
    declared = read_schema(schema) if schema else None
    if declared:
        attributes = attributes.only([column.name for column in declared.attributes])
    prepared = prepare(attributes.names, numbers_of(attributes), target, labels, max_depth, declared, algorithm)
    started = time.perf_counter()
    with screen.training_progress(max_depth, quiet or as_json) as progress:
        trained = train_secret(prepared, progress)
    seconds = time.perf_counter() - started
    trained.model.save(out)
    facts = _facts(prepared, trained.reports, seconds, out)
    if as_json:
        screen.print_json(facts)
        return
    shown = Screen(show_header=False, box=None)
    for name, value in facts.items():
        text = (
            f"{value:,}" if isinstance(value, int) else ", ".join(map(str, value)) if name == "classes" else str(value)
        )
        shown.add_row(name.replace("_", " "), text)
    screen.out().print(shown)
    for name, error in prepared.rounding.items():
        screen.notes().print(f"column '{name}' was rounded; the largest error is {error:.3g}", style="yellow")


def _facts(prepared: Prepared, reports: Any, seconds: float, out: Path) -> dict[str, Any]:
    shape = prepared.facts.shape
    return {
        "model": str(out),
        "rows": shape.rows,
        "attributes": shape.attributes,
        "height": shape.height,
        "classes": list(prepared.facts.classes),
        "exact": not prepared.rounding,
        "rounding": prepared.rounding,
        "seconds": round(seconds, 3),
        "rounds": reports[0].meter.total().rounds,
        "bytes_sent_per_party": max(report.meter.total().sent for report in reports),
    }
