"""Three party services: real processes, real TLS, three loopback addresses."""

from __future__ import annotations

import hashlib
import json
import socket
import sqlite3
import ssl
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.errors import HedgerowError, InputError, PeerUnreachable
from hedgerow.estimators import TrainingRules, prepare, train_secret
from hedgerow.service.audit import AuditLog, verify
from hedgerow.service.client import Client, JobFailed
from hedgerow.service.owner import row_order
from hedgerow.service.peers import PartyRefused
from hedgerow.shares import RING64, split
from hedgerow.tables import Column, Schema
from hedgerow.tables.frame import PlainTable
from hedgerow.transport import Authority
from hedgerow.transport.certificate import party_name
from support.deployment import SCHEMA, Deployment, patients

SALTS = ["a" * 64, "b" * 64, "c" * 64]


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("consortium"))
    try:
        deployment.start()
        deployment.client("clinic").share(patients(120, 1), SCHEMA, "claims")
        deployment.client("bank").share(patients(80, 2), SCHEMA, "claims_b")
        yield deployment
    finally:
        codes = deployment.stop()
    assert codes == [0, 0, 0]


@pytest.fixture(scope="module")
def model(deployment):
    alice = deployment.client("alice")
    job = alice.train(["claims", "claims_b"], "ill", 4)
    alice.wait(job, seconds=60)
    return job


def pooled():
    one, other = patients(120, 1), patients(80, 2)
    return [np.concatenate([a, b]) for a, b in zip(one.columns, other.columns, strict=True)]


def test_the_remote_tree_equals_the_local_one(deployment, model):
    alice = deployment.client("alice")
    remote = alice.model(model)
    age, dose, ill = pooled()
    local = train_secret(prepare(PlainTable(["age", "dose"], [age, dose]), "ill", ill, TrainingRules(4), SCHEMA)).model
    tree = remote.reveal(counts=True)
    assert tree.to_dict() == local.reveal(counts=True).to_dict()
    new = patients(50, 3)
    columns = [new.attribute(name, False) for name in ["age", "dose"]]
    assert (remote.labels(columns) == local.labels(columns)).all()
    assert np.array_equal(remote.probabilities(columns), local.probabilities(columns))
    assert np.array_equal(remote.confusion(columns, new.column("ill")), local.confusion(columns, new.column("ill")))


def test_the_estimator_against_a_consortium(deployment):
    identity = deployment.root / "members" / "alice"
    estimator = hedgerow.DecisionTreeClassifier(2, criterion="log_loss", consortium=identity / "consortium.toml")
    estimator.fit_dataset("claims", target="ill")
    assert estimator.model_.facts.problem.criterion == "entropy"
    table = patients(30, 4)
    rows = np.stack([table.attribute(name, False) for name in ["age", "dose"]], axis=1)
    assert (estimator.predict(rows) == estimator.reveal().predict(rows)).all()


