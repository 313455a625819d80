"""``hedgerow train``: from a table to a secret-shared model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import tables
from ..errors import InputError
from . import reading, screen, tools

Regression = Annotated[bool, typer.Option("--regression", help="Estimate a number instead of a class.")]
WeightColumn = Annotated[str | None, typer.Option(help="A column of numbers: secret weights of the rows.")]
ClassWeights = Annotated[
    list[str] | None,
    typer.Option("--class-weight", help="CLASS=WEIGHT, public, several times; or 'balanced', which stays secret."),
]
CriterionName = Annotated[
    Literal["gini", "entropy", "log_loss", "gain_ratio"],
    typer.Option(help="What makes a split of classes good; log_loss is another name of entropy."),
]
LeastDecrease = Annotated[float, typer.Option(min=0.0, help="A split must lower the impurity by this much.")]
LeastSplit = Annotated[int, typer.Option(min=2, help="The fewest rows of a node that is split.")]
LeastLeaf = Annotated[int, typer.Option(min=1, help="The fewest rows on either side of a split.")]
Height = Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")]
SchemaFile = Annotated[Path | None, typer.Option(help="A schema file (see 'hedgerow inspect').")]


def class_weights(given: list[str] | None) -> dict[str, str] | str | None:
    """Weights by class from CLASS=WEIGHT, or the word "balanced"."""
    if given == ["balanced"]:
        return "balanced"
    found = {}
    for text in given or []:
        name, sign, weight = text.rpartition("=")
        if not sign or not name:
            raise InputError(f"--class-weight needs CLASS=WEIGHT, or 'balanced' alone, not '{text}'")
        if name in found:
            raise InputError(f"--class-weight names '{name}' twice")
        found[name] = weight
    return found or None


def train(
    data: reading.DataFile,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    out: Annotated[Path, typer.Option(help="Directory for the model; one directory per party is made in it.")],
    max_depth: Height = 5,
    regression: Regression = False,
    criterion: CriterionName = "gini",
    weight: WeightColumn = None,
    class_weight: ClassWeights = None,
    min_samples_split: LeastSplit = 2,
    min_samples_leaf: LeastLeaf = 1,
    min_impurity_decrease: LeastDecrease = 0.0,
    schema: SchemaFile = None,
    category: reading.Categories = None,
    date: reading.Dates = None,
    ignore: reading.Ignored = None,
    numbers_only: Annotated[bool, typer.Option("--numbers-only", help="Leave out all columns of text.")] = False,
    header: reading.Header = True,
    separator: reading.Separator = "",
    decimal: reading.DecimalMark = "",
    thousands: reading.Thousands = "",
    name_key: reading.NameKeyFile = None,
    algorithm: Annotated[str, typer.Option(help="fast, or paper: HIKC23 as written.")] = "fast",
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Secret-share a table among three local parties and train a tree. Local parties protect nobody from the person at
    this machine.

    Columns of few texts become categories, tested for equality, and their names become public; other columns of text
    are refused. Dates are numbers. Missing values (empty, NA, ?) stand below every number, or are one more category.

    Example: hedgerow train patients.csv --target readmitted --max-depth 5 --out model/
    """
    screen.check_free(out)
    declared = tables.read_schema(schema) if schema else None
    if declared and category:
        raise InputError("the schema says which columns are categories; leave --category out")
    if weight == target:
        raise InputError("the target cannot be the weight as well")
    texts = declared.category_names if declared else [name for name in category or [] if name != target]
    table = reading.read(data, header, separator, decimal, thousands, [*texts, *(ignore or [])], date)
    table = reading.with_hashed_names(table, declared, name_key)
    reading.check_columns(table, ignore or [], "ignored", (target, weight))
    reading.check_columns(table, category or [], "a category", (weight,))
    if declared and weight is None and declared.weight is not None:
        weight = declared.weight.name
    plain = _plain_table(table, {*(ignore or []), target, weight}, declared, category or [], numbers_only)
    regression = regression or bool(declared and declared.label and declared.label.kind == "target")
    weighting = class_weights(class_weight)
    rules = tools.TrainingRules(
        max_depth, algorithm, min_samples_split, min_samples_leaf, min_impurity_decrease, weighting, regression,
        criterion,
    )  # fmt: skip
    weights = None if weight is None else table.column(weight)
    prepared = tools.prepare(plain, target, table.column(target), rules, declared, weights)
    reading.show_publications(prepared.publications, f"{data}: {len(table):,} rows")
    reading.warn([*prepared.keys, *prepared.roundings])
    _train_and_save(prepared, out, quiet, as_json)


def _train_and_save(prepared: tools.EncodedTable, out: Path, quiet: bool, as_json: bool) -> None:
    started = time.perf_counter()
    with screen.training_progress(prepared.facts.problem.height, quiet or as_json) as progress:
        trained = tools.train_secret(prepared, progress)
    seconds = time.perf_counter() - started
    trained.model.save(out)
    screen.print_facts(_facts(prepared, trained.reports, seconds, out), as_json)


def _plain_table(
    table: tables.Table,
    left_out: set[str | None],
    declared: tables.Schema | None,
    category: list[str],
    numbers_only: bool,
) -> tools.PlainTable:
    """The attributes to learn from, as a schema says or as they are found."""
    if declared:
        attributes = [column for column in declared.attributes if column.name not in left_out]
        return tools.PlainTable([column.name for column in attributes], table.declared(attributes), [], category)
    names, categorical = chosen_columns(table, left_out, category, numbers_only)
    columns = [table.attribute(name, name in categorical) for name in names]
    return tools.PlainTable(names, columns, categorical, category)


def chosen_columns(
    table: tables.Table, left_out: set[str | None], category: list[str], numbers_only: bool = False
) -> tuple[list[str], list[str]]:
    """The attributes of a table without a schema, and which of them are categories."""
    names = [name for name in table.names if name not in left_out]
    if numbers_only:
        names = [name for name in names if not table.is_text(name)]
    categorical = [name for name in names if table.is_text(name) or name in category]
    for name in categorical:
        if name not in category:
            table.check_text(name)
    return names, categorical


def _facts(prepared: tools.EncodedTable, reports: Any, seconds: float, out: Path) -> dict[str, Any]:
    problem = prepared.facts.problem
    return {
        "model": str(out),
        "rows": problem.rows,
        "attributes": problem.attributes,
        "tests": len(problem.features),
        "height": problem.height,
        **({} if problem.regression else {"classes": list(prepared.facts.classes)}),
        "exact": not prepared.rounding,
        "rounding": prepared.rounding,
        "seconds": round(seconds, 3),
        "rounds": reports[0].meter.total().rounds,
        "bytes_sent_per_party": max(report.meter.total().sent for report in reports),
    }
