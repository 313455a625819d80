"""``hedgerow bench``: measurements on three real processes over mutual TLS on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..errors import InputError
from . import screen, tools

app = typer.Typer(
    help="Measure protocols on three real processes over mutual TLS on loopback.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


Algorithm = Literal["fast", "paper"]
SortMethod = Literal["compare", "radix1", "radix2", "radix3"]
NetworkOption = Annotated[
    Literal["loopback", "lan", "wan"],
    typer.Option(help="loopback: as it is; lan: 0.2 ms round trip, 10 Gbit/s; wan: 40 ms round trip, 40 Mbit/s."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
RepeatOption = Annotated[int, typer.Option(min=1, help="Runs; the best is shown.")]


def print_facts(title: str, facts: tools.RunFacts, as_json: bool) -> None:
    """Show one run's facts, as JSON or as a table."""
    if as_json:
        print(json.dumps(facts.as_dict()))
        return
    rows = {"seconds": f"{facts.seconds:.3f}"}
    if facts.extra.get("model_seconds"):
        rows["model: delay and bandwidth alone"] = f"{facts.extra['model_seconds']:.1f} s"
    if facts.extra.get("paper_seconds"):
        rows["HIKC23 on three servers of 16 cores"] = f"{facts.extra['paper_seconds']:.2f} s"
    rows["rounds"] = str(facts.rounds)
    for party in range(3):
        rows[f"party {party} sent"] = f"{facts.bytes_sent[party] / 1e6:.2f} MB"
        rows[f"party {party} peak memory"] = f"{facts.peak_rss_mb[party]:.0f} MB"
    rows["correct"] = "yes" if facts.correct else "NO"
    for step, spent in facts.extra.get("steps", {}).items():
        rows[step] = f"{spent['rounds']} rounds, {spent['bytes_sent'] / 1e6:.2f} MB, {spent['seconds']:.3f} s"
    screen.print_grid(title, ("measure", "value"), rows.items(), "right")


