"""The walls of the house: who may read summands, how long functions and files may be, what is named where."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "hedgerow"
MODULES = sorted(SOURCE.rglob("*.py"))
SHARE_TYPES = {"Numbers", "Bits", "Bytes", "Columns", "Keys", "Part"}


def name_of(path):
    return str(path.relative_to(SOURCE))


def functions(path):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def is_neighbour(node):
    """``transport.left`` is a party, not a summand."""
    return isinstance(node.value, ast.Attribute | ast.Name) and ast.unparse(node.value).endswith("transport")


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_schemes_and_shares_read_summands(path):
    if path.relative_to(SOURCE).parts[0] in ("shares", "schemes", "transport"):
        pytest.skip("this is where summands are read, or where left and right are neighbours")
    tree = ast.parse(path.read_text())
    sides = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in ("left", "right")]
    built = [
        n.lineno
        for n in ast.walk(tree)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in SHARE_TYPES
    ]
    assert [n.lineno for n in sides if not is_neighbour(n)] == []
    assert built == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_and_functions_fit_a_reader(path):
    assert len(path.read_text().splitlines()) <= 400
    commands = path.relative_to(SOURCE).parts[0] in ("cli", "estimators")
    for function in functions(path):
        assert function.end_lineno - function.lineno + 1 <= 60, function.name
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        named = [a for a in parameters if a.arg not in ("self", "cls")]
        assert commands or "kernels" in path.parts or len(named) <= 8, function.name
