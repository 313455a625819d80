"""Disclosure rules: what results may tell at most. A party has some, every owner may add some, the strictest holds.

docs/guide/disclosure.md says for owners what each of them prevents.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from ..errors import InputError
from .clock import now
from .refusal import Forbidden

ACTIONS = ("train", "predict", "evaluate", "reveal")
AT_LEAST = ("min_rows", "min_samples_leaf", "min_evaluation_rows", "min_count")
BRINGING = ("labels_from", "weights_from", "columns_from", "rows_from")
UNLIMITED = 1 << 40
ANYBODY = "*"


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The rules of a party, ``[disclosure]`` in ``party.toml``."""

    min_rows: int = 100
    """Rows of non-zero weight that a training needs."""
    min_samples_leaf: int = 5
    """The least a job may ask for; also the fewest rows of a class, where labels or weights come from elsewhere."""
    max_height: int = 10
    min_evaluation_rows: int = 50
    predictions_per_day: int = 10_000
    """Opened predictions of an analyst on one UTC day. An evaluation counts as ``min_evaluation_rows``."""
    min_count: int = 5
    """Counts, probabilities and means of smaller leaves are withheld."""
    trainings: int = UNLIMITED
    """Training jobs that may use one dataset."""

    @staticmethod
    def of_entry(entry: Mapping[str, Any]) -> Disclosure:
        """From a table of TOML."""
        return Disclosure(**_numbers(entry, "the disclosure rules"))


def _numbers(entry: Mapping[str, Any], where: str) -> dict[str, int]:
    unknown = set(entry) - {field.name for field in fields(Disclosure)}
    if unknown:
        raise InputError(f"{where} have an unknown field: {', '.join(sorted(unknown))[:100]}")
    for name, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= UNLIMITED:
            raise InputError(f"{where}: {name} must be a whole number from 0 on")
    return {name: max(1, value) if name in AT_LEAST else value for name, value in entry.items()}


@dataclass(frozen=True, slots=True)
class Consent:
    """An owner's standing permission: who may do what with a dataset, until when, perhaps with approval of each job."""

    who: str
    action: str
    until: datetime.datetime | None = None
    approval: bool = False

    def covers(self, who: str, action: str) -> bool:
        """Whether it allows something today."""
        ended = self.until is not None and now() >= self.until
        return self.who in (ANYBODY, who) and self.action == action and not ended


@dataclass(frozen=True, slots=True)
class OwnerRules:
    """What an owner asks of everybody who uses a dataset; travels in its manifest. Empty: the parties' rules alone."""

    limits: dict[str, int]
    labels_from: tuple[str, ...] | None = None
    weights_from: tuple[str, ...] | None = None
    columns_from: tuple[str, ...] | None = None
    rows_from: tuple[str, ...] | None = None
    consents: tuple[Consent, ...] | None = None

    @staticmethod
    def of_entry(entry: Mapping[str, Any]) -> OwnerRules:
        """From a table of TOML or JSON; every mistake is named."""
        rest = dict(entry)
        bringing = {name: _names(name, rest.pop(name)) for name in BRINGING if name in rest}
        consents = rest.pop("allow", None)
        if consents is not None:
            if not isinstance(consents, list) or len(consents) > 1000:
                raise InputError("'allow' must be a list of permissions")
            consents = tuple(_consent(item) for item in consents)
        return OwnerRules(_numbers(rest, "the dataset's rules"), consents=consents, **bringing)


