"""Options that say how a table is written, and what of it becomes public; the same in every command."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from .. import tables
from ..errors import InputError
from . import screen, tools

MOST_SHOWN = 60
"""Columns shown one by one; of a wider table, those beyond are counted."""

DataFile = Annotated[
    Path, typer.Argument(help="A .csv (first line: column names) or .parquet file, .gz too; '-' is standard input.")
]
Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns; else c1, c2, …")
]
Separator = Annotated[str, typer.Option(help="What separates fields: ',', ';', '|' or tab; detected if not given.")]
DecimalMark = Annotated[str, typer.Option(help="'.' or ','; detected if not given.")]
Thousands = Annotated[str, typer.Option(help="What separates thousands; detected if not given.")]
Dates = Annotated[
    list[str] | None,
    typer.Option("--date", help="A column of dates, or COLUMN=PATTERN, as day=%d.%m.%y; may be given several times."),
]
Categories = Annotated[
    list[str] | None,
    typer.Option(help="A column whose values are categories, or classes, and may become public; several times."),
]
Ignored = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")]
NameKeyFile = Annotated[
    Path | None, typer.Option(help="A key that owners and analysts share: parties see keyed hashes instead of names.")
]
NameBooks = Annotated[
    list[Path] | None,
    typer.Option(help="A book of names that 'inspect --name-key' wrote: gives hashed names back; several times."),
]


def read(
    data: Path,
    header: bool,
    separator: str,
    decimal: str,
    thousands: str,
    texts: Collection[str] = (),
    dates: Sequence[str] | None = None,
) -> tables.Table:
    """Read a table as the options say; what was found out about its writing is told."""
    separator = {"tab": "\t", "\\t": "\t"}.get(separator, separator)
    patterns = dict(_date(text) for text in dates or [])
    table = tables.read_table(data, tables.Reading(header, separator, decimal, thousands, texts, patterns))
    warn(table.notes)
    return table


def _date(text: str) -> tuple[str, str]:
    name, _, pattern = text.partition("=")
    return name, pattern


def check_columns(table: tables.Table, chosen: Iterable[str], option: str, used: Collection[str | None] = ()) -> None:
    """Refuse options that name no column, or one that is used otherwise."""
    for name in chosen:
        if name in used:
            raise InputError(f"'{name}' cannot be {option}: it is the target or the weight")
        if name not in table.names:
            raise InputError(f"'{name}' cannot be {option}: there is no such column in the table")


def with_hashed_names(table: tables.Table, schema: tables.Schema | None, name_key: Path | None) -> tables.Table:
    """The table with names hashed where a schema has hashes."""
    if schema is None:
        if name_key is not None:
            raise InputError("--name-key needs --schema: make one with 'hedgerow inspect --name-key'")
        return table
    return tables.hide_table(table, schema, None if name_key is None else tables.NameKey.read(name_key))


def show_publications(publications: Sequence[tables.Publication], what: str) -> None:
    """Show what becomes public, column by column, before it does."""
    shown = tools.Screen(title=what, title_justify="left")
    shown.add_column("column")
    shown.add_column("becomes public")
    for publication in publications[:MOST_SHOWN]:
        shown.add_row(screen.safe(publication.column), screen.safe(publication.words))
    if len(publications) > MOST_SHOWN:
        shown.add_row("…", f"{len(publications) - MOST_SHOWN:,} more columns, likewise their names, kinds and bits")
    screen.notes().print(shown)


def warn(notices: Iterable[str]) -> None:
    """Remarks, a line each."""
    for notice in notices:
        screen.notes().print(screen.safe(notice), style="yellow")
