"""Attacks on the service that once worked, replayed."""

from __future__ import annotations

import contextlib
import datetime
import json
import logging
import resource
import shutil
import socket
import ssl
import threading
import time
from dataclasses import replace

import httpx
import psutil
import pytest

from hedgerow.cli.screen import safe, visible
from hedgerow.errors import HedgerowError
from hedgerow.service.audit import AuditLog, verify
from hedgerow.service.client import Client
from hedgerow.service.clock import now
from hedgerow.service.consortium import load_certificate, load_identity, member_names, revoke, write_identity
from hedgerow.service.gate import Gate, preface
from hedgerow.service.peers import PartyRefused
from hedgerow.service.runner import session_of
from hedgerow.service.server import Repeats
from hedgerow.service.settings import read_settings
from hedgerow.tables import Column, Schema
from hedgerow.transport import Authority, SessionTerms, Timeouts, connect, listen
from hedgerow.transport.certificate import Revocation, marks, party_name
from hedgerow.transport.frame import Header, Kind
from hedgerow.transport.socket import _HELLO, _NAME, PROTOCOL_VERSION
from support.commands import command
from support.deployment import SCHEMA, Deployment, free_port, patients


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("consortium"))
    try:
        deployment.start()
        deployment.client("clinic").share(patients(60, 1), SCHEMA, "claims")
        yield deployment
    finally:
        deployment.stop()


def call(client, method, path, **options):
    """One request to party 0 as it is, whatever the answer."""
    return client._parties._clients[0].request(method, path, extensions={"sni_hostname": party_name(0)}, **options)


LINE_ENDS = ["a\u2028b", "a\u0085b", "a\u2029b", "a\nb", "a\r\nb", "a\x0bb", "a\x1cb"]


@pytest.mark.parametrize("name", LINE_ENDS)
def test_a_name_with_a_line_end_stops_no_party(deployment, name):
    """It used to be written into the audit log of a refused job, which then looked changed for ever."""
    mallory = deployment.client("mallory")
    with pytest.raises(PartyRefused) as refused:
        mallory.train([name], "ill")
    assert refused.value.status == 422
    audit = deployment.root / "party0" / "data" / "audit.jsonl"
    verify(audit)
    assert "\\u2028" not in audit.read_text()


def test_the_party_starts_again_after_such_names(deployment):
    deployment.kill(0)
    deployment.start(0)
    assert [entry["name"] for entry in deployment.client("clinic").datasets()] == ["clinic/claims"]


@pytest.mark.parametrize("name", [*LINE_ENDS, "x" * 1_000_000, "\ud800"])
def test_one_line_of_the_audit_log_is_one_line_and_short(tmp_path, name):
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.append("mallory", "refused", datasets=[name] * 1000, job=name)
    log.append("alice", "submit", job="1")
    last = verify(path).last
    assert len(verify(path)) == 2
    lines = path.read_text(encoding="ascii").split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) < 200_000
    assert AuditLog(path).hashes.last == last


def test_earlier_logs_are_still_intact(tmp_path):
    """Lines that were written with such characters as they are."""
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.append("mallory", "refused", datasets=["a\u2028b", "é"])
    raw = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_bytes(b"".join(json.dumps(entry, ensure_ascii=False).encode() + b"\n" for entry in raw))
    verify(path)
    AuditLog(path).append("alice", "submit", job="1")
    verify(path)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/jobs", '{"id": "%s", "kind": "train", "datasets": ["claims"], "target": "\\ud800"}'),
        ("/v1/jobs", '{"id": "%s", "kind": "train", "datasets": ["\\udfff"], "target": "ill"}'),
        (
            "/v1/jobs",
            '{"id": "%s", "kind": "train", "datasets": ["claims"], "target": "ill", "class_weight": {"\\ud800": 1}}',
        ),
        ("/v1/jobs", '{"id": "%s", "kind": "train", "\\ud800": 1}'),
    ],
)
def test_half_characters_are_refused_as_not_valid(deployment, path, body):
    answer = call(deployment.client("alice"), "POST", path, content=body % ("a" * 32))
    assert answer.status_code == 422


