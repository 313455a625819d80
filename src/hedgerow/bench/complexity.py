"""HIKC23's Table 1, measured: non-free operations of the three methods over growing height, attributes and rows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..paper.baselines import abspoel_training, trivial_training
from ..paper.counting import CountingBox
from ..paper.training import decision_tree_training
from ..trees.problem import check_table

METHODS: dict[str, Callable[..., Any]] = {
    "trivial": trivial_training,
    "Abspoel et al., efficient sort": abspoel_training,
    "HIKC23": decision_tree_training,
}

SWEEPS: dict[str, dict[str, list[int]]] = {
    "h": {"h": [1, 2, 3, 4, 5, 6], "m": [3], "n": [16]},
    "m": {"h": [2], "m": [1, 2, 4, 8], "n": [16]},
    "n": {"h": [2], "m": [2], "n": [8, 16, 32, 64]},
}


def count_operations(method: str, n: int, m: int, h: int) -> dict[str, Any]:
    """Train on a random table in the counting box."""
    generator = np.random.default_rng([n, m, h])
    x, y, shape = check_table(generator.integers(0, 1000, (m, n)), generator.integers(0, 2, n), h)
    box = CountingBox()
    METHODS[method](box.enc(x), box.enc(y), shape)
    tally = box.tally
    return {"method": method, "n": n, "m": m, "h": h, "operations": tally.operations, "rounds": tally.rounds}


def measure() -> dict[str, list[dict[str, Any]]]:
    """All sweeps of all methods."""
    return {
        axis: [
            count_operations(method, n, m, h)
            for method in METHODS
            for h in sweep["h"]
            for m in sweep["m"]
            for n in sweep["n"]
        ]
        for axis, sweep in SWEEPS.items()
    }


def draw(measured: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """The picture: ours is linear in the height, theirs exponential."""
    from matplotlib.figure import Figure

    names = {"h": "tree height h", "m": "attributes m", "n": "rows n"}
    figure = Figure(figsize=(12, 4), layout="constrained")
    for axis, (name, rows) in zip(figure.subplots(1, 3), measured.items(), strict=True):
        for method in METHODS:
            points = [(row[name], row["operations"]) for row in rows if row["method"] == method]
            axis.plot(*zip(*points, strict=True), marker="o", label=method)
        others = {key: values[0] for key, values in SWEEPS[name].items() if key != name}
        axis.set_title(", ".join(f"{key} = {value}" for key, value in others.items()))
        axis.set_xlabel(names[name])
        axis.set_yscale("log")
        if name != "h":
            axis.set_xscale("log", base=2)
    figure.axes[0].set_ylabel("non-free operations")
    figure.axes[0].legend()
    figure.savefig(path, dpi=120)
