"""The face that scikit-learn's users know."""

from .classifier import DecisionTreeClassifier
from .secret import Prepared, SecretModel, prepare, train_secret

__all__ = ["DecisionTreeClassifier", "Prepared", "SecretModel", "prepare", "train_secret"]
