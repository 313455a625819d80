"""All that commands work with, each loaded when first used: most of it takes longer to load than a command's help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Table as Screen
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.tree import DecisionTreeClassifier as PlainTree

    from ..bench.complexity import draw, measure
    from ..bench.engine import bench_primitives, bench_sort
    from ..bench.learning import bench_learning
    from ..bench.report import RunFacts
    from ..bench.tables import as_markdown, run_tables
    from ..bench.tables import draw as draw_tables
    from ..bench.training import bench_train, random_table, train_once
    from ..bench.training import compare as compare_algorithms
    from ..bench.training import read_table as read_bench_table
    from ..estimators.prepare import EncodedTable, most_bits, most_target_bits, prepare
    from ..estimators.secret import SecretModel, train_secret
    from ..estimators.weights import kept_weights, weight_bits
    from ..models import load_model
    from ..models.facts import gaps_text
    from ..models.picture import FORMATS
    from ..parties import Moment, PartyProcesses
    from ..service.backup import back_up
    from ..service.backup import restore as put_back
    from ..service.client import Client, combination, training_request
    from ..service.clock import now
    from ..service.consortium import (
        ROLES,
        Address,
        Consortium,
        check_mark,
        check_member,
        encrypt_key,
        expiry,
        init_consortium,
        load_certificate,
        member_names,
        read_consortium,
        read_toml,
        write_identity,
    )
    from ..service.consortium import revoke as revoke_certificates
    from ..service.heads import audit_path, verify_against_signatures
    from ..service.owner import plain_rules, rounding_of_table, row_order
    from ..service.remote_model import RemoteModel
    from ..service.server import serve as run_server
    from ..service.settings import PartySettings, read_settings
    from ..service.vault import Vault, hold
    from ..shares import RING64, seen_by_party, split
    from ..tables.disclosure import category_refusal, class_refusal, key_warning
    from ..tables.frame import PlainTable
    from ..tables.rounding import rounding_notices
    from ..tables.schema import MAX_CLASSES, schema_text
    from ..transport import Authority
    from ..transport.certificate import Revocation, marks, party_name
    from ..trees.problem import Problem, check_table
    from ..trees.rules import TrainingRules

__getattr__ = lazy_names("hedgerow.cli", __file__)
