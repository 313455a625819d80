"""Attacks on the service that once worked, replayed."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time

import httpx
import pytest

from commands import command
from deployment import SCHEMA, Deployment, patients
from hedgerow.cli.screen import safe, visible
from hedgerow.service.audit import AuditLog, verify
from hedgerow.service.consortium import member_names, write_identity
from hedgerow.service.peers import Answer
from hedgerow.tables import Column, Schema
from hedgerow.transport import Authority
from hedgerow.transport.certificate import party_name


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
    with pytest.raises(Answer) as refused:
        mallory.train([name], "ill")
    assert refused.value.status == 422
    audit = deployment.root / "party0" / "data" / "audit.jsonl"
    verify(audit)
    assert "\\u2028" not in audit.read_text()


def test_the_party_starts_again_after_such_names(deployment):
    deployment.kill(0)
    deployment.start(0)
    assert [entry["name"] for entry in deployment.client("clinic").datasets()] == ["claims"]


@pytest.mark.parametrize("name", [*LINE_ENDS, "x" * 1_000_000, "\ud800"])
def test_one_line_of_the_audit_log_is_one_line_and_short(tmp_path, name):
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.append("mallory", "refused", datasets=[name] * 1000, job=name)
    log.append("alice", "submit", job="1")
    last = verify(path)
    lines = path.read_text(encoding="ascii").split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) < 200_000
    assert AuditLog(path)._last == last


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
