"""Rules of disclosure and consent: what results may tell, who decides, and the attacks that made them necessary."""

from __future__ import annotations

import datetime
import json
import time

import numpy as np
import pytest

import hedgerow
from hedgerow.errors import HedgerowError, InputError
from hedgerow.service.client import JobFailed, combination
from hedgerow.service.clock import now
from hedgerow.service.disclosure import Applied, Disclosure, Owned, OwnerRules, names_match
from hedgerow.service.owner import row_order
from hedgerow.service.peers import PartyRefused
from hedgerow.service.settings import read_settings
from hedgerow.tables import Column, Schema, Table
from support.commands import command
from support.deployment import RULES, SCHEMA, Deployment, patients

RULE = '[[rule]]\nwho = "a"\naction = "train"\ndatasets = ["*"]\n'
LABELS = Schema(SCHEMA.columns[2:])
ATTRIBUTES = Schema(SCHEMA.columns[:2])
WEIGHTS = Schema((Column("w", "weight", bits=1),))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    """The defaults: 100 rows, 5 a leaf, height 10, 50 rows an evaluation, but 5,000 predictions a day."""
    rules = RULES.replace("max_height = 10\n", "").replace("max_rows = 5000\n", "")
    disclosure = "[disclosure]\npredictions_per_day = 5000\n"
    deployment = Deployment(tmp_path_factory.mktemp("consortium"), rules=rules, disclosure=disclosure)
    try:
        deployment.start()
        deployment.client("clinic").share(patients(400, 1), SCHEMA, "claims")
        yield deployment
    finally:
        deployment.stop()


@pytest.fixture(scope="module")
def model(deployment):
    alice = deployment.client("alice")
    job = alice.train(["claims"], "ill", 3)
    alice.wait(job, seconds=60)
    return job


def test_a_job_gets_the_rules_values_where_it_names_none(deployment, model):
    facts = deployment.client("alice").model(model).facts
    assert facts.problem.min_samples_leaf == 5
    spec = deployment.client("alice").states(model)[0]["spec"]
    assert (spec["min_rows"], spec["min_count"]) == (100, 5)
    tree = deployment.client("alice").model(model).reveal(counts=True)
    assert min(sum(node.counts) for node, _ in tree._walk()) >= 5


@pytest.mark.parametrize(
    ("wish", "rule"),
    [
        ({"min_samples_leaf": 4}, r"rule min_samples_leaf = 5 of party 0 .* asks for 4"),
        ({"max_depth": 11}, r"rule max_height = 10 of party 0 .* asks for 11"),
        ({"min_count": 1}, r"rule min_count = 5 of party 0"),
        ({"min_rows": 7}, r"rule min_rows = 100 of party 0"),
    ],
)
def test_a_job_that_asks_for_less_is_refused_with_the_rule(deployment, wish, rule):
    with pytest.raises(PartyRefused, match=rule):
        deployment.client("alice").train(["claims"], "ill", **wish)


def test_too_few_rows_are_refused(deployment):
    deployment.client("bank").share(patients(99, 1), SCHEMA, "few")
    with pytest.raises(PartyRefused, match=r"rule min_rows = 100 .* the rows are 99"):
        deployment.client("alice").train(["bank/few"], "ill")


def one_row_of(rows, chosen):
    weights = np.zeros(rows, int)
    weights[chosen] = 1
    return Table(["w"], [weights], {}, lambda row: row + 1)


def side_by_side(deployment, weights, suffix, rules=None):
    """Labels and attributes of the clinic, and a weight for every row by the bank."""
    rows = len(weights)
    table = patients(rows, 5)
    deployment.client("clinic").share(table, SCHEMA, f"rows{suffix}", alignment="agreed", rules=rules)
    deployment.client("bank").share(weights, WEIGHTS, f"weights{suffix}", alignment="agreed")
    return table, [f"clinic/rows{suffix}", f"bank/weights{suffix}"]


def test_weights_of_another_owner_need_consent(deployment):
    """A weight of 1 in row 417 alone made the prediction of a tree of height 0 that row's label."""
    _, names = side_by_side(deployment, one_row_of(500, 417), "a")
    with pytest.raises(PartyRefused, match="rule weights_from of clinic/rowsa's owner does not allow weights of bank"):
        deployment.client("alice").train(names, "ill", 0, "columns")


