"""What all commands share: where to print, progress bars, JSON, exit codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import InputError
from . import tools

EXIT_CODES = {
    0: "success",
    1: "an error inside Hedgerow; run again with --debug and report it",
    2: "the command line is wrong",
    3: "the input was refused; nothing was shared, sent or written",
    4: "a compute party failed or was out of reach",
    130: "interrupted",
}

EPILOG = "Exit codes: " + "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + "."

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]

STEPS = ("order", "test selection", "tests", "next layer")
SORT_WEIGHT = 3


def visible(text: str) -> str:
    """Text in which no character moves the cursor, changes colours or rings a bell: names may come from strangers."""
    return "".join(
        char if char == "\n" or (char.isprintable() and not "\ud800" <= char <= "\udfff") else f"\\x{ord(char):02x}"
        for char in text
    )


def safe(text: str) -> str:
    """Text from outside for a table or a remark: visible, and no markup."""
    return tools.escape(visible(text))


def out() -> tools.Console:
    """Results go to standard output."""
    return tools.Console()


def print_grid(title: str | None, headings: Sequence[str], rows: Iterable[Iterable[Any]], align: str = "left") -> None:
    """A table with headings; ``align`` is for all columns but the first."""
    grid = tools.Screen(title=title)
    for k, heading in enumerate(headings):
        grid.add_column(safe(heading), justify=align if k else "left")  # type: ignore[arg-type]
    for row in rows:
        grid.add_row(*(safe(str(cell)) for cell in row))
    out().print(grid)


def notes() -> tools.Console:
    """Progress and remarks go to standard error, so that results can be piped."""
    return tools.Console(stderr=True)


def json_text(facts: Any) -> str:
    """One JSON object, on one line."""
    return json.dumps(facts, ensure_ascii=False, default=str) + "\n"


def print_json(facts: Any) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json_text(facts))


def check_free(directory: Path) -> None:
    """Refuse, before any work, a place where a directory cannot be made."""
    if directory.exists():
        raise InputError(f"{directory} exists already: choose another place or remove it")
    parent = directory.resolve().parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{directory} cannot be made: {parent} is not a writable directory")


def check_file(path: Path | None, source: Path | None = None) -> None:
    """Refuse, before any work, a place where a file cannot be written, and the input itself."""
    if path is None:
        return
    if source is not None and path.exists() and source.exists() and path.samefile(source):
        raise InputError(f"{path} is the input itself: choose another file")
    parent = path.resolve().parent
    if path.is_dir() or not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(
            f"{path} cannot be written: its directory must be writable, and it must not be a directory itself"
        )


def megabytes(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} kB"


def shown(value: Any) -> str:
    """A fact for people: lists by commas, yes and no, digits in groups."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {shown(v)}" for name, v in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


WORDS = {
    "tests": "tests a node can choose from",
    "exact": "kept exactly",
    "rounding": "largest rounding errors",
    "rounds": "rounds of messages between parties",
    "bytes_sent_per_party": "bytes the busiest party sent",
}
"""Facts whose short names need more words on a screen."""


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    """Named facts, a line each, or as one JSON object."""
    if as_json:
        print_json(facts)
        return
    table = tools.Screen(show_header=False, box=None)
    for name, value in facts.items():
        table.add_row(WORDS.get(name, name.replace("_", " ")), safe(shown(value)))
    out().print(table)


def _bar(hidden: bool) -> tools.Progress:
    console = notes()
    columns = (
        tools.TextColumn("{task.description}"),
        tools.BarColumn(bar_width=24),
        tools.TextColumn("{task.fields[spent]}"),
        tools.TimeElapsedColumn(),
        tools.TextColumn("left"),
        tools.TimeRemainingColumn(),
    )
    return tools.Progress(*columns, console=console, transient=True, disable=hidden or not console.is_terminal)


@contextmanager
def training_progress(height: int, hidden: bool) -> Iterator[Callable[[tools.Moment], None]]:
    """A bar with layer, step, rounds and bytes; silent when standard error is no terminal."""
    total = SORT_WEIGHT + height * len(STEPS) + 1
    with _bar(hidden) as bar:
        task = bar.add_task("starting three parties", total=total, spent="")

        def show(moment: tools.Moment) -> None:
            done = 0 if moment.step == "sort" else SORT_WEIGHT + moment.layer * len(STEPS)
            if moment.step in STEPS:
                done += STEPS.index(moment.step)
            place = f"layer {moment.layer + 1} of {height}: " if moment.step in STEPS else ""
            spent = f"{moment.rounds:,} rounds, {megabytes(moment.sent)} a party"
            bar.update(task, completed=done, description=place + moment.step, spent=spent)

        yield show


@contextmanager
def row_progress(what: str, rows: int, hidden: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar over rows."""
    with _bar(hidden) as bar:
        task = bar.add_task(what, total=rows, spent=f"{rows:,} rows")
        yield lambda done, _: bar.update(task, completed=done)


def write_text(path: Path | None, text: str) -> None:
    """To a file, or to standard output."""
    if path is None:
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    else:
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