@app.command(short_help="Sort random keys; the permutation stays secret.")
def sort(
    rows: Annotated[int, typer.Option(min=1, help="Number of keys.")] = 100_000,
    bits: Annotated[int, typer.Option(min=1, max=63, help="Bits of a key.")] = 32,
    network: NetworkOption = "loopback",
    method: Annotated[SortMethod, typer.Option(help="How to sort.")] = "compare",
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Sort random keys stably; the permutation stays secret and is checked against the plaintext one afterwards."""
    facts = tools.bench_sort(rows, bits, network, method, repeat)
    print_facts(f"stable sort of {rows} keys of {bits} bits", facts, as_json)
    if not facts.correct:
        raise typer.Exit(1)


@app.command(short_help="Time, rounds and bytes of every primitive.")
def primitives(
    count: Annotated[int, typer.Option(min=1, help="Items in a vector.")] = 1_000_000,
    network: NetworkOption = "loopback",
    repeat: RepeatOption = 3,
    as_json: JsonOption = False,
) -> None:
    """Time, rounds and bytes of every primitive on vectors, and how many small rounds per second are possible."""
    rows = tools.bench_primitives(count, network, repeat)
    if as_json:
        print(json.dumps({"count": count, "network": network, "primitives": rows}))
        return
    cells = []
    for row in rows:
        if "rounds_per_second" in row:
            cells.append((row["name"], f"{row['rounds_per_second']}/s", "", ""))
        else:
            size, pace = row["bytes_per_item_and_party"], row["nanoseconds_per_item"]
            cells.append((row["name"], row["rounds"], f"{size:.2f}", f"{pace:.1f}"))
    headings = ("primitive", "rounds", "bytes/item/party", "ns/item")
    screen.print_grid(f"primitives on {count} items", headings, cells, "right")


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
    algorithm: AlgorithmOption = "fast",
    sharing: Annotated[
        Literal["replicated", "shamir"],
        typer.Option(help="What the paper's algorithm runs on: replicated shares, or Shamir's as the paper had."),
    ] = "replicated",
    criterion: Annotated[
        Literal["gini", "entropy", "gain_ratio"], typer.Option(help="What makes a split good.")
    ] = "gini",
    compare: Annotated[bool, typer.Option("--compare", help="Run both algorithms and show the ratios.")] = False,
    network: NetworkOption = "loopback",
    bits: BitsOption = 30,
    data: DataOption = None,
    repeat: RepeatOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Train on a table; the revealed tree is compared with the plaintext twin's, node for node.

    Example, the paper's own instance: hedgerow bench train --algorithm paper --sharing shamir
    """
    if compare and (sharing, criterion) != ("replicated", "gini"):
        raise InputError("--compare runs both algorithms with Gini on replicated shares; leave other choices out")
    table = tools.read_bench_table(data) if data else tools.random_table(rows, attrs, bits)
    declared = None if data else bits
    if compare:
        outcome = tools.compare_algorithms(table, depth, declared, repeat)
        if as_json:
            print(json.dumps(outcome))
        else:
            _print_comparison(outcome)
        correct = outcome["correct"]
    else:
        facts = tools.bench_train(table, depth, algorithm, network, declared, repeat, sharing, criterion)
        print_facts(f"{algorithm} on {sharing} shares: {facts.extra['rows']} rows, height {depth}", facts, as_json)
        correct = facts.correct
    if not correct:
        raise typer.Exit(1)


def _print_comparison(outcome: dict[str, Any]) -> None:
    fast, paper = outcome["fast"], outcome["paper"]
    sent = [max(facts["bytes_sent"]) / 1e6 for facts in (fast, paper)]
    rows = [
        ("seconds", f"{fast['seconds']:.2f}", f"{paper['seconds']:.2f}", f"{outcome['time_ratio']:.1f}"),
        ("MB sent per party", f"{sent[0]:.1f}", f"{sent[1]:.1f}", f"{outcome['bytes_ratio']:.1f}"),
        ("rounds", fast["rounds"], paper["rounds"], f"{paper['rounds'] / fast['rounds']:.1f}"),
        ("equals its twin", fast["correct"], paper["correct"], ""),
    ]
    screen.print_grid("both algorithms in one run", ("", "fast", "paper", "ratio"), rows, "right")


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
    found = tools.bench_learning(rows, attrs, depth, bits, repeat)
    if as_json:
        print(json.dumps({name: facts.as_dict() for name, facts in found.items()}))
    else:
        plain = found["two classes"].seconds
        cells = []
        for name, facts in found.items():
            sent = f"{max(facts.bytes_sent) / 1e6:.1f}"
            ratio = f"{facts.seconds / plain:.2f}"
            cells.append((name, f"{facts.seconds:.2f}", ratio, sent, facts.rounds, facts.correct))
        title = f"{rows:,} rows, {attrs} attributes, height {depth}; best of {repeat}"
        headings = ("problem", "seconds", "times", "MB sent per party", "rounds", "equals its twin")
        screen.print_grid(title, headings, cells, "right")
    if not all(facts.correct for facts in found.values()):
        raise typer.Exit(1)


@app.command(short_help="Where time, rounds and bytes go, by step.")
def profile(
    rows: RowsOption = 10_000,
    attrs: AttrsOption = 10,
    depth: DepthOption = 5,
    algorithm: AlgorithmOption = "fast",
    levels: Annotated[int, typer.Option(min=1, max=6, help="How many names of a step's path to show.")] = 3,
    as_json: JsonOption = False,
) -> None:
    """Show where time, rounds and bytes go, by named step, at one party."""
    x, y, shape = tools.check_table(*tools.random_table(rows, attrs, 30), depth, 30)
    with tools.PartyProcesses() as parties:
        tools.train_once(parties, x, y, shape, algorithm)
        facts = tools.train_once(parties, x, y, shape, algorithm, depth=levels + 1)
    if as_json:
        print(json.dumps(facts.as_dict()))
        return
    cells = []
    for name, step in sorted(facts.extra["steps"].items(), key=lambda item: -item[1]["seconds"]):
        seconds = [f"{step[kind]:.3f}" for kind in ("computing_seconds", "exchanging_seconds")]
        cells.append((name, step["rounds"], f"{step['bytes_sent'] / 1e6:.2f}", *seconds))
    title = f"{algorithm}: {facts.seconds:.2f} s, {facts.rounds} rounds"
    screen.print_grid(title, ("step", "rounds", "MB sent", "computing s", "exchanging s"), cells, "right")


@app.command(short_help="Run the paper's three tables again.")
def tables(
    out: Annotated[Path, typer.Option(help="The document to write; a picture goes beside it.")] = Path("tables.md"),
    algorithm: AlgorithmOption = "fast",
    repeat: RepeatOption = 3,
    limit: Annotated[int, typer.Option(help="Leave out points with more rows.")] = 100_000,
    as_json: JsonOption = False,
) -> None:
    """Run the paper's three tables again (height, rows, attributes) and write them beside the paper's figures."""
    screen.check_file(out)
    results = tools.run_tables(algorithm, repeat, limit)
    out.write_text("# The paper's tables, run again\n\n" + tools.as_markdown(results, algorithm))
    tools.draw_tables(results, out.with_suffix(".png"))
    print(json.dumps(results) if as_json else f"wrote {out} and {out.with_suffix('.png')}")


@app.command(short_help="Count operations of the paper's methods.")
def complexity(
    picture: Annotated[Path, typer.Option(help="Where to write the picture (PNG).")] = Path("complexity.png"),
    as_json: JsonOption = False,
) -> None:
    """Count non-free operations of the paper's method and of the two before it, and draw them."""
    screen.check_file(picture)
    measured = tools.measure()
    tools.draw(measured, picture)
    if as_json:
        print(json.dumps(measured))
        return
    for axis, rows in measured.items():
        headings = ("method", "n", "m", "h", "operations", "rounds")
        cells = [[row[key] for key in headings] for row in rows]
        screen.print_grid(f"non-free operations over {axis}", headings, cells, "right")
    print(f"picture: {picture}")