def test_weights_that_pick_few_rows_are_noticed_on_the_shares(deployment):
    """With consent, too: the parties count rows of non-zero weight and open whether they are enough."""
    _, names = side_by_side(deployment, one_row_of(500, 417), "b", {"weights_from": ["bank"]})
    alice = deployment.client("alice")
    job = alice.train(names, "ill", 0, "columns")
    with pytest.raises(JobFailed, match="fewer than 100 rows have a weight, or a class has fewer than 5"):
        alice.wait(job, seconds=60)
    with pytest.raises(PartyRefused, match="no such model"):
        alice.model(job)


def test_weights_of_enough_rows_are_fine(deployment):
    weights = Table(["w"], [np.arange(500) % 2], {}, lambda row: row + 1)
    _, names = side_by_side(deployment, weights, "c", {"weights_from": ["bank"]})
    alice = deployment.client("alice")
    job = alice.train(names, "ill", 1, "columns")
    assert alice.wait(job, seconds=60)["state"] == "done"


def test_a_label_that_picks_a_row_is_noticed_on_the_shares(deployment):
    """A label of one's own that is 1 in row 417 alone drew a box around that row's attributes."""
    table = patients(500, 6)
    deployment.client("clinic").share(table, ATTRIBUTES, "attributes", alignment="agreed")
    chosen = np.where(np.arange(500) == 417, "yes", "no").astype(object)
    mine = Table(["ill"], [chosen], {}, lambda row: row + 1)
    deployment.client("bank").share(mine, LABELS, "chosen", alignment="agreed")
    alice = deployment.client("alice")
    job = alice.train(["clinic/attributes", "bank/chosen"], "ill", 5, "columns")
    with pytest.raises(JobFailed, match="a class has fewer than 5"):
        alice.wait(job, seconds=60)


def test_owners_may_refuse_labels_of_others(deployment):
    table = patients(200, 7)
    clinic, bank = deployment.client("clinic"), deployment.client("bank")
    clinic.share(table, ATTRIBUTES, "guarded", alignment="agreed", rules={"labels_from": ["clinic"]})
    bank.share(table, LABELS, "labels", alignment="agreed")
    with pytest.raises(PartyRefused, match="rule labels_from of clinic/guarded's owner does not allow labels of bank"):
        deployment.client("alice").train(["guarded", "labels"], "ill", 2, "columns")
    clinic.set_rules("clinic/guarded", {"labels_from": ["bank"]})
    alice = deployment.client("alice")
    assert alice.wait(alice.train(["guarded", "labels"], "ill", 2, "columns"), seconds=60)


def test_an_evaluation_of_one_row_is_refused(deployment, model):
    """It was as good as a prediction."""
    remote, table = deployment.client("alice").model(model), patients(49, 8)
    with pytest.raises(PartyRefused, match=r"rule min_evaluation_rows = 50 .* the rows are 49"):
        remote.confusion(table.columns[:2], table.columns[2])


