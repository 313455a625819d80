"""What a job may be: from a request to the specification that every party derives for itself, or a refusal.

A request must pass this party's policy (who may do what on which datasets), the disclosure rules of this party and of
the datasets' owners, and the owners' consent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, func, or_, select
from sqlalchemy.orm import Session

from ..errors import InputError
from ..models import ModelFacts
from ..tables import Schema
from .caller import Caller
from .clock import now
from .database import Charge, Dataset, Job, Use
from .datasets import Datasets
from .disclosure import Applied, Owned, OwnerRules
from .refusal import Conflict, Forbidden, NotFound
from .settings import PartySettings
from .spec import DEFAULT_HEIGHT, TRAINING, combined_schema, training_facts

PREDICTIONS = {"predict": "predict", "probabilities": "predict", "evaluate": "evaluate"}


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that is allowed: its specification, what it uses, who must still approve, what it is charged."""

    spec: dict[str, Any]
    action: str
    datasets: tuple[Dataset, ...]
    approvals: tuple[str, ...]
    charge: int

    @property
    def names(self) -> list[str]:
        """The datasets, by ``owner/name``."""
        return [dataset.full_name for dataset in self.datasets]


class Admission:
    """Judges requests by what this party knows and allows."""

    def __init__(self, settings: PartySettings, engine: Engine, datasets: Datasets) -> None:
        self._settings, self._engine, self._datasets = settings, engine, datasets

    def admit(self, caller: Caller, request: dict[str, Any]) -> Admitted:
        """The specification of a request that is allowed; a refusal says which rule it was."""
        if request["kind"] == "train":
            return self._training(caller, request)
        return self._prediction(caller, request)

    def _training(self, caller: Caller, request: dict[str, Any]) -> Admitted:
        if not request["datasets"]:
            raise InputError("a training job needs at least one dataset")
        tables = self._datasets.resolve(caller, request["datasets"])
        names = [table.full_name for table in tables]
        if len(set(names)) != len(names):
            raise InputError("a dataset is named twice")
        self._policy(caller.name, "train", names)
        applied = self._applied(tables)
        limits = applied.limits
        rules = {name: request[name] for name in TRAINING}
        _, height = self._settings.limits(caller.name, "train", names) or (None, None)
        for name, value in (
            ("max_depth", min(DEFAULT_HEIGHT, limits.max_height, limits.max_height if height is None else height)),
            ("min_samples_leaf", limits.min_samples_leaf),
            ("min_rows", limits.min_rows),
            ("min_count", limits.min_count),
        ):
            rules[name] = value if rules[name] is None else rules[name]
        spec = {"id": request["id"], "kind": "train", "asker": caller.name} | rules
        spec["datasets"] = [[table.full_name, table.id] for table in tables]
        facts, places = self.training_facts(spec)
        approvals = self._check_training(caller.name, spec, facts, tables, applied)
        charge = limits.min_rows if places["count_first"] else 0
        self._check_charge(caller.name, charge, applied)
        return Admitted(spec, "train", tuple(tables), approvals, charge)

    def _check_training(
        self, who: str, spec: dict[str, Any], facts: ModelFacts, tables: Sequence[Dataset], applied: Applied
    ) -> tuple[str, ...]:
        """All rules of a training job; returns who must approve it."""
        names = [table.full_name for table in tables]
        rows, height = facts.problem.rows, facts.problem.height
        applied.check("min_rows", rows, "the rows are")
        applied.check("min_rows", spec.get("min_rows", 1), "the job asks for")
        applied.check("min_samples_leaf", facts.problem.min_samples_leaf, "the job asks for")
        applied.check("min_count", spec.get("min_count", 1), "the job asks for")
        applied.check("max_height", height, "the job asks for")
        _check_combination(spec, tables, applied)
        if spec["combine"] == "columns":
            _check_aligned(tables)
        with Session(self._engine) as session:
            for table in tables:
                used = select(func.count()).select_from(Use).join(Job, Job.id == Use.job)
                used = used.where(Use.dataset == table.id, Use.action == "train", Use.job != spec["id"])
                # A job that failed because of its rows has told one bit about them, and was charged for it.
                charged = select(Charge.job).where(Charge.job == Job.id).exists()
                used = used.where(or_(Job.state.not_in(("failed", "cancelled")), charged))
                if (session.scalar(used) or 0) >= applied.limits.trainings:
                    raise applied.refuse("trainings", f"{table.full_name} was used as often")
        return self._approvals(who, "train", names, rows, height, applied)

    def _prediction(self, caller: Caller, request: dict[str, Any]) -> Admitted:
        action = PREDICTIONS[request["kind"]]
        model, facts = self.model(request["model"])
        upload = self._datasets.temporary(caller, request["upload"])
        columns = facts.problem.attributes + (request["kind"] == "evaluate")
        if upload.manifest["columns"] != columns:
            raise InputError(f"the rows have {upload.manifest['columns']} columns; the model needs {columns}")
        tables = self.used_by(model)
        spec = {"id": request["id"], "kind": request["kind"], "asker": caller.name}
        spec |= {"model": model.id, "upload": upload.id, "manifest": upload.manifest_hash}
        rows = upload.manifest["rows"]
        applied, approvals = self._check_prediction(caller.name, request["kind"], model, facts, rows, tables)
        # An evaluation opens as many numbers as a confusion matrix has; each can be made to be a prediction.
        charge = rows
        if action == "evaluate":
            charge = min(rows, max(applied.limits.min_evaluation_rows, facts.problem.classes**2))
        self._check_charge(caller.name, charge, applied)
        return Admitted(spec, action, tuple(tables), approvals, charge)

    def _check_prediction(
        self, who: str, kind: str, model: Job, facts: ModelFacts, rows: int, tables: Sequence[Dataset]
    ) -> tuple[Applied, tuple[str, ...]]:
        action, names = PREDICTIONS[kind], [name for name, _ in model.spec["datasets"]]
        applied = self._applied(tables)
        approvals = self._approvals(who, action, names, rows, facts.problem.height, applied)
        _check_model(model.spec, facts, tables, applied)
        if action == "evaluate":
            applied.check("min_evaluation_rows", rows, "the rows are")
            if facts.problem.regression:
                # Sums of errors tell the mean of a leaf whatever is withheld of it.
                applied.check("min_count", facts.problem.min_samples_leaf, "leaves of the model have at least")
        if kind == "probabilities" or (kind == "predict" and facts.problem.regression):
            self.check_numbers(model, facts, applied)
        return applied, approvals

    def check_numbers(self, model: Job, facts: ModelFacts, applied: Applied) -> None:
        """Numbers of leaves may be sent out if small ones were withheld as today's rule requires."""
        withheld = max(facts.problem.min_samples_leaf, model.spec.get("min_count", 1))
        applied.check("min_count", withheld, "the model withholds numbers of leaves below")

    def _check_charge(self, who: str, charge: int, applied: Applied) -> None:
        with Session(self._engine) as session:
            spent = select(func.sum(Charge.amount)).where(Charge.who == who, Charge.day == today())
            total = int(session.scalar(spent) or 0)
        if charge and total + charge > applied.limits.predictions_per_day:
            left = max(0, applied.limits.predictions_per_day - total)
            raise applied.refuse("predictions_per_day", f"{charge} were asked for, {left} are left today (UTC)")

    def _approvals(
        self, who: str, action: str, names: Sequence[str], rows: int, height: int, applied: Applied
    ) -> tuple[str, ...]:
        """Who must approve a job that is allowed: this party's operator, owners."""
        by_operator = self._policy(who, action, names, rows, height)
        owners = applied.approvals(who, action)
        return tuple([f"party-{self._settings.number}"] if by_operator else []) + tuple(owners)

    def _policy(self, who: str, action: str, names: Sequence[str], rows: int = 0, height: int = 0) -> bool:
        """Refuse what this party's policy does not allow; whether its operator must approve."""
        rule = self._settings.allow(who, action, names, rows, height)
        if rule is None:
            known = self._settings.limits(who, action, names)
            problem = f"party {self._settings.number}'s policy does not allow {who} to {action} on this"
            if known is not None:
                most = [
                    f"{n} {value}"
                    for n, value in zip(("max_rows", "max_height"), known, strict=True)
                    if value is not None
                ]
                problem += f": its rules have {', '.join(most)}, this has {rows} rows and height {height}"
            raise Forbidden(problem)
        return rule.approval

    def _applied(self, tables: Sequence[Dataset]) -> Applied:
        owned = [Owned(table.full_name, table.owner, OwnerRules.of_entry(table.rules or {})) for table in tables]
        return Applied.of(self._settings.number, self._settings.disclosure, owned)

    def check_reveal(self, who: str, identifier: str, counts: bool) -> ModelFacts:
        """Whether somebody may have this party's shares of a model."""
        model, facts = self.model(identifier)
        applied = self._applied(self.used_by(model))
        names = [name for name, _ in model.spec["datasets"]]
        self._approvals(who, "reveal", names, facts.problem.rows, facts.problem.height, applied)
        _check_model(model.spec, facts, self.used_by(model), applied)
        if counts or facts.problem.regression:
            self.check_numbers(model, facts, applied)
        return facts

    def check_again(self, job: Job) -> tuple[ModelFacts, dict[str, Any], tuple[str, ...]]:
        """Before a job starts: is it still allowed? The model's facts, where its columns lie, and who must approve."""
        if "analyst" not in self._settings.consortium.members.get(job.asker, ()):
            raise Forbidden(f"{job.asker} is no longer an analyst of this consortium")
        for who, given in (job.approvals or {}).items():
            if given and given.get("until") and now().isoformat() > given["until"]:
                raise Forbidden(f"the approval of {who} has ended")
        if job.kind == "train":
            facts, places = self.training_facts(job.spec)
            tables = self._datasets.by_identifiers([identifier for _, identifier in job.spec["datasets"]])
            approvals = self._check_training(job.asker, job.spec, facts, tables, self._applied(tables))
            return facts, places, approvals
        model, facts = self.model(job.spec["model"])
        upload = self._datasets.temporary(Caller(job.asker, ()), job.spec["upload"], "claimed")
        if upload.manifest_hash != job.spec["manifest"]:
            raise Conflict("the rows are not those the job was submitted with")
        rows = upload.manifest["rows"]
        _, approvals = self._check_prediction(job.asker, job.kind, model, facts, rows, self.used_by(model))
        return facts, {"rows": rows}, approvals

    def training_facts(self, spec: dict[str, Any]) -> tuple[ModelFacts, dict[str, Any]]:
        """The facts of the model to come, and where its columns lie."""
        tables = self._datasets.by_identifiers([identifier for _, identifier in spec["datasets"]])
        if any(table.state != "registered" for table in tables):
            raise Conflict("a dataset was withdrawn or replaced since the job was submitted")
        schemas = [Schema.of_entries(table.manifest["schema"]) for table in tables]
        schema, rows = combined_schema(schemas, [table.manifest["rows"] for table in tables], spec["combine"])
        facts = training_facts(spec, schema, rows)
        columns = [[column.name for column in schema.columns] for schema in schemas]
        known = [
            {"id": table.id, "rows": table.manifest["rows"], "columns": names}
            for table, names in zip(tables, columns, strict=True)
        ]
        several = spec["combine"] == "columns" and len({table.owner for table in tables}) > 1
        places: dict[str, Any] = {"tables": known, "weight": schema.weight.name if schema.weight else None}
        # Who brings weights, or labels for others' rows, could pick out a few of them.
        return facts, places | {"count_first": several or schema.weight is not None}

    def model(self, identifier: str) -> tuple[Job, ModelFacts]:
        """A trained model's job and public facts."""
        with Session(self._engine) as session:
            job = session.get(Job, identifier)
            if job is None or job.kind != "train" or job.state != "done":
                raise NotFound("there is no such model")
            facts = ModelFacts.of_entry(job.progress["facts"])
            session.expunge(job)
            return job, facts

    def used_by(self, model: Job) -> list[Dataset]:
        """The datasets a model was trained on, withdrawn ones as well."""
        return self._datasets.by_identifiers([identifier for _, identifier in model.spec["datasets"]])

    def may_use(self, who: str, model: Job) -> list[str]:
        """What somebody may do with a model at this party."""
        names = [name for name, _ in model.spec["datasets"]]
        return [a for a in ("predict", "evaluate", "reveal") if self._settings.allow(who, a, names)]


