"""``hedgerow inspect``: look at a table before sharing it, and propose a schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import tables
from ..errors import InputError
from ..tables import Column
from . import reading, screen, tools
from .train import Regression, WeightColumn


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
    schema = tables.Schema(tuple(look.column for look in looks if look.column is not None)) if not refusals else None
    book: dict[str, dict[str, Any]] = {}
    if schema is not None and name_key is not None:
        schema, book = tables.NameKey.read(name_key).hide(schema)
    if schema is not None and merge is not None:
        schema = tables.merge_schemas(schema, tables.read_schema(merge))
    _show(data, table, looks, schema, as_json)
    reading.warn(remark for look in looks for remark in look.remarks)
    if refusals:
        raise InputError("\n".join([*refusals, "no schema was written" if out else "nothing was shared"]))
    if out is not None and schema is not None:
        screen.write_text(out, tools.schema_text(schema))
        screen.notes().print(f"wrote {out}")
        if book:
            names = out.with_suffix(".names.toml")
            tables.write_book(book, names)
            screen.notes().print(f"wrote {names}: private, for owners and analysts alone")


def _look(
    table: tables.Table, name: str, target: str | None, weight: str | None, regression: bool, asked: list[str]
) -> _Look:
    """What becomes of one column."""
    import numpy as np

    values = table.columns[table.names.index(name)]
    if name == target and not regression:
        labels = table.column(name)
        refusal = "" if name in asked else tools.class_refusal(name, labels) or ""
        classes = np.unique(labels).tolist() if not refusal else []
        return _Look(
            name, None if refusal else Column(name, "label", classes=tuple(classes[: tools.MAX_CLASSES])), refusal
        )
    if name not in (target, weight) and (table.is_text(name) or name in asked):
        if name not in asked:
            table.check_text(name)
            refusal = tools.category_refusal(name, values) or ""
            if refusal:
                return _Look(name, None, refusal)
        return _Look(name, tables.propose_category(name, values))
    if name == weight:
        kept, error = tools.kept_weights(table.column(name), len(table))
        rounded = (f"weights were rounded; the largest relative error is {error:.3g}",) if error else ()
        return _Look(name, Column(name, "weight", bits=tools.weight_bits(kept)), remarks=rounded, error=error)
    kind = "target" if name == target else "number"
    table.attribute(name, category=False)
    most = (
        tools.most_target_bits(tools.Problem(len(table), 1, 1, 1)) if kind == "target" else tools.most_bits(len(table))
    )
    proposal = tables.propose_column(name, values, most, kind)
    column, error = proposal.column, proposal.largest_error
    remarks = tuple(tools.rounding_notices(column, values, tables.encode(column, values)[0], error))
    warning = tools.key_warning(name, values)
    return _Look(name, column, remarks=(*remarks, warning) if warning else remarks, error=error)


def _show(data: Path, table: tables.Table, looks: list[_Look], schema: tables.Schema | None, as_json: bool) -> None:
    known = {column.name: column for column in schema.columns} if schema is not None else {}
    rows: list[dict[str, Any]] = []
    for look in looks:
        column = known.get(look.name, look.column)
        if column is None:
            rows.append({"column": look.name, "kind": "text", "public": "refused", "remark": look.refusal})
            continue
        publication = tables.published(column)
        row: dict[str, Any] = {"column": look.name, "kind": column.kind}
        if column.kind in ("number", "target"):
            row |= {"decimals": column.decimals, "bits": column.bits, "signed": column.signed}
        remark = f"rounded, error at most {look.error:.3g}" if look.error else "exact"
        rows.append({**row, "public": publication.words, "names": list(publication.names), "remark": remark})
    if as_json:
        screen.print_json({"rows": len(table), "columns": rows})
        return
    kept = ["no" if row["public"] == "refused" else row["remark"] for row in rows]
    cells = [(row["column"], row["kind"], row["public"], words) for row, words in zip(rows, kept, strict=True)]
    title = f"{data}: {len(table):,} rows, {len(table.names)} columns"
    screen.print_grid(title, ("column", "kind", "becomes public", "kept"), cells)


def make_name_key(path: Annotated[Path, typer.Argument(help="The file to write.")]) -> None:
    """Make a key that no party ever sees: for 'inspect --name-key' (owners and analysts share it), or for
    'share --row-key' (owners alone)."""
    if path.exists():
        raise InputError(f"{path} exists already: choose another place or remove it")
    screen.check_file(path)
    key = tables.NameKey.make(path)
    screen.notes().print(f"wrote {path} (fingerprint {key.fingerprint}); hand it to those who need it, to no party")
