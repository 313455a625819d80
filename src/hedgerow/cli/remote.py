"""Owners' and analysts' commands against a consortium: share, withdraw, datasets, submit, jobs, watch, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table as Screen

from ..errors import InputError
from ..estimators.prepare import Wish, public_rules
from ..runtime import Moment
from ..service.client import Client, rounding_of_table
from ..tables import published, read_schema
from . import screen
from .reading import (
    DataFile,
    Dates,
    DecimalMark,
    Header,
    NameKeyFile,
    Separator,
    Thousands,
    read,
    show_publications,
    warn,
    with_hashed_names,
)
from .train import ClassWeights, Height, LeastDecrease, LeastLeaf, LeastSplit, class_weights

ConsortiumFile = Annotated[Path, typer.Option(help="consortium.toml; by default your identity lies beside it.")]
IdentityDirectory = Annotated[Path | None, typer.Option(help="A directory with key.pem, cert.pem and ca.pem.")]
JobName = Annotated[str, typer.Argument(help="The job's identifier.")]
HERE = Path("consortium.toml")


def share(
    data: DataFile,
    schema: Annotated[Path, typer.Option(help="The schema all owners agreed on.")],
    name: Annotated[str, typer.Option(help="The dataset's name: lower-case letters, digits, '-' and '_'.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
    name_key: NameKeyFile = None,
    date: Dates = None,
    header: Header = True,
    separator: Separator = "",
    decimal: DecimalMark = "",
    thousands: Thousands = "",
    quiet: screen.Quiet = False,
) -> None:
    """As a data owner: split a table here and send each party its share only; all three register it, or none.

    The schema and the number of rows become public to the consortium; what that tells is shown first.

    Example: hedgerow share claims.csv --schema schema.toml --name claims --consortium consortium.toml
    """
    agreed = read_schema(schema)
    table = read(data, header, separator, decimal, thousands, agreed.category_names, date)
    table = with_hashed_names(table, agreed, name_key)
    client = Client(consortium, identity)
    show_publications([published(column) for column in agreed.columns], f"{data}: {len(table):,} rows")
    warn(rounding_of_table(table, agreed))
    with screen.row_progress("sending shares", len(table), quiet) as ticked:
        size = 3 * 16 * len(table) * len(agreed.columns)
        client.share(table, agreed, name, lambda done, _: ticked(done * len(table) // size, len(table)))
    screen.notes().print(f"'{name}' is registered at all three parties: {len(table):,} rows")


def withdraw(
    name: Annotated[str, typer.Argument(help="The dataset's name.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
) -> None:
    """As a data owner: remove a dataset and its shares at all parties. Models trained on it stay."""
    Client(consortium, identity).withdraw(name)
    screen.notes().print(f"'{name}' is withdrawn")


def datasets(
    consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False
) -> None:
    """The datasets you own or may train on at all three parties."""
    found = Client(consortium, identity).datasets()
    if as_json:
        screen.print_json(found)
        return
    shown = Screen()
    for heading in ("name", "owner", "rows", "columns"):
        shown.add_column(heading)
    for entry in found:
        names = ", ".join(column["name"] for column in entry["schema"])
        shown.add_row(screen.safe(entry["name"]), screen.safe(entry["owner"]), f"{entry['rows']:,}", screen.safe(names))
    screen.out().print(shown)


def submit(
    dataset: Annotated[str, typer.Option(help="One dataset, or several: a+b pools rows, a|b puts columns together.")],
    target: Annotated[str, typer.Option(help="The label or target column.")],
    max_depth: Height = 5,
    class_weight: ClassWeights = None,
    min_samples_split: LeastSplit = 2,
    min_samples_leaf: LeastLeaf = 1,
    min_impurity_decrease: LeastDecrease = 0.0,
    algorithm: Annotated[str, typer.Option(help="fast or paper.")] = "fast",
    watching: Annotated[bool, typer.Option("--watch", help="Wait for the end and show progress.")] = False,
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
    as_json: screen.AsJson = False,
) -> None:
    """As an analyst: submit a training job to all three parties; prints its identifier, which is the model's, too.

    What is learnt follows from the schema: classes for a label, a number for a target, weights from a weight column.

    Example: hedgerow submit --dataset claims+claims_b --target y --max-depth 5
    """
    client = Client(consortium, identity)
    columns = "|" in dataset
    names = dataset.split("|" if columns else "+")
    given = class_weights(class_weight)
    weights = given if isinstance(given, str) else {name: _number(text) for name, text in (given or {}).items()}
    wish = Wish(max_depth, algorithm, min_samples_split, min_samples_leaf, min_impurity_decrease, weights)
    job = client.train(names, target, combine="columns" if columns else "rows", **public_rules(wish))
    if watching:
        _follow(client, job, max_depth, as_json)
    if as_json:
        screen.print_json({"job": job})
    else:
        print(job)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"a class weight must be a number, not '{text}'") from None


def jobs(consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False) -> None:
    """Your jobs."""
    found = Client(consortium, identity).jobs()
    if as_json:
        screen.print_json(found)
        return
    shown = Screen()
    for heading in ("job", "kind", "state", "submitted", "remark"):
        shown.add_column(heading, no_wrap=heading in ("job", "state"), min_width=32 if heading == "job" else None)
    for job in found:
        shown.add_row(job["id"], job["kind"], job["state"], job["created"][:19], screen.safe(job["error"] or ""))
    screen.out().print(shown)


def watch(
    job: JobName, consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False
) -> None:
    """Follow a job to its end, with progress."""
    client = Client(consortium, identity)
    view = client.states(job)[0]
    ended = _follow(client, job, view["spec"].get("max_depth", 1), as_json)
    if as_json:
        screen.print_json(ended)
    else:
        screen.out().print(f"{job} is {ended['state']}")


def cancel(job: JobName, consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None) -> None:
    """Cancel a job at all parties."""
    Client(consortium, identity).cancel(job)
    screen.notes().print(f"{job} is cancelled")


def _follow(client: Client, job: str, height: int, hidden: bool) -> Any:
    with screen.training_progress(height, hidden) as progress:

        def told(view: dict[str, Any]) -> None:
            now = view["progress"]
            if "step" in now:
                progress(Moment(now["layer"], now["step"], now["rounds"], now["sent"]))

        return client.wait(job, told)
