"""A tree as a picture: boxes for tests and leaves, leaves coloured by class."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .revealed import RevealedNode, RevealedTree

COLOURS = ("#d9e8c5", "#f6d9b8", "#cfe0f0", "#ead1e6", "#f3ecb5", "#cdeae4", "#f2cfcf", "#dcdcdc")
TEST_COLOUR = "#ffffff"
EDGE_COLOUR = "#6b7a5c"


def draw_tree(tree: RevealedTree, caption: Callable[[RevealedNode], str], path: Path | str | None, ax: Any) -> Any:
    """Leaves stand side by side, parents above the middle of their children."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places: dict[int, tuple[float, float]] = {}
    leaves = 0

    def place(node: RevealedNode, depth: int) -> float:
        nonlocal leaves
        if node.children is None:
            x = float(leaves)
            leaves += 1
        else:
            x = sum(place(child, depth + 1) for child in node.children) / 2
        places[id(node)] = (x, -float(depth))
        return x

    place(tree.root, 0)
    widest = max(len(line) for node, _ in tree._walk() for line in caption(node).split("\n"))
    if ax is None:
        width, height = max(5.0, leaves * (0.065 * widest + 0.3)), max(2.2, 1.15 * (tree.depth + 1))
        figure = Figure(figsize=(min(width, 80.0), height), layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
    for node, _ in tree._walk():
        x, y = places[id(node)]
        for child, answer in zip(node.children or (), ("yes", "no"), strict=False):
            cx, cy = places[id(child)]
            ax.plot([x, cx], [y, cy], color=EDGE_COLOUR, linewidth=1, zorder=1)
            ax.text((x + cx) / 2, (y + cy) / 2, answer, fontsize=7, color=EDGE_COLOUR, ha="center", va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=2)  # fmt: skip
        regression = tree.facts.shape.regression
        colour = TEST_COLOUR if node.label is None else COLOURS[0 if regression else node.label % len(COLOURS)]
        box = {"boxstyle": "round,pad=0.45", "facecolor": colour, "edgecolor": EDGE_COLOUR}
        ax.text(x, y, caption(node), ha="center", va="center", fontsize=9, bbox=box, zorder=3, parse_math=False)
    ax.set_xlim(-0.6, leaves - 0.4)
    ax.set_ylim(-tree.depth - 0.5, 0.5)
    ax.set_axis_off()
    ax.set_title(
        f"{tree.facts.target}: {tree.facts.shape.rows:,} rows, trained on shares", fontsize=10, parse_math=False
    )
    if path is not None:
        ax.figure.savefig(path, dpi=140, format="png")
    return ax
