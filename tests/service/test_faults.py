"""Faults and what is left of them: full disks, lost databases, old copies, cut logs, wrong clocks, frozen parties."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from sqlalchemy import inspect

from hedgerow.errors import HedgerowError, InputError
from hedgerow.service.audit import AuditLog, verify
from hedgerow.service.client import Client, JobFailed
from hedgerow.service.database import Base, open_database
from hedgerow.service.heads import verify_against_signatures
from hedgerow.service.peers import PartyConnections, PartyRefused
from hedgerow.service.settings import read_settings
from hedgerow.service.vault import Vault
from support.commands import command
from support.deployment import SCHEMA, Deployment, free_port, patients
from support.postgres import Postgres, binaries

FIRST = Path(__file__).parent / "fixtures" / "first"


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("consortium"), more="quota_gigabytes = 0.002")
    try:
        deployment.start()
        deployment.client("clinic").share(patients(80, 1), SCHEMA, "claims")
        yield deployment
    finally:
        deployment.stop()


def config(deployment, party):
    return deployment.root / f"party{party}" / "party.toml"


def settled(deployment, seconds=60):
    """Wait until no job is open anywhere; returns the states by party."""
    alice, deadline = deployment.client("alice"), time.monotonic() + seconds
    while True:
        states = [{job["id"]: job["state"] for job in alice.jobs(party)} for party in range(3)]
        if all(state in ("done", "failed", "cancelled", "deleted") for view in states for state in view.values()):
            return states
        assert time.monotonic() < deadline, states
        time.sleep(0.2)


# Room


def test_nobody_can_announce_more_than_its_quota(deployment):
    """An analyst used to be able to announce 275 GB."""
    alice = deployment.client("alice")
    manifest = {"name": "rows", "schema": [], "temporary": True, "rows": 2_000_000, "columns": 8_000}
    with pytest.raises(PartyRefused, match="keeps up to 2,000,000 bytes for a member") as refused:
        alice._parties.call(0, "PUT", "/v1/uploads/" + "1" * 32, json=manifest)
    assert refused.value.status == 507
    clinic = deployment.client("clinic")
    held = []
    for k in range(4):
        clinic.share(patients(10_000, k), SCHEMA, f"big{k}")
        held.append(f"big{k}")
    with pytest.raises(PartyRefused, match=r"you have [0-9,]+ there and announced 480,000") as refused:
        clinic.share(patients(10_000, 9), SCHEMA, "big9")
    assert refused.value.status == 507
    # Another member's room is its own, and what is withdrawn is free again.
    deployment.client("bank").share(patients(10_000, 1), SCHEMA, "other")
    for name in held:
        clinic.withdraw(name)
    clinic.share(patients(10_000, 1), SCHEMA, "again")
    clinic.withdraw("again")


def test_a_disk_that_is_nearly_full_takes_nothing(tmp_path):
    deployment = Deployment(tmp_path / "c", more="reserve_gigabytes = 1000000000")
    deployment.start(0)
    try:
        manifest = {"name": "rows", "schema": [], "temporary": True, "rows": 10, "columns": 2}
        with pytest.raises(PartyRefused, match="party 0 has no room for 320 bytes more on its disk") as refused:
            deployment.client("alice")._parties.call(0, "PUT", "/v1/uploads/" + "1" * 32, json=manifest)
        assert refused.value.status == 507
    finally:
        deployment.stop()


def test_a_torn_chunk_is_removed_at_once(tmp_path, monkeypatch):
    vault = Vault(tmp_path)

    def full(descriptor):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no room"):
        vault.put_chunk("0" * 32, 0, b"x" * 1000)
    assert list(vault.upload("0" * 32).iterdir()) == []


# The audit log


def test_a_cut_audit_log_is_noticed(tmp_path):
    """Cutting the tail, or emptying the file, used to be called intact."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(30, 1), SCHEMA, "claims")
        data = deployment.root / "party0" / "data"
        log, receipts = data / "audit.jsonl", data / "countersigned.json"
        deadline = time.monotonic() + 30
        while not receipts.exists() or len(json.loads(receipts.read_text())) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        shown = command("party", "audit", "--config", config(deployment, 0))
        assert "party 1 countersigned line" in shown.words
        deployment.processes[0].terminate()
        deployment.processes[0].wait()
        whole = log.read_bytes()
        for cut in (b"", b"".join(whole.splitlines(keepends=True)[:1])):
            log.write_bytes(cut)
            done = command("party", "audit", "--config", config(deployment, 0))
            assert done.code == 3
            assert "was cut" in done.words
            with pytest.raises(AssertionError, match="was cut"):
                deployment.start(0)
        # Written anew, with as many lines.
        log.unlink()
        forged = AuditLog(log)
        for _ in range(len(whole.splitlines())):
            forged.append("nobody", "nothing")
        with pytest.raises(HedgerowError, match="was written anew"):
            verify_against_signatures(read_settings(config(deployment, 0)))
        # A forged signature is no signature.
        log.write_bytes(whole)
        kept = receipts.read_text()
        changed = json.loads(kept)
        changed["1"]["count"] -= 1
        receipts.write_text(json.dumps(changed))
        with pytest.raises(HedgerowError, match=r"countersignature of party . is not genuine"):
            verify_against_signatures(read_settings(config(deployment, 0)))
        # Even without the signatures: the others remember. Cut, or written anew and longer than before.
        receipts.unlink()
        again = whole.splitlines(keepends=True)[:1]
        log.write_bytes(again[0])
        longer = AuditLog(log)
        for _ in range(5):
            longer.append("nobody", "nothing")
        for content in (again[0], log.read_bytes()):
            log.write_bytes(content)
            deployment.start(0)
            deadline = time.monotonic() + 30
            while command("party", "ready", "--config", config(deployment, 0)).code == 0:
                assert time.monotonic() < deadline
                time.sleep(0.5)
            told = command("party", "ready", "--config", config(deployment, 0)).words
            assert "the audit log" in told
            assert "party 1" in told or "party 2" in told
            deployment.kill(0)
        # A party that shows something else is found out, too, and stands in the others' logs.
        settings = read_settings(config(deployment, 0))
        peers = PartyConnections(settings.consortium, settings.identity)
        known = peers.call(1, "GET", "/v1/peer/heads")
        with pytest.raises(PartyRefused, match="it was cut, or an older copy restored"):
            peers.call(1, "POST", "/v1/peer/heads", json={"before": 0, "lines": ["0" * 64] * (known["count"] + 3)})
        assert '"audit_went_back"' in (deployment.root / "party1" / "data" / "audit.jsonl").read_text()
    finally:
        deployment.stop()


