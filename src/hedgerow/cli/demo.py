"""``hedgerow demo``: the whole product on one bundled table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from . import screen, tools

HEIGHT = 3


def demo(
    out: Annotated[Path, typer.Option(help="Where the picture of the tree goes.")] = Path("hedgerow-demo.png"),
    quiet: screen.Quiet = False,
) -> None:
    """Train on scikit-learn's breast-cancer table with three local parties over mutual TLS, and show everything."""
    import numpy as np

    # Imported here, because scikit-learn takes a second that the other commands need not wait for.

    screen.check_file(out)
    console = screen.out()
    data = tools.load_breast_cancer(as_frame=True)
    x, x_test, y, y_test = tools.train_test_split(data.data, data.target, random_state=1)
    names = [str(name) for name in x.columns]
    labels, labels_test = (data.target_names[side] for side in (y, y_test))
    prepared = tools.prepare(
        tools.PlainTable(names, [x[name].to_numpy() for name in x]), "diagnosis", labels, tools.TrainingRules(HEIGHT)
    )
    console.print(f"[bold]1.[/] {len(x)} patients, {len(names)} measurements, one secret label each. Parties get:")
    console.print(_shares(prepared.x, names[0]))
    started = time.perf_counter()
    with screen.training_progress(HEIGHT, quiet) as progress:
        trained = tools.train_secret(prepared, progress)
    seconds = time.perf_counter() - started
    total = trained.reports[0].meter.total()
    console.print(
        f"[bold]2.[/] Trained a tree of height {HEIGHT} on shares alone: {trained.reports[0].seconds:.2f} s "
        f"({seconds:.1f} s with starting the parties), {total.rounds:,} rounds, {screen.megabytes(total.sent)} sent by "
        "a party."
    )
    tree = trained.model.reveal(counts=True)
    tree.plot(out)
    console.print(f"[bold]3.[/] Its owners open it (picture: {out}):")
    print(tree.export_text(), end="")
    matrix = trained.model.confusion([x_test[name].to_numpy() for name in x_test], np.asarray(labels_test))
    plain = tools.PlainTree(max_depth=HEIGHT, random_state=0).fit(x, y).score(x_test, y_test)
    accuracy = float(np.trace(matrix) / matrix.sum())
    console.print(
        f"[bold]4.[/] On {len(x_test)} patients it has not seen, predicted on shares: accuracy {accuracy:.3f}; "
        f"scikit-learn on plain data: {plain:.3f}."
    )


def _shares(x: Any, name: str) -> tools.Screen:
    """The first values of a column beside what each party receives of them."""
    import numpy as np

    parts = [tools.seen_by_party(share) for share in tools.split(x[0], tools.RING64)]
    shown = tools.Screen(title=f"column '{name}', first rows")
    shown.add_column("value (fixed point)", justify="right")
    for party in range(3):
        shown.add_column(f"party {party} receives", justify="right")
    for i in range(4):
        shown.add_row(f"{int(x[0, i]):,}", *(f"{int(part[i]):016x}" for part in parts))
    ones = [np.unpackbits(part.view(np.uint8)).mean() for part in parts]
    shown.add_section()
    shown.add_row("bits that are 1", *(f"{100 * share:.1f} %" for share in ones))
    return shown
