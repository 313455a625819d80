"""``hedgerow predict`` and ``hedgerow evaluate``: rows stay secret, answers are opened to the asker."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table as Screen

from ..estimators.secret import SecretModel
from ..service.client import Client, RemoteModel
from ..tables import read_table
from . import screen
from .remote import IdentityDirectory
from .train import DataFile, Header

ModelName = Annotated[str, typer.Argument(help="What 'hedgerow train --out' wrote, or a job of a consortium.")]
ConsortiumOption = Annotated[Path | None, typer.Option(help="Use a model of this consortium.toml's parties.")]


def open_model(model: str, consortium: Path | None, identity: Path | None) -> SecretModel | RemoteModel:
    """A local model by its directory, or a consortium's by its job."""
    return SecretModel.load(Path(model)) if consortium is None else Client(consortium, identity).model(model)


def predict(
    model: ModelName,
    data: DataFile,
    out: Annotated[Path | None, typer.Option(help="Write a .csv file instead of printing.")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities of all classes as well.")] = False,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
    header: Header = True,
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Predict secret rows with a secret model; only the predictions are opened, here.

    Columns are found by name; others are ignored. Example: hedgerow predict model/ new.csv --out answers.csv
    """
    screen.check_file(out, data)
    secret = open_model(model, consortium, identity)
    table = read_table(data, header, secret.facts.schema.category_names)
    columns = table.declared(secret.facts.schema.attributes)
    if proba:
        secret.facts.need_classes()
    with screen.row_progress("predicting", len(table), quiet or as_json) as ticked:
        labels = secret.labels(columns, ticked)
    chances = secret.probabilities(columns) if proba else None
    names = [secret.facts.target]
    if chances is not None:
        names += [f"p({name})" for name in secret.facts.classes]
    if as_json:
        found: dict[str, Any] = {names[0]: labels.tolist()}
        if chances is not None:
            found |= {name: chances[:, k].round(6).tolist() for k, name in enumerate(names[1:])}
        screen.write_text(out, screen.json_text(found))
        return
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for i, label in enumerate(labels.tolist()):
        writer.writerow([label, *([] if chances is None else (f"{p:.6f}" for p in chances[i]))])
    screen.write_text(out, text.getvalue())


def evaluate(
    model: ModelName,
    data: DataFile,
    target: Annotated[str | None, typer.Option(help="The true answers; as in training if not given.")] = None,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
    header: Header = True,
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Accuracy and confusion matrix, or mean squared error and R², on secret rows and labels; nothing else is opened.

    Example: hedgerow evaluate model/ test.csv --target readmitted
    """
    secret = open_model(model, consortium, identity)
    table = read_table(data, header, secret.facts.schema.category_names)
    labels = table.column(target or secret.facts.target)
    columns = table.declared(secret.facts.schema.attributes)
    if secret.facts.shape.regression:
        with screen.row_progress("evaluating", len(table), quiet or as_json) as ticked:
            errors = secret.errors(columns, labels, ticked)
        screen.print_facts(asdict(errors), as_json)
        return
    with screen.row_progress("evaluating", len(table), quiet or as_json) as ticked:
        matrix = secret.confusion(columns, labels, ticked)
    accuracy = float(np.trace(matrix) / matrix.sum())
    classes = [str(name) for name in secret.facts.classes]
    if as_json:
        facts = {"rows": len(table), "accuracy": accuracy, "classes": classes, "confusion": matrix.tolist()}
        screen.print_json(facts)
        return
    shown = Screen(title=f"accuracy {accuracy:.4f} on {len(table):,} rows")
    shown.add_column("true class")
    for name in classes:
        shown.add_column(escape(f"predicted {name}"), justify="right")
    for name, row in zip(classes, matrix.tolist(), strict=True):
        shown.add_row(escape(name), *(f"{count:,}" for count in row))
    screen.out().print(shown)
