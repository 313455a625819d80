"""``hedgerow reveal``: open a model, if you hold all of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from . import screen
from .predict import ConsortiumOption, ModelName, open_model
from .reading import NameBooks
from .remote import IdentityDirectory


class Format(StrEnum):
    """How to show a tree."""

    text = "text"
    json = "json"
    dot = "dot"
    png = "png"


def reveal(
    model: ModelName,
    format: Annotated[Format, typer.Option(help="text, json, dot (Graphviz) or png (a picture).")] = Format.text,
    out: Annotated[Path | None, typer.Option(help="A file; a picture goes to tree.png if not given.")] = None,
    counts: Annotated[bool, typer.Option("--counts", help="Open training rows per class and node too.")] = False,
    names: NameBooks = None,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
) -> None:
    """Put the three parties' shares together and show the ordinary tree, in the table's own units.

    Example: hedgerow reveal model/ --format png --out tree.png
    """
    screen.check_file(out)
    tree = open_model(model, consortium, identity, names).reveal(counts)
    if format is Format.png:
        path = out or Path("tree.png")
        tree.plot(path)
        screen.notes().print(f"wrote {path}")
        return
    texts = {Format.text: tree.export_text, Format.json: lambda: tree.to_json() + "\n", Format.dot: tree.to_dot}
    screen.write_text(out, texts[format]())
