"""What earlier code wrote is still read: models, schemas, and the data directories of parties."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import hedgerow
from hedgerow.tables import read_schema, read_table
from support.deployment import SCHEMA, Deployment, patients

FIRST = Path(__file__).parent / "fixtures" / "first"
EXPECTED = json.loads((FIRST / "expected.json").read_text())


@pytest.mark.parametrize("name", ["classifier", "regressor"])
def test_earlier_models_answer_as_they_did(name):
    kind = {"classifier": hedgerow.DecisionTreeClassifier, "regressor": hedgerow.DecisionTreeRegressor}[name]
    model = kind.load(FIRST / name)
    table = read_table(FIRST / "rows.csv")
    assert model.reveal(counts=True).to_dict() == EXPECTED[name]["tree"]
    columns = table.declared(model.schema_.attributes)
    assert model.model_.labels(columns).tolist() == EXPECTED[name]["predict"]


def test_earlier_schemas_are_read():
    schema = read_schema(FIRST / "schema.toml")
    assert schema == hedgerow.DecisionTreeClassifier.load(FIRST / "classifier").schema_


def test_parties_go_on_with_their_earlier_data(tmp_path):
    deployment = Deployment(tmp_path / "c", patience=30)
    for party in range(3):
        shutil.copytree(FIRST / "parties" / f"party{party}", tmp_path / "c" / f"party{party}" / "data")
    deployment.start()
    try:
        alice, known = deployment.client("alice"), EXPECTED["service"]
        assert {job["id"] for job in alice.jobs()} == set(known["jobs"])
        assert {entry["name"] for entry in alice.datasets()} == {"clinic/visits", "bank/loans"}
        model = alice.model(known["model"])
        assert model.reveal(counts=True).to_dict() == known["tree"]
        rows = patients(20, 3)
        assert model.labels(rows.columns[:2]).tolist() == known["predict"]
        job = alice.train(["visits", "loans"], "ill", 3)
        alice.wait(job, seconds=60)
        again = alice.model(job).reveal(counts=True)
        assert again.to_dict() == known["tree"]
        deployment.client("clinic").share(patients(30, 4), SCHEMA, "later")
        assert np.unique([entry["rows"] for entry in alice.datasets()]).tolist() == [30, 50, 80]
    finally:
        assert deployment.stop() == [0, 0, 0]
