"""``hedgerow inspect``: look at a table before sharing it, and propose a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table as Screen

from ..estimators.prepare import most_bits, most_target_bits, weight_bits, whole_weights
from ..tables import Column, Schema, merge_schemas, propose_category, propose_column, read_schema, read_table
from ..tables.fixed import Proposal
from ..tables.schema import MAX_CATEGORIES, schema_text
from ..trees.shape import MAX_CLASSES, TreeShape
from . import screen
from .train import Categories, DataFile, Header, Regression, WeightColumn


def inspect(
    data: DataFile,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the proposed schema to this .toml file.")] = None,
    merge: Annotated[Path | None, typer.Option(help="Another owner's schema; the result holds both tables.")] = None,
    regression: Regression = False,
    weight: WeightColumn = None,
    category: Categories = None,
    header: Header = True,
    as_json: screen.AsJson = False,
) -> None:
    """Show how every column would be encoded, exactly or rounded, and propose a schema for owners to agree on.

    Nothing is shared. The schema tells others the names, decimals and bits of your columns, whether values are missing,
    the classes and the categories.
    """
    screen.check_file(out, data)
    table = read_table(data, header, category or [])
    for name in (target, weight):
        if name is not None:
            table.column(name)
    columns: list[Column] = []
    rows: list[dict[str, Any]] = []
    for name, values in zip(table.names, table.columns, strict=True):
        gaps = ", some missing" if name in table.missing else ""
        if name == target and not regression:
            classes = np.unique(values.astype(str)).tolist()
            columns.append(Column(name, "label", classes=tuple(classes[:MAX_CLASSES])))
            rows.append({"column": name, "kind": "label", "remark": f"{len(classes)} classes"})
            continue
        if name not in (target, weight) and (table.is_text(name) or name in (category or [])):
            if name not in (category or []):
                table.check_text(name)
            count = len(set(values.tolist()))
            if count > MAX_CATEGORIES:
                rows.append({"column": name, "kind": "text", "remark": f"{count:,} different values: leave it out"})
                continue
            columns.append(propose_category(name, values))
            rows.append(
                {"column": name, "kind": "category", "remark": f"{len(columns[-1].categories)} categories{gaps}"}
            )
            continue
        kind = "target" if name == target else "weight" if name == weight else "number"
        if kind == "weight":
            bits = weight_bits(whole_weights(values, len(table)))
            proposal = Proposal(Column(name, "weight", bits=bits), 0.0)
        else:
            table.attribute(name, category=False)
            most = most_bits(len(table))
            if kind == "target":
                most = most_target_bits(TreeShape(len(table), 1, 1, 1))
            proposal = propose_column(name, values, most, kind)
        column = proposal.column
        columns.append(column)
        remark = "exact" if not proposal.largest_error else f"rounded, error at most {proposal.largest_error:.3g}"
        entry = {"column": name, "kind": kind, "decimals": column.decimals, "bits": column.bits}
        rows.append({**entry, "signed": column.signed, "remark": remark + gaps})
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