@pytest.mark.slow
def test_all_that_can_be_learnt_equals_the_local_model(deployment):
    """Classes, categories, gaps, weights, class weights and rules; then a number."""
    generator = np.random.default_rng(9)
    n = 90
    colours = np.array(["red", "green", None], dtype=object)[generator.integers(0, 3, n)]
    sizes = np.where(generator.random(n) < 0.2, np.nan, generator.integers(0, 40, n))
    kinds = np.array(["a", "b", "c"], dtype=object)[generator.integers(0, 3, n)]
    prices, visits = generator.integers(-300, 300, n) / 10, generator.integers(0, 4, n)
    table = hedgerow.tables.Table(
        ["colour", "size", "kind", "price", "visits"],
        [colours, sizes, kinds, prices, visits],
        {"colour": 1, "size": 1},
        lambda row: row + 1,
    )
    attributes = (
        Column("colour", "category", categories=("red", "green"), missing=True),
        Column("size", bits=6, missing=True),
    )
    label, target = Column("kind", "label", classes=("a", "b", "c")), Column("price", "target", 1, 10, True)
    weight = Column("visits", "weight", bits=2)
    alice = deployment.client("alice")
    rows = [colours, sizes]
    schema = Schema((*attributes, label, weight))
    deployment.client("clinic").share(table, schema, "kinds")
    options = {"min_samples_split": 6, "min_samples_leaf": 2, "min_impurity_decrease": "0.001"}
    job = alice.train(["kinds"], "kind", 4, class_weight={"b": 3}, **options)
    alice.wait(job, seconds=60)
    remote = alice.model(job)
    wish = TrainingRules(4, class_weight={"b": 3}, **options)
    local = train_secret(prepare(PlainTable(["colour", "size"], rows), "kind", kinds, wish, schema, visits)).model
    assert remote.reveal(counts=True).to_dict() == local.reveal(counts=True).to_dict()
    assert (remote.labels(rows) == local.labels(rows)).all()
    assert np.array_equal(remote.probabilities(rows), local.probabilities(rows))
    assert np.array_equal(remote.confusion(rows, kinds), local.confusion(rows, kinds))

    schema = Schema((*attributes, target, weight))
    deployment.client("clinic").share(table, schema, "prices")
    identity = deployment.root / "members" / "alice"
    estimator = hedgerow.DecisionTreeRegressor(max_depth=3, consortium=identity / "consortium.toml")
    estimator.fit_dataset("prices", target="price")
    wish = TrainingRules(3, regression=True)
    local = train_secret(prepare(PlainTable(["colour", "size"], rows), "price", prices, wish, schema, visits)).model
    assert estimator.reveal(counts=True).to_dict() == local.reveal(counts=True).to_dict()
    frame = pd.DataFrame({"colour": colours, "size": sizes})
    assert (estimator.predict(frame) == local.labels(rows)).all()
    assert estimator.errors(frame, prices) == local.errors(rows, prices)
    with pytest.raises(InputError, match="a number in the dataset"):
        hedgerow.DecisionTreeClassifier(consortium=identity / "consortium.toml").fit_dataset("prices", "price")
    for wrong, message in (
        ({"class_weight": {"z": 2}}, "not in the schema"),
        ({"class_weight": {"1": 2, "1.0": 3}}, "names a class twice"),
        ({"min_impurity_decrease": "x"}, "not valid"),
    ):
        with pytest.raises(PartyRefused, match=message):
            alice.train(["kinds"], "kind", 2, **wrong)


def test_columns_of_row_aligned_tables_side_by_side(deployment):
    table = patients(60, 5)
    left = hedgerow.tables.Schema(SCHEMA.columns[:1])
    right = hedgerow.tables.Schema(SCHEMA.columns[1:])
    order = row_order(b"k" * 32, range(60))
    deployment.client("clinic").share(table, left, "left", alignment=order)
    deployment.client("bank").share(table, right, "right", alignment=order)
    alice = deployment.client("alice")
    job = alice.train(["left", "bank/right"], "ill", 3, "columns")
    alice.wait(job, seconds=60)
    age, dose, ill = table.columns
    local = train_secret(prepare(PlainTable(["age", "dose"], [age, dose]), "ill", ill, TrainingRules(3), SCHEMA)).model
    assert alice.model(job).reveal().to_dict() == local.reveal().to_dict()
    with pytest.raises(PartyRefused, match="different schemas"):
        alice.train(["left", "right"], "ill", 3, "rows")


def test_the_commands_of_owners_and_analysts(deployment, tmp_path):
    def run(who, *arguments):
        place = deployment.root / "members" / who / "consortium.toml"
        command = [sys.executable, "-c", "from hedgerow.cli.main import main; main()", *arguments]
        return subprocess.run([*command, "--consortium", str(place)], capture_output=True, text=True, timeout=120)

    (tmp_path / "t.csv").write_text(
        "age,dose,ill\n" + "".join(f"{a},{a / 10},{'yes' if a > 50 else 'no'}\n" for a in range(20, 90))
    )
    from hedgerow.tables import write_schema

    write_schema(SCHEMA, tmp_path / "s.toml")
    data, schema = str(tmp_path / "t.csv"), str(tmp_path / "s.toml")
    assert run("clinic", "share", data, "--schema", schema, "--name", "cli").returncode == 0
    assert "cli" in run("alice", "datasets").stdout
    job = run("alice", "submit", "--dataset", "cli", "--target", "ill", "--max-depth", "2", "--watch").stdout.strip()
    assert job in run("alice", "jobs").stdout
    assert json.loads(run("alice", "watch", job, "--json").stdout)["state"] == "done"
    assert run("alice", "predict", job, data).stdout.splitlines()[1:3] == ["no", "no"]
    assert json.loads(run("alice", "evaluate", job, data, "--json").stdout)["accuracy"] == 1.0
    assert "age <  50.5" in run("alice", "reveal", job).stdout
    refused = run("mallory", "submit", "--dataset", "cli", "--target", "ill")
    assert refused.returncode == 3
    assert "no dataset 'cli' that you may train on" in " ".join(refused.stderr.split())
    assert run("clinic", "withdraw", "cli").returncode == 0
    assert "no dataset 'cli'" in run("alice", "submit", "--dataset", "cli", "--target", "ill").stderr


