"""``hedgerow reveal``: open a model, if you hold all of it."""

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
    svg = "svg"
    pdf = "pdf"


def reveal(
    model: ModelName,
    format: Annotated[
        Format, typer.Option(help="text, json, dot (Graphviz), or a picture: png, svg, pdf.")
    ] = Format.text,
    out: Annotated[
        Path | None, typer.Option(help="A file; a picture goes to tree.png and the like if not given.")
    ] = None,
    counts: Annotated[
        bool, typer.Option("--counts", help="Open training rows (or weights, as kept) per class and node, too.")
    ] = False,
    names: NameBooks = None,
    consortium: ConsortiumOption = None,
    identity: IdentityDirectory = None,
) -> None:
    """Put the three parties' shares together and show the ordinary tree, in the table's own units.

    Example: hedgerow reveal model/ --format png --out tree.png
    """
    from ..models.picture import FORMATS

    screen.check_file(out or (Path(f"tree.{format.value}") if format.value in FORMATS else None))
    tree = open_model(model, consortium, identity, names).reveal(counts)
    if format.value in FORMATS:
        path = out or Path(f"tree.{format.value}")
        tree.plot(path, format=format.value)
        screen.notes().print(f"wrote {path}")
        return
    texts = {Format.text: tree.export_text, Format.json: lambda: tree.to_json() + "\n", Format.dot: tree.to_dot}
    screen.write_text(out, texts[format]())