@pytest.mark.slow
def test_signatures_outlive_the_keys_that_made_them_and_absent_parties(tmp_path):
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        clinic = deployment.client("clinic")
        clinic.share(patients(30, 1), SCHEMA, "claims")
        time.sleep(4)
        done = command("consortium", "renew", deployment.root, "party1", "--overlap-days", "1")
        assert done.code == 0, done.err
        deployment.kill(2)
        with pytest.raises(PartyRefused, match="role analyst"):
            clinic.train(["claims"], "ill")
        time.sleep(5)
        shown = command("party", "audit", "--config", config(deployment, 0))
        assert shown.code == 0, shown.err
        assert "party 2 countersigned line" in shown.words
        assert "came after that" in shown.words
    finally:
        deployment.stop()


def test_refusals_and_fetched_results_are_audited(deployment):
    alice, clinic = deployment.client("alice"), deployment.client("clinic")
    with pytest.raises(PartyRefused, match="role owner"):
        alice.share(patients(10, 1), SCHEMA, "mine")
    with pytest.raises(PartyRefused, match="role analyst"):
        clinic.train(["claims"], "ill")
    with pytest.raises(PartyRefused, match="only parties may ask"):
        alice._parties.call(0, "GET", "/v1/peer/inventory")
    job = alice.train(["claims"], "ill", 1)
    alice.wait(job, seconds=60)
    rows = patients(5, 2)
    alice.model(job).labels(rows.columns[:2])
    for _ in range(100):
        with pytest.raises(PartyRefused):
            clinic._parties.call(0, "GET", f"/v1/models/{job}")
    audit = deployment.root / "party0" / "data" / "audit.jsonl"
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    refused = [(line["actor"], line["action"]) for line in lines if line["action"] == "refused"]
    assert ("alice", "refused") in refused
    assert 0 < refused.count(("clinic", "refused")) < 30
    assert any(line["action"] == "fetch" and line["actor"] == "alice" for line in lines)


