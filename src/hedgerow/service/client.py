"""What data owners and analysts use: split here, send each party its share only, put results together here."""

import hashlib
import io
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import HedgerowError, PeerUnreachable
from ..models import ModelFacts, RevealedTree, reveal_tree
from ..models.store import tree_of_bytes
from ..parties import RowProgress
from ..shares import RING64, Numbers, reconstruct, split
from ..shares.stored import from_arrays
from ..tables import Schema, Table
from ..transport import Identity
from .consortium import load_identity, read_consortium
from .owner import encoded_column, plain_rules, share_chunks
from .peers import PartyConnections, PartyRefused
from .remote_model import RemoteModel

OnMessage = Callable[[dict[str, Any]], None]
ENDED = ("done", "failed", "cancelled")
PARTIES = range(3)
FILLED_AT_LEAST = ("min_samples_leaf", "min_rows", "min_count")
RETRY_SECONDS = (0.5, 1.0, 2.0, 4.0)


class JobFailed(HedgerowError):
    """A job ended without a result."""


class Client:
    """A member of a consortium, talking to its three parties."""

    def __init__(self, consortium: Path, identity: Path | Identity | None = None) -> None:
        known = read_consortium(consortium)
        if not isinstance(identity, Identity):
            identity = load_identity(identity or consortium.parent, known.revoked)
        self._parties = PartyConnections(known, identity)

    def close(self) -> None:
        """Close all connections."""
        self._parties.close()

    def _all(self, method: str, path: str, **options: Any) -> list[Any]:
        return [self._parties.call(party, method, path, **options) for party in PARTIES]

    # Data owners

    def share(
        self,
        table: Table,
        schema: Schema,
        name: str,
        ticked: RowProgress | None = None,
        rules: Mapping[str, Any] | None = None,
        alignment: str = "",
        keep_days: int = 0,
    ) -> str:
        """Split a table and register it at all three parties, or at none. Returns the dataset's identifier.

        ``rules`` are the owner's (docs/guide/disclosure.md). ``alignment`` says in which order the rows are: what
        :func:`row_order` gives, or "agreed". After ``keep_days`` the parties withdraw the dataset themselves.
        """
        columns = [encoded_column(table, column)[0] for column in schema.columns]
        manifest = {"name": name, "schema": schema.entries(), "temporary": False}
        manifest |= {"rules": plain_rules(rules or {}), "alignment": alignment, "keep_days": keep_days}
        identifier = self._upload(columns, manifest, ticked)
        self._parties.call(0, "POST", f"/v1/uploads/{identifier}/register")
        return identifier

    def _upload(self, columns: Sequence[npt.NDArray[Any]], manifest: dict[str, Any], ticked: RowProgress | None) -> str:
        identifier = secrets.token_hex(16)
        manifest = manifest | {"rows": len(columns[0]), "columns": len(columns)}
        for party in PARTIES:
            self._parties.call(party, "PUT", f"/v1/uploads/{identifier}", json=manifest)
        parts: list[list[Numbers]] = [[], [], []]
        for column in columns:
            for party, share in enumerate(split(column, RING64)):
                parts[party].append(share)
        salts = [secrets.token_hex(32) for _ in PARTIES]
        for party in PARTIES:
            self.send(party, identifier, manifest, parts[party], salts, ticked)
        return identifier

    def send(
        self,
        party: int,
        identifier: str,
        manifest: dict[str, Any],
        shares: Sequence[Numbers],
        salts: Sequence[str],
        ticked: RowProgress | None = None,
    ) -> None:
        """Send one party its shares, chunk by chunk; chunks that are there already are left out.

        ``salts`` has a secret for each of the three summands; a party gets those of the two it holds.
        """
        state = self._parties.call(party, "PUT", f"/v1/uploads/{identifier}", json=manifest)
        there, size = set(state["chunks"]), state["chunk_bytes"]
        digest, total = hashlib.sha256(), 16 * len(shares) * len(shares[0])
        for number, chunk in enumerate(share_chunks(shares, size)):
            digest.update(chunk)
            if number not in there:
                headers = {"x-sha256": hashlib.sha256(chunk).hexdigest()}
                path = f"/v1/uploads/{identifier}/chunks/{number}"
                self._patiently(party, "PUT", path, content=chunk, headers=headers)
            if ticked:
                ticked(party * total + min(total, (number + 1) * size), 3 * total)
        content = {"sha256": digest.hexdigest(), "salts": [salts[party], salts[(party + 1) % 3]]}
        self._patiently(party, "POST", f"/v1/uploads/{identifier}/finish", json=content)

    def _patiently(self, party: int, method: str, path: str, **options: Any) -> Any:
        """A request that may be repeated, tried again while the party is out of reach for a moment."""
        for pause in RETRY_SECONDS:
            try:
                return self._parties.call(party, method, path, **options)
            except PeerUnreachable:
                time.sleep(pause)
        return self._parties.call(party, method, path, **options)

    def withdraw(self, name: str) -> None:
        """Remove a dataset at all parties."""
        self._everywhere("DELETE", f"/v1/datasets/{name}")

    def _everywhere(self, method: str, path: str, **options: Any) -> None:
        """The same request to all parties, to each of them even where another one refuses or is out of reach."""
        done, problems = [], []
        for party in PARTIES:
            try:
                self._parties.call(party, method, path, **options)
                done.append(party)
            except HedgerowError as error:
                problems.append(error)
        away = [error for error in problems if isinstance(error, PeerUnreachable)]
        if done and away:
            where = " and ".join(map(str, done))
            raise PeerUnreachable(away[0].peer, away[0].step, f"does not answer; done at {where}, repeat it later")
        if problems and not (
            done and all(isinstance(error, PartyRefused) and error.status == 404 for error in problems)
        ):
            raise problems[0]

    def set_rules(self, name: str, rules: Mapping[str, Any]) -> None:
        """Set the rules for a dataset of this owner's, ``owner/name``, at all parties."""
        self._everywhere("PUT", f"/v1/datasets/{name}/rules", json={"rules": plain_rules(rules)})

    def uses(self) -> list[dict[str, Any]]:
        """What used this owner's data, and what waits for its approval, as the first party in reach tells."""
        return self._first("/v1/uses")

    def _first(self, path: str) -> list[dict[str, Any]]:
        """A list from the first party in reach."""
        for party in PARTIES:
            try:
                found: list[dict[str, Any]] = self._parties.call(party, "GET", path)
                return found
            except PeerUnreachable as error:
                problem = error
        raise problem

    def datasets(self, party: int | None = None) -> list[dict[str, Any]]:
        """Datasets that all three parties know and let this member see; with ``party``, what that one has."""
        if party is not None:
            found: list[dict[str, Any]] = self._parties.call(party, "GET", "/v1/datasets")
            return found
        listings = self._all("GET", "/v1/datasets")
        common = set.intersection(*({entry["id"] for entry in listing} for listing in listings))
        return [entry for entry in listings[0] if entry["id"] in common]

    # Analysts

    def submit(self, **request: Any) -> str:
        """Submit a job to all three parties; returns its identifier. If one refuses, it is cancelled at the others."""
        identifier = str(request.setdefault("id", secrets.token_hex(16)))
        if request["kind"] == "train":
            request = self._filled_in(request)
        accepted: list[int] = []
        try:
            for party in PARTIES:
                self._parties.call(party, "POST", "/v1/jobs", json=request)
                accepted.append(party)
        except HedgerowError:
            for party in accepted:
                self._parties.call(party, "DELETE", f"/v1/jobs/{identifier}")
            raise
        return identifier

    def check(self, **request: Any) -> list[dict[str, Any]]:
        """What each party would say to a job, which rule refuses it, and who would have to approve it."""
        request.setdefault("id", secrets.token_hex(16))
        return self._all("POST", "/v1/jobs/check", json=request)

    def _filled_in(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request leaves to the rules, by the strictest party's: all of them must derive the same job."""
        open_fields = [name for name in (*FILLED_AT_LEAST, "max_depth") if request.get(name) is None]
        if not open_fields:
            return request
        views = self.check(**request)
        if not all(view["allowed"] for view in views):
            return request
        values = {name: [view["spec"][name] for view in views] for name in open_fields}
        return request | {name: min(found) if name == "max_depth" else max(found) for name, found in values.items()}

    def train(
        self, datasets: Sequence[str], target: str, max_depth: int | None = None, combine: str = "rows", **rules: Any
    ) -> str:
        """Submit a training job. ``rules`` are what else :data:`.spec.RULES` names; the parties' and owners' rules
        give what is left out."""
        return self.submit(**training_request(datasets, target, max_depth, combine, **rules))

    def jobs(self, party: int | None = None) -> list[dict[str, Any]]:
        """This member's jobs, as the parties in reach see them: ``states`` has each one's, where they differ.

        With ``party``, as that one sees them: its operator is shown everybody's.
        """
        if party is not None:
            found: list[dict[str, Any]] = self._parties.call(party, "GET", "/v1/jobs")
            return found
        listings: dict[int, dict[str, Any]] = {}
        for number in PARTIES:
            try:
                listing = self._parties.call(number, "GET", "/v1/jobs")
            except PeerUnreachable as error:
                problem = error
                continue
            listings[number] = {job["id"]: job for job in listing}
        if not listings:
            raise problem
        joined = {job: view for listing in reversed(listings.values()) for job, view in listing.items()}
        for job, view in joined.items():
            states = {number: listing[job]["state"] for number, listing in listings.items() if job in listing}
            view["states"] = states if len(set(states.values())) > 1 or len(states) < len(listings) else {}
            waits = {who for listing in listings.values() if job in listing for who in listing[job]["waits_for"]}
            view["waits_for"] = sorted(waits)
        return sorted(joined.values(), key=lambda view: str(view["created"]), reverse=True)

    def states(self, job: str) -> list[dict[str, Any]]:
        """A job as each party sees it."""
        return self._all("GET", f"/v1/jobs/{job}")

    def cancel(self, job: str) -> None:
        """Cancel a job at all parties that can be reached."""
        problems = []
        for party in PARTIES:
            try:
                self._parties.call(party, "DELETE", f"/v1/jobs/{job}")
            except HedgerowError as error:
                problems.append(error)
        if len(problems) == 3:
            raise problems[0]

    def wait(self, job: str, told: OnMessage | None = None, seconds: float | None = None) -> dict[str, Any]:
        """Wait until a job is done everywhere; its failure is raised with the reason. Short outages are waited out."""
        deadline, pause = None if seconds is None else time.monotonic() + seconds, 0.1
        while True:
            views = [self._patiently(party, "GET", f"/v1/jobs/{job}") for party in PARTIES]
            if told:
                told(views[0] | {"waits_for": sorted({who for view in views for who in view["waits_for"]})})
            failed = [view for view in views if view["state"] in ("failed", "cancelled")]
            if failed:
                reasons = [view["error"] for view in failed if view["error"]]
                named = next((r for r in reasons if r.startswith("party")), reasons[0] if reasons else "no reason told")
                raise JobFailed(f"job {job} {failed[0]['state']}: {named}")
            if all(view["state"] == "done" for view in views):
                done: dict[str, Any] = views[0]
                return done
            if deadline is not None and time.monotonic() > deadline:
                raise JobFailed(f"job {job} is not done after {seconds:g} s; it goes on")
            time.sleep(pause)
            pause = min(1.2 * pause, 1.0)

    def approve(self, job: str, party: int | None = None, days: int | None = None) -> None:
        """Let a waiting job go on: as the operator of a party there, as an owner at all three."""
        self._decide("approve", job, party, {"days": days})

    def refuse(self, job: str, party: int | None = None) -> None:
        """Do not let a waiting job go on."""
        self._decide("refuse", job, party, None)

    def _decide(self, decision: str, job: str, party: int | None, content: Any) -> None:
        options = {} if content is None else {"json": content}
        if party is None:
            self._everywhere("POST", f"/v1/jobs/{job}/{decision}", **options)
        else:
            self._parties.call(party, "POST", f"/v1/jobs/{job}/{decision}", **options)

    def delete(self, identifier: str) -> None:
        """Remove a model, or the result of a prediction, at all parties."""
        kind = self.states(identifier)[0]["kind"]
        path = f"/v1/models/{identifier}" if kind == "train" else f"/v1/jobs/{identifier}/result"
        self._everywhere("DELETE", path)

    def ready(self, party: int) -> dict[str, Any]:
        """What a party says of its own readiness."""
        found: dict[str, Any] = self._parties.call(party, "GET", "/v1/ready")
        return found

    def leftovers(self, party: int, remove: bool) -> list[dict[str, Any]]:
        """As the operator of a party: what does not exist at all three, and perhaps remove it there."""
        found: list[dict[str, Any]] = self._parties.call(party, "DELETE" if remove else "GET", "/v1/leftovers")
        return found

    def model(self, identifier: str) -> RemoteModel:
        """A handle on a trained model."""
        facts = ModelFacts.of_entry(self._parties.call(0, "GET", f"/v1/models/{identifier}")["facts"])
        return RemoteModel(self, facts)

    def ask(self, kind: str, model: str, columns: Sequence[npt.NDArray[Any]], ticked: RowProgress | None = None) -> Any:
        """Share rows, have them predicted, and put the result shares together here."""
        manifest = {"name": "rows", "schema": [], "temporary": True, "rules": {}, "alignment": "", "keep_days": 0}
        upload = self._upload(columns, manifest, ticked)
        job = self.submit(kind=kind, model=model, upload=upload)
        self.wait(job)
        parts = []
        for content in self._all("GET", f"/v1/jobs/{job}/result"):
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                count = len(file.files) // 2
                parts.append([from_arrays(file, f"left{k}", f"right{k}") for k in range(count)])
        return [reconstruct(list(column)) for column in zip(*parts, strict=True)]

    def reveal(self, facts: ModelFacts, counts: bool) -> RevealedTree:
        """Ask all three parties for their shares of a model and put the tree together here."""
        path = f"/v1/models/{facts.identity}/shares"
        contents = self._all("GET", path, params={"counts": str(counts).lower()})
        least = self._parties.call(0, "GET", f"/v1/models/{facts.identity}")["min_count"]
        trees = [tree_of_bytes(content, facts) for content in contents]
        return reveal_tree(trees, facts, counts, withheld=least > facts.problem.min_samples_leaf)


def training_request(
    datasets: Sequence[str], target: str, max_depth: int | None, combine: str, **rules: Any
) -> dict[str, Any]:
    """A training job as the API takes it."""
    request = {"kind": "train", "datasets": list(datasets), "target": target, "combine": combine}
    return request | rules | {"max_depth": None if max_depth is None else int(max_depth)}


def combination(text: str) -> tuple[list[str], str]:
    """``a+b`` pools rows, ``a|b`` puts columns together: the names and how they are combined."""
    return (text.split("|"), "columns") if "|" in text else (text.split("+"), "rows")
