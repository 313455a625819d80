"""The paper's three tables, run again: time over height, rows and attributes, with fitted exponents and a picture."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from .published import BASE, SECONDS
from .report import RunFacts
from .training import bench_train, random_table

NAMES = {"h": "height", "n": "rows", "m": "attributes"}


def run_tables(algorithm: str, repeat: int, limit: int = 100_000) -> dict[str, list[dict[str, Any]]]:
    """Measure every point of the three tables whose rows do not exceed ``limit``."""
    results: dict[str, list[dict[str, Any]]] = {}
    known: dict[tuple[int, int, int], RunFacts] = {}
    for axis, points in SECONDS.items():
        results[axis] = []
        for value, published in points.items():
            shape = BASE | {axis: value}
            if shape["n"] > limit:
                continue
            key = (shape["n"], shape["m"], shape["h"])
            if key not in known:
                table = random_table(shape["n"], shape["m"], 30)
                known[key] = bench_train(table, shape["h"], algorithm, bits=30, repeat=repeat)
            facts = known[key]
            results[axis].append(
                {
                    axis: value,
                    "seconds": facts.seconds,
                    "paper_seconds": published,
                    "megabytes": round(max(facts.bytes_sent) / 1e6, 1),
                    "rounds": facts.rounds,
                    "peak_rss_mb": max(facts.peak_rss_mb),
                    "correct": facts.correct,
                }
            )
    return results


def exponent(rows: list[dict[str, Any]], axis: str, smallest: int) -> float:
    """The slope of log seconds over log size, from ``smallest`` on; for rows over n·log n."""
    chosen = [row for row in rows if row[axis] >= smallest]
    sizes = [row[axis] * (math.log2(row[axis]) if axis == "n" else 1) for row in chosen]
    slope = np.polyfit(np.log(sizes), np.log([row["seconds"] for row in chosen]), 1)[0]
    return round(float(slope), 2)


FIT_FROM = {"h": 5, "n": 10_000, "m": 20}


def as_markdown(results: dict[str, list[dict[str, Any]]], algorithm: str) -> str:
    """The tables as a section of a document."""
    lines = []
    for axis, rows in results.items():
        others = ", ".join(f"{key} = {value}" for key, value in BASE.items() if key != axis)
        lines += [f"### {algorithm}: over {NAMES[axis]} ({others})", ""]
        lines += [
            f"| {axis} | seconds | paper's seconds | MB sent per party | rounds | peak MB | equals the twin |",
            "|---|---|---|---|---|---|---|",
        ]
        for row in rows:
            cells = [row[axis], row["seconds"], row["paper_seconds"], row["megabytes"], row["rounds"]]
            yes = "yes" if row["correct"] else "NO"
            lines.append("| " + " | ".join(str(cell) for cell in [*cells, row["peak_rss_mb"], yes]) + " |")
        if sum(row[axis] >= FIT_FROM[axis] for row in rows) > 1:
            slope = exponent(rows, axis, FIT_FROM[axis])
            variable = "n·log n" if axis == "n" else axis
            lines += ["", f"Fitted exponent over {variable}, from {axis} = {FIT_FROM[axis]} on: {slope}."]
        lines.append("")
    return "\n".join(lines)


def draw(results: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Seconds beside the paper's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    for plot, (axis, rows) in zip(figure.subplots(1, 3), results.items(), strict=True):
        plot.plot([row[axis] for row in rows], [row["seconds"] for row in rows], marker="o", label="Hedgerow, 2 cores")
        published = [row["paper_seconds"] for row in rows]
        plot.plot([row[axis] for row in rows], published, marker="s", label="HIKC23, 3 × 16 cores")
        plot.set(xscale="log", yscale="log", xlabel=NAMES[axis])
    figure.axes[0].set_ylabel("seconds")
    figure.axes[0].legend()
    figure.savefig(path, dpi=120)
