"""What of a table becomes public, column by column, and what does not unless its owner insists.

Names of categories and classes stand in the schema, which every owner, party and analyst sees. A column of few, often
repeated texts is published after being shown; anything else that would publish values is refused with the remedies
named, because most such columns are ids, free text, dates, or numbers written in another country's way. A schema that
declares the column, or a word on the command line, is insisting.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .fixed import category_key
from .moment import iso_dates, looks_dated
from .schema import Column
from .spelling import MOSTLY, Spelling, is_number

MOST_VALUES = 64
"""A column of text with more different values is not published unasked. Of the real tables the tests know, adult's
countries are the longest list of categories, with 41."""
MOST_ONCE = 0.05
"""Values that occur once are about one person each. In the real tables they make up less than 0.01 % of the rows, in
columns of names, notes or ids nearly all of them."""
MOST_CLASSES = 100
"""The real tables have up to 7 classes; a target with more than a hundred values is nearly always a number."""
LEAST_ROWS_OF_A_KEY = 30
"""In a shorter table whole numbers may all differ by chance: 30 ages do so with a probability below 1 %."""

Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Publication:
    """What becomes public of one column, in words, and the names that do."""

    column: str
    kind: str
    told: str
    names: tuple[Any, ...] = ()

    @property
    def words(self) -> str:
        """The whole of it, every name included."""
        shown = ", ".join(map(str, self.names))
        return self.told + (f": {shown}" if shown else "")

    @property
    def line(self) -> str:
        """The whole of it in one line, with the column."""
        return f"'{self.column}': {self.words}"


def published(column: Column) -> Publication:
    """What a schema tells about a column."""
    gaps = "some values missing" if column.missing else ""
    names = column.names
    if names:
        what = "classes" if column.kind == "label" else "categories"
        told = f"{len(names)} {what} {'as keyed hashes' if column.hashed else 'by name'}" + (
            f" ({gaps})" if gaps else ""
        )
        return Publication(column.name, column.kind, told, names)
    bits = f"{column.bits} bit{'s' * (column.bits != 1)}"
    facts = [f"dates by the {column.unit}" if column.kind == "date" else column.kind, bits]
    if column.decimals:
        facts.append(f"{column.decimals} decimal{'s' * (column.decimals != 1)}")
    if column.signed:
        facts.append("some before 1970" if column.kind == "date" else "some negative")
    return Publication(column.name, column.kind, ", ".join(filter(None, [*facts, gaps])))


def category_refusal(name: str, values: Values) -> str | None:
    """Why a column of text is not published unasked, with what to do; None if it is."""
    texts = [value for value in values.tolist() if isinstance(value, str)]
    counts = Counter(key for value in values.tolist() if (key := category_key(value)) is not None)
    once = sum(count == 1 for count in counts.values())
    hint = _hint(name, texts, len(values))
    if not hint and len(counts) <= MOST_VALUES and (once == 0 or once < MOST_ONCE * len(values)):
        return None
    reason = f"{len(counts):,} different texts"
    if len(counts) <= MOST_VALUES and once:
        reason += f", {once:,} of which occur once"
    return (
        f"column '{name}' has {reason}, and all of them would become public as categories. "
        f"{hint}Leave the column out (--ignore '{name}'), or insist (--category '{name}'; in "
        f"Python categorical_features=['{name}'])"
    )


def _hint(name: str, texts: Sequence[str], rows: int) -> str:
    """What such texts probably are, if they are not categories: all, or nearly all of them."""
    if not texts:
        return ""
    different = list(dict.fromkeys(texts))
    ways = []
    if Spelling(",", ".").numbers(different) is not None:
        ways.append("a decimal comma (--decimal ,; in Python pandas.read_csv(decimal=','))")
    if Spelling(".", ",").numbers(different) is not None:
        ways.append("thousands separators (--thousands ,; in Python pandas.read_csv(thousands=','))")
    if ways and not all(map(is_number, different)):
        return f"They look like numbers with {' or with '.join(ways)}: say so if they are. "
    if looks_dated(different):
        return f"They look like dates: say --date '{name}' (in Python pandas.to_datetime) if they are. "
    if sum(map(is_number, texts)) >= MOSTLY * rows:
        return "Nearly all of them are numbers: correct the others, or leave them empty. "
    some = different[:200]
    dated = sum(iso_dates([text]) is not None for text in some)
    if dated > 1 and dated >= MOSTLY * len(some):
        return "Nearly all of them are dates: correct the others, or leave them empty. "
    return ""


def class_refusal(name: str, labels: Values) -> str | None:
    """Why the values of a label are not published as classes unasked, with what to do; None if they are."""
    distinct = set(labels.tolist())
    fractions = any(isinstance(v, float) and np.isfinite(v) and v != int(v) for v in distinct)
    if not fractions and len(distinct) <= MOST_CLASSES:
        return None
    reason = "has fractions" if fractions else f"has {len(distinct):,} different values"
    return (
        f"the label column '{name}' {reason}, and all of its values would become public as classes. If a number is to "
        f"be estimated, say --regression (in Python hedgerow.DecisionTreeRegressor); if they are classes, insist with "
        f"--category '{name}' or a schema that lists them"
    )


def key_warning(name: str, values: Values) -> str:
    """A word about whole numbers that all differ: they may be a key of persons or cases; empty where there is none."""
    if values.dtype.kind not in "iu" or len(values) < LEAST_ROWS_OF_A_KEY or len(np.unique(values)) < len(values):
        return ""
    return (
        f"every row has another value of '{name}': it may be a key of persons or cases, whose values would become "
        "thresholds of an opened tree. Leave it out if it is"
    )
