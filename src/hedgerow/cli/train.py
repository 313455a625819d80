"""``hedgerow train``: from a table to a secret-shared model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InputError
from ..estimators.secret import Prepared, prepare, train_secret
from ..tables import read_schema, read_table
from . import screen

DataFile = Annotated[Path, typer.Argument(help="A .csv (first line: column names) or .parquet file.")]


Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns; else c1, c2, …")
]


def train(
    data: DataFile,
    target: Annotated[str, typer.Option(help="The column to predict; it must have two classes.")],
    out: Annotated[Path, typer.Option(help="Directory for the model; one directory a party is made in it.")],
    max_depth: Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")] = 5,
    schema: Annotated[Path | None, typer.Option(help="A schema file (see 'hedgerow inspect').")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    numbers_only: Annotated[bool, typer.Option("--numbers-only", help="Leave out all columns of text.")] = False,
    header: Header = True,
    algorithm: Annotated[str, typer.Option(help="fast, or paper: HIKC23 as written.")] = "fast",
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Secret-share a table among three local parties and train a tree; nobody sees rows or tree.

    Example: hedgerow train patients.csv --target readmitted --max-depth 5 --out model/
    """
    screen.check_free(out)
    table = read_table(data, header)
    labels = table.column(target)
    declared = read_schema(schema) if schema else None
    unknown = [name for name in ignore or [] if name not in table.names or name == target]
    if unknown:
        raise InputError(f"'{unknown[0]}' cannot be ignored: it is the target or no column of the table")
    names = [column.name for column in declared.attributes] if declared else table.names
    names = [name for name in names if name != target and name not in (ignore or [])]
    if numbers_only:
        names = [name for name in names if name not in table.names or not table.is_text(name)]
    prepared = prepare(names, table.numbers(names), target, labels, max_depth, declared, algorithm)
    started = time.perf_counter()
    with screen.training_progress(max_depth, quiet or as_json) as progress:
        trained = train_secret(prepared, progress)
    seconds = time.perf_counter() - started
    trained.model.save(out)
    facts = _facts(prepared, trained.reports, seconds, out)
    screen.print_facts(facts, as_json)
    for name, error in prepared.rounding.items():
        screen.notes().print(f"column '{escape(name)}' was rounded; the largest error is {error:.3g}", style="yellow")


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