def test_a_line_that_finds_no_room_is_written_before_the_next(tmp_path, monkeypatch):
    log = AuditLog(tmp_path / "audit.jsonl")
    log.append("a", "one")
    real = os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(os, "fsync", full)
    log.append_later("a", "two")
    with pytest.raises(OSError, match="no room"):
        log.append("a", "never")
    monkeypatch.setattr(os, "fsync", real)
    log.append("a", "three")
    verify(tmp_path / "audit.jsonl")
    actions = [json.loads(line)["action"] for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert actions == ["one", "two", "three"]


def test_a_line_that_a_crash_left_unfinished_stops_no_start(tmp_path):
    deployment = Deployment(tmp_path / "c")
    data = deployment.root / "party0" / "data"
    data.mkdir()
    AuditLog(data / "audit.jsonl").append("clinic", "upload")
    with (data / "audit.jsonl").open("ab") as file:
        file.write(b'{"time": "2026-')
    deployment.start(0)
    assert deployment.stop()[0] == 0
    verify(data / "audit.jsonl")


def test_many_write_to_the_log_at_once(tmp_path):
    log = AuditLog(tmp_path / "audit.jsonl")

    def write(k):
        for i in range(20):
            (log.append if i % 2 else log.append_later)(f"writer{k}", "line", number=i)

    threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert len(verify(tmp_path / "audit.jsonl")) == 160
    assert len({(line["actor"], line["number"]) for line in lines}) == 160


# Operators


def test_every_operator_sees_its_own_party(deployment):
    """Only party 0's operator used to be able to list anything."""
    bob = deployment.client("bob")
    job = bob.train(["claims"], "ill", 1)
    for party in range(3):
        shown = command("party", "jobs", "--config", config(deployment, party), "--waiting")
        assert job in shown.words
        assert f"party-{party}" in shown.words
        assert "clinic/claims" in command("party", "datasets", "--config", config(deployment, party)).words
    said = threading.Event()

    def told(view):
        if view["waits_for"] == ["party-0", "party-1", "party-2"]:
            said.set()

    with pytest.raises(JobFailed, match="not done"):
        bob.wait(job, told, seconds=0.5)
    assert said.is_set()
    assert command("approve", job, "--config", config(deployment, 1)).code == 0
    listed = next(entry for entry in bob.jobs() if entry["id"] == job)
    assert listed["states"] == {0: "waiting", 1: "queued", 2: "waiting"}
    assert listed["waits_for"] == ["party-0", "party-2"]
    place = deployment.root / "members" / "bob" / "consortium.toml"
    assert "queued" in command("jobs", "--consortium", place).words
    bob.cancel(job)


def test_members_ask_any_party(tmp_path):
    deployment = Deployment(tmp_path / "c")
    deployment.start(1)
    try:
        assert deployment.client("alice").jobs() == []
        assert deployment.client("clinic").uses() == []
    finally:
        deployment.stop()


def test_metrics_forget_states_that_are_gone(deployment):
    alice = deployment.client("alice")

    def metrics():
        return alice._parties.call(0, "GET", "/v1/metrics").decode()

    job = deployment.client("bob").train(["claims"], "ill", 1)
    assert 'hedgerow_jobs{state="waiting"} 1.0' in metrics()
    deployment.client("bob").cancel(job)
    assert 'state="waiting"' not in metrics()


@pytest.mark.slow
def test_the_log_is_json_from_its_first_line_and_says_nothing_of_polls(tmp_path, monkeypatch):
    monkeypatch.setenv("HEDGEROW_CACHE_DIR", str(tmp_path / "cold"))
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(30, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        alice.wait(alice.train(["claims"], "ill", 1), seconds=120)
        log = deployment.root / "party0" / "log.jsonl"
        before = len(log.read_text().splitlines())
        time.sleep(6)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        assert any("compil" in line["message"] for line in lines)
        assert len(lines) - before < 5
        assert not any(line.get("path", "").startswith("/v1/peer/") for line in lines)
    finally:
        deployment.stop()


def test_probes_without_certificates_on_this_machine_only(tmp_path):
    ports = [free_port("127.0.0.1") for _ in range(3)]
    deployment = Deployment(tmp_path / "c")
    for party, port in enumerate(ports):
        path = config(deployment, party)
        path.write_text(f"probe_port = {port}\n" + path.read_text())
    deployment.start()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/health", timeout=10) as answer:
            assert json.load(answer) == {"alive": True}
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/ready", timeout=10) as answer:
            assert json.load(answer)["ready"]
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", ports[0]), timeout=5)
        deployment.kill(2)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/ready", timeout=30)
        assert refused.value.code == 503
        assert "party 2" in json.load(refused.value)["checks"]["party-2"]
        with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/health", timeout=10) as answer:
            assert answer.status == 200
    finally:
        deployment.stop()


@pytest.mark.slow
def test_what_is_old_is_removed(tmp_path):
    deployment = Deployment(tmp_path / "c", more="keep_results_days = 0.00005\nkeep_models_days = 0.0001")
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(50, 1), SCHEMA, "claims", keep_days=1)
        assert alice.datasets()[0]["expires"] is not None
        job = alice.train(["claims"], "ill", 1)
        alice.wait(job, seconds=60)
        for party in range(3):
            with sqlite3.connect(deployment.root / f"party{party}" / "data" / "party.sqlite") as raw:
                raw.execute("UPDATE datasets SET expires = '2020-01-01 00:00:00'")
        deadline = time.monotonic() + 60
        while alice.datasets() or {view["state"] for view in alice.states(job)} != {"deleted"}:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        for party in range(3):
            data = deployment.root / f"party{party}" / "data"
            assert not [*data.glob("models/*"), *data.glob("datasets/*")]
            assert '"action": "expired"' in (data / "audit.jsonl").read_text()
    finally:
        deployment.stop()


def test_a_job_whose_process_dies_ends(deployment):
    """Be it the job's own process or the one it was forked from; the next job gets a new one."""
    alice, party = deployment.client("alice"), psutil.Process(deployment.processes[1].pid)
    deployment.client("bank").share(patients(5000, 3), SCHEMA, "long")

    def alive():
        return [p for p in party.children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]

    for which in (1, 0):
        job = alice.train(["bank/long"], "ill", 10)
        deadline = time.monotonic() + 30
        while len(alive()) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        alive()[which].kill()
        with pytest.raises(JobFailed, match=r"party 1|ended unexpectedly"):
            alice.wait(job, seconds=60)
        assert [view[job] for view in settled(deployment)] == ["failed"] * 3
    assert alice.wait(alice.train(["bank/long"], "ill", 1), seconds=60)["state"] == "done"
    assert len(alive()) <= 2
    deployment.client("bank").withdraw("long")


# Old copies


@pytest.mark.slow
def test_a_party_restored_from_an_older_copy(tmp_path):
    """It used to leave two datasets of one name at the others, and jobs that failed with "another specification"."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(50, 1), SCHEMA, "early")
        first = alice.train(["early"], "ill", 2)
        alice.wait(first, seconds=60)
        expected = alice.model(first).reveal(counts=True).to_dict()
        copy = tmp_path / "party0.tar"
        done = command("party", "backup", copy, "--config", config(deployment, 0))
        assert done.code == 0, done.err
        assert copy.stat().st_mode & 0o777 == 0o600
        clinic.share(patients(60, 2), SCHEMA, "late")
        second = alice.train(["late"], "ill", 2)
        alice.wait(second, seconds=60)
        time.sleep(3)
        deployment.kill(0)
        data = deployment.root / "party0" / "data"
        refused = command("party", "restore", copy, "--config", config(deployment, 0))
        assert "not empty" in refused.words
        shutil.rmtree(data)
        # Never another party's.
        (deployment.root / "party2" / "data").rename(tmp_path / "aside")
        wrong = command("party", "restore", copy, "--config", config(deployment, 2))
        assert "is a copy of party 0" in wrong.words
        (tmp_path / "aside").rename(deployment.root / "party2" / "data")
        done = command("party", "restore", copy, "--config", config(deployment, 0))
        assert done.code == 0, done.err
        assert all(path.stat().st_mode & 0o077 == 0 for path in data.rglob("*"))
        deployment.start(0)
        deadline = time.monotonic() + 60
        while "clinic/late" in command("party", "datasets", "--config", config(deployment, 1)).words:
            assert time.monotonic() < deadline
            time.sleep(0.5)
        # What exists at all three exists.
        assert [entry["name"] for entry in alice.datasets()] == ["clinic/early"]
        assert alice.model(first).reveal(counts=True).to_dict() == expected
        with pytest.raises(PartyRefused, match="no such model"):
            alice.model(second)
        left = json.loads(command("party", "leftovers", "--config", config(deployment, 1), "--json").out)
        assert {entry["kind"] for entry in left} == {"dataset", "model"}
        assert "clinic/late" in {entry["name"] for entry in left}
        # The name can be used again, and means one thing.
        clinic.share(patients(70, 3), SCHEMA, "late")
        third = alice.train(["late"], "ill", 2)
        alice.wait(third, seconds=60)
        assert alice.model(third).facts.problem.rows == 70
        files = deployment.root / "party1" / "data" / "datasets"
        before = len(list(files.iterdir()))
        removed = command("party", "leftovers", "--config", config(deployment, 1), "--remove")
        assert "removed dataset" in removed.words
        assert len(list(files.iterdir())) == before - 1
        assert json.loads(command("party", "leftovers", "--config", config(deployment, 1), "--json").out) == []
        deadline = time.monotonic() + 30
        while (data / "restored").exists():
            assert time.monotonic() < deadline
            time.sleep(0.5)
        told = (deployment.root / "party1" / "data" / "audit.jsonl").read_text()
        assert '"restored": true' in told
        assert '"seen_head"' in told
        assert command("party", "ready", "--config", config(deployment, 0)).code == 0
    finally:
        deployment.stop()


@pytest.mark.slow
def test_what_one_party_says_for_a_while_destroys_nothing(tmp_path):
    """Another party's word hides datasets and models at most, and they come back when it is right again."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(50, 1), SCHEMA, "claims")
        job = alice.train(["claims"], "ill", 2)
        alice.wait(job, seconds=60)
        path = deployment.root / "party0" / "data" / "party.sqlite"
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE datasets SET state = 'withdrawn'")
            raw.execute("UPDATE jobs SET state = 'deleted'")
        peers = PartyConnections(deployment.consortium, read_settings(config(deployment, 0)).identity)
        for party in (1, 2):
            peers.call(party, "POST", "/v1/peer/reconcile")
        deadline = time.monotonic() + 30
        while len(json.loads(command("party", "leftovers", "--config", config(deployment, 1), "--json").out)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.3)
        assert len(list((deployment.root / "party1" / "data").glob("datasets/*"))) == 1
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE datasets SET state = 'registered'")
            raw.execute("UPDATE jobs SET state = 'done'")
        for party in (1, 2):
            while json.loads(command("party", "leftovers", "--config", config(deployment, party), "--json").out):
                assert time.monotonic() < deadline
                time.sleep(0.5)
        assert alice.model(job).reveal()
        assert alice.wait(alice.train(["claims"], "ill", 1), seconds=60)["state"] == "done"
    finally:
        deployment.stop()


def test_many_announcements_and_finishes_cost_little(deployment):
    """Manifests used to be outside of every quota, and an upload could be put together many times at once."""
    alice = deployment.client("alice")
    manifest = {"name": "rows", "temporary": True, "rows": 1, "columns": 1, "schema": [{"name": "x" * 1000}]}
    with pytest.raises(PartyRefused, match="no schema and no rules"):
        alice._parties.call(0, "PUT", "/v1/uploads/" + "3" * 32, json=manifest)
    deep = "[" * 600 + "]" * 600
    body = f'{{"name": "rows", "temporary": true, "rows": 1, "columns": 1, "rules": {{"a": {deep}}}}}'
    with pytest.raises(PartyRefused) as refused:
        alice._parties.call(0, "PUT", "/v1/uploads/" + "3" * 32, content=body)
    assert refused.value.status == 422
    bank = deployment.client("bank")
    identifier, rows = "4" * 32, 30_000
    manifest = {"name": "rows", "temporary": True, "rows": rows, "columns": 2}
    bank._parties.call(0, "PUT", f"/v1/uploads/{identifier}", json=manifest)
    chunk = bytes(32 * rows)
    headers = {"x-sha256": hashlib.sha256(chunk).hexdigest()}
    bank._parties.call(0, "PUT", f"/v1/uploads/{identifier}/chunks/0", content=chunk, headers=headers)
    finish = {"sha256": hashlib.sha256(chunk).hexdigest(), "salts": ["0" * 64] * 2}
    answers = []

    def end():
        client = deployment.client("bank")
        try:
            client._parties.call(0, "POST", f"/v1/uploads/{identifier}/finish", json=finish)
            answers.append(200)
        except PartyRefused as error:
            answers.append(error.status)

    threads = [threading.Thread(target=end) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 200 in answers
    assert set(answers) <= {200, 409}


def test_something_else_is_not_restored(tmp_path):
    deployment = Deployment(tmp_path / "c")
    (tmp_path / "x.tar").write_bytes(b"nothing of the kind" * 100)
    done = command("party", "restore", tmp_path / "x.tar", "--config", config(deployment, 0))
    assert done.code == 3
    assert "no copy of a party" in done.words
    assert not (deployment.root / "party0" / "data").exists()


# Databases


@pytest.mark.parametrize("party", range(3))
def test_earlier_databases_are_migrated(tmp_path, party):
    shutil.copytree(FIRST / "parties" / f"party{party}", tmp_path / "data")
    engine = open_database(f"sqlite:///{tmp_path / 'data' / 'party.sqlite'}")
    tables = inspect(engine)
    for table in Base.metadata.sorted_tables:
        assert {column["name"] for column in tables.get_columns(table.name)} == set(table.columns.keys())
        wanted = {index.name for index in table.indexes}
        assert wanted <= {index["name"] for index in tables.get_indexes(table.name)}
    with engine.connect() as connection:
        specs = [json.loads(row[0]) for row in connection.exec_driver_sql("SELECT spec FROM jobs WHERE kind = 'train'")]
        assert {name for spec in specs for name, _ in spec["datasets"]} == {"clinic/visits", "bank/loans"}
        uses = set(connection.exec_driver_sql("SELECT DISTINCT owner FROM uses").scalars())
        assert uses == {"clinic", "bank"}
    engine.dispose()
    # Again changes nothing; a newer database is refused.
    open_database(f"sqlite:///{tmp_path / 'data' / 'party.sqlite'}").dispose()
    with sqlite3.connect(tmp_path / "data" / "party.sqlite") as raw:
        raw.execute("UPDATE alembic_version SET version_num = '99'")
    with pytest.raises(HedgerowError, match="has version 99; this program knows 2"):
        open_database(f"sqlite:///{tmp_path / 'data' / 'party.sqlite'}")


def test_migrations_give_the_tables_that_the_program_describes(tmp_path):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    engine = open_database(f"sqlite:///{tmp_path / 'new.sqlite'}")
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), Base.metadata)
    found = [entry for entry in differences if not (entry[0] == "remove_table" and entry[1].name == "meta")]
    assert found == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("nonsense", "URL cannot be read"),
        ("postgresql+nothing://u@h/d", "no driver .*hedgerow.postgres"),
        ("mysql+pymysql://u@h/d", "no driver 'pymysql'"),
        ("postgresql+psycopg://u:geheim@127.0.0.1:1/d", "127.0.0.1.*cannot be used"),
        ("sqlite:////nowhere/at/all.sqlite", "unable to open"),
    ],
)
def test_a_database_that_cannot_be_used_is_named(url, problem):
    with pytest.raises(HedgerowError, match=problem) as refused:
        open_database(url)
    assert "geheim" not in str(refused.value)