@pytest.mark.slow
def test_predictions_of_a_day_are_limited(tmp_path):
    """Without a limit, a tree of height 24 and all known attributes gave back every label."""
    rules = RULES.replace("max_height = 10\n", "")
    deployment = Deployment(tmp_path / "c", rules=rules, disclosure="[disclosure]\npredictions_per_day = 300\n")
    deployment.start()
    try:
        deployment.client("clinic").share(patients(400, 1), SCHEMA, "claims")
        alice = deployment.client("alice")
        with pytest.raises(PartyRefused, match="rule max_height = 10"):
            alice.train(["claims"], "ill", 24)
        job = alice.train(["claims"], "ill", 2)
        alice.wait(job, seconds=60)
        remote, rows = alice.model(job), patients(400, 1)
        with pytest.raises(PartyRefused, match=r"predictions_per_day = 300 .* 400 were asked for, 300 are left today"):
            remote.labels(rows.columns[:2])
        many = [column[:200] for column in rows.columns]
        assert len(remote.labels(many[:2])) == 200
        with pytest.raises(PartyRefused, match="200 were asked for, 100 are left"):
            remote.probabilities(many[:2])
        # An evaluation opens a few sums: it counts as fifty.
        assert remote.confusion(many[:2], many[2]).sum() == 200
        fifty = [column[:50] for column in rows.columns]
        with pytest.raises(PartyRefused, match="51 were asked for, 50 are left"):
            remote.labels([column[:51] for column in rows.columns[:2]])
        # What opens nothing is given back.
        deployment.kill(2)
        with pytest.raises(HedgerowError):
            remote.labels(fifty[:2])
        deployment.start(2)
        deadline = now() + datetime.timedelta(seconds=30)
        while now() < deadline and any(job["state"] not in ("done", "failed", "cancelled") for job in alice.jobs()):
            time.sleep(0.2)
        assert len(remote.labels(fifty[:2])) == 50
        # Another day.
        with pytest.raises(PartyRefused, match="0 are left"):
            remote.labels([column[:1] for column in rows.columns[:2]])
    finally:
        deployment.stop()


