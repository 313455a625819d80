"""``hedgerow inspect``: look at a table before sharing it, and propose a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table as Screen

from ..estimators.secret import most_bits
from ..tables import Column, Schema, propose_column, read_table, write_schema
from . import screen
from .train import DataFile, Header

MANY_CLASSES = 100


def inspect(
    data: DataFile,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the proposed schema to this .toml file.")] = None,
    header: Header = True,
    as_json: screen.AsJson = False,
) -> None:
    """Show how every column would be encoded, exactly or rounded, and propose a schema for owners to agree on.

    Nothing is shared. The schema tells others the names, decimals and bits of your columns, and the classes.
    """
    table = read_table(data, header)
    if target is not None:
        table.column(target)
    columns: list[Column] = []
    rows: list[dict[str, Any]] = []
    for name, values in zip(table.names, table.columns, strict=True):
        if name == target or values.dtype == object:
            classes = np.unique(values.astype(str)).tolist()
            remark = f"{len(classes)} classes" if name == target else f"text, {len(classes)} values: no number"
            if name == target:
                columns.append(Column(name, "label", classes=tuple(classes[:MANY_CLASSES])))
            rows.append({"column": name, "kind": "label" if name == target else "text", "remark": remark})
            continue
        if name in table.missing:
            rows.append({"column": name, "kind": "number", "remark": f"missing value, line {table.missing[name]}"})
            continue
        proposal = propose_column(name, values, most_bits(len(table)))
        column = proposal.column
        columns.append(column)
        remark = "exact" if not proposal.largest_error else f"rounded, error at most {proposal.largest_error:.3g}"
        entry = {"column": name, "kind": "number", "decimals": column.decimals, "bits": column.bits}
        rows.append({**entry, "signed": column.signed, "remark": remark})
    if out is not None:
        write_schema(Schema(tuple(columns)), out)
    if as_json:
        screen.print_json({"rows": len(table), "columns": rows})
        return
    shown = Screen(title=f"{data}: {len(table):,} rows, {len(table.names)} columns")
    for heading in ("column", "kind", "decimals", "bits", "signed", "remark"):
        shown.add_column(heading, justify="right" if heading in ("decimals", "bits") else "left")
    for row in rows:
        signed = "" if "signed" not in row else "yes" if row["signed"] else "no"
        shown.add_row(row["column"], row["kind"], str(row.get("decimals", "")), str(row.get("bits", "")), signed,
                      row["remark"])  # fmt: skip
    screen.out().print(shown)
    if out is not None:
        screen.notes().print(f"wrote {out}")