needs_postgres = pytest.mark.skipif(binaries() is None, reason="PostgreSQL's programs are not on this machine")


@pytest.fixture(scope="module")
def postgres():
    server = Postgres()
    yield server
    server.close()


@needs_postgres
def test_parties_on_postgresql_with_twenty_clients_at_once(tmp_path, postgres):
    deployment = Deployment(tmp_path / "c", patience=60, more=f'database = "{postgres.url("{party}")}"')
    deployment.start()
    try:
        deployment.client("clinic").share(patients(50, 1), SCHEMA, "claims")
        failures = []

        def use(k):
            try:
                alice = deployment.client("alice")
                job = alice.train(["claims"], "ill", 1)
                assert job in {entry["id"] for entry in alice.jobs()}
                if k % 5:
                    alice.cancel(job)
                else:
                    alice.wait(job, seconds=200)
                alice.close()
            except Exception as error:
                failures.append((k, repr(error)))

        threads = [threading.Thread(target=use, args=(k,)) for k in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        states = settled(deployment)
        assert states[0] == states[1] == states[2]
        assert sorted(states[0].values()).count("done") >= 4
        assert len(states[0]) == 20
        # A copy of it can be restored to SQLite.
        copy = tmp_path / "copy.tar"
        assert command("party", "backup", copy, "--config", config(deployment, 1)).code == 0
        other = Deployment(tmp_path / "d")
        assert command("party", "restore", copy, "--config", config(other, 1)).code == 0
        with sqlite3.connect(other.root / "party1" / "data" / "party.sqlite") as raw:
            assert raw.execute("SELECT count(*) FROM jobs").fetchone() == (20,)
    finally:
        assert deployment.stop() == [0, 0, 0]


@pytest.mark.slow
@needs_postgres
def test_a_database_that_goes_and_comes_back(tmp_path):
    """Jobs used to stay running for ever, without a process."""
    server = Postgres()
    deployment = Deployment(tmp_path / "c", more=f'database = "{server.url("{party}")}"', patience=20)
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(3000, 1), SCHEMA, "claims")
        jobs = [alice.train(["claims"], "ill", 6) for _ in range(3)]
        while not any(view["state"] == "running" for view in alice.states(jobs[0])):
            time.sleep(0.05)
        server.stop("immediate")
        with pytest.raises(HedgerowError, match="database does not answer"):
            alice._parties.call(0, "GET", "/v1/jobs")
        time.sleep(4)
        server.start()
        states = settled(deployment, 120)
        assert all(set(view) == set(jobs) for view in states)
        assert states[0] == states[1] == states[2]
        job = alice.train(["claims"], "ill", 1)
        assert alice.wait(job, seconds=60)["state"] == "done"
        for party in range(3):
            assert not list((deployment.root / f"party{party}" / "data" / "work").iterdir())
    finally:
        deployment.stop()
        server.close()


