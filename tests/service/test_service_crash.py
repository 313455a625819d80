"""Parties that die, many jobs, strange requests, three network namespaces: long tests, run by make test-all."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
import time

import numpy as np
import psutil
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.service.client import JobFailed
from hedgerow.service.consortium import Address, Consortium
from support.deployment import MEMBERS, RULES, SCHEMA, Deployment, patients

pytestmark = pytest.mark.slow


def settle(deployment, deadline=60):
    """Until no party has an open job: the states of all jobs everywhere."""
    alice = deployment.client("alice")
    end = time.monotonic() + deadline
    while True:
        listings = [alice._parties.call(party, "GET", "/v1/jobs") for party in range(3)]
        states = [{job["id"]: job["state"] for job in listing} for listing in listings]
        if all(state in ("done", "failed", "cancelled") for view in states for state in view.values()):
            alice.close()
            return states
        assert time.monotonic() < end, states
        time.sleep(0.2)


def test_kill_at_thirty_random_moments(tmp_path):
    """kill -9 of a random party at a random moment of sharing, queueing, training and writing."""
    deployment = Deployment(tmp_path / "c", patience=4)
    deployment.start()
    try:
        clinic, alice = deployment.client("clinic"), deployment.client("alice")
        clinic.share(patients(400, 1), SCHEMA, "base")
        job = alice.train(["base"], "ill", 4)
        alice.wait(job, seconds=60)
        expected = alice.model(job).reveal(counts=True).to_dict()
        chance = random.Random(7)
        registered = {"clinic/base"}
        for turn in range(30):
            victim, moment = chance.randrange(3), chance.uniform(0, 2.5)
            outcome = {}

            def work(turn=turn, outcome=outcome):
                try:
                    deployment.client("clinic").share(patients(50, turn), SCHEMA, f"extra{turn}")
                    outcome["shared"] = True
                    client = deployment.client("alice")
                    job = client.train(["base"], "ill", max_depth=4)
                    client.wait(job, seconds=40)
                    outcome["job"] = job
                except HedgerowError as error:
                    outcome["error"] = str(error)

            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(moment)
            deployment.kill(victim)
            thread.join(60)
            assert not thread.is_alive()
            deployment.start(victim)
            assert "job" in outcome or f"party {victim}" in outcome["error"], (turn, victim, outcome)
            states = settle(deployment)
            for identifier in set().union(*states):
                seen = {view.get(identifier, "failed") for view in states}
                assert "done" not in seen or seen == {"done"}, (turn, identifier, states)
            if outcome.get("shared"):
                registered.add(f"clinic/extra{turn}")
            time.sleep(2.5)  # A party that was away asks about registrations every two seconds.
            views = [
                {d["name"] for d in deployment.client("alice")._parties.call(p, "GET", "/v1/datasets")}
                for p in range(3)
            ]
            assert views[0] == views[1] == views[2], (turn, views)
            assert registered <= views[0]
            registered = views[0]
        job = alice.train(["base"], "ill", 4)
        alice.wait(job, seconds=60)
        again = alice.model(job).reveal(counts=True).to_dict()
        assert again == expected
    finally:
        deployment.stop()


def test_fifty_jobs_leave_nothing_behind(tmp_path):
    deployment = Deployment(tmp_path / "c", patience=30)
    deployment.start()
    try:
        deployment.client("clinic").share(patients(60, 1), SCHEMA, "small")
        alice = deployment.client("alice")

        def spent():
            found = []
            for process in deployment.processes:
                p = psutil.Process(process.pid)
                found.append((p.memory_info().rss / 1e6, p.num_fds(), len(p.children(recursive=True))))
            return found

        for _ in range(4):
            alice.wait(alice.train(["small"], "ill", 2), seconds=120)
        before = spent()
        jobs = [alice.train(["small"], "ill", 2) for _ in range(50)]
        for job in jobs:
            alice.wait(job, seconds=600)
        time.sleep(6)
        after = spent()
        print("MB, descriptors, children before", before, "after", after)
        for (memory, files, _), (memory_after, files_after, children) in zip(before, after, strict=True):
            assert memory_after < memory + 40
            assert files_after <= files + 8
            # The process from which jobs are forked.
            assert children == 1
        for party in range(3):
            assert list((deployment.root / f"party{party}" / "data" / "work").iterdir()) == []
    finally:
        deployment.stop()


def test_generated_requests_find_no_server_error(tmp_path):
    """Schemathesis over the OpenAPI description, as an analyst and as an owner: no answer of 500 or above."""
    deployment = Deployment(tmp_path / "c")
    deployment.start()
    try:
        address = deployment.consortium.parties[0]
        hosts = tmp_path / "run.py"
        identity = deployment.root / "members" / "alice"
        hosts.write_text(
            f"""
