"""``hedgerow reveal``: open a model, if you hold all of it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import screen, tools
from .predict import ConsortiumOption, ModelName, open_model
from .reading import NameBooks
from .remote import IdentityDirectory

Format = Literal["text", "json", "dot", "png", "svg", "pdf"]


def reveal(
    model: ModelName,
    format: Annotated[Format, typer.Option(help="Text, JSON, dot for Graphviz, or a picture.")] = "text",
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
    screen.check_file(out or (Path(f"tree.{format}") if format in tools.FORMATS else None))
    tree = open_model(model, consortium, identity, names).reveal(counts)
    if format in tools.FORMATS:
        path = out or Path(f"tree.{format}")
        tree.plot(path, format=format)
        screen.notes().print(f"wrote {path}")
        return
    texts = {"text": tree.export_text, "json": lambda: tree.to_json() + "\n", "dot": tree.to_dot}
    screen.write_text(out, texts[format]())
