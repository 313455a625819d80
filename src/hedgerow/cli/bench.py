"""``hedgerow bench``: measurements on three real processes over mutual TLS on loopback."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import screen

if TYPE_CHECKING:
    from ..bench.report import RunFacts

app = typer.Typer(
    help="Measure protocols on three real processes over mutual TLS on loopback.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class NetworkName(StrEnum):
    """The networks that can be measured here."""

    loopback = "loopback"
    lan = "lan"
    wan = "wan"


class Algorithm(StrEnum):
    """The training algorithms."""

    fast = "fast"
    paper = "paper"


class SortMethod(StrEnum):
    """The sorts that can be compared."""

    compare = "compare"
    radix1 = "radix1"
    radix2 = "radix2"
    radix3 = "radix3"


NetworkOption = Annotated[
    NetworkName,
    typer.Option(help="loopback: as it is; lan: 0.2 ms round trip, 10 Gbit/s; wan: 40 ms round trip, 40 Mbit/s."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
RepeatOption = Annotated[int, typer.Option(min=1, help="Runs; the best is shown.")]


def print_facts(title: str, facts: RunFacts, as_json: bool) -> None:
    """Show one run's facts, as JSON or as a table."""
    from rich.console import Console
    from rich.table import Table

    if as_json:
        print(json.dumps(facts.as_dict()))
        return
    table = Table(title=title, show_header=True)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_row("seconds", f"{facts.seconds:.3f}")
    if facts.extra.get("model_seconds"):
        table.add_row("model: delay and bandwidth alone", f"{facts.extra['model_seconds']:.1f} s")
    table.add_row("rounds", str(facts.rounds))
    for party in range(3):
        table.add_row(f"party {party} sent", f"{facts.bytes_sent[party] / 1e6:.2f} MB")
        table.add_row(f"party {party} peak memory", f"{facts.peak_rss_mb[party]:.0f} MB")
    table.add_row("correct", "yes" if facts.correct else "NO")
    for step, spent in facts.extra.get("steps", {}).items():
        table.add_row(step, f"{spent['rounds']} rounds, {spent['bytes_sent'] / 1e6:.2f} MB, {spent['seconds']:.3f} s")
    Console().print(table)