import httpx, schemathesis, ssl, sys
from hedgerow.service.consortium import load_identity
from pathlib import Path
from hypothesis import settings, HealthCheck, Phase
context = load_identity(Path({str(identity)!r})).client_context()
client = httpx.Client(base_url={address.url!r}, verify=context, trust_env=False)
sni = {{"sni_hostname": "party-0.hedgerow.internal"}}
schema = schemathesis.openapi.from_dict(client.get("/openapi.json", extensions=sni).json())
seen = {{}}
for result in schema.get_all_operations():
    operation = result.ok()
    strategy = operation.as_strategy()
    from hypothesis import given
    @settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck),
              phases=[Phase.generate])
    @given(case=strategy)
    def run(case):
        k = case.as_transport_kwargs(base_url={address.url!r})
        fields = ("method", "url", "params", "headers", "json", "data")
        k = {{name: k[name] for name in fields if k.get(name) is not None}}
        data = k.pop("data", None)
        if data is not None:
            k["content"] = data if isinstance(data, (bytes, str)) else str(data)
        try:
            answer = client.request(**k, extensions=sni)
        except (httpx.InvalidURL, UnicodeError, TypeError, ValueError, httpx.LocalProtocolError):
            return
        seen[answer.status_code] = seen.get(answer.status_code, 0) + 1
        assert answer.status_code < 500, (case.method, case.path, answer.status_code)
    run()
print(seen)
assert sum(seen.values()) > 200, seen
"""
        )
        done = subprocess.run([sys.executable, str(hosts)], capture_output=True, text=True, timeout=900)
        print(done.stdout)
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    finally:
        deployment.stop()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="needs root and the ip command")
def test_three_network_namespaces(tmp_path):
    """Each party in a network namespace of its own, joined by a bridge; members sit on the bridge's side."""

    def run(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True)

    try:
        run("ip", "netns", "add", "hedgerow-probe")
        run("ip", "netns", "del", "hedgerow-probe")
        run("ip", "link", "add", "hgbr0", "type", "bridge")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this machine does not allow network namespaces: {error.stderr.strip()}")
    deployment = None
    try:
        run("ip", "addr", "add", "10.77.0.254/24", "dev", "hgbr0")
        run("ip", "link", "set", "hgbr0", "up")
        for party in range(3):
            space, near, far = f"hg{party}", f"hgv{party}", f"hgp{party}"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", space)
            run("ip", "link", "set", near, "master", "hgbr0", "up")
            run("ip", "-n", space, "addr", "add", f"10.77.0.{party + 1}/24", "dev", far)
            run("ip", "-n", space, "link", "set", far, "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
        deployment = Deployment(tmp_path / "c", rules=RULES)
        addresses = tuple(Address(f"10.77.0.{party + 1}", 8440, 8450) for party in range(3))
        deployment.consortium = Consortium("test", addresses, MEMBERS)
        for place in (deployment.root).rglob("consortium.toml"):
            place.write_text(deployment.consortium.text())
        for party in range(3):
            directory = deployment.root / f"party{party}"
            command = [sys.executable, "-c", "from hedgerow.cli.main import main; main()", "party", "serve"]
            with (directory / "log.jsonl").open("ab") as log:
                deployment.processes[party] = subprocess.Popen(
                    ["ip", "netns", "exec", f"hg{party}", *command, "--config", str(directory / "party.toml")],
                    stderr=log,
                )
        for party in range(3):
            deployment._wait(party)
        deployment.client("clinic").share(patients(60, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        job = alice.train(["claims"], "ill", 3)
        alice.wait(job, seconds=60)
        table = patients(20, 2)
        columns = [table.attribute(name, False) for name in ["age", "dose"]]
        model = alice.model(job)
        assert (model.labels(columns) == model.reveal().predict(np.stack(columns, axis=1))).all()
    finally:
        if deployment is not None:
            deployment.stop()
        for party in range(3):
            subprocess.run(["ip", "netns", "del", f"hg{party}"], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", "hgbr0"], check=False, capture_output=True)


def test_a_dead_party_is_named_within_the_time_out(tmp_path):
    deployment = Deployment(tmp_path / "c", patience=4)
    deployment.start()
    try:
        deployment.client("clinic").share(patients(2000, 1), SCHEMA, "base")
        alice = deployment.client("alice")
        job = alice.train(["base"], "ill", 10)
        while alice.states(job)[0]["progress"].get("layer", 0) < 2:
            time.sleep(0.02)
        deployment.kill(1)
        started = time.monotonic()
        with pytest.raises((JobFailed, HedgerowError), match="party 1"):
            alice.wait(job)
        while alice._parties.call(0, "GET", f"/v1/jobs/{job}")["state"] != "failed":
            assert time.monotonic() - started < 15
            time.sleep(0.1)
        assert "party 1" in alice._parties.call(0, "GET", f"/v1/jobs/{job}")["error"]
    finally:
        deployment.stop()