def test_half_characters_in_schemas_are_refused(deployment):
    schema = '[{"name": "a\\ud800", "bits": 3}, {"name": "y", "kind": "label", "classes": ["\\udc00", "b"]}]'
    body = f'{{"name": "half", "rows": 3, "columns": 2, "temporary": false, "schema": {schema}}}'
    answer = call(deployment.client("clinic"), "PUT", "/v1/uploads/" + "b" * 32, content=body)
    assert answer.status_code == 422


def test_escapes_in_names_are_shown_and_do_nothing():
    assert visible("a\x1b[2Jb\u202e\x07") == "a\\x1b[2Jb\\x202e\\x07"
    assert safe("[red]x\x1b[0m") == "\\[red]x\\x1b[0m"
    assert visible("straße\nzwei") == "straße\nzwei"


def test_escapes_of_other_owners_do_not_reach_the_terminal(deployment, tmp_path):
    clinic = deployment.client("clinic")
    evil = Schema((Column("age\x1b[31m", bits=7), SCHEMA.columns[1], SCHEMA.columns[2]))
    table = patients(60, 2)
    clinic.share(type(table)(["age\x1b[31m", "dose", "ill"], table.columns, {}, table.line), evil, "evil")
    here = deployment.root / "members" / "alice" / "consortium.toml"
    shown = command("datasets", "--consortium", here)
    assert "evil" in shown.out
    assert "\x1b[31m" not in shown.out
    (tmp_path / "t.csv").write_text("a\x1b[2J,y\n1,p\n2,q\n")
    for arguments in (
        ("inspect", tmp_path / "t.csv", "--target", "y"),
        ("train", tmp_path / "t.csv", "--target", "z", "--out", tmp_path / "m"),
    ):
        done = command(*arguments)
        assert "\x1b[2J" not in done.out + done.err


def slow_bodies(deployment, identity, count):
    """Connections that announce a body and send one byte of it, as many as are taken."""
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(identity / "ca.pem"))
    context.load_cert_chain(identity / "cert.pem", identity / "key.pem")
    address, taken = deployment.consortium.parties[0], []
    for _ in range(count):
        raw = socket.create_connection((address.host, address.control), timeout=10)
        try:
            caller = context.wrap_socket(raw, server_hostname=party_name(0))
            caller.sendall(b"POST /v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 5000\r\n\r\n{")
            taken.append(caller)
        except OSError:
            raw.close()
    return taken


def test_slow_bodies_of_one_caller_keep_nobody_else_out(deployment):
    """Two hundred of them, from a member's certificate or a stranger's, used to give 503 to everybody."""
    stranger = deployment.root / "stranger"
    authority = Authority.load(deployment.root / "authority" / "cert.pem", deployment.root / "authority" / "key.pem")
    write_identity(authority, member_names("stranger", ["analyst"]), stranger, 90)
    taken = []
    try:
        for identity in (deployment.root / "members" / "mallory", stranger):
            taken += slow_bodies(deployment, identity, 200)
        alice = deployment.client("alice")
        for _ in range(20):
            assert alice._parties.call(0, "GET", "/v1/datasets")
        # A stranger's body is not even waited for.
        last = slow_bodies(deployment, stranger, 1)
        answers = [caller.recv(1000) for caller in last]
        assert all(b" 403 " in answer or answer == b"" for answer in answers)
    finally:
        for caller in taken:
            caller.close()
    job = alice.train(["claims"], "ill", 1)
    assert alice.wait(job, seconds=60)["state"] == "done"


def test_a_body_has_one_time_for_all_of_it(deployment):
    """A byte now and then used to keep a request alive for ever."""
    identity = deployment.root / "members" / "mallory"
    (caller,) = slow_bodies(deployment, identity, 1)
    caller.settimeout(1.0)
    started, answer = time.monotonic(), b""
    while time.monotonic() - started < 45 and not answer:
        try:
            answer = caller.recv(1000)
            break
        except TimeoutError:
            caller.sendall(b" ")
    assert b" 408 " in answer
    assert 25 < time.monotonic() - started < 40
    caller.close()


