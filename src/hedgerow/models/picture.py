"""A tree as a picture: boxes as wide as their text, coloured by class and purity, with a legend."""

from __future__ import annotations

import colorsys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..reference.node import Leaf, Node

if TYPE_CHECKING:
    from .revealed import RevealedTree

COLOURS = ("#8fbf5f", "#e79b4a", "#6fa3d8", "#c58abb", "#d6c64a", "#5fbfae", "#d97777", "#9a9a9a")
EDGE_COLOUR = "#6b7a5c"
FORMATS = ("png", "svg", "pdf")
FONT, SMALL_FONT = 9.0, 7.0
PADDING, GAP, LEVEL_GAP, LINE = 0.09, 0.16, 0.42, 0.155
"""Inches: inside a box, between boxes, between levels, and of one line of text."""
MOST_PIXELS, DOTS = 60_000, 140
MOST_LEGEND = 24

Caption = Callable[[Node], str]


@dataclass(slots=True)
class _Box:
    """A node's place, in inches: the middle of its box, the box, and the breadth of all below it."""

    node: Node
    text: str
    width: float
    height: float
    children: list[_Box] = field(default_factory=list)
    breadth: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def all(self) -> Iterator[_Box]:
        """This box and those below."""
        yield self
        for child in self.children:
            yield from child.all()


def draw_tree(tree: RevealedTree, caption: Caption, path: Any, ax: Any, kind: str | None = None) -> Any:
    """Every subtree has a strip of its own, wide enough for the text of all its boxes, so none overlap."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    kind = _format(path, kind)
    root, width, height = _arranged(tree, caption)
    legend = _legend(tree)
    margin = 0.35 + 0.2 * len(_legend_rows(legend, width))
    if ax is None:
        figure = Figure(figsize=(max(4.0, width + 0.4), height + 0.5 + margin))
        FigureCanvasAgg(figure)
        total = figure.get_size_inches()
        ax = figure.add_axes((0.2 / total[0], margin / total[1], 1 - 0.4 / total[0], 1 - (margin + 0.4) / total[1]))
        scale = 1.0
    else:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        scale = min(1.0, box.width / width, box.height / height)
    ax.set_xlim(0.0, width)
    ax.set_ylim(-height, 0.0)
    ax.set_axis_off()
    for box in root.all():
        _draw_box(ax, box, _colour(tree, box.node), scale)
    ax.set_title(
        f"{tree.facts.target}: {tree.facts.problem.rows:,} rows, trained on shares", fontsize=10, parse_math=False
    )
    _draw_legend(ax, legend, width)
    if path is not None:
        size = max(ax.figure.get_size_inches())
        ax.figure.savefig(path, dpi=min(DOTS, MOST_PIXELS / size), format=kind)
    return ax


def _format(path: Any, kind: str | None) -> str:
    """What a file is written as: what was asked for, else what its name says, else PNG."""
    named = Path(path).suffix.lstrip(".").lower() if isinstance(path, str | Path) else ""
    found = kind or named
    if kind is not None and kind not in FORMATS:
        raise InputError(f"a picture is written as {', '.join(FORMATS)}, not '{kind}'")
    return found if found in FORMATS else "png"


def _arranged(tree: RevealedTree, caption: Caption) -> tuple[_Box, float, float]:
    """All boxes in their places, and the size of the whole in inches."""
    measure = _measure()

    def build(node: Node) -> _Box:
        text = caption(node)
        lines = text.split("\n")
        box = _Box(node, text, max(map(measure, lines)) + 2 * PADDING, len(lines) * LINE + 2 * PADDING)
        box.children = [build(child) for child in node.children or ()]
        below = sum(child.breadth for child in box.children) + GAP * max(0, len(box.children) - 1)
        box.breadth = max(box.width, below)
        return box

    def place(box: _Box, left: float) -> None:
        below = sum(child.breadth for child in box.children) + GAP * max(0, len(box.children) - 1)
        start = left + (box.breadth - below) / 2
        for child in box.children:
            place(child, start)
            start += child.breadth + GAP
        middle = sum(child.x for child in box.children) / 2 if box.children else left + box.breadth / 2
        box.x = min(max(middle, left + box.width / 2), left + box.breadth - box.width / 2)

    root = build(tree.root)
    place(root, 0.0)
    level, top = [root], 0.0
    while level:
        tall = max(box.height for box in level)
        for box in level:
            box.y = -(top + tall / 2)
        top += tall + LEVEL_GAP
        level = [child for box in level for child in box.children]
    return root, root.breadth, top - LEVEL_GAP


def _measure() -> Callable[[str], float]:
    """How wide a line of text is, in inches."""
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    renderer: Any = RendererAgg(10, 10, DOTS)  # type: ignore[no-untyped-call]
    font = FontProperties(size=FONT)

    def width(line: str) -> float:
        return float(renderer.get_text_width_height_descent(line, font, False)[0]) / DOTS if line else 0.0

    return width


def _draw_box(ax: Any, box: _Box, colour: str, scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner = (box.x - box.width / 2, box.y - box.height / 2)
    style = f"round,pad=0,rounding_size={PADDING}"
    ax.add_patch(
        FancyBboxPatch(
            corner,
            box.width,
            box.height,
            boxstyle=style,
            facecolor=colour,
            edgecolor=EDGE_COLOUR,
            linewidth=1,
            zorder=3,
            clip_on=False,
        )
    )
    ax.text(
        box.x, box.y, box.text, ha="center", va="center", fontsize=FONT * scale, zorder=4, parse_math=False,
        linespacing=1.15, gid="box",
    )  # fmt: skip
    bottom = box.y - box.height / 2
    for child, answer in zip(box.children, ("yes", "no"), strict=False):
        top = child.y + child.height / 2
        ax.plot([box.x, child.x], [bottom, top], color=EDGE_COLOUR, linewidth=1, zorder=1)
        white = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        ax.text(
            (box.x + child.x) / 2, (bottom + top) / 2, answer, fontsize=SMALL_FONT * scale, color=EDGE_COLOUR,
            ha="center", va="center", bbox=white, zorder=2,
        )  # fmt: skip


def class_colour(number: int, classes: int) -> str:
    """A class's own colour; beyond the named ones, evenly around the wheel."""
    if classes <= len(COLOURS):
        return COLOURS[number]
    red, green, blue = colorsys.hls_to_rgb(number / classes, 0.62, 0.55)
    return _hex(red, green, blue)