def today() -> str:
    """The UTC day, as charges are noted."""
    return now().date().isoformat()


def _check_combination(spec: dict[str, Any], tables: Sequence[Dataset], applied: Applied) -> None:
    """Whether the owners let their data be combined in this way."""
    if spec["combine"] == "rows":
        applied.check_pooled()
        return
    schemas = [(table, Schema.of_entries(table.manifest["schema"])) for table in tables]
    labels, number = next(((t.owner, s.label.kind == "target") for t, s in schemas if s.label), ("", False))
    weights = next((table.owner for table, schema in schemas if schema.weight), None)
    applied.check_side_by_side(labels, number, weights)


def _check_model(spec: dict[str, Any], facts: ModelFacts, tables: Sequence[Dataset], applied: Applied) -> None:
    """A model that was trained before rules became stricter is held to them, too."""
    _check_combination(spec, tables, applied)
    applied.check("min_rows", facts.problem.rows, "the model was trained on")
    applied.check("min_samples_leaf", facts.problem.min_samples_leaf, "the model was trained with")
    applied.check("max_height", facts.problem.height, "the model was trained with")


def _check_aligned(tables: Sequence[Dataset]) -> None:
    """Rows of different owners must be in the same order; a wrong one would train, silently, on nonsense."""
    if len({table.owner for table in tables}) == 1:
        return
    told = [table.manifest.get("alignment", "") for table in tables]
    for table, alignment in zip(tables, told, strict=True):
        if not alignment:
            raise Conflict(
                f"{table.full_name} does not say in which order its rows are: share it again with --row-ids and the "
                "owners' --row-key, or with --aligned if the owners have agreed on the order by other means"
            )
    if len(set(told)) != 1:
        raise Conflict("the rows of the datasets are not in the same order, or their owners used different row keys")
