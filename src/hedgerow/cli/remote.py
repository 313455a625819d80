"""Owners' and analysts' commands against a consortium: share, withdraw, datasets, submit, jobs, watch, cancel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import tables
from ..errors import InputError
from . import reading, screen, tools
from .party import show_datasets, show_jobs
from .train import ClassWeights, CriterionName, LeastDecrease, LeastSplit, class_weights

ConsortiumFile = Annotated[Path, typer.Option(help="consortium.toml; by default your identity lies beside it.")]
IdentityDirectory = Annotated[Path | None, typer.Option(help="A directory with key.pem, cert.pem and ca.pem.")]
JobName = Annotated[str, typer.Argument(help="The job's identifier.")]
HERE = Path("consortium.toml")


def share(
    data: reading.DataFile,
    schema: Annotated[Path, typer.Option(help="The schema all owners agreed on.")],
    name: Annotated[str, typer.Option(help="The dataset's name: lower-case letters, digits, '-' and '_'.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
    name_key: reading.NameKeyFile = None,
    date: reading.Dates = None,
    header: reading.Header = True,
    separator: reading.Separator = "",
    decimal: reading.DecimalMark = "",
    thousands: reading.Thousands = "",
    rules: Annotated[
        Path | None, typer.Option(help="Your rules for this dataset, a TOML file; see docs/guide/disclosure.md.")
    ] = None,
    row_ids: Annotated[
        str, typer.Option(help="A column that says which row is which, to be compared with other owners'; not shared.")
    ] = "",
    row_key: Annotated[
        Path | None, typer.Option(help="The owners' key for --row-ids, from 'hedgerow name-key'.")
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="The owners have agreed on the order of rows by other means.")
    ] = False,
    keep_days: Annotated[int, typer.Option(min=0, help="Withdraw the dataset after this many days; 0 keeps it.")] = 0,
    quiet: screen.Quiet = False,
) -> None:
    """As a data owner: split a table here and send each party its share only; all three register it, or none.

    The schema and the number of rows become public to the consortium; what that tells is shown first. Columns of
    several owners can be put side by side (a|b) only if they say in which order their rows are: with --row-ids and a
    --row-key that only owners have, the parties compare a keyed hash of the order and learn nothing else.

    Example: hedgerow share claims.csv --schema schema.toml --name claims --consortium consortium.toml
    """
    agreed = tables.read_schema(schema)
    table = reading.read(data, header, separator, decimal, thousands, agreed.category_names, date)
    table = reading.with_hashed_names(table, agreed, name_key)
    alignment = _alignment(table, row_ids, row_key, aligned)
    asked = tools.plain_rules({} if rules is None else tools.read_toml(rules))
    client = tools.Client(consortium, identity)
    reading.show_publications([tables.published(column) for column in agreed.columns], f"{data}: {len(table):,} rows")
    reading.warn(tools.rounding_of_table(table, agreed))
    with screen.row_progress("sending shares", len(table), quiet) as ticked:
        size = 3 * 16 * len(table) * len(agreed.columns)
        client.share(
            table,
            agreed,
            name,
            lambda done, _: ticked(done * len(table) // size, len(table)),
            rules=asked,
            alignment=alignment,
            keep_days=keep_days,
        )
    screen.notes().print(f"'{name}' is registered at all three parties: {len(table):,} rows")


def _alignment(table: tables.Table, row_ids: str, row_key: Path | None, aligned: bool) -> str:
    """What a dataset says about the order of its rows."""
    if not row_ids:
        if row_key is not None:
            raise InputError("--row-key needs --row-ids: the column that says which row is which")
        return "agreed" if aligned else ""
    if row_key is None or aligned:
        raise InputError("--row-ids needs --row-key, a key that all owners and no party have, and not --aligned")
    values = table.column(row_ids)
    if len({str(value) for value in values}) != len(values):
        raise InputError(f"'{row_ids}' has the same value in several rows, so it does not say which row is which")
    return tools.row_order(tables.NameKey.read(row_key).secret, values)


def rules(
    name: Annotated[str, typer.Argument(help="Your dataset, OWNER/NAME.")],
    file: Annotated[Path, typer.Argument(help="The rules, a TOML file; an empty one leaves only the parties' rules.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
) -> None:
    """As a data owner: set your rules for a dataset; they hold for everything that has not started yet.

    docs/guide/disclosure.md says what each rule prevents. Example: hedgerow rules clinic/claims rules.toml
    """
    tools.Client(consortium, identity).set_rules(name, tools.read_toml(file))
    screen.notes().print(f"the rules of '{name}' are set at all three parties")


def uses(consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False) -> None:
    """As a data owner: what used your data, how it ended, and what waits for your approval."""
    show_jobs(tools.Client(consortium, identity).uses(), as_json)


def delete(
    identifier: Annotated[str, typer.Argument(help="The model, or the job of a prediction.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
) -> None:
    """As an analyst: remove a model or a result of yours at all parties."""
    tools.Client(consortium, identity).delete(identifier)
    screen.notes().print(f"{identifier} is removed")


def withdraw(
    name: Annotated[str, typer.Argument(help="The dataset's name.")],
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
) -> None:
    """As a data owner: remove a dataset and its shares at all parties; jobs that train on it end.

    Models trained before stay, and are marked. The name stays in the audit logs.
    """
    tools.Client(consortium, identity).withdraw(name)
    screen.notes().print(f"'{name}' is withdrawn")


def datasets(
    consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False
) -> None:
    """The datasets you own or may train on at all three parties."""
    show_datasets(tools.Client(consortium, identity).datasets(), as_json)


def submit(
    dataset: Annotated[str, typer.Option(help="One dataset, or several: a+b pools rows, a|b puts columns together.")],
    target: Annotated[str, typer.Option(help="The label or target column.")],
    max_depth: Annotated[int | None, typer.Option(min=0, help="The tree's height; the rules may allow less.")] = None,
    criterion: CriterionName = "gini",
    class_weight: ClassWeights = None,
    min_samples_split: LeastSplit = 2,
    min_samples_leaf: Annotated[
        int | None, typer.Option(min=1, help="Rows a leaf needs; without it, what the rules want.")
    ] = None,
    min_impurity_decrease: LeastDecrease = 0.0,
    algorithm: Annotated[str, typer.Option(help="fast or paper.")] = "fast",
    watching: Annotated[bool, typer.Option("--watch", help="Wait for the end and show progress.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be allowed, and which rule refuses it.")
    ] = False,
    consortium: ConsortiumFile = HERE,
    identity: IdentityDirectory = None,
    as_json: screen.AsJson = False,
) -> None:
    """As an analyst: submit a training job to all three parties; prints its identifier, which is the model's, too.

    What is learnt follows from the schema: classes for a label, a number for a target, weights from a weight column.
    Datasets are named OWNER/NAME, or NAME where only one that you may see has it. The rules of the parties and of the
    owners give what you leave out, and refuse what asks for less protection.

    Example: hedgerow submit --dataset clinic/claims+bank/claims --target y --max-depth 5
    """
    client = tools.Client(consortium, identity)
    names, combine = tools.combination(dataset)
    given = class_weights(class_weight)
    weights = given if isinstance(given, str) else {name: _number(text) for name, text in (given or {}).items()}
    rules = tools.TrainingRules(
        max_depth or 0, algorithm, min_samples_split, min_samples_leaf or 1, min_impurity_decrease, weights,
        criterion=criterion,
    )  # fmt: skip
    asked = rules.public() | {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    if dry_run:
        _show_answers(client.check(**tools.training_request(names, target, combine=combine, **asked)), as_json)
        return
    job = client.train(names, target, combine=combine, **asked)
    if watching:
        height = client.states(job)[0]["spec"]["max_depth"]
        _follow(client, job, height, as_json)
    if as_json:
        screen.print_json({"job": job})
    else:
        print(job)


def _show_answers(answers: list[dict[str, Any]], as_json: bool) -> None:
    """What each party would say; exit code 3 if one refuses."""
    if as_json:
        screen.print_json(answers)
    for answer in answers if not as_json else []:
        if not answer["allowed"]:
            screen.out().print(f"party {answer['party']} refuses: {screen.safe(answer['reason'])}")
            continue
        wanted = answer["approvals"]
        after = f" after approval of {', '.join(wanted)}" if wanted else ""
        spec = answer["spec"]
        facts = f"height {spec['max_depth']}, at least {spec['min_samples_leaf']} rows a leaf"
        screen.out().print(f"party {answer['party']} allows it{screen.safe(after)}: {facts}")
    if not all(answer["allowed"] for answer in answers):
        raise typer.Exit(3)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"a class weight must be a number, not '{text}'") from None


def jobs(consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False) -> None:
    """Your jobs, as the parties in reach see them; where one sees another state, it is named."""
    show_jobs(tools.Client(consortium, identity).jobs(), as_json)


def watch(
    job: JobName, consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None, as_json: screen.AsJson = False
) -> None:
    """Follow a job to its end, with progress."""
    client = tools.Client(consortium, identity)
    view = client.states(job)[0]
    ended = _follow(client, job, view["spec"].get("max_depth", 1), as_json)
    if as_json:
        screen.print_json(ended)
    else:
        screen.out().print(f"{job} is {ended['state']}")


def cancel(job: JobName, consortium: ConsortiumFile = HERE, identity: IdentityDirectory = None) -> None:
    """Cancel a job at all parties."""
    tools.Client(consortium, identity).cancel(job)
    screen.notes().print(f"{job} is cancelled")


def _follow(client: tools.Client, job: str, height: int, hidden: bool) -> Any:
    with screen.training_progress(height, hidden) as progress:
        said: list[str] = []

        def told(view: dict[str, Any]) -> None:
            now, waits = view["progress"], ", ".join(view["waits_for"])
            if waits and waits not in said:
                said.append(waits)
                screen.notes().print(f"waits for approval of {screen.safe(waits)}")
            if "step" in now:
                progress(tools.Moment(now["layer"], now["step"], now["rounds"], now["sent"]))

        return client.wait(job, told)