def test_a_caller_who_goes_on_asking_is_not_hung_up_on(deployment):
    """Connections used to close ten seconds after every response, so that polling failed now and then."""
    client = deployment.client("alice")
    events = []

    class Noted(httpx.HTTPTransport):
        def handle_request(self, request):
            events.append(1)
            return super().handle_request(request)

    address = deployment.consortium.parties[0]
    context = client._parties._clients[0]._transport._pool._ssl_context
    with httpx.Client(base_url=address.url, transport=Noted(verify=context), trust_env=False) as one:
        end = time.monotonic() + 13
        sockets = set()
        while time.monotonic() < end:
            answer = one.get("/v1/health", extensions={"sni_hostname": party_name(0)})
            assert answer.status_code == 200
            sockets.add(answer.extensions["network_stream"].get_extra_info("socket").fileno())
            time.sleep(1.0)
    assert len(events) > 10
    assert len(sockets) == 1


def test_waiting_survives_a_short_outage(deployment):
    alice = deployment.client("alice")
    job = alice.train(["claims"], "ill", 2)
    alice.wait(job, seconds=60)
    deployment.kill(1)
    threading.Timer(1.0, lambda: deployment.start(1)).start()
    assert alice.wait(job, seconds=60)["state"] == "done"


def strangers(address, port, count, said=b""):
    """Connections to a port, each with some first bytes."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (8192, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    callers = []
    for _ in range(count):
        caller = socket.create_connection((address, port), timeout=10)
        caller.sendall(said)
        callers.append(caller)
    return callers


def hang_up(callers):
    for caller in callers:
        caller.close()


@pytest.mark.parametrize("said", [b"", b"x" * 16, b"GET / HTTP/1.1\r\n" * 8])
def test_strangers_at_the_party_port_fail_no_job(deployment, said):
    """Eighty of them used to fill the port, and the job blamed honest parties."""
    callers = []
    try:
        for address in deployment.consortium.parties:
            callers += strangers(address.host, address.party, 80, said)
        alice = deployment.client("alice")
        job = alice.train(["claims"], "ill", 1)
        assert alice.wait(job, seconds=60)["state"] == "done"
    finally:
        hang_up(callers)


def test_silent_connections_exhaust_nothing(deployment):
    """1,100 of them used to take every descriptor, and to fill the log with ninety thousand lines."""
    log = deployment.root / "party0" / "log.jsonl"
    lines = len(log.read_text().splitlines())
    address, callers = deployment.consortium.parties[0], []
    process = psutil.Process(deployment.processes[0].pid)
    try:
        for port in (address.control, address.party):
            callers += strangers(address.host, port, 1100)
        assert process.num_fds() < 600
        alice = deployment.client("alice")
        job = alice.train(["claims"], "ill", 1)
        assert alice.wait(job, seconds=60)["state"] == "done"
    finally:
        hang_up(callers)
    assert len(log.read_text().splitlines()) - lines < 200


def test_silent_connections_are_hung_up_on_soon(deployment):
    address = deployment.consortium.parties[0]
    for port in (address.control, address.party):
        (caller,) = strangers(address.host, port, 1)
        caller.settimeout(10)
        started = time.monotonic()
        assert caller.recv(10) == b""
        assert 3 < time.monotonic() - started < 9
        caller.close()


def test_knowing_a_run_opens_no_gate():
    """The name of a run can be computed by whoever knows the job; only a party has the ticket."""
    host, port, session, key = "127.0.0.1", free_port("127.0.0.1"), b"s" * 16, b"k" * 32
    gate = Gate(host, port, 0)
    gate.start()
    ours, theirs = socket.socketpair()
    theirs.settimeout(5)
    try:
        gate.announce(session, key)
        early = strangers(host, port, 1, preface(key, session, 2, 0))
        wrong = [session, session + b"\x01" + b"0" * 32, preface(b"l" * 32, session, 1, 0), preface(key, session, 1, 2)]
        turned_away = [strangers(host, port, 1, said)[0] for said in wrong]
        gate.expect(session, ours)
        right = strangers(host, port, 1, preface(key, session, 1, 0))
        for caller in (early[0], right[0]):
            content, (descriptor,), _, _ = socket.recv_fds(theirs, 1, 1)
            handed = socket.socket(fileno=descriptor)
            assert content == b"c"
            assert handed.getpeername() == caller.getsockname()
            handed.close()
        for caller in turned_away:
            caller.settimeout(10)
            assert caller.recv(1) == b""
        theirs.settimeout(0.2)
        with pytest.raises(TimeoutError):
            socket.recv_fds(theirs, 1, 1)
        hang_up([*early, *right, *turned_away])
    finally:
        gate.close()
        ours.close()
        theirs.close()


def test_a_member_who_knows_the_run_stops_no_job(deployment):
    """Somebody greets at the party port again and again with what can be known of a run, and poses as a party."""
    alice = deployment.client("alice")
    identity = deployment.root / "members" / "mallory"
    context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=str(identity / "ca.pem"))
    context.load_cert_chain(identity / "cert.pem", identity / "key.pem")
    ended = threading.Event()

    def pose(job, spec_hash):
        while not ended.is_set():
            for party in (0, 1):
                address = deployment.consortium.parties[party]
                session = session_of(job, spec_hash, 1)
                with contextlib.suppress(OSError), socket.create_connection((address.host, address.party)) as raw:
                    raw.sendall(session)
                    raw.settimeout(0.2)
                    context.wrap_socket(raw, server_hostname=party_name(party)).recv(1)

    request = {"kind": "train", "datasets": ["claims"], "target": "ill", "id": "e" * 32}
    view = alice._parties.call(0, "POST", "/v1/jobs", json=request)
    poser = threading.Thread(target=pose, args=(view["id"], view["spec_hash"]))
    poser.start()
    try:
        for party in (1, 2):
            alice._parties.call(party, "POST", "/v1/jobs", json=request)
        assert alice.wait(view["id"], seconds=60)["state"] == "done"
    finally:
        ended.set()
        poser.join()


def test_posing_as_a_party_in_the_handshake_ends_no_run(tmp_path):
    """A member's certificate, the right session and configuration, and a greeting as party 1."""
    stranger, authority, identities = tmp_path / "stranger", Authority.make(90), []
    for party in range(3):
        directory = tmp_path / f"p{party}"
        write_identity(authority, [party_name(party)], directory, 90)
        identities.append(load_identity(directory))
    write_identity(authority, member_names("mallory", ["analyst"]), stranger, 90)
    poser = load_identity(stranger)
    servers = [listen(("127.0.0.1", 0)) for _ in range(3)]
    addresses = [server.getsockname() for server in servers]
    agreement, found = SessionTerms(b"s" * 16, b"c" * 32), {}

    def run(party):
        found[party] = connect(party, servers[party], addresses, agreement, identities[party], Timeouts(10.0))

    first = threading.Thread(target=run, args=(0,))
    first.start()
    hello = _HELLO.pack(_NAME, PROTOCOL_VERSION, 1, 0, agreement.session, agreement.configuration)
    with socket.create_connection(addresses[0]) as raw:
        caller = poser.client_context().wrap_socket(raw, server_hostname=party_name(0))
        caller.sendall(Header(Kind.HELLO, 1, 0, 0, len(hello)).pack() + hello)
        time.sleep(0.3)
    others = [threading.Thread(target=run, args=(party,)) for party in (1, 2)]
    for thread in others:
        thread.start()
    for thread in (first, *others):
        thread.join(15)
    assert sorted(found) == [0, 1, 2]
    for transport in found.values():
        transport.close()
    for server in servers:
        server.close()


