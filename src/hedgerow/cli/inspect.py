"""``hedgerow inspect``: look at a table before sharing it, and propose a schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..tables import Column
from . import reading, screen
from .train import Regression, WeightColumn

if TYPE_CHECKING:
    from ..tables import Schema, Table


@dataclass(frozen=True, slots=True)
class _Look:
    """One column as it would be kept, or why it is refused, and remarks."""

    name: str
    column: Column | None
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    error: float = 0.0


def inspect(
    data: reading.DataFile,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the proposed schema to this .toml file.")] = None,
    merge: Annotated[Path | None, typer.Option(help="Another owner's schema; the result holds both tables.")] = None,
    regression: Regression = False,
    weight: WeightColumn = None,
    category: reading.Categories = None,
    date: reading.Dates = None,
    ignore: reading.Ignored = None,
    header: reading.Header = True,
    separator: reading.Separator = "",
    decimal: reading.DecimalMark = "",
    thousands: reading.Thousands = "",
    name_key: reading.NameKeyFile = None,
    as_json: screen.AsJson = False,
) -> None:
    """Show what becomes public of every column and whether it is kept exactly, and propose a schema to agree on.

    Nothing is shared. A schema tells others the names of columns, decimals and bits (so the size of the largest value),
    whether values are missing, and the names of classes and categories, unless --name-key hides those. Columns whose
    values should not become public are refused, with what to do.
    """
    from ..tables import NameKey, Schema, merge_schemas, read_schema, write_book
    from ..tables.schema import schema_text

    screen.check_file(out, data)
    asked = category or []
    as_written = [*(name for name in asked if name != target), *(ignore or [])]
    table = reading.read(data, header, separator, decimal, thousands, as_written, date)
    reading.check_columns(table, [name for name in (target, weight) if name], "used")
    reading.check_columns(table, ignore or [], "ignored", (target, weight))
    reading.check_columns(table, asked, "a category", (weight,))
    looks = [
        _look(table, name, target, weight, regression, asked) for name in table.names if name not in (ignore or [])
    ]
    refusals = [look.refusal for look in looks if look.refusal]
    schema = Schema(tuple(look.column for look in looks if look.column is not None)) if not refusals else None
    book: dict[str, dict[str, Any]] = {}
    if schema is not None and name_key is not None:
        schema, book = NameKey.read(name_key).hide(schema)
    if schema is not None and merge is not None:
        schema = merge_schemas(schema, read_schema(merge))
    _show(data, table, looks, schema, as_json)
    reading.warn(remark for look in looks for remark in look.remarks)
    if refusals:
        raise InputError("\n".join([*refusals, "no schema was written" if out else "nothing was shared"]))
    if out is not None and schema is not None:
        screen.write_text(out, schema_text(schema))
        screen.notes().print(f"wrote {out}")
        if book:
            names = out.with_suffix(".names.toml")
            write_book(book, names)
            screen.notes().print(f"wrote {names}: private, for owners and analysts alone")


def _look(table: Table, name: str, target: str | None, weight: str | None, regression: bool, asked: list[str]) -> _Look:
    """What becomes of one column."""
    import numpy as np

    from ..estimators.prepare import most_bits, most_target_bits
    from ..estimators.weights import kept_weights, weight_bits
    from ..tables import encode, propose_category, propose_column
    from ..tables.disclosure import category_refusal, class_refusal, key_warning
    from ..tables.rounding import rounding_notices
    from ..tables.schema import MAX_CLASSES
    from ..trees.problem import Problem

    values = table.columns[table.names.index(name)]
    if name == target and not regression:
        labels = table.column(name)
        refusal = "" if name in asked else class_refusal(name, labels) or ""
        classes = np.unique(labels).tolist() if not refusal else []
        return _Look(name, None if refusal else Column(name, "label", classes=tuple(classes[:MAX_CLASSES])), refusal)
    if name not in (target, weight) and (table.is_text(name) or name in asked):
        if name not in asked:
            table.check_text(name)
            refusal = category_refusal(name, values) or ""
            if refusal:
                return _Look(name, None, refusal)
        return _Look(name, propose_category(name, values))
    if name == weight:
        kept, error = kept_weights(table.column(name), len(table))
        rounded = (f"weights were rounded; the largest relative error is {error:.3g}",) if error else ()
        return _Look(name, Column(name, "weight", bits=weight_bits(kept)), remarks=rounded, error=error)
    kind = "target" if name == target else "number"
    table.attribute(name, category=False)
    most = most_target_bits(Problem(len(table), 1, 1, 1)) if kind == "target" else most_bits(len(table))
    proposal = propose_column(name, values, most, kind)
    column, error = proposal.column, proposal.largest_error
    remarks = tuple(rounding_notices(column, values, encode(column, values)[0], error))
    warning = key_warning(name, values)
    return _Look(name, column, remarks=(*remarks, warning) if warning else remarks, error=error)


def _show(data: Path, table: Table, looks: list[_Look], schema: Schema | None, as_json: bool) -> None:
    from rich.table import Table as Screen

    from ..tables import published

    known = {column.name: column for column in schema.columns} if schema is not None else {}
    rows: list[dict[str, Any]] = []
    for look in looks:
        column = known.get(look.name, look.column)
        if column is None:
            rows.append({"column": look.name, "kind": "text", "public": "refused", "remark": look.refusal})
            continue
        publication = published(column)
        row: dict[str, Any] = {"column": look.name, "kind": column.kind}
        if column.kind in ("number", "target"):
            row |= {"decimals": column.decimals, "bits": column.bits, "signed": column.signed}
        remark = f"rounded, error at most {look.error:.3g}" if look.error else "exact"
        rows.append({**row, "public": publication.words, "names": list(publication.names), "remark": remark})
    if as_json:
        screen.print_json({"rows": len(table), "columns": rows})
        return
    shown = Screen(title=f"{data}: {len(table):,} rows, {len(table.names)} columns")
    for heading in ("column", "kind", "becomes public", "kept"):
        shown.add_column(heading)
    for row in rows:
        kept = "no" if row["public"] == "refused" else row["remark"]
        shown.add_row(screen.safe(row["column"]), row["kind"], screen.safe(row["public"]), kept)
    screen.out().print(shown)


def make_name_key(path: Annotated[Path, typer.Argument(help="The file to write.")]) -> None:
    """Make a key that no party ever sees: for 'inspect --name-key' (owners and analysts share it), or for
    'share --row-key' (owners alone)."""
    from ..tables import NameKey

    if path.exists():
        raise InputError(f"{path} exists already: choose another place or remove it")
    screen.check_file(path)
    key = NameKey.make(path)
    screen.notes().print(f"wrote {path} (fingerprint {key.fingerprint}); hand it to those who need it, to no party")
