"""Real tables as they come, trained on three processes: node for node the twin's tree."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hedgerow.cli.main import app
from hedgerow.estimators import TrainingRules
from hedgerow.tables import read_table
from support import problems, tables
from support.problems import prepared_table


def check(prepared, processes):
    problem = prepared.facts.problem
    parts = problems.train_secure(prepared.x, prepared.y, prepared.weights, problem, processes)
    tree = problems.opened(parts)
    y = prepared.y.astype(np.int64)
    assert tree == problems.twin(prepared.x.astype(np.int64), y, prepared.weights, problem)
    return problem


@pytest.mark.parametrize(
    ("place", "target", "classes", "features", "height"),
    [
        (("iris", "iris.data"), "c5", 3, 4, 4),
        (("car", "car.data"), "c7", 4, 21, 5),
        (("tictactoe", "tic-tac-toe.data"), "c10", 2, 27, 6),
        (("nursery", "nursery.data"), "c9", 5, 26, 3),
        (("mushroom", "agaricus-lepiota.data"), "c1", 2, 112, 4),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_tables_of_classes_and_categories(place, target, classes, features, height, processes):
    problem = check(prepared_table(tables.need(*place), target, TrainingRules(height), header=False), processes)
    assert (problem.classes, len(problem.features)) == (classes, features)


def test_wine(processes):
    path = tables.need("wine", "wine.csv")
    target = read_table(path).names[-1]
    assert check(prepared_table(path, target, TrainingRules(4)), processes).classes == 3


@pytest.mark.parametrize("regression", [False, True])
def test_wine_quality(regression, processes):
    """Seven classes, or a number."""
    path = tables.need("wine_quality", "winequality-white.csv")
    problem = check(prepared_table(path, "quality", TrainingRules(4, regression=regression)), processes)
    assert (problem.rows, problem.classes) == (4898, 0 if regression else 7)


@pytest.mark.slow
def test_bank_marketing(processes):
    problem = check(prepared_table(tables.need("bank_marketing", "bank-full.csv"), "y", TrainingRules(4)), processes)
    assert (problem.rows, problem.attributes, sum(map(bool, problem.categories))) == (45_211, 16, 9)


@pytest.mark.slow
def test_adult_with_all_attributes(processes):
    problem = check(
        prepared_table(tables.need("adult", "adult.data"), "c15", TrainingRules(6), header=False), processes
    )
    assert (problem.rows, problem.attributes, sum(map(bool, problem.categories))) == (32_561, 14, 8)


@pytest.mark.slow
def test_adult_from_the_raw_file_in_one_command(tmp_path):
    """Height 6 in less than a minute, and on the test rows as good as scikit-learn on one-hot data."""
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    data = tables.need("adult", "adult.data")
    command = ["train", str(data), "--no-header", "--target", "c15", "--max-depth", "6", "--out", str(tmp_path / "m")]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["seconds"] < 60

    def rows(name):
        with tables.need("adult", name).open() as file:
            return [row for row in csv.reader(file, skipinitialspace=True) if len(row) == 15]

    test = tmp_path / "test.csv"
    with test.open("w", newline="") as file:
        csv.writer(file).writerows([*row[:14], row[14].rstrip(".")] for row in rows("adult.test"))
    done = CliRunner().invoke(app, ["evaluate", str(tmp_path / "m"), str(test), "--no-header", "--json"])
    assert done.exit_code == 0, done.output
    ours = json.loads(done.stdout)["accuracy"]

    numeric = [0, 2, 4, 10, 11, 12]
    text = [k for k in range(14) if k not in numeric]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def split(table):
        return np.array([[row[k] for k in text] for row in table]), np.array(
            [[int(row[k]) for k in numeric] for row in table]
        )

    (categories, numbers), (test_categories, test_numbers) = split(rows("adult.data")), split(rows("adult.test"))
    x = np.concatenate([numbers, encoder.fit_transform(categories)], axis=1)
    plain = DecisionTreeClassifier(max_depth=6, random_state=0).fit(x, [row[14] for row in rows("adult.data")])
    x = np.concatenate([test_numbers, encoder.transform(test_categories)], axis=1)
    theirs = plain.score(x, [row[14].rstrip(".") for row in rows("adult.test")])
    assert abs(ours - theirs) <= 0.005