@app.command(short_help="Sort random keys; the permutation stays secret.")
def sort(
    rows: Annotated[int, typer.Option(min=1, help="Number of keys.")] = 100_000,
    bits: Annotated[int, typer.Option(min=1, max=63, help="Bits of a key.")] = 32,
    network: NetworkOption = NetworkName.loopback,
    method: Annotated[SortMethod, typer.Option(help="How to sort.")] = SortMethod.compare,
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Sort random keys stably; the permutation stays secret and is checked against the plaintext one afterwards."""
    from ..bench.engine import bench_sort

    facts = bench_sort(rows, bits, network.value, method.value, repeat)
    print_facts(f"stable sort of {rows} keys of {bits} bits", facts, as_json)
    if not facts.correct:
        raise typer.Exit(1)


@app.command(short_help="Time, rounds and bytes of every primitive.")
def primitives(
    count: Annotated[int, typer.Option(min=1, help="Items in a vector.")] = 1_000_000,
    network: NetworkOption = NetworkName.loopback,
    repeat: RepeatOption = 3,
    as_json: JsonOption = False,
) -> None:
    """Time, rounds and bytes of every primitive on vectors, and how many small rounds per second are possible."""
    from rich.console import Console
    from rich.table import Table

    from ..bench.engine import bench_primitives

    rows = bench_primitives(count, network.value, repeat)
    if as_json:
        print(json.dumps({"count": count, "network": network.value, "primitives": rows}))
        return
    table = Table(title=f"primitives on {count} items")
    for column in ("primitive", "rounds", "bytes/item/party", "ns/item"):
        table.add_column(column, justify="left" if column == "primitive" else "right")
    for row in rows:
        if "rounds_per_second" in row:
            table.add_row(row["name"], f"{row['rounds_per_second']}/s", "", "")
        else:
            size, pace = row["bytes_per_item_and_party"], row["nanoseconds_per_item"]
            table.add_row(row["name"], str(row["rounds"]), f"{size:.2f}", f"{pace:.1f}")
    Console().print(table)


RowsOption = Annotated[int, typer.Option(min=1, help="Rows of the random table.")]
AttrsOption = Annotated[int, typer.Option(min=1, help="Input attributes of the random table.")]
DepthOption = Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")]
BitsOption = Annotated[int, typer.Option(min=1, max=46, help="Bits of a random attribute value.")]
DataOption = Annotated[
    Path | None,
    typer.Option(help="Train on this table of whole numbers instead of a random one; the label comes last."),
]
AlgorithmOption = Annotated[Algorithm, typer.Option(help="fast: the default trainer; paper: HIKC23 as written.")]


@app.command(short_help="Train on a table and compare with the twin.")
def train(
    rows: RowsOption = 10_000,
    attrs: AttrsOption = 10,
    depth: DepthOption = 5,
    algorithm: AlgorithmOption = Algorithm.fast,
    compare: Annotated[bool, typer.Option("--compare", help="Run both algorithms and show the ratios.")] = False,
    network: NetworkOption = NetworkName.loopback,
    bits: BitsOption = 30,
    data: DataOption = None,
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Train on a table; the revealed tree is compared with the plaintext twin's, node for node."""
    from ..bench.training import bench_train, random_table, read_table
    from ..bench.training import compare as compare_algorithms

    table = read_table(data) if data else random_table(rows, attrs, bits)
    declared = None if data else bits
    if compare:
        outcome = compare_algorithms(table, depth, declared, repeat)
        if as_json:
            print(json.dumps(outcome))
        else:
            _print_comparison(outcome)
        correct = outcome["correct"]
    else:
        facts = bench_train(table, depth, algorithm.value, network.value, declared, repeat)
        print_facts(f"{algorithm.value}: {facts.extra['rows']} rows, height {depth}", facts, as_json)
        correct = facts.correct
    if not correct:
        raise typer.Exit(1)


def _print_comparison(outcome: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="both algorithms in one run")
    for column in ("", "fast", "paper", "ratio"):
        table.add_column(column, justify="right")
    fast, paper = outcome["fast"], outcome["paper"]
    table.add_row("seconds", f"{fast['seconds']:.2f}", f"{paper['seconds']:.2f}", f"{outcome['time_ratio']:.1f}")
    sent = [max(facts["bytes_sent"]) / 1e6 for facts in (fast, paper)]
    table.add_row("MB sent per party", f"{sent[0]:.1f}", f"{sent[1]:.1f}", f"{outcome['bytes_ratio']:.1f}")
    table.add_row("rounds", str(fast["rounds"]), str(paper["rounds"]), f"{paper['rounds'] / fast['rounds']:.1f}")
    table.add_row("equals its twin", str(fast["correct"]), str(paper["correct"]), "")
    Console().print(table)


@app.command(short_help="What classes, weights and regression cost.")
def learn(
    rows: RowsOption = 10_000,
    attrs: AttrsOption = 10,
    depth: DepthOption = 5,
    bits: BitsOption = 30,
    repeat: RepeatOption = 3,
    as_json: JsonOption = False,
) -> None:
    """Compare what classes, categories, weights, rules and regression cost, taking turns in one run."""
    from rich.console import Console
    from rich.table import Table

    from ..bench.learning import bench_learning

    found = bench_learning(rows, attrs, depth, bits, repeat)
    if as_json:
        print(json.dumps({name: facts.as_dict() for name, facts in found.items()}))
    else:
        table = Table(title=f"{rows:,} rows, {attrs} attributes, height {depth}; best of {repeat}")
        for column in ("problem", "seconds", "times", "MB sent per party", "rounds", "equals its twin"):
            table.add_column(column, justify="left" if column == "problem" else "right")
        plain = found["two classes"].seconds
        for name, facts in found.items():
            sent = f"{max(facts.bytes_sent) / 1e6:.1f}"
            ratio = f"{facts.seconds / plain:.2f}"
            table.add_row(name, f"{facts.seconds:.2f}", ratio, sent, str(facts.rounds), str(facts.correct))
        Console().print(table)
    if not all(facts.correct for facts in found.values()):
        raise typer.Exit(1)


@app.command(short_help="Where time, rounds and bytes go, by step.")
def profile(
    rows: RowsOption = 10_000,
    attrs: AttrsOption = 10,
    depth: DepthOption = 5,
    algorithm: AlgorithmOption = Algorithm.fast,
    levels: Annotated[int, typer.Option(min=1, max=6, help="How many names of a step's path to show.")] = 3,
    as_json: JsonOption = False,
) -> None:
    """Show where time, rounds and bytes go, by named step, at one party."""
    from rich.console import Console
    from rich.table import Table

    from ..bench.training import random_table, train_once
    from ..parties import PartyProcesses
    from ..trees.problem import check_table

    x, y, shape = check_table(*random_table(rows, attrs, 30), depth, 30)
    with PartyProcesses() as parties:
        train_once(parties, x, y, shape, algorithm.value)
        facts = train_once(parties, x, y, shape, algorithm.value, depth=levels + 1)
    if as_json:
        print(json.dumps(facts.as_dict()))
        return
    table = Table(title=f"{algorithm.value}: {facts.seconds:.2f} s, {facts.rounds} rounds")
    for column in ("step", "rounds", "MB sent", "computing s", "exchanging s"):
        table.add_column(column, justify="left" if column == "step" else "right")
    for name, step in sorted(facts.extra["steps"].items(), key=lambda item: -item[1]["seconds"]):
        cells = [f"{step['bytes_sent'] / 1e6:.2f}", f"{step['computing_seconds']:.3f}"]
        table.add_row(name, str(step["rounds"]), *cells, f"{step['exchanging_seconds']:.3f}")
    Console().print(table)


@app.command(short_help="Run the paper's three tables again.")
def tables(
    out: Annotated[Path, typer.Option(help="The document to write; a picture goes beside it.")] = Path("tables.md"),
    algorithm: AlgorithmOption = Algorithm.fast,
    repeat: RepeatOption = 3,
    limit: Annotated[int, typer.Option(help="Leave out points with more rows.")] = 100_000,
    as_json: JsonOption = False,
) -> None:
    """Run the paper's three tables again (height, rows, attributes) and write them beside the paper's figures."""
    from ..bench.tables import as_markdown, run_tables
    from ..bench.tables import draw as draw_tables

    screen.check_file(out)
    results = run_tables(algorithm.value, repeat, limit)
    out.write_text("# The paper's tables, run again\n\n" + as_markdown(results, algorithm.value))
    draw_tables(results, out.with_suffix(".png"))
    print(json.dumps(results) if as_json else f"wrote {out} and {out.with_suffix('.png')}")


@app.command(short_help="Count operations of the paper's methods.")
def complexity(
    picture: Annotated[Path, typer.Option(help="Where to write the picture (PNG).")] = Path("complexity.png"),
    as_json: JsonOption = False,
) -> None:
    """Count non-free operations of the paper's method and of the two before it, and draw them."""
    from rich.console import Console
    from rich.table import Table

    from ..bench.complexity import draw, measure

    screen.check_file(picture)
    measured = measure()
    draw(measured, picture)
    if as_json:
        print(json.dumps(measured))
        return
    for axis, rows in measured.items():
        table = Table(title=f"non-free operations over {axis}")
        for column in ("method", "n", "m", "h", "operations", "rounds"):
            table.add_column(column, justify="left" if column == "method" else "right")
        for row in rows:
            table.add_row(*(str(row[key]) for key in ("method", "n", "m", "h", "operations", "rounds")))
        Console().print(table)
    print(f"picture: {picture}")
