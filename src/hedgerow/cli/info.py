"""``hedgerow info``: versions and the machine, or what is public about a model."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from . import screen, tools


def info(
    model: Annotated[Path | None, typer.Argument(help="A model directory to describe.")] = None,
    as_json: screen.AsJson = False,
) -> None:
    """Show versions and the machine, or with a model directory what anybody may know about that model."""
    facts = _machine() if model is None else _model(model)
    screen.print_facts(facts, as_json)


def _machine() -> dict[str, Any]:
    import platform
    import ssl
    from importlib.metadata import version

    packages = ("numpy", "numba", "cryptography", "scikit-learn", "pyarrow")
    return {
        "hedgerow": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count() or 1,
        "tls": ssl.OPENSSL_VERSION,
        **{name: version(name) for name in packages},
    }


def _model(directory: Path) -> dict[str, Any]:
    facts = tools.load_model(directory)[0].facts
    return {
        "model": facts.identity,
        "algorithm": facts.algorithm,
        **({} if facts.problem.regression else {"criterion": facts.problem.criterion}),
        "rows": facts.problem.rows,
        "height": facts.problem.height,
        "bits_of_a_value": facts.problem.value_bits,
        "target": facts.target,
        **({"bits_of_the_target": facts.problem.target_bits} if facts.problem.regression else {}),
        **({} if facts.problem.regression else {"classes": list(facts.classes)}),
        "attributes": facts.attribute_names,
    }


def print_version() -> None:
    """Print the version."""
    print(__version__)
