"""``hedgerow bench``: measurements on three real processes over mutual TLS on loopback."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..bench.complexity import draw, measure
from ..bench.engine import bench_primitives, bench_sort
from ..bench.report import RunFacts
from ..bench.training import bench_train

app = typer.Typer(help="Measure protocols on three real processes over mutual TLS on loopback.", no_args_is_help=True)


class NetworkName(StrEnum):
    """The networks that can be measured here."""

    loopback = "loopback"
    lan = "lan"
    wan = "wan"


class Algorithm(StrEnum):
    """The training algorithms."""

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
    if as_json:
        print(json.dumps(facts.as_dict()))
        return
    table = Table(title=title, show_header=True)
    table.add_column("measure")
    table.add_column("value", justify="right")
    table.add_row("seconds", f"{facts.seconds:.3f}")
    table.add_row("rounds", str(facts.rounds))
    for party in range(3):
        table.add_row(f"party {party} sent", f"{facts.bytes_sent[party] / 1e6:.2f} MB")
        table.add_row(f"party {party} peak memory", f"{facts.peak_rss_mb[party]:.0f} MB")
    table.add_row("correct", "yes" if facts.correct else "NO")
    for step, spent in facts.extra.get("steps", {}).items():
        table.add_row(step, f"{spent['rounds']} rounds, {spent['bytes_sent'] / 1e6:.2f} MB, {spent['seconds']:.3f} s")
    Console().print(table)


@app.command()
def sort(
    rows: Annotated[int, typer.Option(min=1, help="Number of keys.")] = 100_000,
    bits: Annotated[int, typer.Option(min=1, max=63, help="Bits of a key.")] = 32,
    network: NetworkOption = NetworkName.loopback,
    method: Annotated[SortMethod, typer.Option(help="How to sort.")] = SortMethod.compare,
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Sort random keys stably; the permutation stays secret and is checked against the plaintext one afterwards."""
    facts = bench_sort(rows, bits, network.value, method.value, repeat)
    print_facts(f"stable sort of {rows} keys of {bits} bits", facts, as_json)
    if not facts.correct:
        raise typer.Exit(1)


@app.command()
def primitives(
    count: Annotated[int, typer.Option(min=1, help="Items in a vector.")] = 1_000_000,
    network: NetworkOption = NetworkName.loopback,
    repeat: RepeatOption = 3,
    as_json: JsonOption = False,
) -> None:
    """Time, rounds and bytes of every primitive on vectors, and how many small rounds a second are possible."""
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


@app.command()
def train(
    rows: Annotated[int, typer.Option(min=1, help="Rows of the table.")] = 10_000,
    attrs: Annotated[int, typer.Option(min=1, help="Input attributes.")] = 10,
    depth: Annotated[int, typer.Option(min=0, max=62, help="Height of the tree.")] = 5,
    algorithm: Annotated[Algorithm, typer.Option(help="paper: HIKC23 as written.")] = Algorithm.paper,
    network: NetworkOption = NetworkName.loopback,
    bits: Annotated[int, typer.Option(min=1, max=40, help="Bits of an attribute value.")] = 30,
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Train on a random table; the revealed tree is compared with the plaintext twin's, node for node."""
    facts = bench_train(rows, attrs, depth, algorithm.value, network.value, bits, repeat)
    print_facts(f"{algorithm.value}: {rows} rows, {attrs} attributes, height {depth}", facts, as_json)
    if not facts.correct:
        raise typer.Exit(1)


@app.command()
def complexity(
    picture: Annotated[Path, typer.Option(help="Where to write the picture (PNG).")] = Path("complexity.png"),
    as_json: JsonOption = False,
) -> None:
    """Count non-free operations of the paper's method and of the two before it, and draw them."""
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
