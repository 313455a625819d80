"""Packages that not everybody needs, and a clear word where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import InputError

EXTRAS = {
    **dict.fromkeys(
        ("alembic", "fastapi", "h11", "httpx", "prometheus_client", "pydantic", "sqlalchemy", "starlette", "uvicorn"),
        "service",
    ),
    "matplotlib": "plot",
    "psycopg": "postgres",
    "skl2onnx": "onnx",
}
"""Which extra brings a package."""


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """What to do about a missing package, if an extra brings it."""
    package = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(package)
    return f"this needs the package {package}: pip install 'hedgerow[{extra}]'" if extra else None


@contextmanager
def needs_extra() -> Iterator[None]:
    """Around imports of such packages: where one is missing, say how to get it."""
    try:
        yield
    except ModuleNotFoundError as error:
        word = missing_extra(error)
        if word is None:
            raise
        raise InputError(word) from None