def _hex(red: float, green: float, blue: float) -> str:
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def _paler(colour: str, strength: float) -> str:
    """A colour mixed with white: whole at strength 1, white at 0."""
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    red, green, blue = (1 - strength * (1 - part) for part in parts)
    return _hex(red, green, blue)


def _colour(tree: RevealedTree, node: Node) -> str:
    """A node by its class, the stronger the purer it is; by its value where numbers are estimated; else white."""
    if tree.facts.problem.regression:
        if not isinstance(node, Leaf):
            return "#ffffff"
        low, high = _value_range(tree)
        value = tree.facts.estimate(node.label)
        return _paler(COLOURS[0], 0.15 + 0.75 * (value - low) / (high - low) if high > low else 0.5)
    classes = len(tree.facts.classes)
    if node.counts is None or not sum(node.counts):
        return _paler(class_colour(node.label, classes), 0.7) if isinstance(node, Leaf) else "#ffffff"
    best = node.label if isinstance(node, Leaf) else node.counts.index(max(node.counts))
    purity = (node.counts[best] / sum(node.counts) - 1 / classes) / (1 - 1 / classes)
    return _paler(class_colour(best, classes), 0.08 + 0.82 * max(0.0, purity))


def _value_range(tree: RevealedTree) -> tuple[float, float]:
    values = [tree.facts.estimate(node.label) for node, _ in tree._walk() if isinstance(node, Leaf)]
    return min(values), max(values)


def _legend(tree: RevealedTree) -> list[tuple[str, str]]:
    """Colours and what they mean."""
    if tree.facts.problem.regression:
        low, high = _value_range(tree)
        return [(_paler(COLOURS[0], 0.15), f"{low:.6g}"), (_paler(COLOURS[0], 0.9), f"{high:.6g}")]
    names = [str(name) for name in tree.facts.classes]
    found = [(_paler(class_colour(k, len(names)), 0.9), name) for k, name in enumerate(names[:MOST_LEGEND])]
    if len(names) > MOST_LEGEND:
        found.append(("#ffffff", f"… {len(names) - MOST_LEGEND} more"))
    if tree.root.counts is not None:
        found.append(("#ffffff", "paler: more mixed"))
    return found


def _legend_rows(legend: list[tuple[str, str]], width: float) -> list[list[tuple[str, str]]]:
    """The legend's entries in rows that fit."""
    rows: list[list[tuple[str, str]]] = [[]]
    used = 0.0
    for entry in legend:
        need = 0.45 + 0.085 * len(entry[1])
        if rows[-1] and used + need > max(4.0, width):
            rows.append([])
            used = 0.0
        rows[-1].append(entry)
        used += need
    return rows


def _draw_legend(ax: Any, legend: list[tuple[str, str]], width: float) -> None:
    from matplotlib.patches import Patch

    columns = max(len(row) for row in _legend_rows(legend, width))
    handles = [Patch(facecolor=colour, edgecolor=EDGE_COLOUR, label=name) for colour, name in legend]
    drawn = ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=columns, fontsize=SMALL_FONT + 1,
        frameon=False, handlelength=1.2, columnspacing=1.2,
    )  # fmt: skip
    for text in drawn.get_texts():
        text.set_parse_math(False)