def test_policy_is_default_deny(deployment, model):
    alice, mallory = deployment.client("alice"), deployment.client("mallory")
    for name in ("claims", "clinic/claims", "clinic/none"):
        with pytest.raises(PartyRefused, match=f"no dataset '{name}' that you may train on"):
            mallory.train([name], "ill", 2)
    with pytest.raises(PartyRefused, match="policy does not allow alice to train"):
        alice.train(["claims"], "ill", 11)
    with pytest.raises(PartyRefused, match="no such model"):
        mallory.model(model)
    facts = alice.model(model).facts
    with pytest.raises(PartyRefused, match="policy does not allow mallory to reveal"):
        mallory.reveal(facts, False)
    with pytest.raises(PartyRefused, match="needs a certificate with the role analyst"):
        deployment.client("clinic").train(["claims"], "ill", 2)
    with pytest.raises(PartyRefused, match="needs a certificate with the role owner"):
        alice.share(patients(10, 1), SCHEMA, "mine")
    assert mallory.datasets() == []
    assert {entry["name"] for entry in alice.datasets()} >= {"clinic/claims", "bank/claims_b"}


def test_human_approval_at_every_party(deployment):
    bob = deployment.client("bob")
    job = bob.train(["claims"], "ill", 1)
    for party in range(3):
        assert [view["state"] for view in bob.states(job)][party] == "waiting"
        place = deployment.root / f"party{party}"
        command = [sys.executable, "-c", "from hedgerow.cli.main import main; main()", "approve", job]
        done = subprocess.run(
            [*command, "--config", str(place / "party.toml")], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
    bob.wait(job, seconds=60)
    with pytest.raises(PartyRefused, match="no such job waits, or has waited, for your approval"):
        bob.approve(job, 0)


def test_a_job_can_be_cancelled(deployment):
    bob = deployment.client("bob")
    job = bob.train(["claims"], "ill", 1)
    bob.cancel(job)
    assert {view["state"] for view in bob.states(job)} == {"cancelled"}
    with pytest.raises(JobFailed, match="cancelled by bob"):
        bob.wait(job)


def test_different_specifications_do_not_run(deployment):
    alice = deployment.client("alice")
    request = {"id": "ab" * 16, "kind": "train", "datasets": ["claims"], "target": "ill"}
    for party in range(3):
        alice._parties.call(party, "POST", "/v1/jobs", json=request | {"max_depth": 2 if party < 2 else 3})
    with pytest.raises(JobFailed, match="another specification"):
        alice.wait("ab" * 16, seconds=30)


def test_uploads_resume_and_cannot_be_replayed(deployment):
    clinic = deployment.client("clinic")
    columns = [np.arange(300_000, dtype=np.uint64) % 100] * 3
    identifier = "cd" * 16
    manifest = {"name": "resumed", "schema": SCHEMA.entries(), "temporary": False, "rows": 300_000, "columns": 3}
    shares = list(
        zip(*[split(column % 2 if k == 2 else column, RING64) for k, column in enumerate(columns)], strict=True)
    )
    calls = []
    original = clinic._parties.call

    def broken(party, method, path, **options):
        if "/chunks/" in path:
            calls.append(path)
            if len(calls) == 2:
                raise PeerUnreachable(party, "put uploads", "the line was bad for a moment")
            if len(calls) == 4:
                raise HedgerowError("the line broke")
        return original(party, method, path, **options)

    clinic._parties.call = broken
    with pytest.raises(HedgerowError, match="the line broke"):
        clinic.send(0, identifier, manifest, shares[0], SALTS)
    calls.clear()
    clinic._parties.call = lambda party, method, path, **options: (
        calls.append(path) if "/chunks/" in path else None,
        original(party, method, path, **options),
    )[1]
    for party in range(3):
        clinic.send(party, identifier, manifest, shares[party], SALTS)
    assert len(calls) == 4 - 2 + 4 + 4
    with pytest.raises(PartyRefused, match="no dataset 'resumed'"):
        deployment.client("alice").train(["resumed"], "ill", 1)
    clinic._parties.call = original
    clinic._parties.call(0, "POST", f"/v1/uploads/{identifier}/register")
    for method, path, options in (
        ("PUT", f"/v1/uploads/{identifier}", {"json": manifest}),
        (
            "PUT",
            f"/v1/uploads/{identifier}/chunks/0",
            {
                "content": b"x",
                "headers": {"x-sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"},
            },
        ),
    ):
        with pytest.raises(PartyRefused) as refused:
            clinic._parties.call(1, method, path, **options)
        assert refused.value.status == 409
    with pytest.raises(PartyRefused, match="a dataset 'resumed' already"):
        clinic.share(patients(5, 1), SCHEMA, "resumed")
    clinic.withdraw("resumed")


def test_malformed_shares_are_refused(deployment):
    clinic = deployment.client("clinic")
    manifest = {"name": "odd", "schema": SCHEMA.entries(), "temporary": False, "rows": 10, "columns": 3}
    one, other = ([split(np.arange(10) % 2, RING64) for _ in range(3)] for _ in range(2))
    identifier = "ef" * 16
    for party in range(3):
        source = one if party < 2 else other
        clinic.send(party, identifier, manifest, [column[party] for column in source], SALTS)
    with pytest.raises(PartyRefused, match="do not belong together"):
        clinic._parties.call(0, "POST", f"/v1/uploads/{identifier}/register")
    small = "0" * 31 + "1"
    clinic._parties.call(0, "PUT", f"/v1/uploads/{small}", json=manifest)
    headers = {"x-sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}
    with pytest.raises(PartyRefused, match="must have 480 bytes, not 5"):
        clinic._parties.call(0, "PUT", f"/v1/uploads/{small}/chunks/0", content=b"hello", headers=headers)
    with pytest.raises(PartyRefused, match="checksum does not fit"):
        clinic._parties.call(0, "PUT", f"/v1/uploads/{small}/chunks/0", content=b"hello")
    with pytest.raises(PartyRefused, match="chunks are missing"):
        clinic._parties.call(0, "POST", f"/v1/uploads/{small}/finish", json={"sha256": "0" * 64, "salts": SALTS[:2]})


@pytest.mark.parametrize(
    ("method", "path", "options", "status"),
    [
        ("GET", "/v1/jobs/..%2f..%2fparty.toml", {}, 404),
        ("GET", "/v1/jobs/../../etc/passwd", {}, 404),
        ("DELETE", "/v1/datasets/..%2fx", {}, 422),
        ("DELETE", "/v1/datasets/a%2fb%2fc", {}, 404),
        ("PUT", "/v1/uploads/../x", {"json": {}}, 404),
        ("GET", "/v1/models/" + "A" * 32, {}, 422),
        ("POST", "/v1/jobs", {"content": b"{" * 100}, 422),
        ("POST", "/v1/jobs", {"content": b" " * (2 << 20)}, 413),
        ("PUT", "/v1/uploads/" + "0" * 32 + "/chunks/0", {"content": b" " * (5 << 20)}, 413),
        ("POST", "/v1/peer/jobs/" + "0" * 32 + "/start", {"json": {"spec_hash": "0" * 64, "attempt": 1}}, 403),
        ("GET", "/v1/peer/datasets/" + "0" * 32, {}, 403),
        (
            "PUT",
            "/v1/uploads/" + "1" * 32,
            {"json": {"name": "../../x", "rows": 1, "columns": 1, "temporary": True}},
            422,
        ),
    ],
)
def test_bad_requests_get_the_right_status(deployment, method, path, options, status):
    with pytest.raises(PartyRefused) as refused:
        deployment.client("alice")._parties.call(0, method, path, **options)
    assert refused.value.status == status


def connection(deployment, identity, party=0):
    """A TLS connection to a party's control API with the given key and certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(deployment.root / "party0" / "ca.pem")
    if identity is not None:
        context.load_cert_chain(identity / "cert.pem", identity / "key.pem")
    address = deployment.consortium.parties[party]
    raw = socket.create_connection((address.host, address.control), timeout=20)
    return context.wrap_socket(raw, server_hostname=party_name(party))


def answer_of(sock):
    sock.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    content = b""
    while piece := sock.recv(65536):
        content += piece
    return content


def write(directory, key, certificate):
    directory.mkdir()
    (directory / "key.pem").write_bytes(key)
    (directory / "cert.pem").write_bytes(certificate)
    return directory


def test_wrong_and_expired_certificates_and_wrong_names(deployment, tmp_path):
    ours = Authority.load(deployment.root / "authority" / "cert.pem", deployment.root / "authority" / "key.pem")
    stranger = write(tmp_path / "stranger", *Authority.make(60).issue(["alice.analyst.hedgerow.internal"], 60))
    expired = write(tmp_path / "expired", *ours.issue(["alice.analyst.hedgerow.internal"], 0))
    for identity in (None, stranger, expired):
        try:
            content = answer_of(connection(deployment, identity))
        except (ssl.SSLError, ConnectionError):
            content = b""
        assert content == b""
    for names in (["eve.example.org"], ["party-7.hedgerow.internal"]):
        unknown = write(tmp_path / names[0], *ours.issue(names, 60))
        assert b" 403 " in answer_of(connection(deployment, unknown))
    promoted = write(tmp_path / "promoted", *ours.issue(["clinic.analyst.hedgerow.internal"], 60))
    sock = connection(deployment, promoted)
    sock.sendall(b"GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b" 403 " in sock.recv(65536)
    alice = deployment.root / "members" / "alice"
    assert b" 200 " in answer_of(connection(deployment, alice))


def test_slow_callers_are_hung_up_on(deployment):
    sock = connection(deployment, deployment.root / "members" / "alice")
    sock.sendall(b"GET /v1/health HT")
    sock.settimeout(30)
    started = time.monotonic()
    assert sock.recv(100) == b""
    assert time.monotonic() - started < 20
    address = deployment.consortium.parties[0]
    with socket.create_connection((address.host, address.party), timeout=30) as raw:
        raw.sendall(b"abc")
        assert raw.recv(10) == b""


def test_health_metrics_and_logs(deployment, model):
    alice = deployment.client("alice")
    health = alice._parties.call(1, "GET", "/v1/health")
    assert health["party"] == 1
    metrics = alice._parties.call(0, "GET", "/v1/metrics").decode()
    assert 'hedgerow_jobs{state="done"}' in metrics
    assert "hedgerow_certificate_seconds_left" in metrics
    lines = (deployment.root / "party0" / "log.jsonl").read_text().splitlines()
    assert all("message" in json.loads(line) for line in lines)
    for party in range(3):
        verify(deployment.root / f"party{party}" / "data" / "audit.jsonl")
        actions = [
            json.loads(line)["action"] for line in (deployment.root / f"party{party}" / "data" / "audit.jsonl").open()
        ]
        assert {"upload", "register", "submit", "done"} <= set(actions)


def test_nothing_a_party_has_shows_a_planted_value(deployment):
    """Secret numbers that would stand out: neither as text nor as bytes anywhere at a party."""
    secret = 3141592653
    schema = hedgerow.tables.Schema((hedgerow.tables.Column("serial", bits=33), SCHEMA.columns[2]))
    rows = 64
    table = hedgerow.tables.Table(
        ["serial", "ill"],
        [np.full(rows, secret), np.array(["yes", "no"] * (rows // 2), dtype=object)],
        {},
        lambda row: row + 1,
    )
    deployment.client("clinic").share(table, schema, "planted")
    alice = deployment.client("alice")
    job = alice.train(["planted"], "ill", 2)
    alice.wait(job, seconds=60)
    alice.model(job).labels([np.full(5, secret)])
    needles = [
        str(secret).encode(),
        secret.to_bytes(8, "little"),
        (2 * secret).to_bytes(8, "little"),
        secret.to_bytes(4, "big"),
    ]
    for party in range(3):
        for path in (deployment.root / f"party{party}").rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                assert not any(needle in content for needle in needles), path
    deployment.client("clinic").withdraw("planted")


def test_hashes_a_party_compares_do_not_let_it_test_guesses(deployment):
    """The same shares under other salts have other hashes: without a summand's salt its hash says nothing."""
    clinic = deployment.client("clinic")
    manifest = {"name": "salted", "schema": SCHEMA.entries(), "temporary": False, "rows": 10, "columns": 3}
    columns = [split(np.arange(10) % 2, RING64) for _ in range(3)]
    seen = []
    for k, salts in enumerate((SALTS, ["d" * 64, "e" * 64, "f" * 64])):
        identifier = f"{k}{'7' * 31}"
        for party in range(3):
            clinic.send(party, identifier, manifest, [column[party] for column in columns], salts)
        database = sqlite3.connect(deployment.root / "party1" / "data" / "party.sqlite")
        seen.append(
            database.execute("select left_hash, right_hash from datasets where id = ?", [identifier]).fetchone()
        )
        database.close()
    assert not set(seen[0]) & set(seen[1])
    plain = hashlib.sha256(b"".join(column[1].left.tobytes() for column in columns)).hexdigest()
    assert plain not in (*seen[0], *seen[1])


def test_uploads_for_prediction_cannot_become_datasets_nor_serve_twice(deployment, model):
    alice = deployment.client("alice")
    columns = [np.arange(4, dtype=np.uint64)] * 2
    upload = alice._upload(columns, {"name": "rows", "schema": [], "temporary": True}, None)
    with pytest.raises(PartyRefused, match="role owner"):
        alice._parties.call(0, "POST", f"/v1/uploads/{upload}/register")
    job = alice.submit(kind="predict", model=model, upload=upload)
    with pytest.raises(PartyRefused, match="the upload is claimed"):
        alice.submit(kind="predict", model=model, upload=upload)
    alice.wait(job, seconds=60)
    for attempt in (columns, columns * 2):
        manifest = {"name": "rows", "schema": [], "temporary": True, "rows": 4, "columns": len(attempt)}
        with pytest.raises(PartyRefused, match="exists already"):
            alice._parties.call(0, "PUT", f"/v1/uploads/{upload}", json=manifest)


def test_owners_do_not_take_each_others_names(deployment):
    """A name used to belong to whoever came first, and rules spoke of it."""
    clinic, bank, alice = (deployment.client(name) for name in ("clinic", "bank", "alice"))
    clinic.share(patients(5, 1), SCHEMA, "named")
    with pytest.raises(PartyRefused, match="you have a dataset 'named' already"):
        clinic.share(patients(6, 1), SCHEMA, "named")
    assert alice.wait(alice.train(["named"], "ill", 1), seconds=60)
    bank.share(patients(7, 1), SCHEMA, "named")
    with pytest.raises(PartyRefused, match="say which of bank/named, clinic/named"):
        alice.train(["named"], "ill", 1)
    job = alice.train(["bank/named"], "ill", 1)
    assert alice.wait(job, seconds=60)["spec"]["datasets"][0][0] == "bank/named"
    assert alice.model(job).facts.problem.rows == 7
    with pytest.raises(PartyRefused, match="no such dataset of yours"):
        bank.withdraw("clinic/named")
    bank.withdraw("bank/named")
    assert {entry["name"] for entry in alice.datasets()} >= {"clinic/named"}
    clinic.withdraw("named")
    clinic.share(patients(5, 1), SCHEMA, "named")
    clinic.withdraw("clinic/named")


def test_owners_and_parties_cannot_reveal(deployment, model):
    clinic = deployment.client("clinic")
    with pytest.raises(PartyRefused, match="role analyst"):
        clinic._parties.call(0, "GET", f"/v1/models/{model}/shares")
    party = Client(deployment.root / "party1" / "consortium.toml")
    with pytest.raises(PartyRefused, match="of itself only"):
        party._parties.call(0, "GET", f"/v1/models/{model}/shares")
    with pytest.raises(PartyRefused, match="role analyst"):
        party._parties.call(1, "GET", f"/v1/models/{model}/shares")


def test_private_modes(deployment, model):
    for party in range(3):
        for path in (deployment.root / f"party{party}" / "data").rglob("*"):
            if path.suffix == ".shares" or path.name in ("shares.npz", "audit.jsonl") or path.is_dir():
                assert path.stat().st_mode & 0o077 == 0, path


def test_a_changed_audit_log_is_noticed(tmp_path):
    log = AuditLog(tmp_path / "a.jsonl")
    for k in range(3):
        log.append("alice", "submit", job=str(k))
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b'{"torn')
    AuditLog(tmp_path / "a.jsonl").append("bob", "submit")
    text = (tmp_path / "a.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text(text.replace('"job": "1"', '"job": "7"'))
    with pytest.raises(HedgerowError, match="changed at line 2"):
        verify(tmp_path / "a.jsonl")


def test_bad_settings_are_explained(deployment, tmp_path):
    from hedgerow.service.settings import read_settings

    source = deployment.root / "party0"
    for name in ("key.pem", "cert.pem", "ca.pem", "consortium.toml"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    for text, message in (
        ("number = 5", "must be 0, 1 or 2"),
        ("", "lacks 'number'"),
        ("number = 0\ncolour = 1", "unknown setting colour"),
        ("number = 0\n[[rule]]\nwho = 'a'\naction = 'fly'\ndatasets = []", "action must be one of"),
        ("number = 0\n[[rule]]\nwho = 'a'\naction = 'train'", "needs a list of datasets"),
    ):
        (tmp_path / "party.toml").write_text(text)
        with pytest.raises(InputError, match=message):
            read_settings(tmp_path / "party.toml")
