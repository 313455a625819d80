"""A confusion matrix that notebooks show as a table."""

from collections.abc import Sequence
from html import escape
from typing import Any, Self

import numpy as np
import numpy.typing as npt


class ConfusionMatrix(np.ndarray[Any, np.dtype[np.int64]]):
    """Counts ``[true, predicted]``: an ordinary array that knows its classes."""

    classes: tuple[Any, ...]

    def __new__(cls, counts: npt.NDArray[np.int64], classes: Sequence[Any]) -> Self:
        """The counts as such a matrix."""
        found = np.asarray(counts).view(cls)
        found.classes = tuple(classes)
        return found

    def __array_finalize__(self, source: Any) -> None:
        self.classes = getattr(source, "classes", ())

    def _repr_html_(self) -> str:
        if self.ndim != 2 or self.shape != (len(self.classes), len(self.classes)):
            return f"<pre>{escape(repr(np.asarray(self)))}</pre>"
        names = [escape(str(name)) for name in self.classes]
        largest = max(1, int(self.max()))
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = []
        for i, name in enumerate(names):
            cells = []
            for j in range(len(names)):
                count = int(self[i, j])
                tint = "143,191,95" if i == j else "217,119,119"
                style = f"text-align:right;background:rgba({tint},{0.75 * count / largest:.2f})"
                cells.append(f'<td style="{style}">{count:,}</td>')
            rows.append(f"<tr><th>{name}</th>{''.join(cells)}</tr>")
        return f"<table><thead><tr><th>true \\ predicted</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
