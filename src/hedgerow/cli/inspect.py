"""``hedgerow inspect``: look at a table before sharing it, and propose a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table as Screen

from ..estimators.secret import most_bits
from ..tables import Column, Schema, merge_schemas, propose_column, read_schema, read_table
from ..tables.schema import schema_text
from . import screen
from .train import DataFile, Header

MANY_CLASSES = 100


def inspect(
    data: DataFile,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the proposed schema to this .toml file.")] = None,
    merge: Annotated[Path | None, typer.Option(help="Another owner's schema; the result holds both tables.")] = None,
    header: Header = True,
    as_json: screen.AsJson = False,
) -> None:
    """Show how every column would be encoded, exactly or rounded, and propose a schema for owners to agree on.

    Nothing is shared. The schema tells others the names, decimals and bits of your columns, and the classes.
    """
    screen.check_file(out, data)
    table = read_table(data, header)
    if target is not None:
        table.column(target)
    columns: list[Column] = []
    rows: list[dict[str, Any]] = []
    for name, values in zip(table.names, table.columns, strict=True):
        if name in table.missing:
            rows.append({"column": name, "kind": "?", "remark": f"missing value, line {table.missing[name]}"})
            continue
        if name == target or values.dtype == object:
            classes = np.unique(values.astype(str)).tolist()
            remark = f"text, {len(classes)} values: no number"
            if name == target:
                remark = f"{len(classes)} classes" + ("" if len(classes) == 2 else "; training takes two")
            if name == target:
                columns.append(Column(name, "label", classes=tuple(classes[:MANY_CLASSES])))
            rows.append({"column": name, "kind": "label" if name == target else "text", "remark": remark})
            continue
        proposal = propose_column(name, values, most_bits(len(table)))
        column = proposal.column
        columns.append(column)
        remark = "exact" if not proposal.largest_error else f"rounded, error at most {proposal.largest_error:.3g}"
        entry = {"column": name, "kind": "number", "decimals": column.decimals, "bits": column.bits}
        rows.append({**entry, "signed": column.signed, "remark": remark})
    schema = Schema(tuple(columns))
    if merge is not None:
        schema = merge_schemas(schema, read_schema(merge))
    if out is not None:
        screen.write_text(out, schema_text(schema))
    if as_json:
        screen.print_json({"rows": len(table), "columns": rows})
        return
    shown = Screen(title=f"{data}: {len(table):,} rows, {len(table.names)} columns")
    for heading in ("column", "kind", "decimals", "bits", "signed", "remark"):
        shown.add_column(heading, justify="right" if heading in ("decimals", "bits") else "left")
    for row in rows:
        signed = "" if "signed" not in row else "yes" if row["signed"] else "no"
        numbers = [str(row.get(field, "")) for field in ("decimals", "bits")]
        shown.add_row(escape(row["column"]), row["kind"], *numbers, signed, row["remark"])
    screen.out().print(shown)
    if out is not None:
        screen.notes().print(f"wrote {out}")
