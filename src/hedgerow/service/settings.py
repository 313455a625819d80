"""One party's settings and policy, from ``party.toml``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import InputError
from ..transport import Identity
from .consortium import NAME, Consortium, load_identity, read_consortium, read_toml
from .disclosure import ACTIONS, Disclosure, names_match
from .seal import Seal, read_storage_keys

GIGABYTE = 1_000_000_000
NUMBERS = {
    "number",
    "max_running",
    "patience_seconds",
    "max_rows",
    "quota_gigabytes",
    "reserve_gigabytes",
    "keep_results_days",
    "keep_models_days",
    "countersign_seconds",
    "probe_port",
}
NAMED = re.compile(rf"{NAME.pattern}/({NAME.pattern}|\*)")
"""``owner/name`` or ``owner/*``."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One permission. ``datasets`` are ``owner/name``, ``owner/*`` or ``*``."""

    who: str
    action: str
    datasets: tuple[str, ...]
    max_rows: int | None = None
    max_height: int | None = None
    approval: bool = False

    def covers(self, who: str, action: str, datasets: Sequence[str], rows: int, height: int) -> bool:
        """Whether this rule allows the request (perhaps after approval)."""
        return (
            self.who in ("*", who)
            and self.action == action
            and names_match(self.datasets, datasets)
            and (self.max_rows is None or rows <= self.max_rows)
            and (self.max_height is None or height <= self.max_height)
        )


@dataclass(slots=True)
class PartySettings:
    """What one party service needs to know. Rules, members, certificates and revocations can be read anew."""

    path: Path
    number: int
    consortium: Consortium
    identity: Identity
    data: Path
    database: str
    rules: tuple[Rule, ...]
    max_running: int = 2
    patience_seconds: float = 60.0
    max_rows: int = 2_000_000
    consortium_path: Path = Path("consortium.toml")
    disclosure: Disclosure = field(default_factory=Disclosure)
    quota_bytes: int = 100 * GIGABYTE
    reserve_bytes: int = GIGABYTE
    keep_results_days: float = 30.0
    keep_models_days: float = 0.0
    countersign_seconds: float = 60.0
    probe_port: int = 0
    seal: Seal = field(default_factory=Seal)
    problem: str | None = None
    """What is wrong with the files that were to be read anew."""

    @property
    def others(self) -> tuple[int, int]:
        """The other two parties."""
        first, second = (number for number in range(3) if number != self.number)
        return first, second

    def reload(self) -> None:
        """Read rules, members, certificates and revocations again; a file with a mistake changes nothing."""
        try:
            fresh = read_settings(self.path)
        except InputError as error:
            self.problem = str(error)
            raise
        self.problem = None
        self.rules, self.identity, self.disclosure = fresh.rules, fresh.identity, fresh.disclosure
        self.consortium = replace(fresh.consortium, parties=self.consortium.parties)

    @property
    def files(self) -> tuple[Path, ...]:
        """What :meth:`reload` reads."""
        return (self.path, self.consortium_path, self.identity.certificate, self.identity.key)

    def limits(self, who: str, action: str, datasets: Sequence[str]) -> tuple[int | None, int | None] | None:
        """Most rows and greatest height that the rules allow somebody, None where no rule covers these datasets."""
        found = [rule for rule in self.rules if rule.covers(who, action, datasets, 0, 0)]
        if not found:
            return None
        most = [[getattr(rule, name) for rule in found] for name in ("max_rows", "max_height")]
        rows, height = (None if None in values else max(values) for values in most)
        return rows, height

    def allow(self, who: str, action: str, datasets: Sequence[str], rows: int = 0, height: int = 0) -> Rule | None:
        """The rule that allows a request; one without approval is preferred. ``None`` means no."""
        found = [rule for rule in self.rules if rule.covers(who, action, datasets, rows, height)]
        return min(found, key=lambda rule: rule.approval, default=None)


def read_settings(path: Path) -> PartySettings:
    """Parse ``party.toml``; every mistake is named."""
    content = read_toml(path)
    base = path.resolve().parent
    known = NUMBERS | {"consortium", "identity", "data", "database", "rule", "disclosure", "storage_key"}
    unknown = set(content) - known
    if unknown:
        raise InputError(f"{path}: unknown setting {', '.join(sorted(unknown))}")
    for name in NUMBERS & set(content):
        if isinstance(content[name], bool) or not isinstance(content[name], int | float):
            raise InputError(f"{path}: {name} must be a number, not {content[name]!r}")
    if not isinstance(content.get("rule", []), list):
        raise InputError(f"{path}: write rules as [[rule]], with two brackets")
    for where in (content.get("disclosure", {}), *content.get("rule", [])):
        misplaced = (known - {"max_rows"}) & set(where)
        if misplaced:
            names = ", ".join(sorted(misplaced))
            raise InputError(f"{path}: {names} belongs above the first line in brackets, not into a [table]")
    try:
        number = int(content["number"])
        data = base / str(content.get("data", "data"))
        rules = tuple(_rule(f"{path}: rule {k}", entry) for k, entry in enumerate(content.get("rule", []), start=1))
        consortium_path = base / str(content.get("consortium", "consortium.toml"))
        consortium = read_consortium(consortium_path)
        seal = read_storage_keys(content.get("storage_key", {}), base)
        settings = PartySettings(
            path,
            number,
            consortium,
            load_identity(base / str(content.get("identity", ".")), consortium.revoked, seal.passphrases),
            data,
            str(content.get("database", f"sqlite:///{data / 'party.sqlite'}")),
            rules,
            int(content.get("max_running", 2)),
            float(content.get("patience_seconds", 60)),
            int(content.get("max_rows", 2_000_000)),
            consortium_path,
            Disclosure.of_entry(content.get("disclosure", {})),
            int(GIGABYTE * float(content.get("quota_gigabytes", 100))),
            int(GIGABYTE * float(content.get("reserve_gigabytes", 1))),
            float(content.get("keep_results_days", 30)),
            float(content.get("keep_models_days", 0)),
            float(content.get("countersign_seconds", 60)),
            int(content.get("probe_port", 0)),
            seal,
        )
    except KeyError as error:
        raise InputError(f"{path} lacks {error}") from None
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: {error}") from None
    if number not in (0, 1, 2):
        raise InputError(f"{path}: the number must be 0, 1 or 2")
    return settings


def _rule(path: str, entry: dict[str, object]) -> Rule:
    fields = dict(entry)
    datasets = fields.pop("datasets", None)
    if not isinstance(datasets, list) or not all(isinstance(name, str) for name in datasets):
        raise InputError(f"{path} needs a list of datasets")
    for name in datasets:
        if name != "*" and not NAMED.fullmatch(name):
            raise InputError(
                f"{path} names the dataset '{name[:80]}' without its owner, and several owners may have one of "
                f'that name: write "OWNER/{name[:80]}", or "OWNER/*" for all of an owner\'s; \'hedgerow datasets\' '
                "shows the owners"
            )
    unknown = set(fields) - {"who", "action", "max_rows", "max_height", "approval"}
    if unknown:
        raise InputError(f"{path} has an unknown field: {', '.join(sorted(unknown))}")
    if fields.get("action") not in ACTIONS:
        raise InputError(f"{path}: the action must be one of {', '.join(ACTIONS)}, not {fields.get('action')!r}")
    if fields["action"] == "reveal" and fields.get("approval"):
        raise InputError(f"{path}: revealing has no approval; leave the rule out until it is wanted")
    if not isinstance(fields.get("who"), str):
        raise InputError(f"{path} must say who")
    for name in ("max_rows", "max_height"):
        if name in fields and (isinstance(fields[name], bool) or not isinstance(fields[name], int)):
            raise InputError(f"{path}: {name} must be a whole number, not {fields[name]!r}")
    if not isinstance(fields.get("approval", False), bool):
        raise InputError(f"{path}: approval must be true or false, not {fields['approval']!r}")
    return Rule(datasets=tuple(datasets), **fields)  # type: ignore[arg-type]