def _names(field: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > 1000 or not all(isinstance(name, str) for name in value):
        raise InputError(f"'{field}' must be a list of owners, or [\"*\"]")
    return tuple(name[:63] for name in value)


def _consent(entry: Any) -> Consent:
    if not isinstance(entry, dict) or set(entry) - {"who", "action", "until", "approval"}:
        raise InputError("a permission has who, action, and perhaps until and approval")
    who, action, approval = entry.get("who"), entry.get("action"), entry.get("approval", False)
    if not isinstance(who, str) or len(who) > 63 or action not in ACTIONS or not isinstance(approval, bool):
        raise InputError(f'a permission says who (a member or "*") and an action: {", ".join(ACTIONS)}')
    if action == "reveal" and approval:
        raise InputError("revealing has no approval; add the permission when it is wanted")
    return Consent(who, action, _moment(entry.get("until")), approval)


def _moment(value: Any) -> datetime.datetime | None:
    if value is None:
        return None
    try:
        found = value if isinstance(value, datetime.date) else datetime.datetime.fromisoformat(str(value)[:40])
    except ValueError:
        raise InputError("'until' is a date, such as 2027-01-31") from None
    if not isinstance(found, datetime.datetime):
        found = datetime.datetime.combine(found, datetime.time())
    return found.replace(tzinfo=found.tzinfo or datetime.UTC)


@dataclass(frozen=True, slots=True)
class Owned:
    """A dataset as rules see it."""

    name: str
    owner: str
    rules: OwnerRules


@dataclass(frozen=True, slots=True)
class Applied:
    """The strictest of a party's rules and of those of the owners, and whose each of them is."""

    limits: Disclosure
    whose: dict[str, str]
    datasets: tuple[Owned, ...]
    party: int

    @staticmethod
    def of(party: int, own: Disclosure, datasets: Iterable[Owned]) -> Applied:
        """What holds for a job on these datasets."""
        limits, datasets = own, tuple(datasets)
        whose: dict[str, str] = {}
        for dataset in datasets:
            for field, value in dataset.rules.limits.items():
                if (value > getattr(limits, field)) == (field in AT_LEAST) and value != getattr(limits, field):
                    limits, whose = replace(limits, **{field: value}), whose | {field: f"{dataset.name}'s owner"}
        return Applied(limits, whose, datasets, party)

    def refuse(self, field: str, problem: str) -> Forbidden:
        """A refusal that names the rule and whose it is."""
        source = self.whose.get(field, f"party {self.party}")
        return Forbidden(f"the rule {field} = {getattr(self.limits, field)} of {source} does not allow this: {problem}")

    def check(self, field: str, asked: int, what: str) -> None:
        """Refuse what asks for less protection than the rule."""
        limit = getattr(self.limits, field)
        if asked < limit if field in AT_LEAST else asked > limit:
            raise self.refuse(field, f"{what} {asked}")

    def check_pooled(self) -> None:
        """Whether owners let rows of the others be put below theirs."""
        for dataset in self.datasets:
            for other in {one.owner for one in self.datasets} - {dataset.owner}:
                _check_brought(dataset, "rows_from", other, default=True)

    def check_side_by_side(self, labels: str, number: bool, weights: str | None) -> None:
        """Whether owners let columns, labels and weights of the others be put beside theirs.

        Columns and classes may come from anybody unless an owner says otherwise: the parties count classes. A *number*
        to estimate can pick a row out by its size, and weights pick rows by definition: numbers need to be named by an
        owner, and weights too unless they come with the labels.
        """
        for dataset in self.datasets:
            for other in {one.owner for one in self.datasets}:
                _check_brought(dataset, "columns_from", other, default=True)
            _check_brought(dataset, "labels_from", labels, default=not number)
            if weights is not None:
                _check_brought(dataset, "weights_from", weights, default=weights == labels)

    def approvals(self, who: str, action: str) -> list[str]:
        """The owners who must approve this job themselves; refuses where an owner does not allow it at all."""
        wanted = []
        for dataset in self.datasets:
            if dataset.rules.consents is None:
                continue
            found = [consent for consent in dataset.rules.consents if consent.covers(who, action)]
            if not found:
                raise Forbidden(f"the owner of {dataset.name} does not allow {who} to {action} (any more)")
            if all(consent.approval for consent in found):
                wanted.append(dataset.owner)
        return sorted(set(wanted))


def _check_brought(dataset: Owned, field: str, owner: str, default: bool) -> None:
    """Whether a dataset's rules let something of another owner be combined with it."""
    allowed = getattr(dataset.rules, field)
    if owner == dataset.owner or (default if allowed is None else bool({ANYBODY, owner} & set(allowed))):
        return
    what = field.removesuffix("_from")
    raise Forbidden(f"the rule {field} of {dataset.name}'s owner does not allow {what} of {owner}")


def names_match(patterns: Sequence[str], names: Iterable[str]) -> bool:
    """Whether all datasets are covered by patterns: ``owner/name``, ``owner/*`` or ``*``."""
    return all(any(_matches(pattern, name) for pattern in patterns) for name in names)


def _matches(pattern: str, name: str) -> bool:
    owner, _, rest = pattern.partition("/")
    return pattern in (ANYBODY, name) or (rest == ANYBODY and name.startswith(f"{owner}/"))