# Slow ones


def small_disk(place, megabytes):
    place.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(place)], capture_output=True
    )
    if done.returncode:
        pytest.skip("this machine does not let tests mount a small disk")


@pytest.mark.slow
def test_a_full_disk(tmp_path):
    """Disk full for a while: nothing half visible, no job without an end, and everything works afterwards."""
    deployment = Deployment(tmp_path / "c", more="reserve_gigabytes = 0", patience=10)
    data = deployment.root / "party1" / "data"
    small_disk(data, 12)
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(2000, 1), SCHEMA, "claims")
        job = alice.train(["claims"], "ill", 8)
        filler = data / "filler"
        descriptor = os.open(filler, os.O_WRONLY | os.O_CREAT)
        with contextlib.suppress(OSError):
            while os.write(descriptor, b"x" * 4096):
                pass
        os.close(descriptor)
        with pytest.raises(HedgerowError):
            clinic.share(patients(5000, 2), SCHEMA, "more")
        with pytest.raises(HedgerowError):
            alice.wait(alice.train(["claims"], "ill", 2), seconds=30)
        time.sleep(3)
        filler.unlink()
        states = settled(deployment, 90)
        assert {view.get(job) for view in states} <= {"done", "failed"}
        assert len({view.get(job) for view in states}) == 1
        clinic.share(patients(500, 2), SCHEMA, "after")
        assert alice.wait(alice.train(["after"], "ill", 2), seconds=60)["state"] == "done"
        names = {path.name for path in (data / "datasets").iterdir()}
        assert not any(name.startswith(".") for name in names)
        verify(data / "audit.jsonl")
    finally:
        deployment.stop()
        subprocess.run(["umount", str(data)], check=True)


