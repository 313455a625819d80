"""One list of training rules: estimators, commands, requests and job specifications are made of it."""

import inspect
from dataclasses import fields

import pytest

import hedgerow
from hedgerow.cli.train import train
from hedgerow.service.api.requests import JobRequest
from hedgerow.service.spec import RULES
from hedgerow.trees.rules import TrainingRules

NAMES = {field.name: field.default for field in fields(TrainingRules) if field.name != "regression"}


@pytest.mark.parametrize("estimator", [hedgerow.DecisionTreeClassifier, hedgerow.DecisionTreeRegressor])
def test_estimators_have_the_rules_as_parameters_with_the_same_defaults(estimator):
    own = estimator().get_params()
    of_classes = {"class_weight", "algorithm", "criterion"}
    wanted = NAMES.keys() - (of_classes if estimator is hedgerow.DecisionTreeRegressor else set())
    assert {name: own[name] for name in wanted} == {name: NAMES[name] for name in wanted}
    made = estimator(max_depth=7, min_samples_leaf=3)._rules()
    assert (made.max_depth, made.min_samples_leaf, made.min_samples_split) == (7, 3, 2)
    assert made.regression is (estimator is hedgerow.DecisionTreeRegressor)


def test_the_command_has_the_rules_as_options_with_the_same_defaults():
    options = {name: parameter.default for name, parameter in inspect.signature(train).parameters.items()}
    assert {name: options[name] for name in NAMES} == NAMES


def test_requests_and_specifications_have_the_same_names():
    assert NAMES.keys() <= JobRequest.model_fields.keys()
    assert NAMES.keys() <= RULES.keys()
    assert RULES["max_depth"] == TrainingRules().max_depth
