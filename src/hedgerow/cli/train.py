"""``hedgerow train``: from a table to a secret-shared model."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InputError
from ..estimators.prepare import Prepared, Wish, prepare
from ..estimators.secret import train_secret
from ..tables import read_schema, read_table
from . import screen

DataFile = Annotated[Path, typer.Argument(help="A .csv (first line: column names) or .parquet file.")]


Header = Annotated[
    bool, typer.Option("--header/--no-header", help="Whether the first line names the columns; else c1, c2, …")
]


Regression = Annotated[bool, typer.Option("--regression", help="Estimate a number instead of a class.")]
WeightColumn = Annotated[str | None, typer.Option(help="A column of whole numbers: secret weights of the rows.")]
Categories = Annotated[
    list[str] | None, typer.Option(help="A column of numbers that are categories; may be given several times.")
]
ClassWeights = Annotated[
    list[str] | None,
    typer.Option("--class-weight", help="CLASS=WEIGHT, public; may be given several times."),
]
LeastDecrease = Annotated[float, typer.Option(min=0.0, help="A split must lower the impurity by this much.")]
LeastSplit = Annotated[int, typer.Option(min=2, help="The fewest rows of a node that is split.")]
LeastLeaf = Annotated[int, typer.Option(min=1, help="The fewest rows on either side of a split.")]


def class_weights(given: list[str] | None) -> dict[str, str] | None:
    """Weights by class from CLASS=WEIGHT."""
    found = {}
    for text in given or []:
        name, sign, weight = text.rpartition("=")
        if not sign or not name:
            raise InputError(f"--class-weight needs CLASS=WEIGHT, not '{text}'")
        if name in found:
            raise InputError(f"--class-weight names '{name}' twice")
        found[name] = weight
    return found or None


def train(
    data: DataFile,
    target: Annotated[str, typer.Option(help="The column to predict.")],
    out: Annotated[Path, typer.Option(help="Directory for the model; one directory a party is made in it.")],
    max_depth: Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")] = 5,
    regression: Regression = False,
    weight: WeightColumn = None,
    class_weight: ClassWeights = None,
    min_samples_split: LeastSplit = 2,
    min_samples_leaf: LeastLeaf = 1,
    min_impurity_decrease: LeastDecrease = 0.0,
    schema: Annotated[Path | None, typer.Option(help="A schema file (see 'hedgerow inspect').")] = None,
    category: Categories = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    numbers_only: Annotated[bool, typer.Option("--numbers-only", help="Leave out all columns of text.")] = False,
    header: Header = True,
    algorithm: Annotated[str, typer.Option(help="fast, or paper: HIKC23 as written.")] = "fast",
    as_json: screen.AsJson = False,
    quiet: screen.Quiet = False,
) -> None:
    """Secret-share a table among three local parties and train a tree; nobody sees rows or tree.

    Columns of text become categories, tested for equality. Missing values (empty, NA, ?) stand below every number, or
    are one more category. Example: hedgerow train patients.csv --target readmitted --max-depth 5 --out model/
    """
    screen.check_free(out)
    declared = read_schema(schema) if schema else None
    if declared and category:
        raise InputError("the schema says which columns are categories; leave --category out")
    if weight == target:
        raise InputError("the target cannot be the weight as well")
    texts = declared.category_names if declared else category or []
    table = read_table(data, header, texts)
    labels = table.column(target)
    used = (target, weight)
    for option, chosen in (("ignored", ignore or []), ("a category", category or [])):
        unknown = [name for name in chosen if name not in table.names or name in used]
        if unknown:
            raise InputError(
                f"'{unknown[0]}' cannot be {option}: it is the target, the weight or no column of the table"
            )
    if declared:
        attributes = [c for c in declared.attributes if c.name not in used and c.name not in (ignore or [])]
        names, columns, categorical = [c.name for c in attributes], table.declared(attributes), []
        if weight is None and declared.weight is not None:
            weight = declared.weight.name
    else:
        names = [name for name in table.names if name not in used and name not in (ignore or [])]
        if numbers_only:
            names = [name for name in names if not table.is_text(name)]
        categorical = [name for name in names if table.is_text(name) or name in (category or [])]
        for name in categorical:
            if name not in (category or []):
                table.check_text(name)
        columns = [table.attribute(name, name in categorical) for name in names]
    wish = Wish(
        max_depth, algorithm, min_samples_split, min_samples_leaf, min_impurity_decrease, class_weights(class_weight),
        regression or (declared is not None and declared.label is not None and declared.label.kind == "target"),
    )  # fmt: skip
    weights = None if weight is None else table.column(weight)
    prepared = prepare(names, columns, target, labels, wish, declared, weights, categorical)
    started = time.perf_counter()
    with screen.training_progress(max_depth, quiet or as_json) as progress:
        trained = train_secret(prepared, progress)
    seconds = time.perf_counter() - started
    trained.model.save(out)
    facts = _facts(prepared, trained.reports, seconds, out)
    screen.print_facts(facts, as_json)
    for name, error in prepared.rounding.items():
        kind = "relative error" if name == "class_weight" else "error"
        screen.notes().print(f"'{escape(name)}' was rounded; the largest {kind} is {error:.3g}", style="yellow")


def _facts(prepared: Prepared, reports: Any, seconds: float, out: Path) -> dict[str, Any]:
    shape = prepared.facts.shape
    return {
        "model": str(out),
        "rows": shape.rows,
        "attributes": shape.attributes,
        "tests": len(shape.features),
        "height": shape.height,
        **({} if shape.regression else {"classes": list(prepared.facts.classes)}),
        "exact": not prepared.rounding,
        "rounding": prepared.rounding,
        "seconds": round(seconds, 3),
        "rounds": reports[0].meter.total().rounds,
        "bytes_sent_per_party": max(report.meter.total().sent for report in reports),
    }
