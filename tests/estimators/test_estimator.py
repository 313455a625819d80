"""The estimator as scikit-learn's users and tools use it."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import hedgerow
from hedgerow.errors import InputError
from hedgerow.parties import local_parties
from hedgerow.reference.node import predict
from hedgerow.reference.tree import fast_rule, train
from hedgerow.tables import Column, Schema


def expected_failures(estimator):
    """The check wants leaves of little weight to be forbidden, by a parameter that our trees do not have."""
    reason = "without min_weight_fraction_leaf a tree still separates the rows of light classes"
    return {"check_class_weight_classifiers": reason} if is_classifier(estimator) else {}


@parametrize_with_checks(
    [hedgerow.DecisionTreeClassifier(max_depth=3), hedgerow.DecisionTreeRegressor(max_depth=3)],
    expected_failed_checks=expected_failures,
)
def test_it_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def twin_labels(x, y, new, height):
    """Train and predict in the clear on the same decimals; breast-cancer has at most six."""
    whole, rows = (np.rint(part.to_numpy().T * 10**6).astype(np.int64) for part in (x, new))
    return predict(train(whole, y.to_numpy(), height, fast_rule), rows)


def test_cross_validation_equals_the_plaintext_twins(cancer):
    x, y = cancer
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(hedgerow.DecisionTreeClassifier(max_depth=4), x, y, cv=folds)
    expected = []
    for inside, outside in folds.split(x):
        labels = twin_labels(x.iloc[inside], y.iloc[inside], x.iloc[outside], 4)
        expected.append((labels == y.iloc[outside]).mean())
    assert scores.tolist() == expected


def test_a_grid_search_in_a_pipeline(cancer):
    x, y = cancer
    pipeline = make_pipeline(StandardScaler(), hedgerow.DecisionTreeClassifier())
    search = GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [1, 3]}, cv=3).fit(
        x.iloc[:200, :5], y.iloc[:200]
    )
    assert search.best_params_["decisiontreeclassifier__max_depth"] in (1, 3)
    assert search.best_score_ > 0.8


def test_the_model_is_a_handle_and_only_reveal_shows_a_tree(cancer):
    x, y = cancer
    model = hedgerow.DecisionTreeClassifier(max_depth=3).fit(x, y)
    assert repr(model.model_) == "SecretModel(30 attributes, height 3, shared among three parties)"
    tree = model.reveal(counts=True)
    assert (tree.predict(x) == model.predict(x)).all()
    assert model.rounding_ == {}
    assert list(model.feature_names_in_) == list(x.columns)
    matrix = model.confusion(x, y)
    assert matrix.sum() == len(x)
    assert np.trace(matrix) / len(x) == model.score(x, y)
    chances = model.predict_proba(x)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(x)).all()
    plain = tree.to_sklearn().predict_proba(x.to_numpy())
    assert np.abs(chances - plain).max() < 2**-15


def test_pandas_pyarrow_and_numpy_give_the_same_model(cancer):
    x, y = cancer[0].iloc[:120, :4], cancer[1].iloc[:120]
    names = y.map({0: "malignant", 1: "benign"})
    fitted = [
        hedgerow.DecisionTreeClassifier(max_depth=2).fit(*data)
        for data in ((x, names), (x.to_numpy(), names.to_numpy()), (pa.Table.from_pandas(x), pa.array(names)))
    ]
    trees = [model.reveal().to_dict()["tree"] for model in fitted]
    assert trees[0] == trees[2]
    assert list(fitted[0].classes_) == ["benign", "malignant"]
    assert (fitted[1].predict(x.to_numpy()) == fitted[0].predict(x)).all()
    again = pickle.loads(pickle.dumps(fitted[0]))
    assert (again.predict(x) == fitted[0].predict(x)).all()
    assert clone(fitted[0]).get_params() == {
        "categorical_features": None,
        "class_weight": None,
        "criterion": "gini",
        "min_impurity_decrease": 0.0,
        "min_samples_leaf": 1,
        "min_samples_split": 2,
        "algorithm": "fast",
        "consortium": None,
        "identity": None,
        "max_depth": 2,
        "schema": None,
        "verbose": 0,
    }


def test_models_can_be_saved_and_loaded(cancer, tmp_path):
    x, y = cancer[0].iloc[:100, :3], cancer[1].iloc[:100]
    model = hedgerow.DecisionTreeClassifier(max_depth=2).fit(x, y)
    model.save(tmp_path / "model")
    loaded = hedgerow.DecisionTreeClassifier.load(tmp_path / "model")
    assert (loaded.predict(x) == model.predict(x)).all()
    assert loaded.max_depth == 2


def test_a_declared_schema_is_kept_to():
    x = pd.DataFrame({"age": [20, 30, 40, 50], "height": [1.61, 1.72, 1.83, 1.94]})
    schema = Schema((Column("age", bits=7), Column("height", decimals=1, bits=6)))
    model = hedgerow.DecisionTreeClassifier(max_depth=2, schema=schema).fit(x, [0, 0, 1, 1])
    assert model.rounding_["height"] == pytest.approx(0.04)
    assert model.schema_.attributes == list(schema.columns)
    with pytest.raises(InputError, match="column 'height' is not in the schema"):
        hedgerow.DecisionTreeClassifier(schema=Schema((Column("age", bits=7),))).fit(x, [0, 0, 1, 1])


def test_the_papers_algorithm_has_the_same_face(cancer):
    x, y = cancer[0].iloc[:60, :3], cancer[1].iloc[:60]
    model = hedgerow.DecisionTreeClassifier(max_depth=2, algorithm="paper").fit(x, y)
    assert model.score(x, y) > 0.8
    with pytest.raises(InputError, match="train it with algorithm 'fast'"):
        model.predict_proba(x)


def test_shapes_and_kinds_that_a_model_of_categories_refuses():
    frame = pd.DataFrame({"c": ["u", "v", None, "u"] * 5, "a": np.arange(20.0)})
    y = [0, 1, 1, 0] * 5
    model = hedgerow.DecisionTreeClassifier(max_depth=2).fit(frame, y)
    assert (model.predict(frame) == y).all()
    for wrong in (frame[["a"]], frame["c"], ["u", "v"]):
        with pytest.raises(ValueError, match=r"feature|2D"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="says which columns"):
        hedgerow.DecisionTreeClassifier(schema=model.schema_, categorical_features=["c"]).fit(frame, y)
    with pytest.raises(ValueError, match="must be a Schema"):
        hedgerow.DecisionTreeClassifier(schema={}).fit(frame, y)
    with pytest.raises(ValueError, match="text, numbers or truth values"):
        hedgerow.DecisionTreeClassifier().fit(frame, pd.date_range("2026-01-01", periods=20))
    mixed = hedgerow.DecisionTreeClassifier(max_depth=2, categorical_features=["c", 1]).fit(frame, y)
    assert [column.kind for column in mixed.schema_.attributes] == ["category", "category"]
    truths = hedgerow.DecisionTreeClassifier(max_depth=2).fit(frame, np.array(y, bool))
    again = hedgerow.DecisionTreeClassifier(max_depth=2, schema=truths.schema_).fit(frame, np.array(y, bool))
    assert again.classes_.tolist() == [False, True]
    strings = frame.astype({"c": "string"})
    assert (hedgerow.DecisionTreeClassifier(max_depth=2).fit(strings, y).predict(strings) == y).all()


def test_mistakes_are_explained():
    x = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="one class only"):
        hedgerow.DecisionTreeClassifier().fit(x, [1] * 6)
    with pytest.raises(ValueError, match="between 0 and 62"):
        hedgerow.DecisionTreeClassifier(max_depth=63).fit(x, [0, 1] * 3)
    with pytest.raises(ValueError, match="whole number"):
        hedgerow.DecisionTreeClassifier(max_depth=2.5).fit(x, [0, 1] * 3)
    with pytest.raises(ValueError, match="unknown algorithm"):
        hedgerow.DecisionTreeClassifier(algorithm="magic").fit(x, [0, 1] * 3)
    with pytest.raises(NotFittedError):
        hedgerow.DecisionTreeClassifier().reveal()
    model = hedgerow.DecisionTreeClassifier().fit(x, [0, 1] * 3)
    with pytest.raises(InputError, match="a class that is not in the list"):
        model.confusion(x, [0, 1, 2, 0, 1, 0])


def test_probabilities_follow_classes_whatever_the_schemas_order():
    x = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6]})
    schema = Schema((Column("a", bits=4), Column("y", "label", classes=("yes", "no"))))
    model = hedgerow.DecisionTreeClassifier(max_depth=1, schema=schema).fit(
        x, pd.Series(["no"] * 3 + ["yes"] * 3, name="y")
    )
    assert list(model.classes_) == ["no", "yes"]
    assert model.predict_proba(x)[:, 1].tolist() == [0, 0, 0, 1, 1, 1]
    only = hedgerow.DecisionTreeClassifier(
        schema=Schema((Column("a", bits=4), Column("y", "label", classes=("0", "1"))))
    )
    assert only.fit(x, pd.Series([0] * 6, name="y")).score(x, [0] * 6) == 1.0


def test_large_whole_numbers_beside_decimals_stay_whole():
    x = pd.DataFrame({"id": [2**55 + k for k in range(6)], "f": [0.5, 0.1, 0.2, 0.5, 0.1, 0.2], "class": [0] * 6})
    y = [0, 0, 0, 1, 1, 1]
    model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y)
    assert model.predict(x).tolist() == y
    tree = model.reveal()
    assert f"id <  {2**55 + 2}.5" in tree.export_text()
    assert tree.predict(x[["class", "f", "id"]]).tolist() == y


def test_labels_are_the_same_class_however_they_are_written():
    x = np.arange(6).reshape(6, 1)
    model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, np.array([False] * 3 + [True] * 3))
    for same in ([0, 0, 0, 1, 1, 1], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0], ["0", "0", "0", "1", "1", "1"]):
        assert model.confusion(x, np.array(same)).tolist() == [[3, 0], [0, 3]]


def test_parties_that_died_are_started_anew():
    x, y = np.arange(6).reshape(6, 1), [0, 0, 0, 1, 1, 1]
    model = hedgerow.DecisionTreeClassifier(max_depth=1).fit(x, y)
    victim = psutil.Process(local_parties()._processes.pids[1])
    victim.kill()
    while victim.is_running():
        time.sleep(0.01)
    assert model.predict(x).tolist() == y