FAKED = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)


def at_another_time(shift):
    """A command under which the wall clock is wrong. Waiting goes by another clock, which is right on such machines."""
    return ["env", f"LD_PRELOAD={FAKED}", f"FAKETIME={shift}", "FAKETIME_DONT_FAKE_MONOTONIC=1"]


@pytest.mark.slow
@pytest.mark.skipif(FAKED is None, reason="faketime is not on this machine")
def test_a_wrong_clock_is_named(tmp_path):
    deployment = Deployment(tmp_path / "c")
    deployment.start(0, 1)
    deployment.start(2, wrapped=at_another_time("+2h"))
    try:
        shown = command("party", "ready", "--config", config(deployment, 0))
        assert shown.code == 1
        assert "its clock differs from this party's by 7" in shown.words
        deployment.client("clinic").share(patients(50, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        assert alice.wait(alice.train(["claims"], "ill", 1), seconds=60)["state"] == "done"
        # A clock beyond the certificates: the party does not start, and says why.
        deployment.kill(2)
        with pytest.raises(AssertionError, match=r"certificate.*ended on.*clock"):
            deployment.start(2, wrapped=at_another_time("+900d"))
    finally:
        deployment.stop()


@pytest.mark.slow
def test_a_frozen_party_is_the_one_that_is_blamed(tmp_path):
    deployment = Deployment(tmp_path / "c", patience=4)
    deployment.start()
    try:
        deployment.client("clinic").share(patients(5000, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        job = alice.train(["claims"], "ill", 10)
        while not all(view["state"] == "running" for view in alice.states(job)):
            time.sleep(0.05)
        time.sleep(1)
        frozen = [psutil.Process(deployment.processes[2].pid)]
        frozen += frozen[0].children(recursive=True)
        for process in frozen:
            process.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 60
        while True:
            views = [alice._parties.call(party, "GET", f"/v1/jobs/{job}") for party in (0, 1)]
            if all(view["state"] == "failed" for view in views):
                break
            assert time.monotonic() < deadline, views
            time.sleep(0.2)
        assert all("party 2" in view["error"] for view in views)
        for process in frozen:
            process.send_signal(signal.SIGCONT)
        states = settled(deployment)
        assert [view[job] for view in states] == ["failed"] * 3
        assert alice.wait(alice.train(["claims"], "ill", 1), seconds=60)["state"] == "done"
    finally:
        deployment.stop()


@pytest.mark.slow
def test_a_hundred_jobs_leave_nothing_behind(tmp_path):
    """After twenty jobs, memory grows by at most 0.02 MB a job, descriptors and threads not at all."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(60, 1), SCHEMA, "claims")
        alice = deployment.client("alice")

        def run(count):
            for _ in range(count):
                alice.wait(alice.train(["claims"], "ill", 1), seconds=60)
            # Threads that wait for requests go after ten idle seconds.
            time.sleep(15)
            processes = [psutil.Process(process.pid) for process in deployment.processes]
            return [(p.memory_info().rss / 1e6, p.num_fds(), p.num_threads()) for p in processes]

        before, after = run(20), run(100)
        for (memory, files, threads), (memory_now, files_now, threads_now) in zip(before, after, strict=True):
            assert memory_now - memory <= 0.02 * 100
            assert files_now <= files
            assert threads_now <= threads
    finally:
        deployment.stop()


def test_clients_of_a_party_need_its_settings(deployment):
    """A party's own certificate lets its operator speak to that party alone."""
    client = Client(deployment.root / "party1" / "consortium.toml")
    with pytest.raises(PartyRefused, match="of itself only"):
        client.leftovers(0, False)
    with pytest.raises(PartyRefused, match="only this party's own operator"):
        deployment.client("alice").leftovers(0, False)
    assert client.leftovers(1, False) == []
    with pytest.raises(InputError):
        Client(deployment.root / "nowhere.toml")
