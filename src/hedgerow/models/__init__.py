"""Trained models: what is public about them, their share files, and the ordinary tree after revealing."""

from .facts import ModelFacts
from .revealed import RevealedTree, reveal_tree
from .store import PartyModel, load_model, load_party, save_model, save_party