@pytest.mark.parametrize("regression", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_numbers_of_small_leaves_do_not_leave_the_parties(tmp_path, regression):
    disclosure = "[disclosure]\nmin_samples_leaf = 1\nmin_count = 8\nmin_evaluation_rows = 1\n"
    deployment = Deployment(tmp_path / "c", disclosure=disclosure)
    deployment.start()
    try:
        table, schema, target = patients(200, 3), SCHEMA, "ill"
        if regression:
            schema, target = Schema((SCHEMA.columns[0], Column("dose", "target", decimals=1, bits=9))), "dose"
            age = np.arange(200) % 60 + 20
            # Two large groups, of which one has a few rows far off.
            dose = np.where(age < 50, 10.0, np.where(np.arange(200) > 197, 40.0, 30.0))
            age[198:] = 85
            table = Table(["age", "dose"], [age, dose], {}, table.line)
        deployment.client("clinic").share(table, schema, "claims")
        alice = deployment.client("alice")
        job = alice.train(["claims"], target, 5)
        alice.wait(job, seconds=60)
        remote = alice.model(job)
        tree = remote.reveal(counts=True)
        totals = [
            None if node.counts is None else node.counts[0] if regression else sum(node.counts)
            for node, _ in tree._walk()
        ]
        assert None in totals
        assert all(total is None or total >= 8 for total in totals)
        assert tree.root.counts is None
        rows = table.columns[: len(schema.attributes)]
        if regression:
            found = remote.labels(rows)
            assert np.isnan(found).any()
            assert not np.isnan(found).all()
            assert np.array_equal(tree.predict(np.stack(rows, axis=1)), found, equal_nan=True)
            assert "withheld" in tree.export_text()
        else:
            found = remote.probabilities(rows)
            unknown = np.isnan(found).any(axis=1)
            assert unknown.any()
            assert not unknown.all()
            known = found[~unknown]
            assert np.allclose(known.sum(axis=1), 1)
            plain = np.array(np.stack(rows, axis=1), float)
            assert np.allclose(tree.predict_proba(plain)[~unknown], known, atol=1e-4)
            # Classes are told of all leaves.
            assert set(remote.labels(rows)) == {"no", "yes"}
        assert json.dumps(tree.to_dict(), allow_nan=False)
        # A stricter rule later does not open what was trained before.
        for party in range(3):
            path = deployment.root / f"party{party}" / "party.toml"
            path.write_text(path.read_text().replace("min_count = 8", "min_count = 9"))
        time.sleep(2.5)
        with pytest.raises(PartyRefused, match="rule min_count = 9"):
            remote.reveal(counts=True)
    finally:
        deployment.stop()


def test_owners_rules_hold_where_they_are_stricter(deployment):
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    rules = {"min_samples_leaf": 20, "max_height": 2, "trainings": 1, "min_rows": 10}
    clinic.share(patients(300, 9), SCHEMA, "strict", rules=rules)
    with pytest.raises(PartyRefused, match="rule max_height = 2 of clinic/strict's owner"):
        alice.train(["strict"], "ill", 3)
    job = alice.train(["strict"], "ill")
    spec = alice.wait(job, seconds=60)["spec"]
    assert (spec["min_samples_leaf"], spec["max_depth"], spec["min_rows"]) == (20, 2, 100)
    with pytest.raises(PartyRefused, match=r"rule trainings = 1 of clinic/strict's owner .* was used as often"):
        alice.train(["strict"], "ill")
    clinic.set_rules("clinic/strict", {"max_height": 0})
    assert alice.wait(alice.train(["strict"], "ill"), seconds=60)["spec"]["max_depth"] == 0


def test_owners_consent_by_standing_rules_and_job_by_job(deployment):
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    tomorrow = (now() + datetime.timedelta(days=1)).date().isoformat()
    allow = [
        {"who": "alice", "action": "train", "approval": True},
        {"who": "alice", "action": "predict", "until": tomorrow},
        {"who": "alice", "action": "evaluate", "until": "2020-01-01"},
    ]
    clinic.share(patients(200, 10), SCHEMA, "asked", rules={"allow": allow})
    job = alice.train(["asked"], "ill", 1)
    assert [view["waits_for"] for view in alice.states(job)] == [["clinic"]] * 3
    use = next(entry for entry in clinic.uses() if entry["id"] == job)
    assert (use["dataset"], use["asker"], use["action"], use["state"]) == ("clinic/asked", "alice", "train", "waiting")
    place = deployment.root / "members" / "clinic" / "consortium.toml"
    assert "waits for" in command("uses", "--consortium", place).words
    # Nobody else can approve it.
    for other in ("bank", "alice", "mallory"):
        with pytest.raises(PartyRefused, match="for your approval"):
            deployment.client(other).approve(job)
    done = command("approve", job, "--consortium", place, "--days", "7")
    assert done.code == 0, done.err
    alice.wait(job, seconds=60)
    remote, rows = alice.model(job), patients(60, 1)
    assert len(remote.labels([column[:10] for column in rows.columns[:2]])) == 10
    with pytest.raises(PartyRefused, match=r"owner of clinic/asked does not allow alice to evaluate \(any more\)"):
        remote.confusion(rows.columns[:2], rows.columns[2])
    with pytest.raises(PartyRefused, match="owner of clinic/asked does not allow alice to reveal"):
        remote.reveal()
    # A second one is refused by the owner.
    job = alice.train(["asked"], "ill", 1)
    assert command("refuse", job, "--consortium", place).code == 0
    with pytest.raises(JobFailed, match="clinic did not approve"):
        alice.wait(job, seconds=60)
    audit = (deployment.root / "party1" / "data" / "audit.jsonl").read_text()
    assert '"action": "approve"' in audit
    assert '"action": "refuse"' in audit


def test_others_learn_nothing_of_a_refusal(deployment):
    """Who may not see a dataset is told the same as if there were none."""
    mallory = deployment.client("mallory")
    messages = []
    for name in ("clinic/claims", "clinic/nothing"):
        with pytest.raises(PartyRefused) as refused:
            mallory.train([name], "ill")
        messages.append((refused.value.status, str(refused.value).replace(name, "")))
    assert messages[0] == messages[1]


def test_a_dry_run_says_what_would_be_allowed(deployment):
    place = deployment.root / "members" / "alice" / "consortium.toml"
    before = len(deployment.client("alice").jobs())

    def dry(*arguments):
        return command("submit", "--target", "ill", "--dry-run", "--consortium", place, *arguments)

    allowed = dry("--dataset", "clinic/claims")
    assert allowed.code == 0
    assert "party 2 allows it: height 5, at least 5 rows a leaf" in allowed.words
    refused = dry("--dataset", "claims", "--max-depth", "24")
    assert refused.code == 3
    assert "party 1 refuses: the rule max_height = 10 of party 1" in refused.words
    bob = deployment.root / "members" / "bob" / "consortium.toml"
    waits = command("submit", "--target", "ill", "--dry-run", "--dataset", "claims", "--consortium", bob)
    assert "party 0 allows it after approval of party-0" in waits.words
    assert len(deployment.client("alice").jobs()) == before


def test_withdrawing_data_ends_the_jobs_that_use_it(deployment):
    clinic, alice, bob = (deployment.client(name) for name in ("clinic", "alice", "bob"))
    clinic.share(patients(200, 11), SCHEMA, "leaving")
    done = alice.train(["leaving"], "ill", 1)
    alice.wait(done, seconds=60)
    waiting = bob.train(["leaving"], "ill", 1)
    clinic.withdraw("leaving")
    with pytest.raises(JobFailed, match="withdrawn by its owner"):
        bob.wait(waiting, seconds=60)
    assert alice._parties.call(0, "GET", f"/v1/models/{done}")["withdrawn"] == ["clinic/leaving"]
    assert alice.model(done).reveal()
    assert '"name": "clinic/leaving"' in (deployment.root / "party2" / "data" / "audit.jsonl").read_text()


def test_withdrawing_data_ends_running_jobs(deployment):
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    clinic.share(patients(20_000, 12), SCHEMA, "large")
    job = alice.train(["large"], "ill", 10)
    while not any(view["state"] == "running" for view in alice.states(job)):
        pass
    clinic.withdraw("large")
    with pytest.raises(JobFailed):
        alice.wait(job, seconds=60)
    assert any("withdrawn" in (view["error"] or "") for view in alice.states(job))


def test_models_and_results_can_be_deleted(deployment):
    alice = deployment.client("alice")
    job = alice.train(["claims"], "ill", 1)
    alice.wait(job, seconds=60)
    place = deployment.root / "members" / "alice" / "consortium.toml"
    with pytest.raises(PartyRefused, match="no such job of yours"):
        deployment.client("bob").delete(job)
    assert command("delete", job, "--consortium", place).code == 0
    with pytest.raises(PartyRefused, match="no such model"):
        alice.model(job)
    for party in range(3):
        assert not (deployment.root / f"party{party}" / "data" / "models" / job).exists()
    assert alice.states(job)[0]["state"] == "deleted"


def test_rows_in_another_order_are_noticed(deployment, tmp_path):
    """They used to train, silently, on nonsense."""
    table, schema = patients(150, 13), tmp_path / "s.toml"
    lines = [f"{100 + i},{a},{d}" for i, (a, d) in enumerate(zip(table.columns[0], table.columns[1], strict=True))]
    (tmp_path / "a.csv").write_text("id,age,dose\n" + "\n".join(lines) + "\n")
    labels = [f"{100 + i},{label}" for i, label in enumerate(table.columns[2])]
    (tmp_path / "b.csv").write_text("id,ill\n" + "\n".join(labels) + "\n")
    (tmp_path / "turned.csv").write_text("id,ill\n" + "\n".join(reversed(labels)) + "\n")
    assert command("name-key", tmp_path / "rows.key").code == 0
    from hedgerow.tables import write_schema

    def share(who, data, declared, name, *more):
        write_schema(declared, schema)
        place = deployment.root / "members" / who / "consortium.toml"
        done = command("share", data, "--schema", schema, "--name", name, "--consortium", place, *more)
        schema.unlink()
        return done

    keyed = ("--row-ids", "id", "--row-key", tmp_path / "rows.key")
    assert share("clinic", tmp_path / "a.csv", ATTRIBUTES, "ordered", *keyed).code == 0
    assert share("bank", tmp_path / "b.csv", LABELS, "same", *keyed).code == 0
    assert share("bank", tmp_path / "turned.csv", LABELS, "turned", *keyed).code == 0
    assert share("bank", tmp_path / "b.csv", LABELS, "silent").code == 0
    alice = deployment.client("alice")
    with pytest.raises(PartyRefused, match="not in the same order"):
        alice.train(["ordered", "turned"], "ill", 2, "columns")
    with pytest.raises(PartyRefused, match=r"bank/silent does not say in which order its rows are.*--row-ids"):
        alice.train(["ordered", "silent"], "ill", 2, "columns")
    job = alice.train(["ordered", "same"], "ill", 2, "columns")
    assert alice.wait(job, seconds=60)["state"] == "done"
    twice = (tmp_path / "b.csv").read_text().replace("101,", "100,")
    (tmp_path / "twice.csv").write_text(twice)
    assert "several rows" in share("bank", tmp_path / "twice.csv", LABELS, "twice", *keyed).words
    assert "needs --row-key" in share("bank", tmp_path / "b.csv", LABELS, "nokey", "--row-ids", "id").words


def test_the_order_of_rows_counts_and_so_does_the_key():
    assert row_order(b"k", ["a", "b"]) == row_order(b"k", ["a", "b"])
    orders = [row_order(b"k", ids) for ids in (["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""], [])]
    assert len({*orders, row_order(b"l", ["a", "b"])}) == 6


def test_the_estimator_takes_the_rules_leaf(deployment):
    consortium = deployment.root / "members" / "alice" / "consortium.toml"
    tree = hedgerow.DecisionTreeClassifier(max_depth=2, consortium=str(consortium))
    tree.fit_dataset("clinic/claims", "ill")
    assert tree.model_.facts.problem.min_samples_leaf == 5


def test_a_number_of_another_owner_needs_consent(deployment):
    """A target that is large in one row alone drew a box around that row, and there are no classes to count."""
    table = patients(300, 15)
    clinic, bank = deployment.client("clinic"), deployment.client("bank")
    clinic.share(table, ATTRIBUTES, "boxed", alignment="agreed")
    target = np.where(np.arange(300) == 12, 1000, 0)
    schema = Schema((Column("y", "target", bits=10),))
    bank.share(Table(["y"], [target], {}, table.line), schema, "number", alignment="agreed")
    with pytest.raises(PartyRefused, match="rule labels_from of clinic/boxed's owner does not allow labels of bank"):
        deployment.client("alice").train(["boxed", "number"], "y", 5, "columns")


def test_owners_say_whose_rows_and_columns_join_theirs(deployment):
    """Rows of another owner can fill a leaf up, so that four of its five rows are known."""
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    clinic.share(patients(200, 16), SCHEMA, "apart", rules={"rows_from": [], "columns_from": []}, alignment="agreed")
    deployment.client("bank").share(patients(200, 17), SCHEMA, "filler")
    with pytest.raises(PartyRefused, match="rule rows_from of clinic/apart's owner does not allow rows of bank"):
        alice.train(["clinic/apart", "bank/filler"], "ill", 2)
    assert alice.wait(alice.train(["clinic/apart"], "ill", 1), seconds=60)
    numbered = Table(["number"], [np.arange(200)], {}, lambda row: row + 1)
    deployment.client("bank").share(numbered, Schema((Column("number", bits=8),)), "numbered", alignment="agreed")
    with pytest.raises(PartyRefused, match="rule columns_from of clinic/apart's owner does not allow columns of bank"):
        alice.train(["clinic/apart", "bank/numbered"], "ill", 2, "columns")


def test_approval_that_is_wanted_later_is_waited_for(deployment):
    """A job that waits for its third party used to start without the approval that was wanted meanwhile."""
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    clinic.share(patients(200, 18), SCHEMA, "later")
    request = {"id": "a1" * 16, "kind": "train", "datasets": ["clinic/later"], "target": "ill", "max_depth": 1}
    for party in (0, 1):
        alice._parties.call(party, "POST", "/v1/jobs", json=request)
    clinic.set_rules("clinic/later", {"allow": [{"who": "alice", "action": "train", "approval": True}]})
    alice._parties.call(2, "POST", "/v1/jobs", json=request)
    with pytest.raises(HedgerowError, match="not done after"):
        alice.wait(request["id"], seconds=3)
    for _ in range(3):
        waiting = [p for p, view in enumerate(alice.states(request["id"])) if view["state"] == "waiting"]
        for party in waiting:
            clinic.approve(request["id"], party)
        time.sleep(1)
    assert alice.wait(request["id"], seconds=60)["state"] == "done"


def test_what_the_count_tells_is_charged(deployment):
    """Each count opens one bit; asked again and again with other limits it would tell the number of rows."""
    _, names = side_by_side(deployment, one_row_of(300, 7), "d", {"weights_from": ["bank"], "trainings": 2})
    alice = deployment.client("alice")
    for _ in range(2):
        with pytest.raises(JobFailed, match="fewer than"):
            alice.wait(alice.train(names, "ill", 0, "columns"), seconds=60)
    with pytest.raises(PartyRefused, match="rule trainings = 2"):
        alice.train(names, "ill", 0, "columns")


def test_errors_of_estimates_do_not_tell_what_is_withheld(tmp_path):
    """Fifty copies of a row, all of true value 0: the error was the mean of a leaf that predictions withheld."""
    disclosure = "[disclosure]\nmin_samples_leaf = 1\nmin_count = 8\n"
    deployment = Deployment(tmp_path / "c", disclosure=disclosure)
    deployment.start()
    try:
        age, dose = np.arange(200) % 60 + 20, np.where(np.arange(200) == 5, 47.3, 10.0)
        schema = Schema((SCHEMA.columns[0], Column("dose", "target", decimals=1, bits=9)))
        deployment.client("clinic").share(Table(["age", "dose"], [age, dose], {}, lambda k: k), schema, "claims")
        alice = deployment.client("alice")
        job = alice.train(["claims"], "dose", 5)
        alice.wait(job, seconds=60)
        with pytest.raises(PartyRefused, match=r"rule min_count = 8 .* leaves of the model have at least 1"):
            alice.model(job).errors([np.full(50, age[5])], np.zeros(50))
    finally:
        deployment.stop()


def test_stricter_rules_hold_for_models_of_before(deployment):
    clinic, alice = deployment.client("clinic"), deployment.client("alice")
    clinic.share(patients(300, 14), SCHEMA, "changing")
    job = alice.train(["changing"], "ill", 3)
    alice.wait(job, seconds=60)
    remote = alice.model(job)
    assert remote.reveal()
    clinic.set_rules("clinic/changing", {"min_samples_leaf": 30})
    with pytest.raises(PartyRefused, match=r"rule min_samples_leaf = 30 of clinic/changing's owner .* trained with 5"):
        remote.reveal()
    rows = patients(60, 1)
    with pytest.raises(PartyRefused, match="rule min_samples_leaf = 30"):
        remote.confusion(rows.columns[:2], rows.columns[2])


def test_a_refusal_at_one_party_ends_the_job_at_all(deployment):
    bob = deployment.client("bob")
    job = bob.train(["claims"], "ill", 1)
    assert command("refuse", job, "--config", deployment.root / "party1" / "party.toml").code == 0
    deadline = time.monotonic() + 20
    while {view["state"] for view in bob.states(job)} != {"cancelled"}:
        assert time.monotonic() < deadline
        time.sleep(0.3)
    assert all("party-1 did not approve" in view["error"] for view in bob.states(job))


def test_rules_by_bare_name_and_bad_identifiers(deployment, tmp_path):
    place = deployment.root / "members" / "clinic" / "consortium.toml"
    (tmp_path / "rules.toml").write_text("min_samples_leaf = 5\n")
    done = command("rules", "claims", tmp_path / "rules.toml", "--consortium", place)
    assert done.code == 0, done.err
    assert "32 hexadecimal digits" in command("approve", "nosuch", "--consortium", place).words


# Without a service


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (RULE + 'max_rows = "10"\n', "rule 1: max_rows must be a whole"),
        (RULE + 'approval = "no"\n', "rule 1: approval must be true"),
        (RULE.replace("train", "trian"), "rule 1: the action must be one of .*'trian'"),
        ('[rule]\nwho = "a"\n', "two brackets"),
        ("[disclosure]\nprobe_port = 1\n", "probe_port belongs above the first line in brackets"),
        ('patience_seconds = "20"\n', "patience_seconds must be a number"),
    ],
)
def test_mistakes_in_settings_are_named(tmp_path, text, problem):
    deployment = Deployment(tmp_path / "c")
    path = deployment.root / "party0" / "party.toml"
    path.write_text("number = 0\n" + text)
    with pytest.raises(InputError, match=problem):
        read_settings(path)


def test_mistakes_in_a_consortium_leave_nothing_behind(tmp_path):
    party = [option for k in (1, 2, 3) for option in ("--party", f"127.0.0.{k}:1:2")]

    def init(*members, parties=party):
        named = [option for name in members for option in ("--member", name)]
        done = command("consortium", "init", tmp_path / "c", *parties, *named)
        assert done.code == 3
        assert not (tmp_path / "c").exists()
        return done.words

    assert "roles are" in init("clinic:ownr")
    assert "named twice" in init("clinic:owner", "clinic:analyst")
    assert "same address" in init("clinic:owner", parties=party[:2] * 3)
    deployment = Deployment(tmp_path / "d")
    done = command("consortium", "revoke", deployment.root, "--certificate", "zz")
    assert "neither a serial number" in done.words
    assert command("consortium", "show", deployment.root).code == 0


@pytest.mark.parametrize("name", ["party-0", "party1", "party"])
def test_no_member_is_called_as_a_party_is(tmp_path, name):
    """Approvals are noted by name."""
    party = [option for k in (1, 2, 3) for option in ("--party", f"127.0.0.{k}:1:2")]
    done = command("consortium", "init", tmp_path / "c", *party, "--member", f"{name}:owner")
    assert done.code == 3
    assert "a party's name" in done.words


def test_an_old_bare_rule_stops_the_start_with_the_remedy(tmp_path):
    deployment = Deployment(tmp_path / "c", rules=RULES.replace('datasets = ["*"]', 'datasets = ["claims"]', 1))
    with pytest.raises(InputError, match=r"'claims' without its owner.*OWNER/claims.*hedgerow datasets"):
        read_settings(deployment.root / "party0" / "party.toml")


@pytest.mark.parametrize(
    ("patterns", "names", "covered"),
    [
        (["clinic/*"], ["clinic/a", "clinic/b"], True),
        (["clinic/*"], ["clinic/a", "bank/b"], False),
        (["clinic/*", "bank/b"], ["clinic/a", "bank/b"], True),
        (["clinic/a"], ["clinic/ab"], False),
        (["*"], ["x/y"], True),
        (["clin/*"], ["clinic/a"], False),
        ([], ["x/y"], False),
    ],
)
def test_patterns_of_datasets(patterns, names, covered):
    assert names_match(patterns, names) is covered


def test_the_strictest_rule_holds_and_is_named():
    owned = [
        Owned("a/x", "a", OwnerRules.of_entry({"min_rows": 500, "max_height": 20, "min_count": 2})),
        Owned("b/y", "b", OwnerRules.of_entry({"min_rows": 200, "max_height": 4})),
    ]
    applied = Applied.of(1, Disclosure(), owned)
    assert applied.limits == Disclosure(min_rows=500, max_height=4)
    assert applied.whose == {"min_rows": "a/x's owner", "max_height": "b/y's owner"}


@pytest.mark.parametrize(
    "entry",
    [
        {"min_row": 5},
        {"min_rows": -1},
        {"min_rows": True},
        {"min_rows": 1.5},
        {"labels_from": "bank"},
        {"weights_from": [1]},
        {"allow": {}},
        {"allow": [{"who": "alice"}]},
        {"allow": [{"who": "alice", "action": "everything"}]},
        {"allow": [{"who": "alice", "action": "train", "until": "soon"}]},
        {"allow": [{"who": "alice", "action": "reveal", "approval": True}]},
    ],
)
def test_rules_with_a_mistake_are_refused(entry):
    with pytest.raises(InputError):
        OwnerRules.of_entry(entry)


def test_dates_of_consent():
    rules = OwnerRules.of_entry({"allow": [{"who": "*", "action": "train", "until": datetime.date(2999, 1, 1)}]})
    assert rules.consents[0].covers("anybody", "train")
    assert not rules.consents[0].covers("anybody", "predict")
    past = OwnerRules.of_entry({"allow": [{"who": "*", "action": "train", "until": "1999-01-01T00:00:00+02:00"}]})
    assert not past.consents[0].covers("anybody", "train")


def test_combinations():
    assert combination("clinic/a+bank/b") == (["clinic/a", "bank/b"], "rows")
    assert combination("a|b") == (["a", "b"], "columns")
    assert combination("a") == (["a"], "rows")
