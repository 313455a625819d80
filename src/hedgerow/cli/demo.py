"""``hedgerow demo``: two secret columns, compared and sorted by three local parties."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table

from ..bench.engine import demo_columns


def demo() -> None:
    """Secret-share two columns among three local party processes, compare and sort them, and show what it cost."""
    console = Console()
    outcome = demo_columns(rows=12)
    table = Table(title="Two secret columns, compared and sorted by three parties over mutual TLS")
    for column in ("row", "income", "spending", "party 0 holds of income", "spends more", "place by income"):
        table.add_column(column, justify="right")
    for i in range(len(outcome["income"])):
        held = f"{int(outcome['seen'][i]):016x}"
        spends_more = "yes" if outcome["overspent"][i] else ""
        income, spending = str(outcome["income"][i]), str(outcome["spending"][i])
        table.add_row(str(i), income, spending, held, spends_more, str(outcome["places"][i]))
    console.print(table)
    for name, spending in outcome["steps"]:
        console.print(f"  {name:16} {spending.rounds:4} rounds {spending.sent:9,} bytes sent by party 0")
    facts = outcome["facts"]
    console.print(f"  {facts.seconds * 1000:.0f} ms, {facts.rounds} rounds, {sum(facts.bytes_sent):,} bytes in all")
    console.print("  equal to the plaintext result: " + ("yes" if outcome["correct"] else "NO"))
    if not outcome["correct"]:
        raise typer.Exit(1)
