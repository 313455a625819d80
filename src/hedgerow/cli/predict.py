"""``hedgerow predict`` and ``hedgerow evaluate``: rows stay secret, answers are opened to whoever asked."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import tables
from ..errors import InputError
from . import reading, screen, tools
from .remote import IdentityDirectory

ModelName = Annotated[str, typer.Argument(help="What 'hedgerow train --out' wrote, or a job of a consortium.")]
ConsortiumOption = Annotated[Path | None, typer.Option(help="Use a model of this consortium.toml's parties.")]


def open_model(
    model: str, consortium: Path | None, identity: Path | None, names: list[Path] | None = None
) -> tools.SecretModel | tools.RemoteModel:
    """A local model by its directory, or a consortium's by its job; books of names give hashed names back."""
    found: tools.SecretModel | tools.RemoteModel
    if consortium is None and not Path(model).exists() and len(model) == 32:
        raise InputError(f"there is no directory {model}; for a model of a consortium say --consortium consortium.toml")
    if consortium is None:
        found = tools.SecretModel.load(Path(model))
    else:
        found = tools.Client(consortium, identity).model(model)
    for book in names or []:
        found.facts = found.facts.named(tables.read_book(book))
    return found


def _hidden(secret: tools.SecretModel | tools.RemoteModel, table: tables.Table, name_key: Path | None) -> tables.Table:
    """The table with names hashed where the model knows hashes and the key is given."""
    return table if name_key is None else tables.hide_table(table, secret.facts.schema, tables.NameKey.read(name_key))


def _rows(secret: tools.SecretModel | tools.RemoteModel, table: tables.Table) -> list[Any]:
    """The columns a model needs; gaps that training did not know are told."""
    columns = table.declared(secret.facts.schema.attributes, gaps=True)
    gaps = secret.facts.unknown_gaps(columns)
    reading.warn([tools.gaps_text(gaps)] if gaps else [])
    return columns


def predict(
    model: ModelName,
    data: reading.DataFile,
    out: Annotated[Path | None, typer.Option(help="Write a .csv file instead of printing.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of all classes as well.")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to copy in front of the answers, as an id; several times.")
    ] = None,
    names: reading.NameBooks = None,
    name_key: reading.NameKeyFile = None,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
    header: reading.Header = True,
    separator: reading.Separator = "",
    decimal: reading.DecimalMark = "",
    thousands: reading.Thousands = "",
    date: reading.Dates = None,
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Predict secret rows with a secret model; only the predictions are opened, here.

    Columns are found by name; others are ignored, and never leave this machine.

    Example: hedgerow predict model/ new.csv --keep patient --out answers.csv
    """
    import csv

    screen.check_file(out, data)
    secret = open_model(model, consortium, identity, names)
    texts = [*secret.facts.schema.category_names, *(keep or [])]
    table = reading.read(data, header, separator, decimal, thousands, texts, date)
    reading.check_columns(table, keep or [], "kept")
    found: dict[str, list[Any]] = {name: table.columns[table.names.index(name)].tolist() for name in keep or []}
    columns = _rows(secret, _hidden(secret, table, name_key))
    if proba:
        secret.facts.need_classes()
    with screen.row_progress("predicting", len(table), quiet or as_json) as ticked:
        labels = secret.labels(columns, ticked)
    chances = secret.probabilities(columns) if proba else None
    answer = secret.facts.target if secret.facts.target not in found else f"predicted {secret.facts.target}"
    found[answer] = labels.tolist()
    if chances is not None:
        classes = secret.facts.classes
        found |= {f"p({name})": chances[:, k].round(6).tolist() for k, name in enumerate(classes)}
    if as_json:
        screen.write_text(out, screen.json_text(found))
        return
    for name in [name for name in found if name.startswith("p(")]:
        found[name] = [f"{chance:.6f}" for chance in found[name]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found)
    writer.writerows(zip(*found.values(), strict=True))
    screen.write_text(out, text.getvalue())


def evaluate(
    model: ModelName,
    data: reading.DataFile,
    target: Annotated[str | None, typer.Option(help="The true answers; as in training if not given.")] = None,
    names: reading.NameBooks = None,
    name_key: reading.NameKeyFile = None,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
    header: reading.Header = True,
    separator: reading.Separator = "",
    decimal: reading.DecimalMark = "",
    thousands: reading.Thousands = "",
    date: reading.Dates = None,
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Accuracy and confusion matrix, or mean squared error and R², on secret rows and labels; nothing else is opened.

    Example: hedgerow evaluate model/ test.csv --target readmitted
    """
    import numpy as np

    secret = open_model(model, consortium, identity, names)
    table = reading.read(data, header, separator, decimal, thousands, secret.facts.schema.category_names, date)
    table = _hidden(secret, table, name_key)
    labels = table.column(target or secret.facts.target)
    columns = _rows(secret, table)
    if secret.facts.problem.regression:
        with screen.row_progress("evaluating", len(table), quiet or as_json) as ticked:
            errors = secret.errors(columns, labels, ticked)
        screen.print_facts(asdict(errors), as_json)
        return
    with screen.row_progress("evaluating", len(table), quiet or as_json) as ticked:
        matrix = secret.confusion(columns, labels, ticked)
    accuracy = float(np.trace(matrix) / matrix.sum())
    if as_json:
        known = list(secret.facts.classes)
        facts = {"rows": len(table), "accuracy": accuracy, "classes": known, "confusion": matrix.tolist()}
        screen.print_json(facts)
        return
    classes = [str(name) for name in secret.facts.classes]
    cells = [(name, *(f"{n:,}" for n in row)) for name, row in zip(classes, matrix.tolist(), strict=True)]
    headings = ("true class", *(f"predicted {name}" for name in classes))
    screen.print_grid(f"accuracy {accuracy:.4f} on {len(table):,} rows", headings, cells, "right")