def test_repeated_warnings_are_counted():
    repeats, written = Repeats(), []
    for k in range(1000):
        record = logging.makeLogRecord(
            {"name": "a", "msg": "again", "levelno": logging.WARNING, "created": 100 + k / 10}
        )
        if repeats.filter(record):
            written.append(getattr(record, "left_out", 0))
    assert written == [0, 0, 0, 0, 0, 595, 0, 0, 0, 0]
    assert all(repeats.filter(logging.makeLogRecord({"msg": "x", "levelno": logging.INFO})) for _ in range(100))


def hand_out(deployment, *revocations):
    revoke(deployment.root, revocations)
    time.sleep(2.5)


def test_a_renewed_certificate_ends_the_old_one_after_an_overlap(tmp_path):
    """It used to stay valid to its end, as did a stolen party's."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(120, 1), SCHEMA, "claims")
        root, kept = deployment.root, tmp_path / "old"
        shutil.copytree(root / "members" / "alice", kept)
        old, open_before = Client(kept / "consortium.toml"), deployment.client("alice")
        assert open_before.datasets()
        done = command("consortium", "renew", root, "alice", "--overlap-days", "1")
        assert done.code == 0, done.err
        time.sleep(2.5)
        assert old.datasets()
        assert deployment.client("alice").datasets()
        # Now it was stolen: the old certificate ends at once, on open connections, too.
        serial = marks(load_certificate(kept / "cert.pem"))[0]
        done = command("consortium", "revoke", root, "--certificate", serial)
        assert done.code == 0, done.err
        time.sleep(2.5)
        for caller in (old, open_before):
            with pytest.raises(HedgerowError, match="certificate was revoked"):
                caller.datasets()
        alice = deployment.client("alice")
        # A party's stolen key: revoked by its public key. With a new one it goes on without a restart.
        stolen = marks(load_certificate(root / "party1" / "cert.pem"))[1]
        done = command("consortium", "renew", root, "party1", "--overlap-days", "30")
        assert done.code == 0, done.err
        hand_out(deployment, Revocation(stolen))
        job = alice.train(["claims"], "ill", 1)
        assert alice.wait(job, seconds=60)["state"] == "done"
        assert '"reload"' in (root / "party0" / "data" / "audit.jsonl").read_text()
    finally:
        assert deployment.stop() == [0, 0, 0]


def test_a_revoked_partys_server_is_not_talked_to(tmp_path):
    """The thief of a party's key listens at its address: owners do not send it shares."""
    deployment = Deployment(tmp_path / "c")
    deployment.start(1)
    try:
        mark = marks(load_certificate(deployment.root / "party1" / "cert.pem"))[0]
        path = deployment.root / "members" / "alice" / "consortium.toml"
        consortium = replace(deployment.consortium, revoked=(Revocation(mark),))
        path.write_text(consortium.text())
        with pytest.raises(HedgerowError, match="certificate was revoked"):
            deployment.client("alice")._parties.call(1, "GET", "/v1/health")
    finally:
        deployment.stop()


@pytest.mark.parametrize(("days", "match"), [(900, "ended on"), (-900, "is valid from")])
def test_nobody_starts_with_a_certificate_of_another_time(tmp_path, monkeypatch, days, match):
    deployment = Deployment(tmp_path / "c")
    monkeypatch.setattr("hedgerow.service.consortium.now", lambda: now() + datetime.timedelta(days=days))
    with pytest.raises(HedgerowError, match=f"certificate.*{match}.*clock"):
        read_settings(deployment.root / "party0" / "party.toml")
    with pytest.raises(HedgerowError, match=f"certificate.*{match}.*clock"):
        deployment.client("alice")


def test_a_settings_file_with_a_mistake_changes_nothing(tmp_path):
    deployment = Deployment(tmp_path / "c")
    settings = read_settings(deployment.root / "party0" / "party.toml")
    before = settings.rules
    (deployment.root / "party0" / "party.toml").write_text("number = 0\nnonsense = 1\n")
    with pytest.raises(HedgerowError, match="nonsense"):
        settings.reload()
    assert settings.rules == before
